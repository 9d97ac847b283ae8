"""Canonical bytes of JSON (RFC 8785) and their hashes: the same for everybody who has the same values."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import rfc8785

MAX_INTEGER = 2**53 - 1

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"


def canonical(value: Json) -> bytes:
    """Raises `rfc8785.CanonicalizationError` for what JSON cannot hold exactly: such values are refused when read."""
    return rfc8785.dumps(value)


def read_canonical(content: bytes) -> Json:
    """What canonical bytes say: whole numbers that only a double can hold come back as one."""
    value: Json = json.loads(content, parse_int=whole_number)
    return value


def whole_number(digits: str) -> int | float:
    return int(digits) if abs(int(digits)) <= MAX_INTEGER else float(digits)


def hash_of(value: Json) -> bytes:
    return hashlib.sha256(canonical(value)).digest()
