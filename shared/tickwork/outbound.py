"""What handlers reach beyond the database, by the operator's settings: the vault, and whom they may call."""

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from uuid import UUID

from tickwork.errors import Retryable
from tickwork.http import Policy
from tickwork.settings import Settings, networks_of
from tickwork.vault import Vault, open_vault

LONGEST_PAUSE = 86_400.0
# Though 4xx, they say "not now" rather than "never".
PASSING = frozenset({408, 425})


def vault_of(settings: Settings, tenant_id: UUID) -> Vault:
    if settings.vault_url is None:
        raise Retryable("The operator has not said where the vault is", code="VAULT_MISSING")
    return open_vault(settings.vault_url, tenant_id, settings.vault_key)


def policy_of(settings: Settings) -> Policy:
    """Public addresses by https, unless the operator has said otherwise."""
    return Policy(
        allow_http=settings.outbound_http,
        private=networks_of(settings.outbound_allow),
        blocked=networks_of(settings.outbound_block),
        authorities=settings.outbound_authorities,
    )


def pause_of(retry_after: str | None) -> float | None:
    """The seconds that a Retry-After header asks for, a day at most; None if it asks for nothing sensible."""
    if retry_after is None:
        return None
    try:
        if retry_after.isascii() and retry_after.isdigit():
            return min(float(retry_after), LONGEST_PAUSE)
        at = parsedate_to_datetime(retry_after)
    except (ValueError, OverflowError):
        return None
    # A date without a zone is one in UTC.
    left = (at if at.tzinfo else at.replace(tzinfo=UTC)) - datetime.now(UTC)
    return min(max(left.total_seconds(), 0.0), LONGEST_PAUSE)
