"""The canonical bytes of a snapshot: which facts it has, by their hashes."""

from collections.abc import Iterable

from tickwork.passports.canonical import canonical
from tickwork.passports.fact import Fact


def snapshot_bytes(facts: Iterable[Fact]) -> bytes:
    """The same bytes for the same facts in any order; tickwork.snapshot_bytes in SQL returns the same."""
    items = sorted([fact.fact_type, fact.fact_key, fact.schema_version, fact.payload_hash.hex()] for fact in facts)
    return canonical({"type": "BPC-SNAPSHOT-1", "facts": items})
