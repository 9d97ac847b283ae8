"""Which role may do what: the whole list, held against the catalogue of a migrated database."""

from collections.abc import Iterator
from contextlib import suppress
from typing import LiteralString

import psycopg
import pytest

from tests.world import World
from tickwork.database.migrate import migrate
from tickwork.testing.database import cloned
from tickwork_local.postgres import Server

# The functions that a role may call. What tickwork_owner calls is nobody else's business, and is not listed.
MAY_EXECUTE = {
    "authenticated service_role": """
        public.enqueue_job public.cancel_job public.retry_job public.reschedule_job public.bury_job
        tickwork.enqueue_job tickwork.change_job
        public.retry_jobs public.cancel_jobs public.reschedule_jobs tickwork.change_jobs
        public.list_jobs tickwork.list_jobs public.queue_summary tickwork.count_jobs
        public.explain_job tickwork.explain_job
        public.create_schedule public.change_schedule public.pause_schedules public.resume_schedules
        public.run_schedule public.backfill_schedule public.delete_schedule public.preview_schedule
        tickwork.create_schedule tickwork.change_schedule tickwork.pause_schedules tickwork.resume_schedules
        tickwork.run_schedule tickwork.backfill_schedule tickwork.delete_schedule tickwork.preview_schedule
        public.list_schedules tickwork.spread_of
        public.estimate_extraction public.request_extraction tickwork.request_extraction tickwork.estimated_pages
        tickwork.extraction_engine public.sign_document
        public.correct_document_type tickwork.correct_document_type public.search_chunks tickwork.search_chunks
        public.redeliver_webhook public.redeliver_webhooks public.test_webhook
        tickwork.redeliver_webhook tickwork.redeliver_webhooks tickwork.test_webhook
        public.create_event_trigger public.change_event_trigger public.pause_event_triggers
        public.resume_event_triggers public.delete_event_trigger public.list_event_triggers public.test_event
        tickwork.create_event_trigger tickwork.change_event_trigger tickwork.pause_event_triggers
        tickwork.delete_event_trigger tickwork.test_event
        public.request_import tickwork.request_import
        tickwork.caller_is_service tickwork.caller_memberships tickwork.caller_tenants
        tickwork.caller_is_platform_admin tickwork.caller_may_do_all tickwork.may_act_for
        tickwork.new_job tickwork.new_filter""",
    "authenticated service_role tickwork_worker": "tickwork.caller_id",
    "service_role": """
        public.enqueue_jobs public.reap_expired_leases public.rebuild_queue public.purge_jobs public.pause_jobs
        public.resume_jobs public.hold_lane public.release_lane public.limit_lane public.list_holds
        tickwork.enqueue_jobs tickwork.reap_expired_leases tickwork.rebuild_queue tickwork.purge_jobs
        tickwork.pause_jobs tickwork.resume_jobs tickwork.hold_lane tickwork.release_lane tickwork.limit_lane
        tickwork.check_lane tickwork.list_holds tickwork.is_backoff tickwork.are_keep_days
        tickwork.tick tickwork.forget_ticks
        tickwork.store_secret tickwork.rename_secret tickwork.drop_secrets tickwork.list_secrets
        tickwork.is_evidence tickwork.hears_of_jobs tickwork.are_event_types
        public.emit_event tickwork.emit_event public.purge_events tickwork.purge_events""",
    "tickwork_worker service_role": """
        public.claim_next_job public.claim_jobs public.heartbeat_job public.heartbeat_jobs public.hold_job
        public.complete_job public.fail_job public.release_job public.settle_jobs public.settle_and_claim
        public.hold_lane_of_job public.note_changes tickwork.note_changes
        tickwork.claim_jobs tickwork.heartbeat_jobs tickwork.hold_job tickwork.held_tenant
        tickwork.settle_one tickwork.settle_jobs tickwork.settle_and_claim tickwork.hold_lane_of_job
        tickwork.raise_lease_lost
        tickwork.separate_words tickwork.fold_umlauts tickwork.search_words tickwork.search_key
        tickwork.search_vector""",
    "tickwork_worker": """
        public.emit_held_event tickwork.emit_held_event public.note_delivery tickwork.note_delivery
        tickwork.keep_secret tickwork.read_secrets""",
}
INNER_TABLES = """
    tenants family_types waiting parked awaiting awaited to_check alarms leases taken_keys blocked buckets
    pauses allowances functions call_tokens ticks call_secrets secrets trigger_windows
"""
CLIENT_COLUMNS = (
    "tenant_id, type, payload, priority, run_at, idempotency_key, dedupe_key, lane, correlation_id, notify, after, "
    "after_when"
)
DOCUMENT_COLUMNS = "tenant_id, name, vault_path, mime_type, size, sha256"
# In the letters of psql's \dp: a insert, r select, w update, d delete, U usage, C create.
MAY_TOUCH = {
    "public.organizations": "authenticated=r service_role=arwd tickwork_owner=r",
    "public.tenant_settings": "authenticated=r service_role=rw tickwork_owner=arwd",
    "public.memberships": "authenticated=r service_role=arwd tickwork_owner=r",
    "tickwork.organizations": "service_role=r tickwork_owner=r",
    "tickwork.memberships": "service_role=r tickwork_owner=r",
    "tickwork.schema_versions": "service_role=r tickwork_owner=r tickwork_worker=r",
    "tickwork.platform_admins": "service_role=arwd tickwork_owner=r",
    "public.job_types": "authenticated=r service_role=arw tickwork_owner=r tickwork_worker=r",
    "public.documents": "authenticated=r service_role=arwd tickwork_owner=arwd tickwork_worker=arw",
    "public.extractions": "authenticated=r service_role=arwd tickwork_owner=arwd tickwork_worker=arw",
    "public.document_chunks": "authenticated=r service_role=arwd tickwork_owner=arwd tickwork_worker=ard",
    "public.extraction_engines": "authenticated=r service_role=arw tickwork_owner=r tickwork_worker=r",
    "public.connectors": "authenticated=r service_role=arwd tickwork_owner=r tickwork_worker=rw",
    "public.connector_folders": "service_role=arwd tickwork_owner=r tickwork_worker=arw",
    "public.imported_items": "authenticated=r service_role=arwd tickwork_worker=arw",
    "public.document_overview": "authenticated=r service_role=r",
    "public.document_types": "authenticated=r service_role=arwd tickwork_owner=r tickwork_worker=r",
    "public.document_words": "authenticated=r service_role=arwd tickwork_worker=arw",
    "public.document_corrections": "authenticated=r service_role=arwd tickwork_owner=arw tickwork_worker=r",
    "public.webhook_endpoints": "authenticated=r service_role=arwd tickwork_owner=rw tickwork_worker=r",
    "public.events": "authenticated=r service_role=r tickwork_owner=arwd tickwork_worker=r",
    "public.event_triggers": "authenticated=r service_role=r tickwork_owner=arwd",
    "public.trigger_fires": "authenticated=r service_role=r tickwork_owner=arwd",
    "public.job_triggers": "authenticated=r service_role=r",
    "public.webhook_deliveries": "authenticated=r service_role=r tickwork_owner=arwd tickwork_worker=r",
    "public.jobs": "authenticated=r service_role=r tickwork_owner=arwd",
    "public.schedules": "authenticated=r service_role=r tickwork_owner=arwd",
    "public.schedule_fires": "authenticated=r service_role=r tickwork_owner=arwd",
    "public.job_attempts": "authenticated=r service_role=r",
    "tickwork.attempts": "authenticated=r service_role=r tickwork_owner=arwd",
    "tickwork.exceptions": "service_role=r tickwork_owner=arwd",
    "tickwork.lane_rules": "service_role=r tickwork_owner=arwd",
    "tickwork.unsuccessful": "authenticated=r service_role=r tickwork_owner=arwd",
    "tickwork.event_purge": "tickwork_owner=rw",
    "tickwork.unfinished": "tickwork_owner=r",
    "tickwork.unsuccessful_jobs": "tickwork_owner=r",
    **{f"public.jobs.{column}": "authenticated=a service_role=a" for column in CLIENT_COLUMNS.split(", ")},
    **{f"public.documents.{column}": "authenticated=a" for column in DOCUMENT_COLUMNS.split(", ")},
    **{f"tickwork.{table}": "tickwork_owner=arwd" for table in INNER_TABLES.split()},
    "tickwork": "authenticated=U service_role=U tickwork_worker=U tickwork_owner=UC",
}

OURS = "in ('public'::regnamespace, 'tickwork'::regnamespace)"
# The rights of an object's owner go without saying.
GRANTS = f"""
    select concat(object, ' ', split_part(item::text, '/', 1)) as line
    from (
      select proowner as owner, coalesce(proacl, acldefault('f', proowner)) as acl,
        concat_ws('.', pronamespace::regnamespace, proname) as object
      from pg_proc where pronamespace {OURS}
      union all
      select relowner, relacl, concat_ws('.', relnamespace::regnamespace, relname)
      from pg_class where relnamespace {OURS}
      union all
      select relowner, attacl, concat_ws('.', relnamespace::regnamespace, relname, attname)
      from pg_attribute join pg_class on pg_class.oid = attrelid where relnamespace {OURS}
      union all
      select nspowner, nspacl, nspname from pg_namespace where nspname = 'tickwork'
    ) as objects
    cross join unnest(acl) as item
    where split_part(item::text, '=', 1) <> owner::regrole::text
      and item::text !~ '^tickwork_owner=X/'
"""

RULES = {
    "a definer function is in tickwork and of tickwork_owner": f"""
        select oid::regprocedure from pg_proc where pronamespace {OURS} and prosecdef
          and not (pronamespace = 'tickwork'::regnamespace and proowner = 'tickwork_owner'::regrole)""",
    # What only the queue's own functions call runs under the search_path that these have set.
    "a function that others call has an empty search_path, or was parsed at its definition": f"""
        select oid::regprocedure from pg_proc where pronamespace {OURS} and prosqlbody is null
          and ('search_path=""' = any (proconfig)) is not true
          and (
            prosecdef
            or proacl is null
            or exists (
              select from unnest(proacl) as item
              where split_part(item::text, '=', 1) not in ('tickwork_owner', proowner::regrole::text)
            )
          )""",
    "row-level security is enabled and forced": f"""
        select oid::regclass from pg_class where relnamespace {OURS} and relkind in ('r', 'p')
          and not (relrowsecurity and relforcerowsecurity)""",
    "a view is a plain one, with security_invoker": f"""
        select oid::regclass from pg_class where relnamespace {OURS} and relkind in ('v', 'm', 'f')
          and (relkind = 'v' and 'security_invoker=true' = any (reloptions)) is not true""",
    "no policy opens up when a setting is missing": """
        select policyname from pg_policies, concat(qual, with_check) as expression
        where expression ~* 'is null' and expression ~* 'current_setting|auth\\.|caller_'""",
    "a unique key tells nothing about other tenants": f"""
        select indexrelid::regclass from pg_index join pg_class on pg_class.oid = indrelid
        join pg_attribute on attrelid = indrelid and attname = 'tenant_id'
        where relnamespace {OURS} and indisunique and not indisprimary and indkey[0] <> attnum
          and pg_get_expr(indpred, indrelid) is distinct from '(tenant_id IS NULL)'""",
    "the roles of our own have no powers": """
        select rolname from pg_roles where rolname in ('tickwork_owner', 'tickwork_worker')
          and (rolsuper or rolbypassrls or rolcreaterole or rolcreatedb or rolreplication
            or (rolcanlogin and rolname = 'tickwork_owner'))""",
    "no client becomes a role with more rights, or creates things beside ours": """
        select client from unnest(array['anon', 'authenticated', 'tickwork_worker']) as client
        where pg_has_role(client, 'service_role', 'member') or pg_has_role(client, 'tickwork_owner', 'member')
          or has_schema_privilege(client, 'public', 'create') or has_schema_privilege(client, 'tickwork', 'create')""",
}


def unlisted_grants(world: World) -> list[str]:
    """What the catalogue allows and the list does not, and the other way round."""
    granted = {row["line"] for row in world.admin.execute(GRANTS)}
    listed = {f"{name} {item}" for name, items in MAY_TOUCH.items() for item in items.split()}
    for roles, names in MAY_EXECUTE.items():
        listed |= {f"{name} {role}=X" for name in names.split() for role in roles.split()}
    return [f"not listed: {line}" for line in granted - listed] + [f"not granted: {line}" for line in listed - granted]


def broken_rules(world: World) -> Iterator[str]:
    for rule, query in RULES.items():
        yield from (f"not so: {rule}: {value}" for row in world.admin.execute(query) for value in row.values())


def test_the_roles_have_exactly_the_rights_on_the_list(world: World) -> None:
    assert unlisted_grants(world) == []


def test_clients_have_no_right_that_row_level_security_does_not_govern(world: World) -> None:
    items = [row["line"].split(" ")[1] for row in world.admin.execute(GRANTS)]

    assert not [item for item in items if item.startswith(("=", "anon="))]
    # D truncate, x references, t trigger, m maintain; a star would let a role pass its right on.
    assert not [item for item in items if set(item.partition("=")[2]) & set("Dxtm*")]


# What the application's users may call, however they come by the right. On Supabase the functions of auth are its own.
CALLABLE = {
    "anon": "auth.jwt auth.role auth.uid",
    "authenticated": "auth.jwt auth.role auth.uid "
    + " ".join(names for roles, names in MAY_EXECUTE.items() if "authenticated" in roles.split()),
}


@pytest.mark.parametrize("role", CALLABLE)
def test_users_can_call_what_is_listed_and_nothing_else(world: World, role: str) -> None:
    rows = world.rows(
        "select distinct concat_ws('.', pronamespace::regnamespace, proname) as name from pg_proc "
        "where pronamespace::regnamespace::text not in ('pg_catalog', 'information_schema') "
        "and prorettype <> 'trigger'::regtype "
        "and has_schema_privilege(%s, pronamespace, 'usage') and has_function_privilege(%s, pg_proc.oid, 'execute')",
        *(role, role),
    )

    assert {row["name"] for row in rows} == {*CALLABLE[role].split()}


def test_permissive_default_privileges_of_older_projects_change_nothing(server: Server) -> None:
    with cloned(server, "template1") as name, World(server.url(name), server.url(name)) as world:
        for kind in ("tables", "functions", "sequences"):
            grant = f"grant all on {kind} to anon, authenticated, service_role"
            world.run(f"alter default privileges in schema public {grant}")

        migrate(world.url)

        assert unlisted_grants(world) == []
        world.run("create table public.forgotten ()")
        assert any("public.forgotten anon=arwdDxt" in line for line in unlisted_grants(world))


ADDED_LATER: LiteralString = "create function tickwork.added_later() returns integer language sql as 'select 1'"
ADDED_BY_MODULE: list[LiteralString] = [ADDED_LATER, "select tickwork.finish_module()"]
ADDED_BY_OWNER: list[LiteralString] = ["set role tickwork_owner", ADDED_LATER, "reset role"]


@pytest.mark.parametrize("added", [ADDED_BY_MODULE, ADDED_BY_OWNER], ids=["module", "owner"])
def test_a_function_that_is_added_later_is_closed_until_it_is_opened(world: World, added: list[LiteralString]) -> None:
    for statement in added:
        world.run(statement)
    member = world.member_of(world.tenant())

    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        member.execute("select tickwork.added_later()")
    world.run("grant execute on function tickwork.added_later to authenticated")
    assert member.execute("select tickwork.added_later() as one").fetchall() == [{"one": 1}]


def test_the_functions_of_the_application_are_as_open_as_ever(world: World) -> None:
    world.run("create function public.added_later() returns integer language sql as 'select 1'")

    assert world.member_of(world.tenant()).execute("select added_later() as one").fetchall() == [{"one": 1}]


def test_functions_tables_views_policies_and_roles_keep_the_rules(world: World) -> None:
    assert list(broken_rules(world)) == []


def test_a_client_inserts_only_the_columns_it_owns(world: World) -> None:
    tenant, type = world.tenant(), world.type()
    member = world.member_of(tenant)
    columns = world.rows("select attname from pg_attribute where attrelid = 'jobs'::regclass and attnum > 0")
    needed = {"tenant_id": tenant, "type": type}

    accepted = []
    for column in (row["attname"] for row in columns):
        values = {column: None, **needed}
        marks = ", ".join(["%s"] * len(values))
        with suppress(psycopg.errors.InsufficientPrivilege):
            member.execute(f"insert into jobs ({', '.join(values)}) values ({marks})", [*values.values()])
            accepted.append(column)

    assert len(columns) > 30
    assert sorted(accepted) == sorted(CLIENT_COLUMNS.split(", "))
    assert world.value("select count(*) from jobs") == len(accepted)


def test_an_inserted_row_gets_the_rest_from_its_type_and_its_caller(world: World) -> None:
    tenant, type = world.tenant(), world.type(family="post", max_attempts=9)
    member = world.member_of(tenant)

    member.execute("insert into jobs (tenant_id, type) values (%s, %s)", [tenant, type])

    job = world.row("select * from jobs")
    assert (job["family"], job["max_attempts"], job["status"], job["attempts"]) == ("post", 9, "queued", 0)
    assert job["created_by"] == world.value("select user_id from memberships")


@pytest.mark.parametrize("statement", ["update jobs set priority = 1", "delete from jobs"])
def test_a_client_changes_no_row_directly(world: World, statement: str) -> None:
    job = world.reload(world.job())
    member = world.member_of(job.tenant_id, role="owner")

    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        member.execute(statement)

    assert world.reload(job) == job
