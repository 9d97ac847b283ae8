"""What a JSON Schema says about a value, as far as the types of a programming language can tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

JsonType = Literal["string", "number", "integer", "boolean", "null"]
SCALARS: tuple[JsonType, ...] = ("string", "number", "integer", "boolean", "null")
JSON_TYPES = (*SCALARS, "object", "array")
# As many levels as tickwork.subschema_problem allows; pg_jsonschema has no such limit.
MAX_DEPTH = 32


@dataclass(frozen=True)
class Anything:
    """Also what is said in keywords that only pg_jsonschema knows."""


@dataclass(frozen=True)
class Scalar:
    type: JsonType


@dataclass(frozen=True)
class Literals:
    values: Sequence[str | int | float | bool | None]


@dataclass(frozen=True)
class ListOf:
    items: Shape


@dataclass(frozen=True)
class MapOf:
    values: Shape


@dataclass(frozen=True)
class Field:
    shape: Shape
    is_required: bool
    description: str


@dataclass(frozen=True)
class Record:
    """`is_open` if the schema describes further fields; where it only does not forbid them, they are typing errors."""

    fields: Mapping[str, Field]
    is_open: bool


@dataclass(frozen=True)
class OneOf:
    shapes: Sequence[Shape]


Shape = Anything | Scalar | Literals | ListOf | MapOf | Record | OneOf


def shape_of(schema: object, depth: int = 1) -> Shape:
    if not isinstance(schema, dict) or depth > MAX_DEPTH:
        return Anything()
    types = types_of(schema)
    if "const" in schema or isinstance(schema.get("enum"), list):
        return literals([schema["const"]] if "const" in schema else schema["enum"], types)
    shapes = [shape_of_type(type, schema, depth) for type in types]
    return shapes[0] if len(shapes) == 1 else OneOf(shapes) if shapes else Anything()


def types_of(schema: dict[str, Any]) -> list[str]:
    """Empty if any value will do."""
    if "type" in schema:
        given = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        return given if all(type in JSON_TYPES for type in given) else []
    # A schema that describes fields means an object, even if it forgets to say so.
    if any(isinstance(schema.get(keyword), dict) for keyword in ("properties", "additionalProperties")):
        return ["object"]
    return ["array"] if "items" in schema else []


def literals(values: list[Any], types: list[str]) -> Shape:
    known = [value for value in values if not types or json_types(value).intersection(types)]
    if not known or any(isinstance(value, dict | list) for value in known):
        return Anything()
    return Literals(known)


def json_types(value: object) -> set[str]:
    match value:
        case None:
            return {"null"}
        case bool():
            return {"boolean"}
        case str():
            return {"string"}
        case int() | float():
            return {"number", "integer"} if value == value // 1 else {"number"}
        case list():
            return {"array"}
        case _:
            return {"object"}


def shape_of_type(type: str, schema: dict[str, Any], depth: int) -> Shape:
    match type:
        case "array":
            return ListOf(shape_of(schema.get("items"), depth + 1))
        case "object":
            return shape_of_object(schema, depth)
        case _:
            return Scalar(next(scalar for scalar in SCALARS if scalar == type))


def shape_of_object(schema: dict[str, Any], depth: int) -> Shape:
    properties = schema.get("properties")
    described = properties if isinstance(properties, dict) else {}
    listed = schema.get("required")
    required = [name for name in listed if isinstance(name, str)] if isinstance(listed, list) else []
    others = schema.get("additionalProperties")
    if not described and not required and others is not False:
        return MapOf(shape_of(others, depth + 1))
    # The database does not keep the order of described, but that of required.
    fields = {name: field_of(described.get(name), name in required, depth) for name in [*required, *described]}
    return Record(fields, is_open=isinstance(others, dict))


def field_of(schema: object, is_required: bool, depth: int) -> Field:
    description = schema.get("description") if isinstance(schema, dict) else None
    return Field(shape_of(schema, depth + 1), is_required, description if isinstance(description, str) else "")
