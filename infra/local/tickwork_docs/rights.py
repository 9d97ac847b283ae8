"""The page on rights: who may call which verb. A test in tests/database/test_isolation.py tries each of them."""

from tickwork_docs.markdown import table
from tickwork_docs.verbs import Function

HEAD = """\
# Who may call what

A user's role is in `memberships` (`member`, or `admin` and `owner`, who manage the tenant) or on the list of platform
admins; an [API key](../guide/keys.md) has scopes. The functions themselves decide that, on every way in: of the claims
of a token only the user's id counts. A `•` is a yes, for the rows of one's own tenants; platform admins act for every
tenant, and so do keys that were created without one. What others may not see is not there for them (`TWJOB` and so
on); what they see and may not do is refused (`TWADM`, `TWENQ`).

The last columns are the rights of the roles `service_role` and `tickwork_worker`. Who may read may also read the
tables: [direct access](../../supabase/README.md#direct-access).

"""
NOTES = """
- `enqueue_job`, `enqueue_jobs` and what else enqueues: as `job_types.enqueued_by` allows. Types for members are for
  keys with `enqueue` too, types for admins for keys with `operate`, types for the service for platform admins and for
  keys that enqueue for every tenant.
- `cancel_job` and `cancel_jobs` are also for the user or key that enqueued the job, if it may read it.
- `pause_jobs` and `resume_jobs` of a tenant are for its admins, of a family or type for platform admins. `limit_lane`
  of the lanes of connectors and endpoints is for platform admins.
- `emit_event` is also for keys that enqueue for every tenant.
- `create_api_key` for every tenant, for an account or for a worker is for platform admins.
- `note_refusal` and `use_sign_in_link` are for the role `tickwork_api`, that is, for the API and the console.
- `set_member` and `remove_member` of an owner are for owners and platform admins; the last owner stays.
"""

# Who is asked about, in the order of the columns. A key with read and enqueue may do what either may, and some more.
CALLERS = ("member", "admin", "platform admin", "read", "enqueue", "read enqueue", "operate", "worker")
EVERYBODY = CALLERS
READ = ("member", "admin", "platform admin", "read", "read enqueue", "operate")
ENQUEUE = ("member", "admin", "platform admin", "enqueue", "read enqueue", "operate")
# To do something to a document or connector one has to see it.
ADD = ("member", "admin", "platform admin", "read enqueue", "operate")
MANAGE = ("admin", "platform admin", "operate")
PEOPLE = ("admin", "platform admin")
PLATFORM = ("platform admin",)
WORKER = ("worker",)

NOBODY = ()

RIGHTS: dict[tuple[str, ...], str] = {
    EVERYBODY: "who_am_i list_job_types preview_schedule queue_health count_matching_jobs list_signing_keys",
    READ: """
        list_holds list_jobs get_job list_attempts list_steps explain_job queue_summary summarize_jobs list_workers
        list_members list_schedules get_schedule list_schedule_fires list_event_triggers get_event_trigger
        list_trigger_fires list_job_triggers test_event list_events list_webhook_endpoints
        list_webhook_deliveries list_connectors list_documents get_document sign_document search_chunks
        list_artifacts sign_artifact list_lanes list_rules get_rules list_rule_tests
        list_passports get_passport list_passport_versions explain_passport disclose list_exports
        passport_status_list get_resolver
        list_passport_documents list_document_versions list_facts list_fact_mappings list_snapshots
        estimate_extraction metrics throughput latency percentiles queue_widgets queue_by_type queue_by_tenant
        find_tenants find_matching_jobs list_errors estimate_start""",
    ENQUEUE: """
        enqueue_job enqueue_jobs add_document add_artifact create_passport_document map_fact_label create_snapshot
        save_rules create_passport""",
    ADD: """
        request_extraction correct_document_type request_import add_document_version confirm_facts add_snapshot_items
        remove_snapshot_items request_build seal_snapshot request_rule_tests request_compile activate_passport
        revoke_passport request_export set_gtin request_link_qr""",
    MANAGE: """
        cancel_job retry_job reschedule_job bury_job cancel_jobs retry_jobs reschedule_jobs change_matching_jobs
        create_schedule change_schedule pause_schedules resume_schedules run_schedule backfill_schedule delete_schedule
        create_event_trigger change_event_trigger pause_event_triggers resume_event_triggers delete_event_trigger
        create_job_trigger change_job_trigger delete_job_trigger
        pause_jobs resume_jobs hold_lane release_lane limit_lane
        create_webhook_endpoint change_webhook_endpoint rotate_webhook_secret delete_webhook_endpoint
        test_webhook redeliver_webhook redeliver_webhooks
        publish_rules retire_rules set_resolver
        create_connector change_connector set_connector_token delete_connector list_api_keys list_audit""",
    PEOPLE: "create_api_key revoke_api_key set_member remove_member",
    PLATFORM: """
        create_job_type change_job_type emit_event reveal_job list_alerts list_alert_rules change_alert_rule
        set_platform_tenant register_signing_key retire_signing_key revoke_signing_key""",
    WORKER: """
        worker_claim_jobs worker_heartbeat_job worker_complete_job worker_fail_job worker_release_job
        worker_settle_and_claim""",
    NOBODY: "note_refusal use_sign_in_link",
}


def allowed() -> dict[str, tuple[str, ...]]:
    return {verb: callers for callers, verbs in RIGHTS.items() for verb in verbs.split()}


def page(functions: dict[str, Function]) -> str:
    known = allowed()
    rows = []
    for name in [*known, *sorted({*functions} - {*known})]:
        cells = ["•" if caller in known.get(name, ()) else "" for caller in CALLERS]
        roles = ["•" if role in functions[name].roles else "" for role in ("service_role", "tickwork_worker")]
        rows.append([f"[`{name}`](verbs.md#{name})", *cells, *roles])
    keys = [f"key: `{caller.replace(' ', '`, `')}`" for caller in CALLERS[3:-1]]
    head = ["verb", *CALLERS[:3], *keys, "key: `worker:<family>`", "service", "worker"]
    return HEAD + table(head, rows) + NOTES
