"""What a reader finds in a document: facts, with where they are and how sure that is."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from rfc8785 import CanonicalizationError

from tickwork.passports.canonical import Json, canonical
from tickwork.passports.fact import Fact
from tickwork.passports.reading import Refused, shown

MAX_FACTS = 20_000
MAX_PAYLOAD = 65_536
MAX_KEY = 500
FACT_TYPES = ("attribute", "material", "component", "carbon_footprint", "due_diligence")


@dataclass(frozen=True)
class Found:
    """`confidence` is None where the document says so itself, and no extraction has guessed."""

    fact: Fact
    source: Mapping[str, Json] = field(default_factory=dict)
    confidence: float | None = None


def checked(found: Iterable[Found]) -> list[tuple[Found, bytes]]:
    """Each fact once, with its canonical bytes; refused if there is none, too many, or one that cannot be kept."""
    kept: dict[tuple[str, str, str, bytes], tuple[Found, bytes]] = {}
    for each in found:
        fact = each.fact
        if not 1 <= len(fact.fact_key) <= MAX_KEY:
            raise Refused("SCHEMA_MISMATCH", f"a key has 1 to {MAX_KEY} characters: {shown(fact.fact_key)}")
        try:
            payload = canonical(fact.payload)
        except CanonicalizationError as error:
            raise Refused("SCHEMA_MISMATCH", f"{shown(fact.fact_key)}: {error}") from None
        if len(payload) > MAX_PAYLOAD:
            raise Refused("FACT_TOO_LARGE", f"{shown(fact.fact_key)} has more than 64 kB")
        kept.setdefault((fact.fact_type, fact.fact_key, fact.schema_version, payload), (each, payload))
        if len(kept) > MAX_FACTS:
            raise Refused("TOO_MANY_FACTS", f"the document has more than {MAX_FACTS} facts; split it")
    if not kept:
        raise Refused("SCHEMA_MISMATCH", "the document has no facts")
    return list(kept.values())
