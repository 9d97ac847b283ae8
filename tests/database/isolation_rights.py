"""What each caller of docs/reference/rights.md may do to its own tenant: whoever does more trespasses."""

from tickwork_docs.rights import ADD, CALLERS, MANAGE, PLATFORM, READ, WORKER, allowed

# API keys of a tenant, and who they are.
KEYS = {
    "read": "read",
    "enqueue": "enqueue",
    "read enqueue": "read enqueue",
    "operate": "operate",
    "worker": "worker",
    "revoked": "nobody",
    "expired": "nobody",
}
# By which callers hear of themselves, or of the whole queue.
FOR_ALL = """
    caller_has_key caller_id caller_key_id caller_may_add caller_is_platform_admin caller_may_do_all key_tenant
    queue_health
"""
# Who does what: verbs, what lies behind them, and what is written directly.
DEEDS = {
    **allowed(),
    **dict.fromkeys(FOR_ALL.split(), CALLERS),
    **dict.fromkeys(("change_job", "change_jobs", "select public.audit_log"), MANAGE),
    "keep_job_type": PLATFORM,
    "worker_settle_one": WORKER,
    "insert public.jobs": ADD,
    "insert public.documents": ADD,
    "caller_memberships": ("member", "admin"),
    "managed_tenants": ("admin", "operate"),
    "caller_tenants": tuple(caller for caller in READ if caller != "platform admin"),
    "only_tenant": tuple(caller for caller in CALLERS if caller not in ("platform admin", "worker")),
}


def may(caller: str, deed: str) -> bool:
    """What is not named here is for whoever may read."""
    return caller in DEEDS.get(deed, READ)


def may_change(caller: str, deed: str) -> bool:
    """Nothing by what is for readers."""
    return caller in DEEDS.get(deed, ()) and DEEDS[deed] is not READ


def may_see(caller: str, deed: str) -> bool:
    """Who may read gets an answer from cancel_jobs too: that none of the jobs is his to cancel."""
    return may(caller, deed) or (deed == "cancel_jobs" and caller in READ) or deed in FOR_ALL.split()
