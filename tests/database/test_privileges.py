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
        public.list_jobs public.queue_summary public.explain_job tickwork.obstacle
        public.estimate_extraction public.request_extraction tickwork.request_extraction
        public.correct_document_type tickwork.correct_document_type public.search_chunks tickwork.search_chunks
        public.redeliver_webhook public.redeliver_webhooks public.test_webhook
        tickwork.redeliver_webhook tickwork.redeliver_webhooks tickwork.test_webhook
        public.request_import tickwork.request_import
        tickwork.caller_tenants tickwork.caller_is_platform_admin tickwork.check_caller""",
    "authenticated service_role tickwork_owner": """
        tickwork.caller_is_service tickwork.check_size tickwork.check_key tickwork.check_payload
        tickwork.check_run_at tickwork.check_job tickwork.check_state tickwork.knows_json_schema tickwork.wait_for_disk
        tickwork.path_to tickwork.type_problem tickwork.is_element tickwork.is_uuid tickwork.is_date_time
        tickwork.string_problem tickwork.number_problem tickwork.value_problem tickwork.is_plainly_valid
        tickwork.object_problem tickwork.additional_problem tickwork.array_problem tickwork.payload_problem
        tickwork.turn_id tickwork.line_id tickwork.estimated_pages""",
    "authenticated service_role tickwork_owner tickwork_worker": "tickwork.caller_id",
    "service_role": """
        public.enqueue_jobs public.reap_expired_leases public.purge_jobs public.pause_jobs public.resume_jobs
        public.hold_lane public.release_lane public.limit_lane public.list_holds
        tickwork.enqueue_jobs tickwork.reap_expired_leases tickwork.purge_jobs tickwork.pause_jobs tickwork.resume_jobs
        tickwork.hold_lane tickwork.release_lane tickwork.limit_lane tickwork.list_holds tickwork.is_backoff
        tickwork.tick tickwork.forget_ticks
        tickwork.pattern_problem tickwork.keyword_problem tickwork.subschema_problem tickwork.schema_problem
        tickwork.check_payload_schema
        tickwork.store_secret tickwork.rename_secret tickwork.drop_secrets tickwork.list_secrets
        tickwork.is_evidence
        public.emit_event tickwork.emit_event_as_service public.purge_events tickwork.purge_events""",
    "service_role tickwork_owner": "tickwork.hears_of_jobs tickwork.are_event_types",
    "tickwork_worker service_role": """
        public.claim_next_job public.claim_jobs public.heartbeat_job public.heartbeat_jobs public.hold_job
        public.complete_job public.fail_job public.release_job public.settle_jobs public.settle_and_claim
        public.hold_lane_of_job public.note_changes tickwork.note_changes
        tickwork.claim_jobs tickwork.heartbeat_jobs tickwork.hold_job tickwork.held_tenant
        tickwork.complete_job tickwork.fail_job tickwork.release_job tickwork.settle_jobs tickwork.settle_and_claim
        tickwork.hold_lane_of_job""",
    "tickwork_worker": """
        public.emit_held_event tickwork.emit_held_event public.note_delivery tickwork.note_delivery
        tickwork.keep_secret tickwork.read_secrets""",
    "tickwork_worker service_role tickwork_owner": """
        tickwork.raise_lease_lost
        tickwork.separate_words tickwork.fold_umlauts tickwork.search_words tickwork.search_key
        tickwork.search_vector""",
    "tickwork_owner": """
        tickwork.family_scope tickwork.type_scope tickwork.tenant_scope tickwork.tenant_type_scope tickwork.lane_scope
        tickwork.is_plain tickwork.is_plain_match tickwork.skip_disk tickwork.check_objects tickwork.check_delay
        tickwork.take_allowance tickwork.renew_allowances tickwork.wake_line tickwork.announce tickwork.announce_place
        tickwork.is_plain_job tickwork.checked_rows tickwork.insert_jobs tickwork.insert_new_jobs
        tickwork.insert_missing_jobs tickwork.requests_from
        tickwork.open_lines tickwork.close_line tickwork.shut_line tickwork.shut_turn tickwork.is_held
        tickwork.what_turns_are_made_of tickwork.queued_lines tickwork.wake_forgotten_lines
        tickwork.rules_of tickwork.admit tickwork.count_running tickwork.tokens_left tickwork.spend_tokens tickwork.shut
        tickwork.check_claim tickwork.claim tickwork.claim_in_turn tickwork.claim_rounds tickwork.start_jobs
        tickwork.start_job tickwork.claim_woken
        tickwork.next_spot tickwork.next_woken_spot tickwork.longest_waiting_priority
        tickwork.head_of_other_types tickwork.rounds_for tickwork.share_of tickwork.move_on tickwork.count_starts
        tickwork.settle_done tickwork.settle_undone tickwork.note_settled tickwork.settle_one tickwork.open_gates
        tickwork.status_after tickwork.backoff_seconds
        tickwork.error_code tickwork.error_message
        tickwork.settle_given tickwork.settle_mixed tickwork.done_jobs_from tickwork.is_plainly_done tickwork.as_claimed
        tickwork.outcomes_from tickwork.check_outcomes tickwork.enqueue_follow_ups
        tickwork.reap tickwork.lock_job_for_caller tickwork.raise_wrong_status
        tickwork.hmac_sha256 tickwork.call_secret tickwork.call_function tickwork.count_due tickwork.wake_function
        tickwork.remake_turns tickwork.check_scope tickwork.scope_of tickwork.check_lane tickwork.wake_lane
        tickwork.shut_lane
        tickwork.lock_document_for_caller tickwork.end_extractions tickwork.search_across
        tickwork.search_parts tickwork.search_terms tickwork.search_queries tickwork.search_marks
        tickwork.search_snippet tickwork.check_search tickwork.put_secret
        tickwork.bound_lane tickwork.free_lane tickwork.check_purge
        tickwork.emit_event tickwork.check_event tickwork.enqueue_deliveries tickwork.endpoint_lane
        tickwork.enqueue_late_deliveries tickwork.enqueue_late_deliveries_of tickwork.end_deliveries tickwork.hears
        tickwork.is_heard_of tickwork.emit_job_events
        tickwork.judge_endpoint tickwork.open_breaker tickwork.close_breaker tickwork.hasten_deliveries
        tickwork.delivery_family tickwork.disable_endpoint
        tickwork.raise_no_delivery tickwork.redeliver tickwork.may_act_for tickwork.lock_endpoint_for_caller
        tickwork.connector_lane tickwork.enqueue_import""",
}
INNER_TABLES = (
    "functions call_tokens ticks call_secrets turns lines wakes served_types holds lanes buckets allowances secrets"
)
CLIENT_COLUMNS = "tenant_id, type, payload, priority, run_at, idempotency_key, dedupe_key, lane, correlation_id"
DOCUMENT_COLUMNS = "tenant_id, name, vault_path, mime_type, size, sha256"
# In the letters of psql's \dp: a insert, r select, w update, d delete, U usage, C create.
MAY_TOUCH = {
    "public.organizations": "authenticated=r service_role=arwd tickwork_owner=r",
    "public.memberships": "authenticated=r service_role=arwd tickwork_owner=r",
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
    "public.webhook_deliveries": "authenticated=r service_role=r tickwork_owner=arwd tickwork_worker=r",
    "public.jobs": "authenticated=r service_role=r tickwork_owner=arwd",
    "public.job_attempts": "authenticated=r service_role=r",
    "tickwork.attempts": "authenticated=r service_role=r tickwork_owner=arwd",
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
"""

RULES = {
    "a definer function is in tickwork and of tickwork_owner": f"""
        select oid::regprocedure from pg_proc where pronamespace {OURS} and prosecdef
          and not (pronamespace = 'tickwork'::regnamespace and proowner = 'tickwork_owner'::regrole)""",
    "a function has an empty search_path, or was parsed at its definition": f"""
        select oid::regprocedure from pg_proc where pronamespace {OURS} and prosqlbody is null
          and ('search_path=""' = any (proconfig)) is not true""",
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
