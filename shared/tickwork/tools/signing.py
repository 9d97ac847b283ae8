"""Signs webhooks: Standard Webhooks 1.0.0, and a header with an HMAC of the whole body."""

import hashlib
import hmac
import os
import re
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence

PREFIX = "whsec_"
SECRET_BYTES = 32
# Older or newer ones may be replays.
TOLERANCE_SECONDS = 300


def new_secret() -> str:
    return PREFIX + b64encode(os.urandom(SECRET_BYTES)).decode()


def signed_headers(
    secrets: Sequence[str], message_id: str, timestamp: int, body: bytes, header_prefix: str
) -> dict[str, str]:
    """One signature per secret, so that a receiver may know either; the plain one uses the first."""
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(signature(secret, message_id, str(timestamp), body) for secret in secrets),
        f"{header_prefix}Signature": plain_signature(secrets[0], body),
    }


def signature(secret: str, message_id: str, timestamp: str, body: bytes) -> str:
    key = b64decode(secret.removeprefix(PREFIX))
    signed = hmac.new(key, f"{message_id}.{timestamp}.".encode() + body, hashlib.sha256)
    return f"v1,{b64encode(signed.digest()).decode()}"


def plain_signature(secret: str, body: bytes) -> str:
    # With the text of the secret as it is: receivers use it as they got it.
    return f"sha256={hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()}"


def is_genuine(secret: str, headers: Mapping[str, str], body: bytes, now: float) -> bool:
    """Whether somebody who knows the secret sent this within the last few minutes; header names in lower case."""
    message_id, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not re.fullmatch("[0-9]{1,12}", timestamp) or abs(now - int(timestamp)) > TOLERANCE_SECONDS:
        return False
    expected = signature(secret, message_id, timestamp, body).encode()
    given = headers.get("webhook-signature", "").split(" ")
    return any(hmac.compare_digest(expected, each.encode()) for each in given)
