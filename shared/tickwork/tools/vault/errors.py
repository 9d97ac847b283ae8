"""What can go wrong with any kind of vault: messages for the tenant, without keys, paths or URLs."""

from collections.abc import Mapping

from tickwork.errors import JobError, Permanent, Retryable

# Timeouts, locks, conflicts with another writer, too many requests. All from 500 on are retryable too.
WORTH_A_RETRY = {408, 409, 423, 425, 429}
# Codes that S3 returns with a misleading status.
RETRIED_REASONS = ("requesttimeout", "nosuchupload")
MAX_DELAY_SECONDS = 3600


def answered(status: int, reason: str, retry_after: str | None = None) -> JobError:
    """What a server's response means: its status, and any codes and messages in it."""
    reason = reason.lower()
    if status in WORTH_A_RETRY or status >= 500 or any(each in reason for each in RETRIED_REASONS):
        return unavailable(retry_after)
    if status == 413 or "entitytoolarge" in reason:
        return Permanent("The file is larger than the vault allows", code="FILE_TOO_LARGE")
    # Supabase calls the missing bucket of an upload a related resource.
    if status == 404 and ("bucket" in reason or "related resource" in reason):
        return Permanent("The vault does not exist. The operator has to create its bucket", code="VAULT_MISSING")
    return missing() if status == 404 else refused()


def missing() -> Permanent:
    return Permanent("The file is not in the vault. Upload it again", code="FILE_MISSING")


def refused() -> Permanent:
    return Permanent("The vault refused access. The operator has to check its keys and rights", code="VAULT_REFUSED")


def unavailable(retry_after: str | None = None) -> Retryable:
    # Retry-After may also be a date; then the usual delay will do.
    asked = retry_after is not None and retry_after.isascii() and retry_after.isdigit()
    delay = float(min(int((retry_after or "")[:9]), MAX_DELAY_SECONDS)) if asked else None
    return Retryable("The vault cannot be reached at the moment", code="VAULT_UNAVAILABLE", delay=delay)


def check_end_is_known(headers: Mapping[str, str]) -> None:
    """Libraries notice a body that ends too soon, but only if they know its length."""
    if "content-length" not in headers and "transfer-encoding" not in headers:
        raise unavailable()
