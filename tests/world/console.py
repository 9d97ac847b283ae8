"""The console on the database of a test, as a browser without scripts sees it."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from html import unescape
from uuid import UUID

import jwt
from werkzeug.test import Client, TestResponse

from tests.world import World
from tests.world.api import ISSUER, SECRET, wsgi
from tickwork.api.connections import Connections
from tickwork.console.function import control_plane
from tickwork.console.session import SESSION, session_cookie
from tickwork.settings import Settings, load_settings

CONSOLE_SECRET = "signs-the-sessions-of-the-console-in-tests"
OWN_PAGE = {"Sec-Fetch-Site": "same-origin"}


@dataclass(frozen=True)
class Seen:
    status: int
    html: str
    headers: Mapping[str, str]

    @property
    def text(self) -> str:
        """What a person reads, without the navigation."""
        main = self.html.partition("<main")[2].partition("</main>")[0].partition(">")[2]
        return re.sub(r"\s+", " ", unescape(re.sub("<[^>]*>", " ", main))).strip()


@dataclass(frozen=True)
class Browser:
    client: Client
    settings: Settings

    def sign_in(self, user_id: UUID | str) -> "Browser":
        """Another browser, in which this user is signed in."""
        client = Client(self.client.application)
        client.set_cookie(SESSION, session_cookie(str(user_id), self.settings).value)
        return Browser(client, self.settings)

    def get(self, path: str, **query: object) -> Seen:
        given = {name: str(value) for name, value in query.items()}
        return seen(self.client.get(self.settings.console_path + path, query_string=given or None))

    def post(self, path: str, headers: Mapping[str, str] = OWN_PAGE, **form: object) -> Seen:
        """What the next page says, if the response leads to one."""
        given = {name: str(value) for name, value in form.items()}
        response = self.client.post(self.settings.console_path + path, data=given, headers=dict(headers))
        if response.status_code != 303:
            return seen(response)
        return seen(self.client.get(response.headers["Location"]))


def seen(response: TestResponse) -> Seen:
    with response:
        return Seen(response.status_code, response.get_data(as_text=True), dict(response.headers))


@contextmanager
def console_of(world: World, **settings: str) -> Iterator[Browser]:
    """A browser in which nobody is signed in."""
    url = world.url.replace("postgres@", "tickwork_api@")
    usual = {"TICKWORK_JWT_SECRET": SECRET, "TICKWORK_JWT_ISSUER": ISSUER, "TICKWORK_CONSOLE_SECRET": CONSOLE_SECRET}
    loaded = load_settings({"TICKWORK_DATABASE_URL": url, **usual, **settings})
    connections = Connections(loaded.database_url)
    try:
        yield Browser(Client(wsgi(control_plane(connections, loaded))), loaded)
    finally:
        connections.close()


def user_of(browser: Browser) -> str:
    cookie = browser.client.get_cookie(SESSION)
    assert cookie is not None
    return str(jwt.decode(cookie.value, options={"verify_signature": False})["sub"])
