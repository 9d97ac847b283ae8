"""Deliberate holes: each makes a check of isolation_checks.py fail."""

from tests.database.isolation_checks import open_policies, shown_tokens, sprung_traps
from tests.database.test_privileges import broken_rules, unlisted_grants


def hole(function: str, old: str, new: str) -> str:
    """A change to the body of a function."""
    before = f"pg_get_functiondef('tickwork.{function}'::regproc)"
    after = f"replace({before}, $old${old}$old$, $new${new}$new$)"
    return f"do $do$ begin assert {before} <> {after}; execute {after}; end $do$"


SEES = "alter policy members_reach_their_own on public.jobs using"
ALL_JOBS = "create view public.all_jobs as table public.jobs"
IS_OWN = "tenant_id in (select tickwork.caller_tenants())"
TELLTALE = "errcode = case when exists (select from public.jobs where id = job_id) then 'TWSTA' else 'TWJOB' end"
# Deliberate holes, and a cell that each of them makes wrong.
LEAKS = {
    f"{SEES} (true)": "admin of alpha, claims: select public.jobs",
    f"{SEES} (current_setting('request.jwt.claims', true) is null or {IS_OWN})": (
        "admin of alpha, cold: select public.jobs"
    ),
    "alter table tickwork.attempts disable row level security": "admin of alpha, claims: select public.job_attempts",
    f"{ALL_JOBS}; grant select on public.all_jobs to authenticated": "admin of alpha, claims: select public.all_jobs",
    "create function public.peek() returns setof public.jobs security definer language sql as 'table public.jobs'": (
        "admin of alpha, claims: rpc public.peek("
    ),
    hole("check_caller", "if not tickwork.caller_is_service()", "return; if true"): (
        "admin of alpha, other tenant: rpc public.enqueue_job("
    ),
    hole("caller_is_service", "RETURN pg_has_role", "RETURN session_user = 'authenticator' OR pg_has_role"): (
        "admin of alpha, claims: rpc public.cancel_jobs("
    ),
    hole("change_job", "tickwork.may_act_for(jobs.tenant_id)", "true"): (
        "admin of alpha, other tenant: rpc public.bury_job("
    ),
    hole("explain_job", "tickwork.may_act_for(jobs.tenant_id)", "true"): (
        "admin of alpha, other tenant: rpc public.explain_job("
    ),
    hole("resolve_filter", "where tickwork.may_act_for(wanted.tenant_id)", ""): (
        "admin of alpha, other tenant: rpc public.queue_summary("
    ),
    hole("raise_no_job", "errcode = 'TWJOB'", TELLTALE): "admin of alpha, other tenant: rpc public.bury_job(",
    hole("endpoint_to_manage", "tickwork.may_act_for(webhook_endpoints.tenant_id)", "true"): (
        "admin of alpha, other tenant: rpc public.redeliver_webhooks("
    ),
    hole("connector_to_manage", "tickwork.may_act_for(connectors.tenant_id)", "true"): (
        "admin of alpha, other tenant: rpc public.set_connector_token("
    ),
    hole(
        "end_attempts", "leases.token = end_attempts.tokens[array_position(end_attempts.ids, leases.job_id)]", "true"
    ): ("worker with a lease, other tenant: rpc public.complete_job("),
    hole("hold_lane_of_job", "leases.token = hold_lane_of_job.lease_token", "true"): (
        "worker with a lease, other tenant: rpc public.hold_lane_of_job("
    ),
    "create policy p on tickwork.waiting for select to anon using (true); "
    "grant select on tickwork.waiting to anon; grant usage on schema tickwork to anon": (
        "anon, malformed: select tickwork.waiting"
    ),
    hole("held_tenant", "and leases.token", "or leases.token"): "worker, claims: select public.connector_folders",
    hole("requests_from", "requests_from.tenant_id, request.tenant_id", "request.tenant_id"): (
        "worker with a lease, claims: rpc public.complete_job("
    ),
}


# Deliberate holes in what a role or a scope includes.
TRESPASSES = {
    hole("endpoint_to_manage", "perform tickwork.check_manager(endpoint.tenant_id)", "perform 1"): (
        "member of alpha, claims: rpc public.rotate_webhook_secret("
    ),
    hole("add_document", "{enqueue, operate}", "{read, enqueue, operate}"): (
        "read key of alpha, claims: rpc public.add_document("
    ),
    hole("may_manage", "membership.role in ('admin', 'owner')", "true"): (
        "member of alpha, claims: rpc public.create_schedule("
    ),
    hole("may_change", "select tickwork.may_manage((may_change.job).tenant_id)", "select true"): (
        "member of beta, claims: rpc public.retry_job("
    ),
    hole("may_manage", "'operate' = any (key.scopes)", "true"): "read key of alpha, claims: rpc public.retry_job(",
    hole("caller_may_add", "{enqueue, operate}", "{read, enqueue, operate}"): (
        "read key of alpha, claims: insert public.documents"
    ),
    hole("check_enqueuer", "{enqueue, operate}", "{read, enqueue, operate}"): (
        "read key of beta, claims: rpc public.enqueue_job("
    ),
    hole("caller_tenants", "{read, operate}", "{read, enqueue, operate}"): (
        "enqueue key of alpha, claims: select public.jobs"
    ),
    hole("check_person", "if tickwork.caller_has_key()", "if false"): (
        "operate key of alpha, claims: rpc public.create_api_key("
    ),
    hole("check_worker", "= any (key.scopes)) is not true", "= any (key.scopes)) is null"): (
        "operate key of alpha, claims: rpc public.worker_complete_job("
    ),
    hole("live_key", "and api_keys.revoked_at is null", ""): "revoked key of alpha, claims: select public.jobs",
    hole("live_key", "and (api_keys.expires_at > clock_timestamp()) is not false", ""): (
        "expired key of beta, claims: rpc public.list_jobs("
    ),
    "grant insert on public.schedules to authenticated; "
    "create policy p on public.schedules for insert to authenticated with check (true)": (
        "member of alpha, claims: insert public.schedules"
    ),
}


MUTANTS = {
    open_policies: [
        f"{SEES} (true)",
        "alter policy members_reach_their_own on public.jobs with check (true)",
    ],
    sprung_traps: ["alter function tickwork.caller_memberships reset search_path"],
    shown_tokens: [
        "alter table public.jobs add lease_token uuid; "
        "update public.jobs set lease_token = token from tickwork.leases where job_id = id",
        "create policy p on tickwork.leases for select to authenticated using (true); "
        "grant select on tickwork.leases to authenticated",
        "alter table tickwork.attempts add worker text; "
        "update tickwork.attempts set worker = 'w:' || token from tickwork.leases l where l.job_id = attempts.job_id",
    ],
    unlisted_grants: [
        "grant update on public.jobs to authenticated",
        "grant truncate on public.jobs to authenticated",
        "grant insert (status) on public.jobs to authenticated",
        "grant execute on function public.enqueue_job to anon",
        "create function public.harmless() returns int language sql as 'select 1'",
    ],
    broken_rules: [
        f"{SEES} (current_setting('a.b', true) is null)",
        "alter table public.jobs no force row level security",
        ALL_JOBS,
        "alter function public.list_jobs security definer",
        "alter function public.list_jobs reset search_path",
        "create unique index on public.jobs (idempotency_key)",
        "alter role tickwork_worker bypassrls",
    ],
}
