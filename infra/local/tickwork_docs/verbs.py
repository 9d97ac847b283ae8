"""The page on verbs: every function in the schema public, as the catalogue describes it."""

import re
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg.rows import class_row

HEAD = """\
# Verbs

Every change of a job's state is a call of one of these SQL functions, from the Supabase client, from SQL, or from
Python through the method of the same name. The first words of each description are the transition. `authenticated` is
any signed-in user; the function then checks membership and role. `service_role` is the application's backend and the
operator, `tickwork_worker` the functions and workers. Nothing is open to `anon`.

The codes are explained in [SQLSTATEs](sqlstates.md), what a caller can rely on in [guarantees](guarantees.md), and the
state chart is in [supabase/README.md](../../supabase/README.md).

"""

GROUPS = {
    "Enqueue": ["enqueue_job", "enqueue_jobs"],
    "Claim and settle": [
        *("claim_next_job", "claim_jobs", "heartbeat_job", "heartbeat_jobs", "hold_job", "complete_job", "fail_job"),
        *("release_job", "settle_jobs", "settle_and_claim", "note_worker"),
        *("read_held_steps", "store_held_step", "open_held_wait"),
    ],
    "Manage": [
        *("cancel_job", "retry_job", "reschedule_job", "bury_job", "cancel_jobs", "retry_jobs", "reschedule_jobs"),
        *("change_matching_jobs", "change_some_jobs"),
    ],
    "Pauses and lanes": [
        *("pause_jobs", "resume_jobs", "hold_lane", "release_lane", "hold_lane_of_job", "limit_lane", "list_holds"),
        "list_lanes",
    ],
    "Read": [
        *("list_jobs", "get_job", "list_attempts", "list_steps", "summarize_jobs", "queue_summary", "explain_job"),
        *("list_workers", "find_matching_jobs", "count_matching_jobs", "list_errors", "estimate_start", "queue_health"),
    ],
    "Types and members": ["list_job_types", "create_job_type", "change_job_type", "list_members"],
    "Documents": [
        "list_documents",
        "get_document",
        "estimate_extraction",
        "request_extraction",
        "search_chunks",
        "correct_document_type",
    ],
    "Artifacts": ["add_artifact", "list_artifacts", "sign_artifact"],
    "Passports": [
        *("create_passport", "request_compile", "activate_passport", "disclose", "explain_passport"),
        *("list_passports", "get_passport", "list_passport_versions", "get_passport_version"),
        *("revoke_passport", "passport_status_list"),
        *("list_signing_keys", "register_signing_key", "retire_signing_key", "revoke_signing_key"),
        *("request_export", "list_exports", "set_resolver", "get_resolver", "set_gtin", "request_link_qr"),
    ],
    "Rules": [
        *("save_rules", "request_rule_tests", "publish_rules", "retire_rules"),
        *("list_rules", "get_rules", "list_rule_tests"),
    ],
    "Facts and snapshots": [
        *("create_passport_document", "list_passport_documents", "add_document_version", "list_document_versions"),
        *("list_facts", "confirm_facts", "map_fact_label", "list_fact_mappings", "create_snapshot"),
        *("add_snapshot_items", "remove_snapshot_items", "request_build", "seal_snapshot", "list_snapshots"),
        "add_held_document_version",
    ],
    "Imports": ["request_import", "note_changes"],
    "Events and webhooks": [
        *("emit_event", "emit_held_event", "note_delivery", "test_webhook", "redeliver_webhook"),
        *("redeliver_webhooks", "purge_events"),
    ],
    "Keys": ["create_api_key", "list_api_keys", "revoke_api_key", "who_am_i"],
    "Workers with a key": [
        *("worker_claim_jobs", "worker_heartbeat_job", "worker_complete_job", "worker_fail_job", "worker_release_job"),
        "worker_settle_and_claim",
    ],
    "Console": ["create_sign_in_link", "use_sign_in_link"],
    "Audit": ["list_audit", "note_refusal"],
    "Housekeeping": ["maintain", "rebuild_queue", "purge_jobs", "purge_audit"],
}

QUERY = """
    select
      pg_proc.proname as name,
      pg_get_function_arguments(pg_proc.oid) as arguments,
      pg_get_function_result(pg_proc.oid) as result,
      coalesce(obj_description(pg_proc.oid, 'pg_proc'), '') as comment,
      array(
        select role.name
        from unnest(array['authenticated', 'service_role', 'tickwork_worker', 'anon']) as role(name)
        where has_function_privilege(role.name, pg_proc.oid, 'execute')
      ) as roles
    from pg_proc
    where pg_proc.pronamespace = 'public'::regnamespace
      and pg_proc.prorettype <> 'trigger'::regtype
    order by pg_proc.proname
"""


@dataclass(frozen=True)
class Function:
    name: str
    arguments: str
    result: str
    comment: str
    roles: list[str]


def functions_of(connection: psycopg.Connection[Any]) -> dict[str, Function]:
    with connection.cursor(row_factory=class_row(Function)) as cursor:
        return {function.name: function for function in cursor.execute(QUERY)}


def page(functions: dict[str, Function]) -> str:
    grouped = {name for names in GROUPS.values() for name in names}
    others = [name for name in functions if name not in grouped]
    groups = {**GROUPS, **({"Other": others} if others else {})}
    text = HEAD
    for title, names in groups.items():
        text += f"## {title}\n\n" + "".join(described(functions[name]) for name in names if name in functions)
    return text.rstrip() + "\n"


def described(function: Function) -> str:
    callers = ", ".join(f"`{role}`" for role in function.roles)
    return f"### `{function.name}`\n\n```sql\n{signature(function)}\n```\n\n{function.comment}\n\nFor {callers}.\n\n"


def signature(function: Function) -> str:
    arguments = [plain(each) for each in re.split(r", (?=\w+ )", function.arguments) if each]
    returns = f"returns {plain(function.result)}"
    line = f"{function.name}({', '.join(arguments)}) {returns}"
    if len(line) <= 100:
        return line
    return f"{function.name}(\n  " + ",\n  ".join(arguments) + f"\n) {returns}"


def plain(declaration: str) -> str:
    """As people write it: without the casts that the catalogue adds to defaults."""
    text = declaration.replace("timestamp with time zone", "timestamptz").replace("double precision", "float8")
    text = re.sub(r"\bDEFAULT\b", "default", text).replace("NULL::", "null::")
    text = re.sub(r"::(\w+)(\[\])?", "", text)
    return re.sub(r"\b(SETOF|TABLE)\b", lambda word: word[0].lower(), text)
