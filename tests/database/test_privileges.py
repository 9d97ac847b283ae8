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
        public.explain_job tickwork.explain_job public.get_job public.list_attempts
        public.list_steps tickwork.list_steps
        public.summarize_jobs public.list_workers tickwork.list_workers public.list_members tickwork.list_members
        public.find_tenants tickwork.find_tenants
        public.list_job_types public.create_job_type public.change_job_type tickwork.keep_job_type
        tickwork.check_type_changes public.list_events public.list_webhook_endpoints public.list_webhook_deliveries
        public.list_documents public.get_document public.list_connectors public.add_document tickwork.add_document
        public.create_webhook_endpoint public.change_webhook_endpoint public.rotate_webhook_secret
        public.delete_webhook_endpoint tickwork.create_webhook_endpoint tickwork.change_webhook_endpoint
        tickwork.rotate_webhook_secret tickwork.delete_webhook_endpoint
        public.create_connector public.change_connector public.set_connector_token public.delete_connector
        tickwork.create_connector tickwork.change_connector tickwork.set_connector_token tickwork.delete_connector
        public.list_job_triggers tickwork.job_trigger public.create_job_trigger public.change_job_trigger
        public.delete_job_trigger
        tickwork.only_tenant
        public.create_schedule public.change_schedule public.pause_schedules public.resume_schedules
        public.run_schedule public.backfill_schedule public.delete_schedule public.preview_schedule
        tickwork.create_schedule tickwork.change_schedule tickwork.pause_schedules tickwork.resume_schedules
        tickwork.run_schedule tickwork.backfill_schedule tickwork.delete_schedule tickwork.preview_schedule
        public.list_schedules public.get_schedule public.list_schedule_fires tickwork.spread_of
        public.get_event_trigger public.list_trigger_fires
        public.metrics tickwork.metrics public.latency tickwork.latency public.throughput tickwork.throughput
        public.queue_widgets tickwork.queue_widgets public.percentiles tickwork.percentiles
        public.queue_by_type tickwork.queue_by_type public.queue_by_tenant tickwork.queue_by_tenant
        public.list_alerts tickwork.list_alerts
        public.list_alert_rules tickwork.list_alert_rules public.change_alert_rule tickwork.change_alert_rule
        public.set_platform_tenant tickwork.set_platform_tenant
        public.estimate_extraction public.request_extraction tickwork.request_extraction tickwork.estimated_pages
        tickwork.extraction_engine public.sign_document
        public.add_artifact tickwork.add_artifact public.list_artifacts public.sign_artifact
        public.create_passport tickwork.create_passport public.request_compile tickwork.request_compile
        public.activate_passport tickwork.activate_passport public.disclose tickwork.disclose
        public.explain_passport tickwork.explain_passport public.list_passports public.get_passport
        public.get_passport_version public.list_passport_versions public.revoke_passport
        tickwork.revoke_passport public.passport_status_list
        public.request_export tickwork.request_export public.list_exports
        public.set_resolver tickwork.set_resolver public.get_resolver tickwork.get_resolver
        public.set_gtin tickwork.set_gtin public.request_link_qr tickwork.request_link_qr
        public.list_signing_keys public.register_signing_key tickwork.register_signing_key
        public.retire_signing_key tickwork.retire_signing_key public.revoke_signing_key tickwork.revoke_signing_key
        public.save_rules tickwork.save_rules public.request_rule_tests tickwork.request_rule_tests
        public.publish_rules tickwork.publish_rules public.retire_rules tickwork.retire_rules
        public.list_rules public.get_rules public.list_rule_tests
        public.correct_document_type tickwork.correct_document_type public.search_chunks tickwork.search_chunks
        public.redeliver_webhook public.redeliver_webhooks public.test_webhook
        tickwork.redeliver_webhook tickwork.redeliver_webhooks tickwork.test_webhook
        public.create_event_trigger public.change_event_trigger public.pause_event_triggers
        public.resume_event_triggers public.delete_event_trigger public.list_event_triggers public.test_event
        tickwork.create_event_trigger tickwork.change_event_trigger tickwork.pause_event_triggers
        tickwork.delete_event_trigger tickwork.test_event
        public.request_import tickwork.request_import
        public.worker_claim_jobs public.worker_heartbeat_job public.worker_complete_job public.worker_fail_job
        public.worker_release_job public.worker_settle_and_claim tickwork.worker_claim_jobs
        tickwork.worker_heartbeat_job tickwork.worker_settle_one tickwork.worker_settle_and_claim
        public.enqueue_jobs tickwork.enqueue_jobs public.pause_jobs public.resume_jobs public.list_holds
        tickwork.pause_jobs tickwork.resume_jobs tickwork.list_holds public.hold_lane public.release_lane
        public.limit_lane tickwork.hold_lane tickwork.release_lane tickwork.limit_lane
        public.list_lanes tickwork.list_lanes
        public.create_passport_document tickwork.create_passport_document public.add_document_version
        tickwork.add_document_version public.confirm_facts tickwork.confirm_facts public.map_fact_label
        tickwork.map_fact_label public.create_snapshot tickwork.create_snapshot public.add_snapshot_items
        tickwork.add_snapshot_items public.remove_snapshot_items tickwork.remove_snapshot_items public.request_build
        tickwork.request_build public.seal_snapshot tickwork.seal_snapshot public.list_passport_documents
        public.list_document_versions public.list_facts public.list_fact_mappings public.list_snapshots
        public.emit_event tickwork.emit_event
        public.set_member public.remove_member tickwork.set_member tickwork.remove_member
        public.list_audit public.note_refusal tickwork.note_refusal tickwork.managed_tenants
        public.use_sign_in_link tickwork.use_sign_in_link
        public.find_matching_jobs tickwork.find_matching_jobs public.count_matching_jobs
        public.list_errors tickwork.list_errors public.estimate_start tickwork.estimate_start
        public.create_api_key public.list_api_keys public.revoke_api_key public.who_am_i
        tickwork.create_api_key tickwork.list_api_keys tickwork.revoke_api_key tickwork.who_am_i
        tickwork.caller_is_service tickwork.caller_memberships tickwork.caller_tenants
        tickwork.caller_is_platform_admin tickwork.caller_may_do_all tickwork.may_act_for
        tickwork.key_tenant tickwork.key_serves_all tickwork.caller_reads_all tickwork.caller_may_add
        tickwork.new_job tickwork.new_filter""",
    "authenticated": """
        public.reveal_job tickwork.reveal_job public.change_matching_jobs tickwork.change_matching_jobs""",
    "authenticated service_role tickwork_worker": """
        tickwork.caller_id tickwork.caller_has_key tickwork.caller_key_id public.queue_health tickwork.queue_health""",
    "service_role": """
        public.rebuild_queue public.purge_jobs public.purge_audit tickwork.purge_audit
        tickwork.rebuild_queue tickwork.purge_jobs
        tickwork.is_backoff tickwork.are_keep_days tickwork.are_redacted_paths tickwork.are_names
        tickwork.tick tickwork.forget_ticks
        tickwork.store_secret tickwork.rename_secret tickwork.drop_secrets tickwork.list_secrets
        tickwork.is_evidence tickwork.hears_of_jobs tickwork.are_event_types
        public.purge_events tickwork.purge_events public.create_sign_in_link tickwork.create_sign_in_link""",
    "tickwork_worker service_role": """
        public.claim_next_job public.claim_jobs public.heartbeat_job public.heartbeat_jobs public.hold_job
        public.complete_job public.fail_job public.release_job public.settle_jobs public.settle_and_claim
        public.hold_lane_of_job public.note_changes tickwork.note_changes
        tickwork.heartbeat_job tickwork.heartbeat_jobs tickwork.hold_job tickwork.held_tenant
        tickwork.settle_one tickwork.settle_jobs tickwork.settle_and_claim tickwork.hold_lane_of_job
        tickwork.raise_lease_lost public.note_worker tickwork.note_worker
        public.maintain tickwork.maintain
        tickwork.separate_words tickwork.fold_umlauts tickwork.search_words tickwork.search_key
        tickwork.search_vector""",
    "tickwork_worker": """
        public.emit_held_event tickwork.emit_held_event public.add_held_document_version
        tickwork.add_held_document_version public.note_delivery tickwork.note_delivery
        public.read_held_steps tickwork.read_held_steps public.store_held_step tickwork.store_held_step
        public.open_held_wait tickwork.open_held_wait
        tickwork.keep_secret tickwork.read_secrets public.change_some_jobs tickwork.change_some_jobs
        tickwork.reported_tenant tickwork.held_resolver tickwork.snapshot_problem""",
}
INNER_TABLES = """
    tenants family_types waiting parked awaiting awaited to_check alarms leases taken_keys blocked buckets
    pauses allowances functions call_tokens ticks call_secrets secrets trigger_windows
    rollup counted_types open_jobs early_figures early_renewals renewals platform_tenant redacted_values
    sign_in_links steps waits arrivals hooks
"""
FIGURES = ("totals", "days", "hours", "minutes", "early_usage", "monthly_usage")
CLIENT_COLUMNS = (
    "tenant_id, type, payload, priority, run_at, idempotency_key, dedupe_key, lane, correlation_id, traceparent, "
    "notify, after, after_when"
)
DOCUMENT_COLUMNS = "tenant_id, name, vault_path, mime_type, size, sha256"
# What sign_passport and generate_qr add to a version of a passport.
SIGNED_COLUMNS = (
    "status, signature, signing_key_id, signing_key_public, credential_proof, qr_payload, qr_png, status_index"
)
# What a worker may read for reports.
REPORTED_COLUMNS = {
    "public.jobs": (
        "id, tenant_id, type, family, status, source, attempts, error_code, created_at, started_at, finished_at"
    ),
    "tickwork.attempts": "job_id, number, tenant_id, status, error_code, error_message, finished_at",
    "tickwork.monthly_usage": "tenant_id, month, engine, extractions, pages, cents",
    "tickwork.early_usage": "tenant_id, month, engine, pages, cents",
    "public.schedules": "id, tenant_id, label, type",
    "public.schedule_fires": "schedule_id, tenant_id, nominal_at, outcome, job_id, error",
}
# In the letters of psql's \dp: a insert, r select, w update, d delete, U usage, C create.
MAY_TOUCH = {
    "public.organizations": "authenticated=r service_role=arwd tickwork_owner=r",
    "public.tenant_settings": "authenticated=r service_role=rw tickwork_owner=arwd",
    "public.memberships": "authenticated=r service_role=arwd tickwork_owner=arwd",
    "tickwork.organizations": "service_role=r tickwork_owner=r",
    "tickwork.memberships": "service_role=r tickwork_owner=r",
    "tickwork.schema_versions": "service_role=r tickwork_owner=r tickwork_worker=r",
    "tickwork.platform_admins": "service_role=arwd tickwork_owner=r",
    "public.audit_log": "authenticated=r service_role=r tickwork_owner=ard",
    "tickwork.api_keys": "service_role=r tickwork_owner=arwd",
    "public.job_types": "authenticated=r service_role=arw tickwork_owner=arw tickwork_worker=r",
    "public.documents": "authenticated=r service_role=arwd tickwork_owner=arwd tickwork_worker=arw",
    "public.artifacts": "authenticated=r service_role=r tickwork_owner=arwd tickwork_worker=arwd",
    "public.passport_documents": "authenticated=r service_role=r tickwork_owner=arwd tickwork_worker=r",
    "public.document_versions": "authenticated=r service_role=r tickwork_owner=arwd tickwork_worker=arw",
    "public.facts": "authenticated=r service_role=r tickwork_owner=arwd tickwork_worker=ar",
    "public.facts.confidence": "tickwork_worker=w",
    "public.fact_sources": "authenticated=r service_role=r tickwork_owner=arwd tickwork_worker=ar",
    "public.fact_mappings": "authenticated=r service_role=r tickwork_owner=arwd tickwork_worker=r",
    "public.snapshots": "authenticated=r service_role=r tickwork_owner=arwd tickwork_worker=r",
    "public.snapshots.status": "tickwork_worker=w",
    "public.snapshot_items": "authenticated=r service_role=r tickwork_owner=arwd tickwork_worker=r",
    "public.extractions": "authenticated=r service_role=arwd tickwork_owner=arwd tickwork_worker=arw",
    "public.document_chunks": "authenticated=r service_role=arwd tickwork_owner=arwd tickwork_worker=ard",
    "public.extraction_engines": "authenticated=r service_role=arw tickwork_owner=r tickwork_worker=r",
    "public.connectors": "authenticated=r service_role=arwd tickwork_owner=arwd tickwork_worker=rw",
    "public.connector_folders": "service_role=arwd tickwork_owner=r tickwork_worker=arw",
    "public.imported_items": "authenticated=r service_role=arwd tickwork_worker=arw",
    "public.document_overview": "authenticated=r service_role=r",
    "public.document_types": "authenticated=r service_role=arwd tickwork_owner=r tickwork_worker=r",
    "public.passports": "authenticated=r service_role=r tickwork_owner=arwd tickwork_worker=r",
    **{
        f"public.passports.{column}": "tickwork_worker=w"
        for column in ("salt_commitment", "link_qr_payload", "link_qr_png")
    },
    "public.passport_versions": "authenticated=r service_role=r tickwork_owner=arwd tickwork_worker=ar",
    **{f"public.passport_versions.{column}": "tickwork_worker=w" for column in SIGNED_COLUMNS.split(", ")},
    "public.passport_exports": "authenticated=r service_role=r tickwork_owner=arwd tickwork_worker=ar",
    **{
        f"public.passport_exports.{column}": "tickwork_worker=w"
        for column in ("vault_path", "sha256", "size", "job_id")
    },
    "public.passport_status_lists": "authenticated=r service_role=r tickwork_owner=arwd tickwork_worker=arw",
    "public.signing_keys": "authenticated=r service_role=r tickwork_owner=arwd tickwork_worker=r",
    "public.passport_overview": "authenticated=r service_role=r tickwork_owner=r",
    "public.passport_version_overview": "authenticated=r service_role=r tickwork_owner=r",
    "public.snapshot_overview": "authenticated=r service_role=r tickwork_owner=r",
    "public.rule_packages": "authenticated=r service_role=arwd tickwork_owner=ar tickwork_worker=r",
    "public.rule_package_versions": "authenticated=r service_role=arwd tickwork_owner=arw tickwork_worker=rw",
    "public.rule_tests_runs": "authenticated=r service_role=arwd tickwork_owner=r tickwork_worker=ar",
    "public.document_words": "authenticated=r service_role=arwd tickwork_worker=arw",
    "public.document_corrections": "authenticated=r service_role=arwd tickwork_owner=arw tickwork_worker=r",
    "public.webhook_endpoints": "authenticated=r service_role=arwd tickwork_owner=arwd tickwork_worker=r",
    "public.events": "authenticated=r service_role=r tickwork_owner=arwd tickwork_worker=r",
    "public.event_triggers": "authenticated=r service_role=r tickwork_owner=arwd",
    "public.trigger_fires": "authenticated=r service_role=r tickwork_owner=arwd",
    "public.job_triggers": "authenticated=r service_role=r",
    "public.webhook_deliveries": "authenticated=r service_role=r tickwork_owner=arwd tickwork_worker=r",
    "public.jobs": "authenticated=r service_role=r tickwork_owner=arwd",
    "public.schedules": "authenticated=r service_role=r tickwork_owner=arwd",
    "public.schedule_fires": "authenticated=r service_role=r tickwork_owner=arwd",
    "public.job_attempts": "authenticated=r service_role=r",
    "public.job_workers": "service_role=r tickwork_owner=arwd",
    "tickwork.attempts": "authenticated=r service_role=r tickwork_owner=arwd",
    "tickwork.exceptions": "service_role=r tickwork_owner=arwd",
    "tickwork.reveals": "service_role=r tickwork_owner=ar",
    "tickwork.lane_rules": "service_role=r tickwork_owner=arwd",
    "tickwork.unsuccessful": "authenticated=r service_role=r tickwork_owner=arwd",
    **{f"tickwork.{name}": "authenticated=r service_role=r tickwork_owner=arwd" for name in FIGURES},
    "public.usage": "authenticated=r service_role=r tickwork_owner=r",
    "public.alert_rules": "service_role=r tickwork_owner=arwd",
    "public.alerts": "service_role=r tickwork_owner=arwd",
    "tickwork.metric_kinds": "tickwork_owner=r",
    "tickwork.event_purge": "tickwork_owner=rw",
    "tickwork.maintenance": "tickwork_owner=rw",
    "tickwork.unfinished": "tickwork_owner=r",
    "tickwork.unsuccessful_jobs": "tickwork_owner=r",
    **{
        f"{table}.{column}": "tickwork_worker=r"
        for table, columns in REPORTED_COLUMNS.items()
        for column in columns.split(", ")
    },
    **{
        f"public.jobs.{column}": "authenticated=a service_role=a"
        + (" tickwork_worker=r" if column in REPORTED_COLUMNS["public.jobs"].split(", ") else "")
        for column in CLIENT_COLUMNS.split(", ")
    },
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
          and pg_get_expr(indpred, indrelid) is distinct from '(tenant_id IS NULL)'
          -- Of keys nobody guesses, and of accounts only platform admins enter.
          and indexrelid::regclass::text not in ('tickwork.api_keys_by_secret', 'tickwork.api_keys_by_account')""",
    "the roles of our own have no powers": """
        select rolname from pg_roles where rolname in ('tickwork_owner', 'tickwork_worker', 'tickwork_api')
          and (rolsuper or rolbypassrls or rolcreaterole or rolcreatedb or rolreplication
            or (rolcanlogin and rolname = 'tickwork_owner'))""",
    "no client becomes a role with more rights, or creates things beside ours": """
        select client from unnest(array['anon', 'authenticated', 'tickwork_worker', 'tickwork_api']) as client
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
