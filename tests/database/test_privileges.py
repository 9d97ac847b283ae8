"""Which role may do what: the whole list, held against the catalogue of a migrated database."""

from collections.abc import Iterator
from contextlib import suppress

import psycopg
import pytest

from tests.conftest import cloned
from tests.world import World
from tickwork.migrations import migrate
from tickwork_local.postgres import Server

MAY_EXECUTE = {
    "authenticated service_role": """
        public.enqueue_job public.cancel_job public.retry_job public.reschedule_job
        tickwork.enqueue_job tickwork.cancel_job tickwork.retry_job tickwork.reschedule_job
        public.list_jobs public.queue_summary public.explain_job
        tickwork.caller_tenants tickwork.caller_is_platform_admin tickwork.check_caller""",
    "authenticated service_role tickwork_owner": """
        tickwork.caller_id tickwork.caller_is_service tickwork.check_size tickwork.check_key tickwork.check_payload
        tickwork.check_run_at tickwork.knows_json_schema tickwork.wait_for_disk""",
    "service_role": """
        public.enqueue_jobs public.reap_expired_leases public.purge_jobs
        tickwork.enqueue_jobs tickwork.reap_expired_leases tickwork.purge_jobs tickwork.is_backoff""",
    "tickwork_worker service_role": """
        public.claim_next_job public.claim_jobs public.heartbeat_job public.heartbeat_jobs public.hold_job
        public.complete_job public.fail_job public.release_job public.settle_jobs
        tickwork.claim_jobs tickwork.heartbeat_jobs tickwork.hold_job tickwork.held_tenant
        tickwork.complete_job tickwork.fail_job tickwork.release_job tickwork.settle_jobs""",
    "tickwork_worker service_role tickwork_owner": "tickwork.raise_lease_lost",
    "tickwork_owner": """
        tickwork.skip_disk tickwork.check_objects tickwork.insert_jobs tickwork.requests_from tickwork.check_claim
        tickwork.reap
        tickwork.settle tickwork.settle_one tickwork.backoff_seconds tickwork.check_delay tickwork.check_outcomes
        tickwork.lock_job_for_caller tickwork.raise_wrong_status""",
}
CLIENT_COLUMNS = "tenant_id, type, payload, priority, run_at, idempotency_key, dedupe_key, lane, correlation_id"
# In the letters of psql's \dp: a insert, r select, w update, d delete, U usage, C create.
MAY_TOUCH = {
    "public.organizations": "authenticated=r service_role=arwd tickwork_owner=r",
    "public.memberships": "authenticated=r service_role=arwd tickwork_owner=r",
    "tickwork.platform_admins": "service_role=arwd tickwork_owner=r",
    "public.job_types": "authenticated=r service_role=arw tickwork_owner=r",
    "public.jobs": "authenticated=r service_role=r tickwork_owner=arwd",
    "public.job_attempts": "authenticated=r service_role=r tickwork_owner=arwd",
    **{f"public.jobs.{column}": "authenticated=a service_role=a" for column in CLIENT_COLUMNS.split(", ")},
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
"""

RULES = {
    "a definer function is in tickwork and of tickwork_owner": f"""
        select oid::regprocedure from pg_proc where pronamespace {OURS} and prosecdef
          and not (pronamespace = 'tickwork'::regnamespace and proowner = 'tickwork_owner'::regrole)""",
    "a function has an empty search_path": f"""
        select oid::regprocedure from pg_proc
        where pronamespace {OURS} and ('search_path=""' = any (proconfig)) is not true""",
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
        where relnamespace {OURS} and indisunique and not indisprimary and indkey[0] <> attnum""",
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


def test_permissive_default_privileges_of_older_projects_change_nothing(server: Server) -> None:
    with cloned(server, "template1") as name, World(server.url(name), server.url(name)) as world:
        for kind in ("tables", "functions", "sequences"):
            grant = f"grant all on {kind} to anon, authenticated, service_role"
            world.run(f"alter default privileges in schema public {grant}")

        migrate(world.url)

        assert unlisted_grants(world) == []
        world.run("create table public.forgotten ()")
        assert any("public.forgotten anon=arwdDxt" in line for line in unlisted_grants(world))


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
