"""Canonical bytes of JSON (RFC 8785) and their hashes: the same for everybody who has the same values."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import rfc8785

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"


def canonical(value: Json) -> bytes:
    """Raises `rfc8785.CanonicalizationError` for what JSON cannot hold exactly: such values are refused when read."""
    return rfc8785.dumps(value)


def hash_of(value: Json) -> bytes:
    return hashlib.sha256(canonical(value)).digest()
