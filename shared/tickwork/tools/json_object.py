"""The JSON object in bytes that somebody else sent."""

import json
from typing import Any


def json_object(body: bytes) -> dict[str, Any]:
    """Empty unless the bytes are a JSON object."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
