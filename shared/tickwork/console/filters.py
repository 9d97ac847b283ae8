"""The filter bar: words such as `type:send_mail status:dead since:2h payload.user.id:7`, and what they mean."""

import json
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

STATUSES = ("queued", "running", "done", "failed", "dead", "cancelled")
SOURCES = ("manual", "event", "schedule", "system")
UNITS = {"m": 60, "min": 60, "h": 3600, "d": 86_400, "w": 604_800}
# How far back payloads and messages are searched without a word: no index knows them.
USUAL_SEARCH = "24h"


class NotUnderstood(ValueError):
    """The message says what to write instead."""


@dataclass
class Filter:
    text: str = ""
    # The fields of find_matching_jobs.
    fields: dict[str, Any] = field(default_factory=dict)
    job_id: UUID | None = None
    oldest_first: bool = False

    @property
    def is_searching(self) -> bool:
        return bool({"payload", "error_message"} & self.fields.keys())

    def as_json(self, **more: Any) -> str:
        fields = {**self.fields, **{name: value for name, value in more.items() if value is not None}}
        if self.is_searching and "created_after" not in fields:
            fields["created_after"] = past(USUAL_SEARCH)
        return json.dumps(fields, default=str)


def parse(text: str) -> Filter:
    """Raises NotUnderstood."""
    found = Filter(text)
    for word in words_in(text):
        name, colon, value = word.partition(":")
        if not colon and (job_id := id_in(word)):
            found.job_id = job_id
        elif name.startswith("payload."):
            found.fields["payload"] = merged(found.fields.get("payload", {}), name.split(".")[1:], json_value(value))
        elif name == "sort":
            found.oldest_first = one_of(value, ("newest", "oldest"), name) == "oldest"
        elif name in QUALIFIERS:
            column, read = QUALIFIERS[name]
            found.fields[column] = read(value, name)
        else:
            known = ", ".join([*QUALIFIERS, "payload.<field>", "sort"])
            raise NotUnderstood(f"{word[:50]}: write a name and a value, such as status:dead. The names are {known}.")
    return found


def words_in(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        raise NotUnderstood("A quote is not closed.") from None


def plain(value: str, name: str) -> str:
    if not value:
        raise NotUnderstood(f"{name}: needs a value.")
    return value


def one_of(value: str, allowed: tuple[str, ...], name: str) -> str:
    if value not in allowed:
        raise NotUnderstood(f"{name}: must be {', '.join(allowed[:-1])} or {allowed[-1]}.")
    return value


def time(value: str, name: str) -> str:
    """Ago, such as 2h, or a date or time in ISO 8601."""
    if re.fullmatch(r"\d{1,5}(m|min|h|d|w)", value):
        return past(value)
    try:
        given = datetime.fromisoformat(value)
    except ValueError:
        raise NotUnderstood(f"{name}: must be such as 30min, 2h, 7d or 2026-11-18.") from None
    return (given if given.tzinfo else given.replace(tzinfo=UTC)).isoformat()


def past(ago: str) -> str:
    number, unit = re.fullmatch(r"(\d+)(\w+)", ago).groups()  # type: ignore[union-attr]
    return (datetime.now(UTC) - timedelta(seconds=int(number) * UNITS[unit])).isoformat()


def tenant(value: str, name: str) -> str:
    if not id_in(value):
        raise NotUnderstood(f"{name}: must be the id of a tenant.")
    return value


def id_in(word: str) -> UUID | None:
    try:
        return UUID(word) if len(word) == 36 else None
    except ValueError:
        return None


def json_value(text: str) -> Any:
    """A number, true, false, null or a quoted text as in JSON; anything else is a text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def merged(document: Mapping[str, Any], path: list[str], value: Any) -> dict[str, Any]:
    if not all(path) or len(path) > 20:
        raise NotUnderstood("payload: write a path and a value, such as payload.user.id:7.")
    inner = document.get(path[0], {})
    rest = merged(inner if isinstance(inner, dict) else {}, path[1:], value) if path[1:] else value
    return {**document, path[0]: rest}


def status(value: str, name: str) -> str:
    return one_of(value, STATUSES, name)


def source(value: str, name: str) -> str:
    return one_of(value, SOURCES, name)


# What can be written, the field that it fills, and how its value is read.
QUALIFIERS: Mapping[str, tuple[str, Callable[[str, str], str]]] = {
    "type": ("type", plain),
    "status": ("status", status),
    "tenant": ("tenant_id", tenant),
    "family": ("family", plain),
    "lane": ("lane", plain),
    "error": ("error_code", plain),
    "message": ("error_message", plain),
    "source": ("source", source),
    "key": ("key_starts_with", plain),
    "correlation": ("correlation_id", plain),
    "since": ("created_after", time),
    "until": ("created_before", time),
    "ended-since": ("finished_after", time),
    "ended-until": ("finished_before", time),
}


def written(**qualifiers: str | None) -> str:
    """A filter as one would write it."""
    return " ".join(f"{name}:{shlex.quote(value)}" for name, value in qualifiers.items() if value is not None)
