"""What the matrix of test_isolation.py finds in the catalogue, whose the rows of a table are, and the exceptions."""

from tests.database.isolation_arguments import NULL
from tests.database.test_privileges import OURS

# A row's tenant is in its tenant_id or behind its tenant_number, but for these. None: it is no tenant's, and no
# client's to change.
TENANT_OF = {
    "public.organizations": "id",
    "tickwork.organizations": "id",
    "public.job_types": None,
    "public.extraction_engines": None,
    "tickwork.platform_admins": None,
    "tickwork.family_types": None,
    "tickwork.functions": None,
    "tickwork.call_tokens": None,
    "tickwork.ticks": None,
    "tickwork.call_secrets": None,
    "tickwork.schema_versions": None,
    "public.job_workers": None,
    "tickwork.event_purge": None,
    "tickwork.maintenance": None,
    "tickwork.hooks": None,
    "tickwork.sign_in_links": None,
    "tickwork.rollup": None,
    "tickwork.counted_types": None,
    "tickwork.renewals": None,
    "tickwork.early_renewals": None,
    "tickwork.metric_kinds": None,
    "public.alert_rules": None,
    "public.alerts": None,
    "public.signing_keys": None,
    "tickwork.platform_tenant": None,
    "tickwork.early_figures": "(happening).tenant_id",
    "tickwork.open_jobs": "(select jobs.tenant_id from public.jobs where jobs.id = job_id)",
    "tickwork.pauses": "substring(scope from '^tenant ([0-9a-f-]+)')::uuid",
}
BY_NUMBER = "(select tenants.tenant_id from tickwork.tenants where tenants.number = tenant_number)"
NO_TENANTS = {table for table, tenant in TENANT_OF.items() if tenant is None}
READ_BY_ALL = (
    ("public.job_types", "select"),
    ("public.list_job_types()", "rpc"),
    ("public.extraction_engines", "select"),
    ("public.signing_keys", "select"),
    ("public.list_signing_keys()", "rpc"),
    ("tickwork.schema_versions", "select"),
)
# It holds nothing that could be known from elsewhere.
SAYS_NOTHING = ("tickwork.event_purge", "select")
# Called otherwise than by the queue, with what the tenant has already, they are refused, as they should be.
REFUSED = (
    "tickwork.guard_table",
    "tickwork.check_change",
    "tickwork.take_keys",
    "tickwork.follow_jobs",
    "tickwork.insert_jobs",
    "tickwork.store_new_jobs",
    "tickwork.enqueue_import",
    # The jobs that they store are there already.
    "tickwork.enqueue_deliveries(",
    "tickwork.start_fire",
    "tickwork.enqueue_removal(",
    "tickwork.check_artifact_ref",
    "public.change_alert_rule",
    "tickwork.change_alert_rule",
    # They read nothing but what they are given.
    "tickwork.percentile(",
    "tickwork.prometheus_text",
    # By default of the last hour; tickwork.latency and the others are given a window.
    "public.latency",
    "public.percentiles",
    "public.throughput",
    "tickwork.note_audit(",
    # The held job is of another type.
    "public.change_some_jobs",
    "tickwork.change_some_jobs",
    # The rules are a draft.
    "public.retire_rules",
    "tickwork.retire_rules",
    # They refuse what they are given.
    "tickwork.raise_broken_rule",
    "tickwork.raise_no_",
    # The rules are published, the version is active already.
    "tickwork.enqueue_rule_tests",
    "tickwork.check_activatable",
    "tickwork.check_sealed",
    # No row: nothing is wrong with the snapshot.
    "tickwork.snapshot_problem",
    # Those who try have no key.
    "tickwork.caller_key(",
    "tickwork.live_key(",
)
# What the queue keeps for itself: there is one row of a key, and it tells of no tenant.
BOOKKEEPING = {
    *((f"tickwork.{table}", "insert") for table in ("counted_types", "rollup", "renewals", "metric_kinds")),
    *((f"tickwork.{table}", "insert") for table in ("platform_tenant", "monthly_usage", "maintenance", "hooks")),
    *((f"tickwork.{table}", "select") for table in ("renewals", "metric_kinds", "maintenance", "hooks")),
    ("public.signing_keys", "insert"),
    *(("tickwork.early_renewals", verb) for verb in ("select", "insert", "update", "delete")),
}
# What workers may do in jobs of types that the scene has none of: the change of many jobs, and reports.
IN_OTHER_JOBS = {
    # No row: nothing is wrong with the snapshot.
    ("tickwork.snapshot_problem(uuid)", "rpc"),
    *((f"{schema}.change_some_jobs(integer)", "rpc") for schema in ("public", "tickwork")),
    *((f"public.{table}", "select") for table in ("jobs", "schedules", "schedule_fires")),
    *((f"tickwork.{table}", "select") for table in ("attempts", "early_usage")),
}
# They read nothing: the answer to another id is another number.
HASHES = ("tickwork.search_key", "tickwork.search_vector")
AN_ID, A_TIME = "[0-9a-f]{8}-[0-9a-f-]{27}", r"\d{4}-\d\d-\d\d[ T][\d:.+]+|\d+\.\d+|\d+ s ago"
SERVE_ALL = ("service", "platform admin")
NEWEST_ALERT = "00000000-0000-4000-8000-0000000000aa"
# What these need instead, so that those who may get something.
ARGUMENTS_OF = {
    "change_alert_rule": {"key": "queue_size", "threshold": "1e6", "closes_at": "0", "severity": "warning"},
    "change_matching_jobs": {"action": "retry", "max_attempts": "1"},
    "change_job_trigger": {"changes": '{"is_enabled": false}'},
    "list_alerts": {"only_open": "false", "max_alerts": "100", "after_id": NEWEST_ALERT},
    "list_snapshots": {"status": "building", "name": NULL},
    "end_signing_key": {"status": "retired"},
    "list_passport_versions": {"status": "signed"},
    "create_passport": {"battery_identifier": "another"},
    "request_export": {"format": "pdf", "template": "standard"},
    "check_exportable": {"format": "pdf"},
    "list_passport_documents": {"kind": "bom", "name": NULL},
    "map_fact_label": {"kind": "bom"},
    "add_held_document_version": {"document_version_id": "7d1f7e5c-1f0a-4f43-9a55-0a5b3f9c2e11"},
    "create_passport_document": {"kind": "bom"},
    "put_step": {"kind": "step"},
    "throughput": {"since": "yesterday", "until": "tomorrow"},
}
# Functions that take one of these parameters, and null for the others.
ONE_SCOPE, SCOPES = ("pause_jobs", "resume_jobs", "scope_of"), {"family", "type", "tenant_id"}
RELATIONS = f"""
    select concat_ws('.', relnamespace::regnamespace, relname) as name, relkind in ('r', 'p') as is_table, (
      select array_agg(column_name::text order by ordinal_position) from information_schema.columns
      where table_schema = relnamespace::regnamespace::text and table_name = relname
        and is_updatable = 'YES' and is_generated = 'NEVER'
    ) as columns
    from pg_class where relnamespace {OURS} and relkind in ('r', 'p', 'v', 'm', 'f') order by name
"""
# Queries for all columns that the caller may read.
READABLE = f"""
    select concat_ws('.', relnamespace::regnamespace, relname) as name,
      format('select %s from %s', string_agg(format('%I::text', attname), ', '), pg_class.oid::regclass) as query
    from pg_class join pg_attribute on attrelid = pg_class.oid and attnum > 0 and not attisdropped
    where relnamespace {OURS} and relkind in ('r', 'p', 'v', 'm', 'f')
      and has_column_privilege(attrelid, attnum, 'select')
    group by pg_class.oid
"""
# The fields of composite types, and which of them are the rows of a table.
TYPES = f"""
    select format_type(pg_type.oid, null) as name, relkind in ('r', 'p') as is_table,
      jsonb_object_agg(attname, format_type(atttypid, null) order by attnum) as fields
    from pg_type join pg_class on pg_class.oid = typrelid join pg_attribute on attrelid = typrelid and attnum > 0
    where relnamespace {OURS} and not attisdropped group by pg_type.oid, relkind
"""
# Trigger functions are left out: nobody can call them.
FUNCTIONS = f"""
    select pg_proc.oid::regprocedure::text as signature, coalesce(
      jsonb_agg(jsonb_build_object('name', proargnames[place], 'type', format_type(type, null),
        'is_optional', place > pronargs - pronargdefaults) order by place) filter (where place is not null), '[]'
    ) as parameters
    from pg_proc left join unnest(proargtypes) with ordinality as parameter(type, place) on true
    where pronamespace {OURS} and prorettype <> 'trigger'::regtype group by pg_proc.oid order by signature
"""
OPEN_FUNCTIONS = f"""
    select distinct pg_proc.oid::regprocedure::text as signature
    from pg_proc, unnest(array['anon', 'authenticated', 'service_role', 'tickwork_worker']) as client
    where pronamespace {OURS} and has_function_privilege(client, pg_proc.oid, 'execute')
"""
POLICIES = """
    select policyname, client, concat_ws('.', schemaname, tablename) as relation, expression
    from pg_policies, unnest(array[qual, with_check]) as expression,
      unnest(array['anon', 'authenticated', 'tickwork_worker']) as client
    where expression is not null and array['public', client]::name[] && roles
      and policyname !~ '^everybody_signed_in_reads|^the_worker_reads_schema_versions$'
"""
