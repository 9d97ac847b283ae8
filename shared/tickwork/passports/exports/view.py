"""What an audience sees of a passport version."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from tickwork.passports.canonical import Json, read_canonical
from tickwork.passports.rules.results import Access

# Whoever made the passport sees all of it.
Audience: TypeAlias = Literal["public", "legitimate_interest", "authorities", "owner"]

SEES: Mapping[Audience, frozenset[Access]] = {
    "public": frozenset({"public"}),
    "legitimate_interest": frozenset({"public", "restricted", "legitimate_interest"}),
    "authorities": frozenset({"public", "restricted", "authorities"}),
    "owner": frozenset(get_args(Access)),
}


@dataclass(frozen=True)
class Shown:
    """An attribute that the audience may see."""

    path: str
    value: Json
    unit: str | None
    access: Access


@dataclass(frozen=True)
class View:
    """The attributes are in the order of their paths, by code points."""

    audience: Audience
    passport_id: str
    passport_version_id: str
    battery_identifier: str
    model: str
    category: str
    issuer: str
    issued_at: str
    receipt_hash: str
    proof_root_hash: str
    leaf_count: int
    attributes: tuple[Shown, ...]


def view_of(payload: bytes, receipt: bytes, audience: Audience) -> View:
    """From the canonical bytes of a version; leaves out what the audience may not see."""
    content: Any = read_canonical(payload)
    stated: Any = read_canonical(receipt)
    return View(
        audience=audience,
        passport_id=stated["passport_id"],
        passport_version_id=stated["passport_version_id"],
        battery_identifier=stated["battery_identifier"],
        model=stated["model"],
        category=stated["category"],
        issuer=stated["issuer"],
        issued_at=stated["issued_at"],
        receipt_hash=hashlib.sha256(receipt).hexdigest(),
        proof_root_hash=stated["proof_root_hash"],
        leaf_count=stated["leaf_count"],
        attributes=tuple(
            Shown(path, each["value"], each["unit"], each["access"])
            for path, each in sorted(content["attributes"].items())
            if each["access"] in SEES[audience]
        ),
    )
