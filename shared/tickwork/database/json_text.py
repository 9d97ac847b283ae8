"""Python values as JSON that the database accepts."""

import json
from collections.abc import Mapping
from typing import Any

from tickwork.errors import InvalidRequest

ENCODER = json.JSONEncoder(allow_nan=False, ensure_ascii=False)


def as_given(value: Any) -> str:
    """A payload is stored as it is, or not at all."""
    try:
        return as_text(value)
    except (ValueError, TypeError, RecursionError) as error:
        raise InvalidRequest(f"payload: is not JSON ({error})", sqlstate="TWPAY") from error


def as_stored(value: Any) -> str | None:
    """What a handler produced is stored without the characters that Postgres cannot store."""
    if value is None:
        return None
    try:
        text = as_text(value)
        if "\\u0000" not in text:
            return text
    except (ValueError, TypeError, RecursionError):
        pass
    # Rarely needed: cleaning everything would take longer than all the rest.
    try:
        return as_text(storable(value))
    except (ValueError, TypeError, RecursionError) as error:
        raise InvalidRequest(f"result: is not JSON ({error})", sqlstate="TWPAY") from error


def as_text(value: Any) -> str:
    """JSON as text, which the database converts to the type of the parameter."""
    text = ENCODER.encode(value)
    # Half a surrogate pair is not a character.
    text.encode()
    return text


def storable(value: Any) -> Any:
    match value:
        case str():
            return value.replace("\x00", "").encode("utf-8", "replace").decode("utf-8")
        case Mapping():
            return {storable(key): storable(each) for key, each in value.items()}
        case list() | tuple():
            return [storable(each) for each in value]
        case _:
            return value
