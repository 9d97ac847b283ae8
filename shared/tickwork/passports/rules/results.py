"""What rules give for facts: the attributes of a passport, and findings where the facts fall short."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from tickwork.passports.canonical import Json

Access: TypeAlias = Literal["public", "restricted", "authorities", "legitimate_interest"]
Category: TypeAlias = Literal["ev", "lmt", "industrial", "stationary"]
Severity: TypeAlias = Literal["error", "warning"]


@dataclass(frozen=True)
class Attribute:
    """`sources` are positions in the facts that were given; `rule` names the rule that gave the value."""

    path: str
    value: Json
    unit: str | None
    access: Access
    rule: str
    sources: tuple[int, ...]


@dataclass(frozen=True)
class Finding:
    code: str
    subject: str
    message: str
    severity: Severity


@dataclass(frozen=True)
class Evaluation:
    attributes: tuple[Attribute, ...]
    findings: tuple[Finding, ...]
