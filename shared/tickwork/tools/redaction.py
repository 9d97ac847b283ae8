"""Removes secrets by their value, not by their form, before anything foreign is stored or shown."""

import re
from base64 import b64encode
from collections.abc import Mapping
from functools import lru_cache
from html.entities import codepoint2name

# Quoted as JSON in JSON in JSON, a quotation mark has seven of them.
MAX_BACKSLASHES = 7
MIN_IN_BASE64 = 4
ENTITIES = {**codepoint2name, ord("'"): "apos"}
# In a form, a space is a plus; in a URL, base64 has other characters for its last two.
SAME = {" ": " +", "+": "+-", "/": "/_"}


def redacted(text: str, secrets: Mapping[str, str]) -> str:
    """The text with each secret, in every encoding that it may come back in, replaced by its name."""
    # The longest first: one may be part of another.
    for name in sorted(secrets, key=lambda name: len(secrets[name]), reverse=True):
        shown = f"[secret {name}]"
        for pattern in _patterns(secrets[name]):
            text = pattern.sub(lambda _, shown=shown: shown, text)  # type: ignore[misc]
    return text


def holds_one(text: str, secrets: Mapping[str, str]) -> bool:
    """Whether one of the secrets is in the text, in any form."""
    return any(pattern.search(text) for value in secrets.values() for pattern in _patterns(value))


def redacted_headers(headers: Mapping[str, str], secrets: Mapping[str, str], most: int) -> dict[str, str]:
    """The first headers that fit into that many characters."""
    chosen: dict[str, str] = {}
    for name, value in headers.items():
        shown = redacted(value, secrets)
        most -= len(name) + len(shown)
        if most >= 0:
            chosen[name] = shown
    return chosen


@lru_cache(maxsize=64)
def _patterns(value: str) -> tuple[re.Pattern[str], ...]:
    if not value:
        return ()
    raw = value.encode()
    forms = [_escaped(value), raw.hex(), raw.hex().upper()]
    # What base64 leaves of a shorter one could be anything.
    forms += [_in_base64(raw, shift) for shift in range(3)] if len(raw) >= MIN_IN_BASE64 else []
    return tuple(map(re.compile, forms))


def _escaped(text: str) -> str:
    """Matches it however each of its characters is quoted, percent-encoded or written as an HTML entity."""
    # A run of backslashes is one part: how many of them stand for one cannot be told.
    first, *others = (match[0] for match in re.finditer(r"\\+|[^\\]", text))
    # Atomic, so that nothing is tried twice: the time is linear in the text, whatever a server sends.
    return f"(?:{_part(first)})" + "".join(f"(?>{_part(each)})" for each in others)


def _part(part: str) -> str:
    """As alternatives that each begin with a fixed character: places where none begins are skipped quickly."""
    code = ord(part[0])
    percent = "".join(f"%(?:25){{0,2}}(?i:{byte:02x})" for byte in part[0].encode())
    entity = f"&(?i:(?:amp;){{0,2}}(?:#0{{0,4}}{code}|#x0{{0,4}}{code:x}|{ENTITIES.get(code, code)});)"
    if part[0] == "\\":
        return rf"\\{{{len(part)},{len(part) * (MAX_BACKSLASHES + 1)}}}+|(?:{percent}|{entity}){{{len(part)}}}"
    itself = "|".join(map(re.escape, SAME.get(part, part)))
    quoted = rf"\\\\{{0,{MAX_BACKSLASHES - 1}}}+(?:{entity}|{percent}|{itself}|(?i:u{code:04x}|x{code:02x}))"
    return f"{percent}|{entity}|{itself}|{quoted}"


def _in_base64(raw: bytes, shift: int) -> str:
    """Matches it in base64 after that many other bytes: the characters that it shares with none, and the one after."""
    whole = b64encode(bytes(shift) + raw).decode()
    begins, ends = (0, 2, 3)[shift], (shift + len(raw)) * 8 // 6
    return _escaped(whole[begins:ends]) + "[A-Za-z0-9+/_-]?" * (ends % 4 != 0)
