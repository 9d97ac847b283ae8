"""What ties a notification to a connector: a token that only we can make, and that a provider sends back."""

import hashlib
import hmac
from uuid import UUID


def channel_token(secret: str, provider: str, connector_id: UUID) -> str:
    """What a provider is given with a subscription and sends back with each notification: it names the connector."""
    proof = hmac.digest(secret.encode(), f"{provider} {connector_id}".encode(), hashlib.sha256)
    return f"{connector_id}.{proof.hex()}"
