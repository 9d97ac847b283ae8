"""What comes in from strangers: it is taken or refused by the name of the refusal, and no message holds a secret."""

import json
import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz import bounded
from tickwork.errors import CallerRefused
from tickwork.serve.callers import check_caller, sign
from tickwork.serve.notifications import Refused, accounts_in, check_signature, checked, connectors_in
from tickwork.settings import Settings
from tickwork.tools.signing import is_genuine, new_secret

SECRET = "top-secret-of-the-operator"
SETTINGS = Settings(
    database_url="postgresql://localhost/x",
    hmac_secret=SECRET,
    bearer_secret=SECRET,
    notification_secret=SECRET,
    oidc_audience="https://function.example",
    oidc_email="caller@example.iam.gserviceaccount.com",
    # Nobody listens there.
    oidc_keys_url="http://127.0.0.1:1/",
)
TEXTS = st.text() | st.from_regex(r"[0-9]{1,30}", fullmatch=True)
TOKENS = st.from_regex(r"[A-Za-z0-9_-]{0,30}\.[A-Za-z0-9_-]{0,30}\.[A-Za-z0-9_-]{0,30}", fullmatch=True)
VALUES = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda each: (
        st.lists(each) | st.dictionaries(st.sampled_from(["list_folder", "accounts", "value", "clientState"]), each)
    ),
)


@bounded
@given(
    st.dictionaries(
        st.sampled_from(["Authorization", "X-Tickwork-Signature", "X-Tickwork-Timestamp", "X-Tickwork-Nonce"]),
        TEXTS
        | (TEXTS | TOKENS).map(lambda token: f"Bearer {token}")
        | st.just(sign("extract", int(time.time()), "other")),
    )
)
def test_a_stranger_is_refused_by_name(headers: dict[str, str]) -> None:
    with pytest.raises(CallerRefused) as refusal:
        check_caller(headers, "203.0.113.7", "extract", SETTINGS)

    assert SECRET not in str(refusal.value)


@bounded
@given(st.dictionaries(st.sampled_from(["webhook-id", "webhook-timestamp", "webhook-signature"]), TEXTS), st.binary())
def test_no_webhook_is_genuine_by_chance(headers: dict[str, str], body: bytes) -> None:
    assert not is_genuine(new_secret(), headers, body, time.time())


@bounded
@given(st.binary() | VALUES.map(lambda value: json.dumps(value).encode()), st.text())
def test_a_notification_is_read_or_refused(body: bytes, token: str) -> None:
    with suppress(Refused):
        assert all(isinstance(each, str) for each in accounts_in(body))
    for take in (
        lambda: connectors_in(body, SETTINGS),
        lambda: checked(token, "gdrive", SETTINGS),
        lambda: check_signature(token, body, SECRET),
    ):
        with pytest.raises(Refused) as refusal:
            take()
        assert SECRET not in str(refusal.value)
