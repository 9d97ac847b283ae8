"""Removes secrets by their value, not by their form, before anything foreign is stored or shown."""

import json
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterator, Mapping
from urllib.parse import quote, quote_plus


def redacted(text: str, secrets: Mapping[str, str]) -> str:
    """The text with each secret, in every encoding that it may come back in, replaced by its name."""
    forms = {form: name for name, value in secrets.items() for form in _forms(value)}
    # The longest first: one may be part of another.
    for form in sorted(forms, key=len, reverse=True):
        text = text.replace(form, f"[secret {forms[form]}]")
    return text


def redacted_headers(headers: Mapping[str, str], secrets: Mapping[str, str], most: int) -> dict[str, str]:
    """The first headers that fit into that many characters."""
    chosen: dict[str, str] = {}
    for name, value in headers.items():
        shown = redacted(value, secrets)
        most -= len(name) + len(shown)
        if most >= 0:
            chosen[name] = shown
    return chosen


def _forms(value: str) -> Iterator[str]:
    raw = value.encode()
    yield value
    yield json.dumps(value)[1:-1]
    yield json.dumps(value, ensure_ascii=False)[1:-1]
    yield json.dumps(value)[1:-1].replace("/", "\\/")
    yield quote(value, safe="")
    yield quote(value)
    yield quote_plus(value)
    yield raw.hex()
    for encoded in (b64encode(raw), urlsafe_b64encode(raw)):
        yield encoded.decode().rstrip("=")
