"""What the client knows of each SQL function: what it returns, from the database, and its route, from openapi.json."""

import json
from pathlib import Path
from typing import Any

from psycopg import Connection
from psycopg.rows import tuple_row

OPENAPI = Path(__file__).parents[3] / "shared" / "tickwork" / "api" / "openapi.json"
# What JSON has only as text or as another number.
CONVERTED = ["uuid", "uuid[]", "timestamptz", "date", "numeric"]

FUNCTIONS = """
    select
      proname as name,
      case
        when prorettype = 'void'::regtype then 'nothing'
        when proretset then 'many'
        when typtype = 'c' then 'one'
        else 'value'
      end as returns,
      case when typtype = 'c' then typname else proname end as row,
      case
        when typtype = 'c' then (
          select array_agg(array[attname, format_type(atttypid, null)] order by attnum)
          from pg_attribute
          where attrelid = typrelid and attnum > 0 and not attisdropped
        )
        when proargmodes is not null then (
          select array_agg(array[arg.name, format_type(arg.type, null)] order by arg.place)
          from unnest(proargnames, proallargtypes, proargmodes) with ordinality as arg(name, type, mode, place)
          where arg.mode in ('t', 'o')
        )
        else array[array['value', format_type(prorettype, null)]]
      end as columns
    from pg_proc
    join pg_type on pg_type.oid = prorettype
    where pronamespace = 'public'::regnamespace
    order by proname
"""
SHORT = {"timestamp with time zone": "timestamptz"}


def functions_json(connection: Connection[Any]) -> str:
    routes = routes_of(json.loads(OPENAPI.read_text())) if OPENAPI.exists() else {}
    columns: dict[str, dict[str, str]] = {}
    functions: dict[str, dict[str, Any]] = {}
    for name, returns, row, found in connection.cursor(row_factory=tuple_row).execute(FUNCTIONS):
        types = {column: SHORT.get(type, type) for column, type in found or []}
        converted = {column: type for column, type in types.items() if type in CONVERTED}
        functions[name] = {"returns": returns}
        if converted and returns != "nothing":
            columns[row] = converted
            functions[name]["row"] = row
        if name in routes:
            functions[name]["route"] = routes[name]
    return json.dumps({"columns": columns, "functions": functions}, indent=1, sort_keys=True) + "\n"


def routes_of(document: dict[str, Any]) -> dict[str, list[str]]:
    """The method and the path of each operation."""
    return {
        operation["operationId"]: [method.upper(), path.removeprefix("/api/v1")]
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
        if isinstance(operation, dict) and "operationId" in operation
    }
