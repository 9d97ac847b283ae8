"""What links a notification to a connector: a token that only we can create, and that a provider sends back."""

import hashlib
import hmac
from uuid import UUID


def channel_token(secret: str, provider: str, connector_id: UUID) -> str:
    """The token that a provider gets with a subscription and returns with each notification: it names the connector."""
    proof = hmac.digest(secret.encode(), f"{provider} {connector_id}".encode(), hashlib.sha256)
    return f"{connector_id}.{proof.hex()}"
