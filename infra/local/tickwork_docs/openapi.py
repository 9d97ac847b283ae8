"""The description of the API: its routes and their models, and what the functions return, as the catalogue says."""

import json
import re
from typing import Any

import psycopg
from psycopg.rows import dict_row

from tickwork.api.fields import ForTenant
from tickwork.api.problems import TITLES
from tickwork.api.route import Route
from tickwork.api.storing import MAX_FILE_BYTES
from tickwork.api.table import all_routes, module_of

Json = dict[str, Any]

INFO = {
    "title": "tickwork",
    "version": "1",
    "description": "The queue over HTTP. Each operation is the SQL function of the same name, called with the rights "
    "of the caller; parameters have the names that the function gives them.",
}
PROBLEM = {
    "type": "object",
    "description": "RFC 9457. `code` is the SQLSTATE, see docs/reference/sqlstates.md.",
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "code": {"type": ["string", "null"]},
        "hint": {"type": ["string", "null"]},
        "request_id": {"type": "string"},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"field": {"type": "string"}, "message": {"type": "string"}},
                "required": ["field", "message"],
            },
        },
    },
    "required": ["type", "title", "status", "detail", "request_id"],
}
SECURITY = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "A user's token, a Google OIDC token or an API key."},
    "key": {"type": "apiKey", "in": "header", "name": "X-Api-Key", "description": "An API key."},
}
REFUSALS = (400, 401, 403, 404, 409, 413, 422, 429, 503)
REFUSALS_OF_BODIES = (408, 415)

RESULTS = """
    select
      pg_proc.proname as name,
      obj_description(pg_proc.oid, 'pg_proc') as comment,
      case when pg_type.typtype = 'c' then pg_type.typname end as composite,
      format_type(pg_proc.prorettype, null) as type,
      coalesce(
        (
          select jsonb_object_agg(field.name, format_type(field.type, null))
          from unnest(pg_proc.proargnames, pg_proc.proargmodes, pg_proc.proallargtypes) as field(name, mode, type)
          where field.mode = 't'
        ),
        (
          select jsonb_object_agg(
            pg_attribute.attname,
            format_type(pg_attribute.atttypid, null) || case when pg_attribute.attnotnull then '!' else '' end
          )
          from pg_attribute
          where pg_attribute.attrelid = pg_type.typrelid
            and pg_attribute.attnum > 0
            and not pg_attribute.attisdropped
        )
      ) as columns
    from pg_proc
    join pg_type on pg_type.oid = pg_proc.prorettype
    where pg_proc.pronamespace = 'public'::regnamespace
"""
TYPES: dict[str, Json] = {
    "uuid": {"type": "string", "format": "uuid"},
    "timestamp with time zone": {"type": "string", "format": "date-time"},
    "integer": {"type": "integer"},
    "bigint": {"type": "integer"},
    "smallint": {"type": "integer"},
    "double precision": {"type": "number"},
    "real": {"type": "number"},
    "numeric": {"type": "number"},
    "boolean": {"type": "boolean"},
    "jsonb": {},
    "json": {},
}


def document(connection: psycopg.Connection[Any]) -> str:
    with connection.cursor(row_factory=dict_row) as cursor:
        results = {row["name"]: row for row in cursor.execute(RESULTS)}
    schemas: Json = {"Problem": PROBLEM}
    paths: Json = {}
    for route in all_routes():
        paths.setdefault(f"/api/v1/{route.path}", {})[route.method.lower()] = operation(
            route, results[route.function], schemas
        )
    whole = {
        "openapi": "3.1.0",
        "info": INFO,
        "paths": {**dict(sorted(paths.items())), **OPEN_PATHS},
        "components": {
            "schemas": dict(sorted(schemas.items())),
            "responses": {str(status): refusal(status) for status in (*REFUSALS, *REFUSALS_OF_BODIES)},
            "securitySchemes": SECURITY,
        },
    }
    return json.dumps(whole, indent=1) + "\n"


def open_path(name: str, summary: str) -> Json:
    body = {"description": "Yes.", "content": {"application/json": {"schema": {"type": "object"}}}}
    return {
        "get": {
            "operationId": name,
            "summary": summary,
            "tags": ["health"],
            "security": [],
            "responses": {"200": body, "503": {"$ref": "#/components/responses/503"}},
        }
    }


OPEN_PATHS = {
    "/api/v1/openapi.json": open_path("read_openapi", "This document."),
    "/health/live": open_path("check_live", "Whether the function runs."),
    "/health/ready": open_path("check_ready", "Whether its database can be reached."),
}


def operation(route: Route, result: Json, schemas: Json) -> Json:
    comment = result["comment"] or ""
    fields = route.request.fields
    required = {name for name, field in fields.items() if field.is_required}
    described = {name: described_field(name, field.described(), route) for name, field in fields.items()}
    outside = [name for name in fields if name in route.in_path or not route.has_body]
    found: Json = {
        "operationId": route.operation_id or route.function,
        "summary": summary_of(comment),
        "description": comment,
        "tags": [module_of(route)],
        "security": [{"bearer": []}, {"key": []}],
        "parameters": [parameter(name, described[name], route, required) for name in outside],
    }
    if route.method != "GET":
        found["parameters"].append(DRY_RUN)
    if "idempotency_key" in fields:
        found["parameters"].append(IDEMPOTENCY_KEY)
    inside = {name: schema for name, schema in described.items() if name not in outside}
    if route.has_body and inside:
        found["requestBody"] = body_of(inside, sorted(required - set(outside)))
    if route.takes_file:
        file = {"schema": {"type": "string", "format": "binary", "maxLength": MAX_FILE_BYTES}}
        found["requestBody"] = {"required": True, "content": {"application/octet-stream": file}}
    found["responses"] = responses(route, result, schemas)
    return found


DRY_RUN = {
    "name": "dry_run",
    "in": "query",
    "required": False,
    "description": "Everything is checked and answered as usual, and then rolled back.",
    "schema": {"type": "boolean"},
}
IDEMPOTENCY_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "The same as `idempotency_key`.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[!-~]+$"},
}


def described_field(name: str, schema: Json, route: Route) -> Json:
    names = [alias for alias, targets in route.request.aliases.items() if name in targets]
    told = [f"Also: {', '.join(f'`{each}`' for each in names)}."] if names else []
    if name == "tenant_id" and issubclass(route.request, ForTenant):
        told.append("Not needed by callers who belong to one tenant.")
    return {**schema, "description": " ".join(told)} if told else schema


def parameter(name: str, schema: Json, route: Route, required: set[str]) -> Json:
    is_in_path = name in route.in_path
    plain = {key: value for key, value in schema.items() if key != "description"}
    # A parameter that is left out is null already.
    options = [each for each in plain.get("anyOf", ()) if each != {"type": "null"}]
    if len(options) == 1:
        plain = {**{key: value for key, value in plain.items() if key not in ("anyOf", "default")}, **options[0]}
    found = {"name": name, "in": "path" if is_in_path else "query", "required": is_in_path or name in required}
    told = {"description": schema["description"]} if "description" in schema else {}
    return {**found, **told, "schema": plain}


def body_of(fields: Json, required: list[str]) -> Json:
    schema: Json = {"type": "object", "properties": fields, "additionalProperties": False}
    if required:
        schema["required"] = required
    return {"required": bool(required), "content": {"application/json": {"schema": schema}}}


def responses(route: Route, result: Json, schemas: Json) -> Json:
    statuses = (*REFUSALS, *(REFUSALS_OF_BODIES if route.has_body or route.takes_file else ()))
    refusals = {str(status): {"$ref": f"#/components/responses/{status}"} for status in sorted(statuses)}
    if route.returns == "nothing":
        return {"204": {"description": "Done."}, **refusals}
    content = {"application/json": {"schema": answer_schema(route, result, schemas)}}
    return {"200": {"description": "Done.", "content": content}, **refusals}


def answer_schema(route: Route, result: Json, schemas: Json) -> Json:
    if route.returns == "value":
        return {"type": "object", "properties": {"value": type_schema(result["type"])}, "required": ["value"]}
    row = row_schema(route, result, schemas)
    if route.returns == "row":
        return row
    cursor = {"type": ["string", "null"], "description": "For the next page; null if this is the last one."}
    properties = {"items": {"type": "array", "items": row}, "next_cursor": cursor}
    return {"type": "object", "properties": properties, "required": ["items", "next_cursor"]}


def row_schema(route: Route, result: Json, schemas: Json) -> Json:
    columns: dict[str, str] = result["columns"] or {}
    also: dict[str, str] = dict(re.findall(r"(\w+) as (\w+)", route.also))
    # What is no column is the type of an expression.
    columns = {**columns, **{new: columns.get(old, old) for old, new in also.items()}}
    properties = {name: type_schema(type) for name, type in columns.items()}
    schema = {"type": "object", "properties": properties, "required": list(columns)}
    name = (result["composite"] or f"{route.function}_row") + ("_and_source_names" if also else "")
    if schemas.setdefault(name, schema) != schema:
        raise ValueError(f"two schemas are called {name}")
    return {"$ref": f"#/components/schemas/{name}"}


def type_schema(type: str) -> Json:
    if type.endswith("!"):
        return plain_schema(type[:-1])
    plain = plain_schema(type)
    return {**plain, "type": [plain["type"], "null"]} if "type" in plain else plain


def plain_schema(type: str) -> Json:
    if type.endswith("[]"):
        return {"type": "array", "items": plain_schema(type[:-2])}
    return TYPES.get(type, {"type": "string"} if not type.startswith("tickwork.") else {})


def refusal(status: int) -> Json:
    headers = {"Retry-After": {"schema": {"type": "integer"}}} if status in (429, 503) else {}
    content = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {"description": TITLES[status], "content": content, **({"headers": headers} if headers else {})}


def summary_of(comment: str) -> str:
    sentence = re.split(r"(?<=[a-z)])\. ", comment)[0].rstrip(".")
    return sentence if len(sentence) <= 120 else sentence[:117].rsplit(" ", 1)[0] + " …"
