"""The payload schemas of our own types: python infra/local/make_schemas.py [FILE] writes them as a migration."""

import json
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from tickwork import families
from tickwork.jobs.handler import Handler
from tickwork.jobs.payload_schema import Schema, payload_schema_of

FILE = Path(__file__).parents[2] / "supabase" / "migrations" / "20261116005000_shipped_schemas.sql"

WIDTH = 100
INDENT = "    "

HEAD = """\
-- What the payloads of our own types have to look like, made by `make schemas` from the payload models of the handlers.
"""
UPDATE = """
update public.job_types
set payload_schema = shipped.schema
from (
  values
{rows}
) as shipped(types, schema)
where job_types.key = any (shipped.types);
"""


def main() -> None:
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else FILE
    rows = ",\n".join(row(schema, types) for schema, types in shipped_schemas())
    file.write_text(HEAD + UPDATE.format(rows=rows))


def shipped_schemas() -> list[tuple[Schema, list[str]]]:
    """Each schema with the types that have it: those that import share theirs."""
    found: list[tuple[Schema, list[str]]] = []
    for type, handler in sorted(shipped_handlers()):
        schema = payload_schema_of(handler.payload)
        types = next((types for known, types in found if known == schema), None)
        if types is None:
            found.append((schema, [type]))
        else:
            types.append(type)
    return found


def shipped_handlers() -> Iterator[tuple[str, Handler[Any]]]:
    """A module of a family that is named after a type has its handler, in capitals."""
    for family in iter_modules(families.__path__, f"{families.__name__}."):
        for module in iter_modules(import_module(family.name).__path__):
            handler = getattr(import_module(f"{family.name}.{module.name}"), module.name.upper(), None)
            if isinstance(handler, Handler):
                yield module.name, handler


def row(schema: Schema, types: list[str]) -> str:
    keys = ", ".join(f"'{type}'" for type in types)
    text = laid_out(schema, INDENT).replace("'", "''")
    return f"{INDENT}(array[{keys}], jsonb '{text}')"


def laid_out(value: Any, indent: str = "") -> str:
    """As JSON, each object on one line if there is room for it."""
    line = json.dumps(value, ensure_ascii=False)
    if len(indent + line) <= WIDTH or not isinstance(value, dict):
        return line
    inner = indent + "  "
    fields = (f"{inner}{json.dumps(name)}: {laid_out(each, inner)}" for name, each in value.items())
    return "{\n" + ",\n".join(fields) + "\n" + indent + "}"


if __name__ == "__main__":
    main()
