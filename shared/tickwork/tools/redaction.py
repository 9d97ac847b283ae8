"""Secrets are looked for by what they are, not by how they look, before anything foreign is kept or shown."""

import json
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterator, Mapping
from urllib.parse import quote, quote_plus


def redacted(text: str, secrets: Mapping[str, str]) -> str:
    """The text with each secret, in every form that it may have come back in, replaced by its name."""
    forms = {form: name for name, value in secrets.items() for form in _forms(value)}
    # The longest first: one may be a part of another.
    for form in sorted(forms, key=len, reverse=True):
        text = text.replace(form, f"[secret {forms[form]}]")
    return text


def redacted_headers(headers: Mapping[str, str], secrets: Mapping[str, str], most: int) -> dict[str, str]:
    """Those of the headers that fit into so many characters, the first ones first."""
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
