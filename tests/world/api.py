"""The API function on the database of a test, under functions-framework but in this process."""

import json
import time
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

import jwt
from flask import Flask, request
from werkzeug.routing import Rule
from werkzeug.test import Client, TestResponse

from tests.world import World
from tickwork.api.app import api_function
from tickwork.api.connections import Connections
from tickwork.settings import load_settings
from tickwork.web.starting import take_every_path

SECRET = "signs-the-tokens-of-users-in-tests"
ISSUER = "https://abc.supabase.co/auth/v1"
PREFIX = "/api/v1"
# Seals the secrets of endpoints and connectors.
KEY = b64encode(b"k" * 32).decode()


@dataclass(frozen=True)
class Answer:
    status: int
    body: Any
    headers: Mapping[str, str]

    @property
    def items(self) -> list[dict[str, Any]]:
        assert self.status == 200, self.body
        found: list[dict[str, Any]] = self.body["items"]
        return found


@dataclass(frozen=True)
class Api:
    """What one caller sees of it."""

    client: Client
    headers: Mapping[str, str]

    def as_user(self, user_id: UUID | str) -> "Api":
        return Api(self.client, {"Authorization": f"Bearer {user_token(user_id)}"})

    def with_key(self, key: str) -> "Api":
        return Api(self.client, {"X-Api-Key": key})

    def get(self, path: str, headers: Mapping[str, str] | None = None, **query: Any) -> Answer:
        return self.send("GET", path, headers=headers, query_string={name: str(each) for name, each in query.items()})

    def post(self, path: str, headers: Mapping[str, str] | None = None, **body: Any) -> Answer:
        return self.send("POST", path, headers=headers, json=body)

    def patch(self, path: str, **body: Any) -> Answer:
        return self.send("PATCH", path, json=body)

    def delete(self, path: str) -> Answer:
        return self.send("DELETE", path)

    def send(self, method: str, path: str, headers: Mapping[str, str] | None = None, **options: Any) -> Answer:
        url = path if path.startswith("/") else f"{PREFIX}/{path}"
        response: TestResponse = self.client.open(
            url, method=method, headers={**self.headers, **(headers or {})}, **options
        )
        text = response.get_data(as_text=True)
        is_json = text and response.mimetype != "text/plain"
        return Answer(response.status_code, json.loads(text) if is_json else text or None, dict(response.headers))


def user_token(user_id: UUID | str, **changed: Any) -> str:
    now = int(time.time())
    own = {"sub": str(user_id), "role": "authenticated", "aud": "authenticated", "iss": ISSUER}
    return jwt.encode({**own, "iat": now, "exp": now + 3600, **changed}, SECRET, algorithm="HS256")


@contextmanager
def api_of(world: World, **settings: str) -> Iterator[Api]:
    """Nobody's view of it; `as_user` and `with_key` make others."""
    url = world.url.replace("postgres@", "tickwork_api@")
    usual = {"TICKWORK_JWT_SECRET": SECRET, "TICKWORK_JWT_ISSUER": ISSUER, "TICKWORK_DATABASE_URL": url}
    loaded = load_settings({**usual, **settings})
    connections = Connections(loaded.database_url)
    try:
        function = api_function(loaded, connections)
        yield Api(Client(wsgi(function)), {})
    finally:
        connections.close()


def wsgi(function: Callable[[Any], Any]) -> Flask:
    """As functions-framework does it."""
    app = Flask("api")
    app.url_map.add(Rule("/<path:path>", endpoint="run"))
    app.view_functions["run"] = lambda path: function(request)
    with app.app_context():
        take_every_path(function)
    return app


def member_of(world: World, *tenants: UUID, role: str = "member") -> UUID:
    user_id = uuid4()
    for tenant in tenants:
        world.run(
            "insert into public.memberships (tenant_id, user_id, role) values (%s, %s, %s)", tenant, user_id, role
        )
    return user_id
