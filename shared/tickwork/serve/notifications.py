"""Notifications from the providers: each must be authentic, and is never more than a hint."""

import hashlib
import hmac
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING
from uuid import UUID

from tickwork.client import Tickwork
from tickwork.client.direct.connectors import Connectors
from tickwork.database.connection import Database
from tickwork.errors import QueueError
from tickwork.logs import log
from tickwork.settings import Settings
from tickwork.tools.channel_tokens import channel_token
from tickwork.tools.json_object import json_object
from tickwork.web.bodies import BodyRefused, body_of

if TYPE_CHECKING:
    from flask import Request

Response = tuple[str, int, Mapping[str, str]]

PREFIX = "/notifications/"
# A thousand notifications of Graph in one request are smaller.
MAX_BODY_BYTES = 1_000_000
MAX_CHALLENGE_LENGTH = 4096
MAX_AT_ONCE = 1000
# Always as plain text: anybody can make us echo it.
PLAIN = {"Content-Type": "text/plain; charset=utf-8", "X-Content-Type-Options": "nosniff"}

SIGNATURE = re.compile("[0-9a-f]{64}")
TOKEN = re.compile("([0-9a-f-]{36})[.][0-9a-f]{64}")


class Refused(Exception):
    """The notification is not authentic, or makes no sense (400)."""

    def __init__(self, reason: str, status: int = 403) -> None:
        super().__init__(reason)
        self.status = status


def notifications(request: "Request", database: Database, settings: Settings) -> Response:
    """/notifications/<provider>: echoes the challenge, or enqueues an import for each connector concerned."""
    provider = request.path.removeprefix(PREFIX).strip("/")
    challenge = request.args.get("validationToken" if provider == "onedrive" else "challenge")
    if challenge is not None and provider in ("dropbox", "onedrive"):
        return (challenge, 200, PLAIN) if len(challenge) <= MAX_CHALLENGE_LENGTH else ("", 400, PLAIN)
    if request.method != "POST":
        return "", 405, PLAIN
    try:
        return noted(provider, request, Tickwork(database).connectors, settings)
    except BodyRefused as refusal:
        return "", refusal.status, PLAIN
    except Refused as refusal:
        log("refuse_notification", "WARNING", provider=provider, reason=str(refusal))
        return "", refusal.status, PLAIN
    except QueueError as error:
        # Providers try again later.
        log("miss_notification", "ERROR", provider=provider, reason=str(error))
        return "", 503, PLAIN


def noted(provider: str, request: "Request", connectors: Connectors, settings: Settings) -> Response:
    match provider:
        case "dropbox":
            connectors.note_changes("dropbox", account_ids=accounts_in(signed_body(request, settings)))
            return "", 200, PLAIN
        case "onedrive":
            body = body_of(request, MAX_BODY_BYTES)
            connectors.note_changes("onedrive", connector_ids=connectors_in(body, settings))
            return "", 202, PLAIN
        case "gdrive":
            connector = checked(request.headers.get("X-Goog-Channel-Token", ""), "gdrive", settings)
            # The first one only confirms the channel.
            if request.headers.get("X-Goog-Resource-State") != "sync":
                connectors.note_changes("gdrive", connector_ids=[connector])
            return "", 200, PLAIN
        case _:
            return "", 404, PLAIN


def signed_body(request: "Request", settings: Settings) -> bytes:
    signature = request.headers.get("X-Dropbox-Signature", "")
    if not SIGNATURE.fullmatch(signature):
        raise Refused("the signature is none")
    body = body_of(request, MAX_BODY_BYTES)
    check_signature(signature, body, settings.dropbox_app_secret)
    return body


def check_signature(signature: str, body: bytes, secret: str | None) -> None:
    expected = hmac.digest((secret or "").encode(), body, hashlib.sha256).hex()
    if not secret or not hmac.compare_digest(signature.encode(errors="replace"), expected.encode()):
        raise Refused("the signature is wrong")


def accounts_in(body: bytes) -> list[str]:
    listed = json_object(body).get("list_folder")
    accounts = listed.get("accounts") if isinstance(listed, dict) else None
    if not isinstance(accounts, list) or not all(isinstance(each, str) and "\0" not in each for each in accounts):
        raise Refused("the body is not what Dropbox sends", status=400)
    return accounts[:MAX_AT_ONCE]


def connectors_in(body: bytes, settings: Settings) -> list[UUID]:
    """The connectors of authentic notifications; forged ones do not affect the others, unless all are forged."""
    value = json_object(body).get("value")
    states = [each.get("clientState") for each in value if isinstance(each, dict)] if isinstance(value, list) else []
    different = dict.fromkeys(str(each) for each in states[:MAX_AT_ONCE])
    known = []
    for state in different:
        with suppress(Refused):
            known.append(checked(state, "onedrive", settings))
    if not known:
        raise Refused("no client state is valid")
    if wrong := len(different) - len(known):
        log("refuse_notification", "WARNING", provider="onedrive", reason=f"{wrong} client states are wrong")
    return known


def checked(token: str, provider: str, settings: Settings) -> UUID:
    secrets = settings.notification_secret.split(",") if settings.notification_secret else []
    named = TOKEN.fullmatch(token)
    try:
        connector_id = UUID(named[1]) if named else None
    except ValueError:
        connector_id = None
    if connector_id is None:
        raise Refused("the token is not one of ours")
    # All are compared, so that timing reveals nothing.
    equal = [hmac.compare_digest(token, channel_token(secret, provider, connector_id)) for secret in secrets]
    if not any(equal):
        raise Refused("the token is wrong")
    return connector_id
