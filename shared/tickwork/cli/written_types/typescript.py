"""`tickwork types --lang ts`: an interface for `new Tickwork<JobTypes>(...)`."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, assert_never

from tickwork.cli.written_types.shapes import (
    Anything,
    ListOf,
    Literals,
    MapOf,
    OneOf,
    Record,
    Scalar,
    Shape,
    shape_of,
)

HEAD = """\
// Written by `tickwork types --lang ts`. Write it again when job types change.

export interface JobTypes {
"""
SCALARS = {"string": "string", "number": "number", "integer": "number", "boolean": "boolean", "null": "null"}
IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# Whole numbers that a number in JavaScript can tell apart.
MAX_EXACT = 2**53 - 1


def typescript(job_types: Iterable[Mapping[str, Any]]) -> str:
    return HEAD + "".join(map(entry, job_types)) + "}\n"


def entry(job_type: Mapping[str, Any]) -> str:
    payload, result = job_type["payload_schema"], job_type["result_schema"]
    return (
        f"{comment(job_type['description'], '  ')}  {key(job_type['key'])}: {{\n"
        f"    payload: {type_of(shape_of(payload or {'type': 'object'}), '    ')};\n"
        f"    result: {type_of(shape_of(result), '    ')};\n"
        "  };\n"
    )


def type_of(shape: Shape, indent: str) -> str:
    match shape:
        case Anything():
            return "unknown"
        case Scalar(type):
            return SCALARS[type]
        case Literals(values):
            return one_of(literal(value) for value in values)
        case ListOf(items):
            return f"Array<{type_of(items, indent)}>"
        case MapOf(values=inner):
            return f"Record<string, {type_of(inner, indent)}>"
        case Record():
            return record(shape, indent)
        case OneOf(shapes):
            return one_of(type_of(each, indent) for each in shapes)
        case _:
            assert_never(shape)


def one_of(types: Iterable[str]) -> str:
    return " | ".join(dict.fromkeys(types))


def record(shape: Record, indent: str) -> str:
    if not shape.fields and not shape.is_open:
        return "Record<string, never>"
    inner = indent + "  "
    lines = [
        f"{comment(field.description, inner)}{inner}{key(name)}{'' if field.is_required else '?'}: "
        f"{type_of(field.shape, inner)};\n"
        for name, field in shape.fields.items()
    ]
    others = [f"{inner}[name: string]: unknown;\n"] if shape.is_open else []
    return "{\n" + "".join([*lines, *others]) + indent + "}"


def literal(value: str | int | float | bool | None) -> str:
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, int | float) and abs(value) > MAX_EXACT:
        return "number"
    return json.dumps(value)


def key(name: str) -> str:
    return name if IDENTIFIER.fullmatch(name) else quoted(name)


def quoted(text: str) -> str:
    """Characters that cannot be seen, such as those that turn the direction of writing, are escaped."""
    return re.sub(r"[^\x20-\x7e]", lambda found: visible(found[0]), json.dumps(text, ensure_ascii=False))


def visible(character: str) -> str:
    return character if character.isprintable() else json.dumps(character)[1:-1]


def comment(description: str, indent: str) -> str:
    """On one line, and never the end of the comment, a tag or a directive such as @ts-ignore."""
    shown = "".join(character if character.isprintable() else " " for character in description)
    line = " ".join(shown.split()).replace("*/", "* /").lstrip("/*@ ")
    return f"{indent}/** {line} */\n" if line else ""
