"""The leaves of a proof: attributes and facts as documents with salts, so that one can be shown without the others."""

import hmac
from collections.abc import Iterable, Sequence

from tickwork.passports.canonical import Json, canonical
from tickwork.passports.fact import Fact
from tickwork.passports.rules.results import Attribute

SALT_SIZE = 16


def leaves_of(attributes: Iterable[Attribute], facts: Sequence[Fact], salt_key: bytes) -> list[bytes]:
    """Attributes by path, then the facts as they are: their sources are positions in `facts`, which are in order."""
    ordered = sorted(attributes, key=lambda each: each.path)
    return [
        *(attribute_leaf(each, len(ordered), salt_key) for each in ordered),
        *(fact_leaf(each, salt_key) for each in facts),
    ]


def in_order(facts: Iterable[Fact]) -> list[Fact]:
    """By code points, as a snapshot has them."""
    return sorted(facts, key=key_of)


def key_of(fact: Fact) -> tuple[str, str, str]:
    return fact.fact_type, fact.fact_key, fact.schema_version


def attribute_leaf(attribute: Attribute, first_fact: int, salt_key: bytes) -> bytes:
    """Names its facts by the numbers of their leaves: a hash would let a restricted fact be guessed."""
    return canonical(
        {
            "type": "BPC-LEAF-1",
            "kind": "attribute",
            "path": attribute.path,
            "value": attribute.value,
            "unit": attribute.unit,
            "access": attribute.access,
            "rule": attribute.rule,
            "from": [first_fact + source for source in sorted(set(attribute.sources))],
            "salt": salt(salt_key, "attribute", attribute.path).hex(),
        }
    )


def fact_leaf(fact: Fact, salt_key: bytes) -> bytes:
    return canonical(
        {
            "type": "BPC-LEAF-1",
            "kind": "fact",
            "fact_type": fact.fact_type,
            "fact_key": fact.fact_key,
            "schema_version": fact.schema_version,
            "payload_hash": fact.payload_hash.hex(),
            "salt": salt(salt_key, "fact", path_of(fact)).hex(),
        }
    )


def path_of(fact: Fact) -> str:
    """As JSON, so that no two facts share one."""
    key: Sequence[Json] = key_of(fact)
    return canonical(key).decode()


def salt(salt_key: bytes, kind: str, path: str) -> bytes:
    """The same for the same passport and path, and unknown to whoever does not have the key."""
    return hmac.digest(salt_key, f"{kind}\x00{path}".encode(), "sha256")[:SALT_SIZE]


def proof_of(leaves: Sequence[bytes]) -> bytes:
    """Canonical as it stands, since each leaf is."""
    return b'{"leaves":[' + b",".join(leaves) + b'],"type":"BPC-PROOF-1"}'
