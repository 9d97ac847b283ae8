"""Notifications of the providers: verified, deduplicated, and never more than a hint."""

import hashlib
import hmac
import json
from collections.abc import Mapping
from http.client import HTTPConnection
from io import BytesIO
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from flask import Request
from werkzeug.test import EnvironBuilder

from tests.database.test_connectors import with_folder
from tests.serve.test_wake_up import running_function, settings
from tests.test_functions import FUNCTIONS
from tests.world import World
from tests.world.waiting import PATIENCE
from tickwork.database.connection import Database
from tickwork.serve.notifications import MAX_BODY_BYTES, notifications
from tickwork.settings import Settings
from tickwork.tools.channel_tokens import channel_token

APP_SECRET = "dropbox-app-secret"
SECRET = "notification-secret-of-32-characters"
OLD_SECRET = "an-older-secret-that-is-still-good-for-now"


class Door:
    """The endpoint, asked as functions-framework asks it."""

    def __init__(self, world: World, **more: str) -> None:
        self.world = world
        known = {"dropbox_app_secret": APP_SECRET, "notification_secret": f"{SECRET},{OLD_SECRET}", **more}
        self.settings = Settings(database_url=world.worker_url, **known)  # type: ignore[arg-type]

    def ask(
        self, path: str, body: bytes = b"", headers: Mapping[str, str] | None = None, method: str = "POST"
    ) -> tuple[int, str]:
        builder = EnvironBuilder(path, method=method, headers=[*(headers or {}).items()], input_stream=BytesIO(body))
        environment = builder.get_environ() | {"CONTENT_LENGTH": str(len(body))}
        database: Database = self.world.queue.database
        answered: Any = notifications(Request(environment), database, self.settings)
        assert answered[2]["X-Content-Type-Options"] == "nosniff"
        assert answered[2]["Content-Type"].startswith("text/plain")
        return answered[1], answered[0]

    def jobs(self) -> list[str]:
        return [row["type"] for row in self.world.rows("select type from jobs order by created_at")]


@pytest.fixture
def door(world: World) -> Door:
    return Door(world)


@pytest.fixture
def connectors(world: World) -> dict[str, UUID]:
    tenant = world.tenant()
    providers = ("dropbox", "onedrive", "gdrive")
    return {each: with_folder(world, tenant, provider=each, account_id=f"{each}:1") for each in providers}


def signed(body: bytes, secret: str = APP_SECRET) -> dict[str, str]:
    return {"X-Dropbox-Signature": hmac.digest(secret.encode(), body, hashlib.sha256).hex()}


def of_graph(*states: object) -> bytes:
    return json.dumps({"value": [{"subscriptionId": "s", "clientState": state} for state in states]}).encode()


DROPBOX = json.dumps({"list_folder": {"accounts": ["dropbox:1", "dropbox:2"]}}).encode()


def test_the_function_answers_challenges_and_takes_hints_without_our_own_credentials(
    tmp_path: Path, world: World, connectors: dict[str, UUID]
) -> None:
    given = settings(world, TICKWORK_DROPBOX_APP_SECRET=APP_SECRET, TICKWORK_NOTIFICATION_SECRET=SECRET)
    with running_function(FUNCTIONS / "import" / "main.py", tmp_path, **given) as function:

        def ask(method: str, path: str, body: bytes = b"", headers: Mapping[str, str] | None = None) -> tuple[int, str]:
            connection = HTTPConnection("127.0.0.1", function.port, timeout=PATIENCE)
            connection.request(method, path, body, dict(headers or {}))
            answer = connection.getresponse()
            text = answer.read().decode()
            assert answer.headers["X-Content-Type-Options"] == "nosniff"
            connection.close()
            return answer.status, text

        assert ask("GET", "/notifications/dropbox?challenge=abc%3Cb%3E") == (200, "abc<b>")
        assert ask("POST", "/notifications/onedrive?validationToken=Validation%3A+x") == (200, "Validation: x")
        assert ask("POST", "/notifications/dropbox", DROPBOX, signed(DROPBOX)) == (200, "")
        token = channel_token(SECRET, "onedrive", connectors["onedrive"])
        assert ask("POST", "/notifications/onedrive", of_graph(token)) == (202, "")
        channel = {"X-Goog-Channel-Token": channel_token(SECRET, "gdrive", connectors["gdrive"])}
        changed = {**channel, "X-Goog-Resource-State": "change"}
        assert ask("POST", "/notifications/gdrive", b"", changed) == (200, "")
        assert function.wake(headers={}).status == 401

    types = {row["type"] for row in world.rows("select type from jobs")}
    assert types == {"import_dropbox", "import_onedrive", "import_gdrive"}


def test_many_notifications_are_one_import_and_one_event(door: Door, connectors: dict[str, UUID]) -> None:
    for _ in range(5):
        assert door.ask("/notifications/dropbox", DROPBOX, signed(DROPBOX))[0] == 200

    assert door.jobs() == ["import_dropbox"]
    told = door.world.rows("select aggregate from events where type = 'provider.folder.updated'")
    assert [each["aggregate"] for each in told] == [f"connector:{connectors['dropbox']}"]


@pytest.mark.parametrize(
    "headers",
    [{}, {"X-Dropbox-Signature": ""}, signed(DROPBOX, "another secret"), signed(DROPBOX + b" "), signed(b"", "")],
)
def test_what_dropbox_has_not_signed_is_refused(
    door: Door, connectors: dict[str, UUID], headers: dict[str, str]
) -> None:
    assert door.ask("/notifications/dropbox", DROPBOX, headers)[0] == 403
    assert door.jobs() == []


def test_without_a_secret_everything_is_refused(world: World, connectors: dict[str, UUID]) -> None:
    door = Door(world, dropbox_app_secret="", notification_secret="x" * 32)
    token = channel_token("", "gdrive", connectors["gdrive"])

    assert door.ask("/notifications/dropbox", DROPBOX, signed(DROPBOX, ""))[0] == 403
    assert door.ask("/notifications/gdrive", b"", {"X-Goog-Channel-Token": token})[0] == 403
    assert door.jobs() == []


def wrong_tokens(id: UUID) -> list[str]:
    right = channel_token(SECRET, "gdrive", id)
    other = channel_token(SECRET, "onedrive", id)
    return ["", "x", str(id), right[:-1], right + "0", right.upper(), other, channel_token("y" * 32, "gdrive", id)]


def test_a_channel_token_is_of_one_connector_and_one_provider(door: Door, connectors: dict[str, UUID]) -> None:
    for token in wrong_tokens(connectors["gdrive"]):
        headers = {"X-Goog-Channel-Token": token, "X-Goog-Resource-State": "change"}
        assert door.ask("/notifications/gdrive", b"", headers)[0] == 403, token

    assert door.jobs() == []


def test_one_notification_that_is_wrong_spoils_none_of_the_others(door: Door, connectors: dict[str, UUID]) -> None:
    right = channel_token(OLD_SECRET, "onedrive", connectors["onedrive"])

    assert door.ask("/notifications/onedrive", of_graph("wrong", right, None, 7, right))[0] == 202
    assert door.jobs() == ["import_onedrive"]


def test_the_first_word_of_a_channel_changes_nothing(door: Door, connectors: dict[str, UUID]) -> None:
    token = channel_token(SECRET, "gdrive", connectors["gdrive"])
    headers = {"X-Goog-Channel-Token": token, "X-Goog-Resource-State": "sync"}

    assert door.ask("/notifications/gdrive", b"", headers)[0] == 200
    assert door.jobs() == []


def test_a_connector_that_is_gone_is_answered_like_one_that_is_there(door: Door) -> None:
    headers = {"X-Goog-Channel-Token": channel_token(SECRET, "gdrive", uuid4()), "X-Goog-Resource-State": "change"}

    assert door.ask("/notifications/gdrive", b"", headers)[0] == 200
    assert door.jobs() == []


MALFORMED = [
    b"",
    b"{",
    b"\xff",
    b"[]",
    b"[" * 100_000,
    b'{"list_folder": 7}',
    b'{"list_folder": {"accounts": 7}}',
    b'{"list_folder": {"accounts": true}}',
    b'{"list_folder": {"accounts": {"a": 1}}}',
    b'{"list_folder": {"accounts": [7, null]}}',
]


@pytest.mark.parametrize("body", MALFORMED)
def test_a_signed_body_that_makes_no_sense_leads_to_nothing(door: Door, body: bytes) -> None:
    assert door.ask("/notifications/dropbox", body, signed(body))[0] == 400
    assert door.ask("/notifications/onedrive", body)[0] == 403
    assert door.jobs() == []


def test_one_notification_writes_few_lines(
    door: Door, connectors: dict[str, UUID], capsys: pytest.CaptureFixture[str]
) -> None:
    right = channel_token(SECRET, "onedrive", connectors["onedrive"])

    assert door.ask("/notifications/onedrive", of_graph(*range(900), right))[0] == 202

    (line,) = [json.loads(line) for line in capsys.readouterr().out.splitlines() if "refuse_notification" in line]
    assert line["reason"] == "900 client states are wrong"


def test_bodies_and_challenges_have_an_end(door: Door) -> None:
    body = b" " * (MAX_BODY_BYTES + 1)

    assert door.ask("/notifications/dropbox", body, signed(body))[0] == 413
    assert door.ask("/notifications/dropbox?challenge=" + "x" * 5000, method="GET")[0] == 400
    assert door.ask("/notifications/dropbox", method="GET")[0] == 405
    assert door.ask("/notifications/elsewhere")[0] == 404
