"""Models as schemas for job_types.payload_schema and result_schema, in the keywords that every server can check."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic import BaseModel

Schema = dict[str, Any]

# Those of tickwork.keyword_problem.
CHECKED = (
    *("type", "format", "enum", "const", "minimum", "maximum", "minLength", "maxLength", "pattern"),
    *("minItems", "maxItems", "required"),
)
NESTING = ("properties", "items", "additionalProperties")
WITHOUT_EFFECT = ("title", "description", "default", "examples", "deprecated", "$defs")
FORMATS = ("uuid", "date-time")


def payload_schema_of(model: type[BaseModel]) -> Schema:
    """The schema that accepts what the model accepts; raises ValueError if these keywords cannot express that.

    It is stricter in one respect: it refuses a number or an id in another format, which the model would convert.
    """
    whole = model.model_json_schema()
    return converted(whole, whole.get("$defs", {}), "payload")


def result_schema_of(model: type[BaseModel]) -> Schema:
    """The schema of what the model writes; raises ValueError if these keywords cannot express that."""
    whole = model.model_json_schema(mode="serialization")
    return converted(whole, whole.get("$defs", {}), "result")


def converted(schema: Schema, definitions: Mapping[str, Schema], path: str) -> Schema:
    schema = {keyword: value for keyword, value in schema.items() if keyword not in WITHOUT_EFFECT}
    if "$ref" in schema:
        return referred(schema, definitions, path)
    if "anyOf" in schema:
        return nullable(schema, definitions, path)
    for keyword in schema:
        if keyword not in CHECKED + NESTING or (keyword == "format" and schema[keyword] not in FORMATS):
            raise ValueError(f"{path}: the schema cannot express {keyword} {schema[keyword]!r}")
    plain = {keyword: schema[keyword] for keyword in CHECKED if keyword in schema}
    return plain | nested(schema, definitions, path)


def referred(schema: Schema, definitions: Mapping[str, Schema], path: str) -> Schema:
    name = schema["$ref"].removeprefix("#/$defs/")
    if name not in definitions:
        raise ValueError(f"{path}: the schema cannot express a model that contains itself")
    # Without the definition that is being resolved, one that refers to itself is not found.
    others = {each: definition for each, definition in definitions.items() if each != name}
    rest = {keyword: value for keyword, value in schema.items() if keyword != "$ref"}
    return converted({**definitions[name], **rest}, others, path)


def nullable(schema: Schema, definitions: Mapping[str, Schema], path: str) -> Schema:
    """X | None: the schema of X that also accepts null."""
    choices = [choice for choice in schema["anyOf"] if choice != {"type": "null"}]
    if len(choices) != 1 or len(choices) == len(schema["anyOf"]):
        raise ValueError(f"{path}: the schema cannot express a union other than with None")
    rest = {keyword: value for keyword, value in schema.items() if keyword != "anyOf"}
    found = converted({**choices[0], **rest}, definitions, path)
    if "const" in found:
        found["enum"] = [found.pop("const")]
    if "enum" in found:
        found["enum"] = [*found["enum"], None]
    if "type" in found:
        types = found["type"] if isinstance(found["type"], list) else [found["type"]]
        found["type"] = [*types, "null"]
    return found


def nested(schema: Schema, definitions: Mapping[str, Schema], path: str) -> Schema:
    found: Schema = {}
    if "properties" in schema:
        found["properties"] = {
            name: converted(each, definitions, f"{path}.{name}") for name, each in schema["properties"].items()
        }
    if "items" in schema:
        found["items"] = converted(schema["items"], definitions, f"{path}[]")
    if "additionalProperties" in schema:
        given = schema["additionalProperties"]
        found["additionalProperties"] = given if isinstance(given, bool) else converted(given, definitions, f"{path}.*")
    return found
