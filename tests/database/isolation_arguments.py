"""What the attacks of test_isolation.py give for the parameters of functions, and for the fields of composite types.

A function is found in the catalogue, and its parameters are looked up here by their names. Where one name has several
types, `name:type` goes before `name`. What is not here is a row of the target, where the type is that of a table, or a
value by its type; for anything else the test fails, and wants a line here.
"""

import json
from base64 import b64encode
from typing import Any, NamedTuple
from uuid import UUID, uuid4

from tickwork.passports.signatures import key_id

# Stands for null: what is missing here is looked for elsewhere.
NULL = ""
# Looks like a sealed secret, and like a token.
SEALED = f"v1.{'0' * 8}.{'A' * 40}"

# By the type of a parameter that has no value of its own.
BY_TYPE = {
    "text": "word",
    "integer": "1",
    "bigint": "1",
    "double precision": "1",
    "boolean": "true",
    "timestamp with time zone": "2030-01-01",
    "interval": "0s",
    "date": "2026-01-01",
    "jsonb": "{}",
    "bytea": "x",
}


class Target(NamedTuple):
    """A tenant, and what one has to know in order to touch it."""

    word: str
    tenant: UUID
    jobs: dict[str, UUID]
    token: UUID
    number: int
    document: UUID
    spare: UUID
    endpoint: UUID
    delivery: UUID
    event: UUID
    trigger: UUID
    connector: UUID
    schedule: UUID
    key: UUID
    artifact: UUID
    passport_document: UUID
    version: UUID
    fact: UUID
    spare_fact: UUID
    snapshot: UUID
    rules: UUID
    sealed: UUID
    published: UUID
    passport: UUID
    passport_version: UUID


def arguments_for(target: Target, job: UUID, other_tenant: UUID) -> dict[str, str]:
    """An attack on one job of the target; follow-ups are asked for on behalf of another tenant."""
    return {
        **of_jobs(target, job),
        **of_workers(target, job, other_tenant),
        **of_limits_and_lists(job),
        **of_documents(target),
        **of_artifacts(target),
        **of_facts(target),
        **of_passports(target),
        **of_rules(target),
        **of_webhooks_and_calls(target),
        **of_connectors(target),
        **of_schedules(target),
        **of_payload_schemas(),
        **of_secrets(),
        **of_keys(target),
        **of_reads_and_types(),
    }


def of_jobs(target: Target, job: UUID) -> dict[str, str]:
    type = f"do_{target.word}"
    return {
        "tenant_id": str(target.tenant),
        "tenant_number": str(target.number),
        "tenants": array(target.tenant),
        "tenant_ids": array(target.tenant),
        "words": str(target.tenant),
        "open_to": str(UUID(int=0)),
        "only_open": "false",
        "job_id": str(job),
        "ids": array(job),
        "job_ids": array(job),
        "settled": array(job),
        "correlation_id": "key",
        "after": array(job),
        "after_when": "all_done",
        "ended": array(job),
        "unsuccessful": array(job),
        "families": array(target.word),
        "id": str(uuid4()),
        "id:bigint": "1",
        "family": target.word,
        "type": type,
        "types": array(type),
        "types:jsonb": '"integer"',
        "lane": target.word,
        "status": "failed",
        "state": "running",
        "ending": "done",
        "verb": "cancelled",
        "priority": "0",
        "payload": "{}",
        "document:jsonb": text({"a": "b"}),
        "jobs": text([{"tenant_id": str(target.tenant), "type": type}]),
        "jobs:integer": "1",
        "idempotency_key": "key",
        "dedupe_key": "key",
        "filter": text({"tenant_id": str(target.tenant)}),
        "at_most": "100",
        "source": "manual",
        "source_ref": NULL,
        "finished_at": NULL,
        "scope": "tenant",
        # A place in a table where there is no row.
        "place": "(9999,1)",
        "places": '{"(9999,1)"}',
        "record": "(9999,1)",
        "place:text": "parked",
    }


def of_workers(target: Target, job: UUID, other_tenant: UUID) -> dict[str, str]:
    lease = {"job_id": str(job), "lease_token": str(target.token)}
    done = {**lease, "status": "done"}
    return {
        "lease_token": str(target.token),
        "traceparent": f"00-{'ab' * 16}-{'cd' * 8}-01",
        "token": str(target.token),
        "new_token": str(uuid4()),
        "front": "2000-01-01",
        "front:bigint": "1",
        "since": "2000-01-01",
        "lease_tokens": array(target.token),
        "tokens": array(target.token),
        "endings": text([{"status": "done"}]),
        "lease_seconds:integer[]": "{60}",
        "sequence": f"tickwork.turn_of_{target.word}",
        "own_tenant": str(target.tenant),
        "heartbeats": text([lease]),
        "outcomes:jsonb": text([done]),
        "outcome": text(done),
        "follow_ups": text([{"tenant_id": str(other_tenant), "type": f"do_{target.word}"}]),
        "result": "{}",
        "error": "{}",
        "error_code": "no",
        "error_message": "no",
        "progress": "0.5",
        "message": "half",
        "lease_seconds": "60",
        "backoff": "[60]",
    }


def of_limits_and_lists(job: UUID) -> dict[str, str]:
    return {
        "after_id": str(job),
        "key_starts_with": "key",
        "oldest_first": "false",
        "created_after": "2000-01-01",
        "created_before": "2100-01-01",
        "finished_after": "2000-01-01",
        "finished_before": "2100-01-01",
        "older_than": "0s",
        "seconds": "1",
        "max_priority": "100",
        "batch_size": "100",
        "most": "100",
        "max_jobs": "100",
        "keep_days": "{}",
        "objects": "[]",
        # Of the functions that guard tables and open verbs.
        "target:regclass": "public.jobs",
        "relation": "public.jobs",
        "part": "type",
        "roles": "postgres",
        "verbs": "{}",
        "members": NULL,
        "worker": NULL,
        "service": NULL,
        "signed_in": NULL,
    }


def of_documents(target: Target) -> dict[str, str]:
    search = f"'{str(target.tenant)[-6:]}:secret'"
    return {
        "document_id": str(target.document),
        "doc_type": f"own_{target.word}",
        "engine": "local",
        "evidence": "{}",
        "query": "secret",
        "max_hits": "10",
        "skip": "0",
        "text": "secret",
        "element_type": "Title",
        "key": "abcdef",
        "word": "secret",
        "stem": "secret",
        "search": NULL,
        "marks": array("secret"),
        # A row with the lexeme to look for, as a whole word: nothing is found by parts of words.
        "sought:tickwork.search_queries": f"""({search},,"{{""{search}""}}",{{0}},)""",
        "terms": array(search),
        "excluded": "nothing",
        "barred": "{}",
        "chunk_index": "0",
        "rank": "1",
        "vault_path": f"tenant/{target.tenant}/documents/new.pdf",
        "mime_type": "application/pdf",
        "sha256": "0" * 64,
    }


def of_artifacts(target: Target) -> dict[str, str]:
    ref = {"id": str(target.artifact), "sha256": "0" * 64, "size": 1}
    return {
        "artifact_id": str(target.artifact),
        "size": "1",
        "sha256": "0" * 64,
        "mime_type": "text/plain",
        "ref": text(ref),
    }


def of_facts(target: Target) -> dict[str, str]:
    return {
        "passport_document_id": str(target.passport_document),
        "document_version_id": str(target.version),
        "fact_ids": array(target.fact),
        "after_fact_id": str(target.spare_fact),
        "snapshot_id": str(target.snapshot),
        "fact_type": "attribute",
        "schema_version": "1",
        "field": "name",
        "unit": "KGM",
    }


def of_passports(target: Target) -> dict[str, str]:
    return {
        "passport_id": str(target.passport),
        "after_passport_id": NULL,
        "after_passport_version_id": NULL,
        "passport_version_id": str(target.passport_version),
        "battery_identifier": target.word,
        "category": "ev",
        "gtin": "09506000134352",
        "serial": "2",
        "resolver": "id.example.com",
        "audience": "public",
        "access": "public",
        "paths": NULL,
        "template": "standard",
        "levels": array("x"),
        **of_signing_keys(),
    }


def of_signing_keys() -> dict[str, str]:
    key = bytes(32)
    return {
        "signing_key_id": key_id(key),
        "public_key": b64encode(key).decode(),
        "base64": "AAAA",
        "ended_at": "2027-01-01",
        "revoked_at": "2027-01-01",
    }


def of_rules(target: Target) -> dict[str, str]:
    return {
        "rule_package_version_id": str(target.rules),
        "package": f"rules {target.word}",
        "version": "1",
        "dsl_source": text({"of": target.word}),
        "tests_source": "{}",
        "seed": NULL,
    }


def of_webhooks_and_calls(target: Target) -> dict[str, str]:
    return {
        "webhook_endpoint_id": str(target.endpoint),
        "webhook_delivery_id": str(target.delivery),
        "delivery_ids": array(target.delivery),
        "since": "2020-01-01",
        "only_failed": "false",
        "verdict": "refused",
        "http_status": "404",
        "response_headers": "{}",
        "aggregate": "word",
        "event_type": "job.done",
        "event_types": array("job.*"),
        "trigger_id": str(target.trigger),
        "trigger_ids": array(target.trigger),
        "event_name": "invoice.*",
        "condition": NULL,
        "sample": NULL,
        "debounce_seconds": NULL,
        "debounce_max_seconds": "60",
        "dedupe_window_seconds": "60",
        "max_per_minute": NULL,
        "delay_seconds:integer": "0",
        "is_paused": "true",
        "cause": NULL,
        "path:jsonpath": "$.a == 1",
        "key:bytea": "x",
        "url": f"https://{target.word}.example",
        "headers": "{}",
        "timeout_milliseconds": "1000",
        "jitter_seconds": "0",
        "names": "{}",
        "header_prefix": "X-BPC-",
        "format": "standard",
        "sealed_secret": SEALED,
    }


def of_connectors(target: Target) -> dict[str, str]:
    return {
        "connector_id": str(target.connector),
        "connector_ids": array(target.connector),
        "remote_path": NULL,
        "files": text(["/a.txt"]),
        "provider": "dropbox",
        "account_ids": array(target.word),
        "refresh_token": SEALED,
    }


def of_schedules(target: Target) -> dict[str, str]:
    return {
        "schedule_id": str(target.schedule),
        "schedule_ids": array(target.schedule),
        # Not every day: midnight may come while the matrix is filled in.
        "cron_expr": "@yearly",
        "timezone": "UTC",
        "changes": "{}",
        "payload_template": "{}",
        "overlap": "skip",
        "missed": "skip",
        "catch_up_seconds": "60",
        "spread_seconds": "0",
        "pause_after_failures": NULL,
        "starts_at": NULL,
        "ends_at": NULL,
        "since": "2026-01-01",
        "until": "2026-01-02",
        "after:timestamp with time zone": "2026-01-01",
        "after:interval": "0s",
        "times": "1",
        "times:timestamp with time zone[]": '{"2026-01-01"}',
        "names": NULL,
        "written": "1",
        "lowest": "0",
        "highest": "59",
        "template:jsonb": '{"a": "{{label}}"}',
        "template:text": "text",
        "known:text[]": "{label}",
        "known:jsonb": '{"label": 1}',
        "value:jsonb": "{}",
        "deepest": "10",
        "path": "a",
        "fallback": "null",
        "max_schedules": "100",
        "nominal_before": "2100-01-01",
        "decided_before": "2100-01-01",
        "paused_by": NULL,
    }


def of_payload_schemas() -> dict[str, str]:
    return {
        "schema": NULL,
        "path": "payload",
        "keyword": "type",
        "pattern": "a",
        "others": "[]",
        "value_type": "string",
        "list": "[]",
        "value:jsonb": "{}",
        "value:numeric": "1",
    }


def of_secrets() -> dict[str, str]:
    return {
        "owner": "tenant",
        "name": "a_name",
        "new_name": "another_name",
        "value": "secret",
        "expires_at": "2030-01-01",
        "hosts": array("api.example"),
    }


def of_reads_and_types() -> dict[str, str]:
    return {
        "after_event_id": NULL,
        "after_delivery_id": NULL,
        "after_document_id": NULL,
        "after_document_version_id": NULL,
        "after_snapshot_id": NULL,
        "delivery_status": NULL,
        "only_type": NULL,
        "max_rows": "100",
        "trigger_type": "event",
        "is_new": "false",
        "enqueued_by": "member",
        "follow_ups:text[]": "{}",
    }


def of_keys(target: Target) -> dict[str, str]:
    return {
        "key_id": str(target.key),
        "scopes": array("read", "operate"),
        "account": NULL,
        "with_revoked": "true",
        "max_keys": "100",
        "deed": "do it",
        "actor_id": NULL,
        "action": NULL,
        "target:text": NULL,
        "after_id:bigint": "999999999",
        "changed:text": f"tenant {target.tenant}",
        "after:jsonb": "{}",
        "before:jsonb": "{}",
        "role": "member",
        "user_id": str(uuid4()),
    }


def array(*values: object) -> str:
    """As Postgres writes one."""
    return "{" + ",".join(f'"{value}"' for value in values) + "}"


def text(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))
