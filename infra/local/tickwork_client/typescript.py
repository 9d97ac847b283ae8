"""The files of the TypeScript client that follow from others.

verbs.ts has the arguments and rows of every verb, as the catalogue describes them, operations.ts the routes of the API.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import psycopg
from psycopg.rows import class_row

from tickwork.shipped import ROOT

SOURCES = ROOT / "shared/tickwork-js/src"
NOTE = "// Written by `make client` from {}.\n"

TYPES = {
    **dict.fromkeys(("uuid", "text", "timestamp with time zone", "interval", "date", "bytea", "inet"), "string"),
    **dict.fromkeys(("integer", "bigint", "smallint", "double precision", "numeric", "real"), "number"),
    **{"boolean": "boolean", "jsonb": "unknown", "json": "unknown", "void": "void"},
}
# What the catalogue does not say about a column.
COLUMNS = {
    ("jobs", "status"): "Status",
    ("jobs", "payload"): "Record<string, unknown>",
    ("enqueued_jobs", "status"): "Status",
    ("enqueued_jobs", "payload"): "Record<string, unknown>",
    ("claimed_job", "payload"): "Record<string, unknown>",
}
# Nobody knows which columns of a type or of a function are null: these are like those of a table,
LIKE_TABLE = {
    "claimed_job": "public.jobs",
    "document_overview": "public.documents",
    "enqueued_jobs": "public.jobs",
    "job_triggers": "public.event_triggers",
    "list_event_triggers": "public.event_triggers",
    "list_members": "public.memberships",
    "list_schedules": "public.schedules",
    "shown_key": "tickwork.api_keys",
}
# and these are never null. All others may be.
COUNTED = ("changed", "has_more")
COUNTS = ("queued", "due", "running", "done", "failed", "dead", "cancelled")
NEVER_NULL = {
    **{"cancel_jobs": COUNTED, "retry_jobs": COUNTED, "reschedule_jobs": COUNTED},
    "caller": ("kind", "scopes", "is_platform_admin"),
    "claimed_job": ("lease_token",),
    "enqueued_jobs": ("deduplicated",),
    "estimate_extraction": ("needs_consent", "is_exact"),
    "heartbeat_jobs": ("job_id", "is_held", "cancel_requested"),
    "job_triggers": ("is_enabled", "trigger_type"),
    "job_attempts": ("job_id", "tenant_id", "number", "status"),
    "list_event_triggers": ("is_enabled",),
    "list_holds": ("scope", "created_at", "waiting"),
    "list_lanes": ("tenant_id", "family", "lane", "is_held"),
    "list_schedules": ("is_enabled",),
    "list_workers": ("families", "running", "expired"),
    "preview_schedule": ("nominal_at", "local_time"),
    "queue_summary": ("family", "type", *COUNTS),
    "search_hit": ("document_id", "name", "chunk_index", "element_type", "snippet", "rank", "total"),
    "settle_jobs": ("job_id", "is_held"),
    "sign_artifact": ("tenant_id", "vault_path", "size", "sha256"),
    "sign_document": ("tenant_id", "vault_path"),
    "summarize_jobs": COUNTS,
    "test_event": ("trigger_id", "label", "job_type", "outcome"),
}
ARGUMENTS = {"payload": "Record<string, unknown>", "changes": "Record<string, unknown>"}

HEAD = """
export type Status = "queued" | "running" | "done" | "failed" | "dead" | "cancelled";

/** What is returned, by table, type or function. Ids and times are strings; numbers are exact up to 2^53. */
export interface Rows {
"""
VERBS = """}

/** The arguments of each verb, and what it returns: a row, one of several rows, or a value. */
export interface Verbs {
"""

OF_TENANT = """}

/** The verbs that are for a tenant. */
export const OF_TENANT: ReadonlySet<string> = new Set<keyof Verbs>([
"""

FUNCTIONS = """
    select
      proname as name,
      coalesce(proargnames[1:pronargs], '{}') as parameters,
      array(
        select type::regtype::text
        from unnest(proargtypes) with ordinality as parameter(type, number)
        order by number
      ) as types,
      array(
        select pg_get_function_arg_default(pg_proc.oid, number)
        from generate_series(1, pronargs) as number
        order by number
      ) as defaults,
      prorettype::regtype::text as returns,
      coalesce(
        (select array_agg(name order by number)
         from unnest(proargnames, proargmodes) with ordinality as parameter(name, mode, number)
         where mode = 't'),
        '{}'
      ) as columns,
      coalesce(
        (select array_agg(type::regtype::text order by number)
         from unnest(proallargtypes, proargmodes) with ordinality as parameter(type, mode, number)
         where mode = 't'),
        '{}'
      ) as column_types,
      has_function_privilege('authenticated', pg_proc.oid, 'execute') as is_for_members
    from pg_proc
    where pronamespace = 'public'::regnamespace
      and prorettype <> 'trigger'::regtype
      and (
        has_function_privilege('authenticated', pg_proc.oid, 'execute')
        or has_function_privilege('service_role', pg_proc.oid, 'execute')
      )
    order by proname
"""
COLUMNS_OF = """
    select
      attname as name,
      atttypid::regtype::text as type,
      not attnotnull as is_nullable
    from pg_attribute
    where attrelid = %(relation)s::regclass
      and attnum > 0
      and not attisdropped
    order by attnum
"""


@dataclass(frozen=True)
class Function:
    name: str
    parameters: Sequence[str]
    types: Sequence[str]
    # Null where there is none.
    defaults: Sequence[str | None]
    returns: str
    columns: Sequence[str]
    column_types: Sequence[str]
    is_for_members: bool

    def is_of_tenant(self) -> bool:
        """Of what only the service may do, some is for a tenant or for something else, and not for both."""
        found = dict(zip(self.parameters, self.defaults, strict=True))
        return "tenant_id" in found and (self.is_for_members or found["tenant_id"] is None)


@dataclass(frozen=True)
class Column:
    name: str
    type: str
    is_nullable: bool


OPERATIONS = """
export type Returns = "row" | "rows" | "value" | "nothing";

/** The method and the path, below /api/v1, of each verb, and what it returns. */
export const OPERATIONS: Readonly<Record<string, readonly [method: string, path: string, returns: Returns]>> = {
"""


def typescript_files(connection: psycopg.Connection[Any], openapi: Mapping[str, Any]) -> dict[str, str]:
    """The contents by file name."""
    with connection.cursor(row_factory=class_row(Function)) as cursor:
        functions = cursor.execute(FUNCTIONS).fetchall()
    verbs = {function.name for function in functions}
    return {"verbs.ts": verbs_file(connection, functions), "operations.ts": operations_file(openapi, verbs)}


def operations_file(openapi: Mapping[str, Any], verbs: Collection[str]) -> str:
    operations = {
        operation["operationId"]: (method.upper(), path.removeprefix("/api/v1/"), returned(operation))
        for path, methods in openapi["paths"].items()
        for method, operation in methods.items()
        if operation["operationId"] in verbs
    }
    lines = (f"  {verb}: {json.dumps(operation)},\n" for verb, operation in sorted(operations.items()))
    return NOTE.format("shared/tickwork/api/openapi.json") + OPERATIONS + "".join(lines) + "};\n"


def returned(operation: Mapping[str, Any]) -> str:
    responses = operation["responses"]
    if "204" in responses:
        return "nothing"
    properties = responses["200"]["content"]["application/json"]["schema"].get("properties", {})
    return "rows" if "items" in properties else "value" if set(properties) == {"value"} else "row"


def verbs_file(connection: psycopg.Connection[Any], functions: Sequence[Function]) -> str:
    rows = {}
    for function in functions:
        if function.columns:
            named = zip(function.columns, function.column_types, strict=True)
            found = [Column(*each, is_nullable=True) for each in named]
            rows[function.name] = as_known(connection, function.name, found)
        elif function.returns.removesuffix("[]") not in TYPES:
            name = plain(function.returns)
            rows[name] = as_known(connection, name, columns_of(connection, function.returns))
    shapes = "".join(block(name, columns(name, rows[name])) for name in sorted(rows))
    of_tenant = "".join(f'  "{each.name}",\n' for each in functions if each.is_of_tenant())
    verbs = "".join(map(verb, functions))
    return NOTE.format("the database") + HEAD + shapes + VERBS + verbs + OF_TENANT + of_tenant + "]);\n"


def columns_of(connection: psycopg.Connection[Any], relation: str) -> list[Column]:
    with connection.cursor(row_factory=class_row(Column)) as cursor:
        return cursor.execute(COLUMNS_OF, {"relation": relation}).fetchall()


def as_known(connection: psycopg.Connection[Any], relation: str, found: Sequence[Column]) -> list[Column]:
    """The columns, with what is known of those that are never null."""
    table = columns_of(connection, LIKE_TABLE[relation]) if relation in LIKE_TABLE else []
    certain = {*NEVER_NULL.get(relation, ()), *(column.name for column in table if not column.is_nullable)}
    return [replace(column, is_nullable=column.is_nullable and column.name not in certain) for column in found]


def plain(name: str) -> str:
    return name.rpartition(".")[2]


def columns(relation: str, of_relation: Sequence[Column]) -> list[str]:
    return [
        f"{column.name}: {COLUMNS.get((relation, column.name)) or type_of(column.type, column.is_nullable)};"
        for column in of_relation
    ]


def verb(function: Function) -> str:
    given = zip(function.parameters, function.types, function.defaults, strict=True)
    arguments = "".join(f"      {argument(*each)}\n" for each in given)
    returned = function.name if function.columns else plain(function.returns)
    is_value = not function.columns and function.returns.removesuffix("[]") in TYPES
    row = type_of(function.returns) if is_value else f'Rows["{returned}"]'
    inner = "{\n" + arguments + "    }" if arguments else "Record<string, never>"
    return f"  {function.name}: {{\n    arguments: {inner};\n    row: {row};\n  }};\n"


def argument(name: str, type: str, default: str | None) -> str:
    # The client fills it in, or the API, if there is only one.
    is_optional = default is not None or name == "tenant_id"
    is_nullable = name == "tenant_id" or (default is not None and default.startswith("NULL"))
    found = ARGUMENTS.get(name) or type_of(type, is_nullable)
    return f"{name}{'?' if is_optional else ''}: {found};"


def block(name: str, lines: Iterable[str]) -> str:
    return f"  {name}: {{\n" + "".join(f"    {line}\n" for line in lines) + "  };\n"


def type_of(type: str, is_nullable: bool = False) -> str:
    if type.endswith("[]"):
        found = f"readonly {TYPES.get(type.removesuffix('[]'), 'unknown')}[]"
    else:
        found = TYPES.get(type, "unknown")
    return f"{found} | null" if is_nullable and found not in ("unknown", "void") else found
