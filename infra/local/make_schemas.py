"""The payload schemas of our own types: python infra/local/make_schemas.py [FOLDER] writes them as migrations."""

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

FOLDER = Path(__file__).parents[2] / "supabase" / "migrations"
# The file of each module, and the families whose types are in it.
FILES = {
    "20261116002380_document_payloads.sql": ("classify", "extract"),
    "20261116002980_webhook_payloads.sql": ("webhook",),
    "20261116003280_import_payloads.sql": ("imports",),
}

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
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    for name, of_module in FILES.items():
        rows = ",\n".join(row(schema, types) for schema, types in shipped_schemas(of_module))
        (folder / name).write_text(HEAD + UPDATE.format(rows=rows))


def shipped_schemas(of_module: tuple[str, ...]) -> list[tuple[Schema, list[str]]]:
    """Each schema with the types that have it: those that import share theirs."""
    found: list[tuple[Schema, list[str]]] = []
    for type, handler in sorted(each for family in of_module for each in shipped_handlers(family)):
        schema = payload_schema_of(handler.payload)
        types = next((types for known, types in found if known == schema), None)
        if types is None:
            found.append((schema, [type]))
        else:
            types.append(type)
    return found


def shipped_handlers(family: str) -> Iterator[tuple[str, Handler[Any]]]:
    """A module of a family that is named after a type has its handler, in capitals."""
    package = import_module(f"{families.__name__}.{family}")
    for module in iter_modules(package.__path__, f"{package.__name__}."):
        type = module.name.rpartition(".")[2]
        handler = getattr(import_module(module.name), type.upper(), None)
        if isinstance(handler, Handler):
            yield type, handler


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
