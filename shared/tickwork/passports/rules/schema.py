"""Schemas of facts and values: the part of JSON Schema from which cases can be made."""

import re
from collections.abc import Callable, Iterator
from datetime import date
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator

from tickwork.passports.canonical import Json
from tickwork.passports.rules.expressions import Kind

Problem: TypeAlias = tuple[str, str]
KINDS: dict[str, Kind] = {"number": "number", "integer": "number", "array": "list"}
PYTHON = {"string": str, "boolean": bool, "array": list, "object": dict}


class Schema(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    type: Literal["string", "number", "integer", "boolean", "array", "object"]
    description: str | None = None
    enum: tuple[str, ...] | None = Field(default=None, min_length=1, max_length=500, strict=False)
    minimum: float | None = None
    maximum: float | None = None
    max_length: int | None = Field(default=None, alias="maxLength", ge=1, le=65536)
    format: Literal["date", "uri"] | None = None
    items: "Schema | None" = None
    properties: dict[Annotated[str, Field(pattern="^[a-z][a-z0-9_]{0,99}$")], "Schema"] = {}
    required: tuple[str, ...] = Field(default=(), strict=False)

    @model_validator(mode="after")
    def is_sound(self) -> "Schema":
        only = {"enum": "string", "format": "string", "max_length": "string", "items": "array"}
        for name, type in only.items():
            if getattr(self, name) is not None and self.type != type:
                raise ValueError(f"{name} is for {type}")
        if self.type not in ("number", "integer") and (self.minimum, self.maximum) != (None, None):
            raise ValueError("bounds are for numbers")
        if self.minimum is not None and self.maximum is not None and self.minimum > self.maximum:
            raise ValueError("minimum is above maximum")
        if self.type != "object" and (self.properties or self.required):
            raise ValueError("properties are for object")
        if missing := set(self.required) - self.properties.keys():
            raise ValueError(f"required names no property: {', '.join(sorted(missing))}")
        return self

    @property
    def kind(self) -> Kind:
        return KINDS.get(self.type, self.type)  # type: ignore[arg-type]

    def problem(self, value: Json) -> str | None:
        """What is wrong with the value, in words; None if nothing is."""
        return next((f"{where}{what}" for where, what in self.problems(value)), None)

    def problems(self, value: Any, where: str = "") -> Iterator[Problem]:
        if not self._is_of_type(value):
            yield where, f"must be of type {self.type}"
        elif self.type in ("number", "integer"):
            yield from ((where, what) for what in self._out_of_bounds(value))
        elif self.type == "string":
            yield from ((where, what) for what in self._bad_text(value))
        elif self.type == "array" and self.items is not None:
            for number, each in enumerate(value):
                yield from self.items.problems(each, f"{where}[{number}]: ")
        elif self.type == "object":
            yield from self._bad_members(value, where)

    def _is_of_type(self, value: Any) -> bool:
        if self.type in ("number", "integer"):
            return type(value) is int or (type(value) is float and (self.type == "number" or value.is_integer()))
        return isinstance(value, PYTHON[self.type])

    def _out_of_bounds(self, value: float) -> Iterator[str]:
        if self.minimum is not None and value < self.minimum:
            yield f"must be {self.minimum:g} or more"
        if self.maximum is not None and value > self.maximum:
            yield f"must be {self.maximum:g} or less"

    def _bad_text(self, value: str) -> Iterator[str]:
        if self.enum is not None and value not in self.enum:
            yield f"must be one of {', '.join(self.enum[:20])}"
        if self.max_length is not None and len(value) > self.max_length:
            yield f"must have at most {self.max_length} characters"
        if self.format is not None and not FORMATS[self.format](value):
            yield f"must be a {self.format}"

    def _bad_members(self, value: dict[str, Any], where: str) -> Iterator[Problem]:
        for name in self.required:
            if name not in value:
                yield where, f"{name} is missing"
        for name, schema in self.properties.items():
            if name in value:
                yield from schema.problems(value[name], f"{where}{name}: ")


def is_date(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def is_uri(text: str) -> bool:
    return re.fullmatch(r"https?://[!-~]{1,2000}", text) is not None


FORMATS: dict[str, Callable[[str], bool]] = {"date": is_date, "uri": is_uri}
