"""Signatures: what we sign, others verify, and what somebody has touched, nobody does."""

import json
import random
import time
from contextlib import suppress
from datetime import datetime

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from tests.families.webhook.test_deliver_webhook import verify_signature
from tickwork.tools.signing import is_genuine, new_secret, signed_headers

BODIES = [b"", b"{}", "Grüße 😀".encode(), b"\r\n", b"\n\r", b"x" * 65_536, "ß".encode() * 32_768]


def bodies(count: int) -> list[bytes]:
    chance = random.Random(7)
    alphabet = 'aß€😀\r\n\t "\\{}0'
    texts = ("".join(chance.choices(alphabet, k=chance.randrange(300))) for _ in range(count))
    return BODIES + [text.encode() for text in texts]


def test_the_reference_library_verifies_a_thousand_bodies() -> None:
    secret, now = new_secret(), int(time.time())
    reference = Webhook(secret)

    for number, body in enumerate(bodies(1000)):
        message_id = f"message-{number}"
        headers = signed_headers([secret], message_id, now, body, "X-BPC-")

        signed_by_it = reference.sign(message_id, datetime.fromtimestamp(now).astimezone(), body.decode())
        assert headers["webhook-signature"] == signed_by_it
        assert verify_signature(secret, body, headers["X-BPC-Signature"])
        with suppress(json.JSONDecodeError):
            # It verifies first, and reads then.
            reference.verify(body, headers)


def test_a_receiver_with_either_secret_accepts_a_thousand_messages_while_one_replaces_the_other() -> None:
    old, new = new_secret(), new_secret()
    now = int(time.time())

    for number in range(1000):
        body = b'{"number": %d}' % number
        headers = signed_headers([new, old], f"message-{number}", now, body, "X-BPC-")

        for secret in (old, new):
            Webhook(secret).verify(body, headers)


@pytest.mark.parametrize("change", ["body", "webhook-id", "webhook-timestamp", "webhook-signature", "secret"])
def test_what_was_touched_is_not_genuine(change: str) -> None:
    secret, now = new_secret(), int(time.time())
    body = b'{"a": 1}'
    headers = signed_headers([secret], "message", now, body, "X-BPC-")
    assert is_genuine(secret, headers, body, now)
    if change == "body":
        # As a receiver might that reads and writes it before it verifies.
        body = b'{"a":1}'
    elif change == "secret":
        secret = new_secret()
    else:
        headers[change] = headers[change][:-1] + ("0" if headers[change][-1] != "0" else "1")

    assert not is_genuine(secret, headers, body, now)
    with pytest.raises(WebhookVerificationError):
        Webhook(secret).verify(body, headers)


@pytest.mark.parametrize("seconds", [-301, 301])
def test_what_was_recorded_is_not_genuine_later(seconds: int) -> None:
    secret, now = new_secret(), int(time.time())
    headers = signed_headers([secret], "message", now, b"{}", "X-BPC-")

    assert not is_genuine(secret, headers, b"{}", now + seconds)
    assert not is_genuine(secret, {**headers, "webhook-timestamp": "later"}, b"{}", now)
    assert not is_genuine(secret, {}, b"{}", now)


@pytest.mark.parametrize("length", [0, 1, 3, 20])
def test_a_part_of_a_signature_is_not_genuine(length: int) -> None:
    secret, now = new_secret(), 1_700_000_000
    headers = signed_headers([secret], "m", now, b"{}", "X-BPC-")
    assert is_genuine(secret, headers, b"{}", now)

    part = {**headers, "webhook-signature": headers["webhook-signature"][:length]}

    assert not is_genuine(secret, part, b"{}", now)


def test_a_secret_is_of_the_standards_size_and_never_the_same() -> None:
    assert len({new_secret() for _ in range(100)}) == 100
    assert new_secret().startswith("whsec_")
