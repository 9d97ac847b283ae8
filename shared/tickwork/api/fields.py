"""What requests are made of. A request is a class whose fields are the parameters of a SQL function.

Not pydantic: it would take a quarter of a cold start.
"""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, ClassVar
from uuid import UUID

# Names of the source documents, and shorter ones, that mean the same where a request has the field.
ALIASES = {
    "definition_key": ("type",),
    "definition_id": ("type",),
    "scheduled_for": ("run_at",),
    "arg_schema": ("payload_schema",),
    "name": ("label",),
    "limit": ("max_jobs", "max_hits", "max_rows", "max_keys"),
    "cursor": (
        *("after_id", "after_event_id", "after_delivery_id", "after_document_id", "after_fact_id"),
        "after_passport_id",
    ),
    "type": ("only_type",),
    "status": ("delivery_status",),
    "tenant": ("tenant_id",),
}
# What the source documents call the statuses.
STATUSES = {"succeeded": "done", "canceled": "cancelled", "dead_letter": "dead"}
MAX_INTEGER = 2**31 - 1
# The beginning of a time. What follows is for datetime to read, which would take less than this.
A_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d")
AN_ID = re.compile("[0-9a-fA-F]{8}-?([0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}")
TYPES: Mapping[type, str] = {dict: "an object", list: "a list"}
REQUIRED = object()


@dataclass(frozen=True)
class Field:
    """What a value must be: its schema, and what reads it or raises ValueError. In a query every value is text."""

    schema: Mapping[str, Any]
    read: Callable[[Any], Any]
    read_text: Callable[[str], Any]
    # A parameter of type jsonb: the database reads it from the text of the body, so that no number changes.
    is_json: bool = False
    default: Any = REQUIRED
    takes_null: bool = False

    @property
    def is_required(self) -> bool:
        return self.default is REQUIRED

    def or_else(self, default: Any) -> "Field":
        return replace(self, default=default)

    def with_null(self) -> "Field":
        return replace(self, takes_null=True)

    def or_null(self) -> "Field":
        return replace(self, takes_null=True, default=None)

    def value_of(self, given: Any, is_text: bool) -> Any:
        if given is None and self.takes_null:
            return None
        return self.read_text(given) if is_text else self.read(given)

    def described(self) -> dict[str, Any]:
        """As OpenAPI has it."""
        schema = {"anyOf": [self.schema, {"type": "null"}]} if self.takes_null else dict(self.schema)
        # Lists and objects are left out: that they are empty says their type.
        return (
            schema if self.is_required or isinstance(self.default, list | dict) else {**schema, "default": self.default}
        )


class Request:
    fields: ClassVar[Mapping[str, Field]] = {}
    aliases: ClassVar[dict[str, tuple[str, ...]]] = ALIASES
    # The same for the fields in `changes`.
    change_aliases: ClassVar[dict[str, str]] = {}
    # A list of objects with a tenant_id each, which may be left out as in ForTenant.
    of_tenants: ClassVar[str | None] = None

    def __init_subclass__(cls) -> None:
        own = {name: value for name, value in vars(cls).items() if isinstance(value, Field)}
        cls.fields = {**cls.fields, **own}


def text(max_length: int, *, min_length: int = 0, after: Callable[[str], str] | None = None) -> Field:
    def read(value: Any) -> str:
        if not isinstance(value, str):
            raise ValueError("must be a text")
        if not min_length <= len(value) <= max_length:
            raise ValueError(f"must have {min_length} to {max_length} characters")
        return after(value) if after else value

    least = {"minLength": min_length} if min_length else {}
    return Field({"type": "string", "maxLength": max_length, **least}, read, read)


def whole_number(least: int, most: int) -> Field:
    def read(value: Any) -> int:
        if type(value) is not int or not least <= value <= most:
            raise ValueError(f"must be a whole number from {least} to {most}")
        return value

    def read_text(value: str) -> int:
        return read(int(value) if re.fullmatch("-?[0-9]{1,20}", value) else None)

    return Field({"type": "integer", "minimum": least, "maximum": most}, read, read_text)


def list_of(field: Field, max_length: int) -> Field:
    def read(value: Any) -> list[Any]:
        if not isinstance(value, list) or len(value) > max_length:
            raise ValueError(f"must be a list of at most {max_length}")
        return [field.read(each) for each in value]

    return Field({"type": "array", "items": field.schema, "maxItems": max_length}, read, read)


def json_value(schema: Mapping[str, Any], *types: type) -> Field:
    """It is neither read nor changed here."""

    def read(value: Any) -> Any:
        if types and not isinstance(value, types):
            raise ValueError(f"must be {' or '.join(TYPES[each] for each in types)}")
        return value

    return Field(schema, read, read, is_json=True)


def _objects(value: Any) -> list[Any]:
    if not isinstance(value, list) or len(value) > 10_000 or not all(isinstance(each, dict) for each in value):
        raise ValueError("must be a list of at most 10000 objects")
    return value


def _id(value: Any) -> UUID:
    if not isinstance(value, str) or not AN_ID.fullmatch(value):
        raise ValueError("must be a UUID")
    return UUID(value)


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("must be true or false")
    return value


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not _is_finite(value):
        raise ValueError("must be a number")
    return float(value)


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _time(value: Any) -> datetime:
    told = "must be a time with its zone as text, such as 2026-02-16T10:30:00Z"
    if not isinstance(value, str) or not A_TIME.match(value):
        raise ValueError(told)
    try:
        at = datetime.fromisoformat(value.upper())
    except ValueError:
        raise ValueError(told) from None
    if at.tzinfo is None:
        raise ValueError(told)
    return at


OBJECT = {"type": "object", "additionalProperties": True}

ID = Field({"type": "string", "format": "uuid"}, _id, _id)
FLAG = Field({"type": "boolean"}, _flag, lambda value: _flag({"true": True, "false": False}.get(value.lower())))
TEXT = text(100_000)
# Keys, names and the like.
NAME = text(200, min_length=1)
NOTE = text(8000)
STATUS = text(200, min_length=1, after=lambda status: STATUSES.get(status, status))
COUNT = whole_number(0, MAX_INTEGER)
# How many rows a page has.
ROWS = whole_number(1, 1000)
NUMBER = Field({"type": "number"}, _number, lambda value: _number(_read_number(value)))
TIME = Field({"type": "string", "format": "date-time"}, _time, _time)
JSON_VALUE = json_value({})
JSON_OBJECT = json_value(OBJECT, dict)
JSON_OBJECTS = Field({"type": "array", "items": OBJECT, "maxItems": 10_000}, _objects, _objects, is_json=True)


def _read_number(value: str) -> float | None:
    return float(value) if re.fullmatch(r"-?[0-9]{1,300}(\.[0-9]{1,300})?([eE][+-]?[0-9]{1,3})?", value) else None


class OfJob(Request):
    job_id = ID


class OfTenant(Request):
    """Without tenant_id: what the caller may see of every tenant."""

    tenant_id = ID.or_null()


class ForTenant(Request):
    """Without tenant_id: for the only tenant that the caller belongs to."""

    # Whether null stands for something else.
    takes_null_tenant: ClassVar[bool] = False

    tenant_id = ID.or_null()
