"""A snapshot: the facts that a passport is made from, as one list of their keys and hashes."""

from collections.abc import Iterable

from tickwork.passports.canonical import Json, canonical
from tickwork.passports.fact import Fact


def snapshot_bytes(facts: Iterable[Fact]) -> bytes:
    rows: list[Json] = sorted(
        [fact.fact_type, fact.fact_key, fact.schema_version, fact.payload_hash.hex()] for fact in facts
    )
    return canonical({"type": "BPC-SNAPSHOT-1", "facts": rows})
