"""The shape of `dsl_source`: schemas of facts, attributes with their duties, and checks."""

from datetime import date
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from tickwork.passports.rules.results import Access, Category, Severity
from tickwork.passports.rules.schema import Schema

Duty: TypeAlias = Literal["mandatory", "optional", "withheld"]
Path: TypeAlias = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+$", max_length=200)]
FactType: TypeAlias = Annotated[str, Field(pattern="^[a-z][a-z0-9_]{0,99}$")]
Unit: TypeAlias = Annotated[str, Field(pattern="^[A-Za-z0-9%/._-]{1,20}$")]
Words: TypeAlias = Annotated[str, Field(min_length=1, max_length=1000)]

MAX_ATTRIBUTES = 2000
MAX_CHECKS = 500


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class DutySource(Strict):
    """From that day on (always, without one) it is the duty for these categories, until another one begins."""

    duty: Duty
    categories: tuple[Category, ...] = Field(min_length=1, strict=False)
    since: date | None = Field(default=None, alias="from", strict=False)


class AttributeSource(Strict):
    """Without `value`, it is that of the `attribute` fact whose key is the path."""

    path: Path
    words: Words | None = None
    unit: Unit | None = None
    access: Access
    form: Schema = Field(alias="schema")
    duty: tuple[DutySource, ...] = Field(default=(), max_length=40, strict=False)
    value: str | None = None


class CheckSource(Strict):
    code: Annotated[str, Field(pattern="^[A-Z][A-Z0-9_]{0,99}$")]
    check: str
    words: Words
    severity: Severity = "error"


class RulesSource(Strict):
    title: Words | None = None
    facts: dict[FactType, Schema] = Field(default={}, max_length=100)
    attributes: tuple[AttributeSource, ...] = Field(max_length=MAX_ATTRIBUTES, strict=False)
    checks: tuple[CheckSource, ...] = Field(default=(), max_length=MAX_CHECKS, strict=False)
