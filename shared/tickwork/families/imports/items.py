"""The one shape that all providers' files have here."""

import re
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from tickwork.tools.file_names import MIME_TYPE, as_file_name, as_name
from tickwork.tools.outbound.http import Limits, StreamedResponse

MAX_NUMBER = 10**12
MAX_PATH_LENGTH = 1000


@dataclass(frozen=True)
class Item:
    """A file as it was listed.

    `hash` is the provider's, with its kind before a colon; `refusal` says why the file cannot be fetched, and `details`
    is what the dialect needs for it.
    """

    id: str
    revision: str
    name: str
    path: str
    drive: str = ""
    size: int | None = None
    hash: str | None = None
    mime_type: str | None = None
    refusal: str | None = None
    is_renamed: bool = False
    details: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Page:
    """Some changes, and the cursor that continues after them. `gone` are ids or, with Dropbox, paths."""

    items: Sequence[Item]
    cursor: str
    is_last: bool
    gone: Sequence[str] = ()


@dataclass(frozen=True)
class Account:
    id: str
    name: str


class Provider(Protocol):
    """One drive. Errors are raised as errors of a job."""

    def account(self) -> Account: ...

    def watch(self, url: str, token: str) -> datetime | None:
        """Subscribe to notifications at this URL, with this token; until when, or None if there is nothing to do."""
        ...

    def changes(self, folder: str, cursor: str | None) -> Page:
        """Raises Resync if the cursor is no longer valid, and NotThere if the folder is missing."""
        ...

    def find(self, named: str) -> Item: ...

    def again(self, item: Item) -> Item:
        """The same item, as it is now."""
        ...

    def open(self, item: Item, offset: int, limits: Limits) -> AbstractContextManager[StreamedResponse]:
        """Its bytes from that offset; they may start at the beginning all the same."""
        ...


def item(
    id: object,
    revision: object,
    name: object,
    path: object,
    *,
    drive: object = "",
    size: object = None,
    hash: str | None = None,
    mime_type: object = None,
    refusal: str | None = None,
    details: Mapping[str, str] | None = None,
) -> Item:
    """From a server's response: names are made harmless, and anything that is not an id or a number is dropped."""
    stored = as_file_name(str(name))
    kind = str(mime_type or "").partition(";")[0].strip().lower()
    return Item(
        id=an_id(id),
        revision=an_id(revision),
        name=stored,
        path=as_name(str(path))[-MAX_PATH_LENGTH:],
        drive=an_id(drive) if drive else "",
        size=a_size(size),
        hash=hash if hash and re.fullmatch("[a-z0-9]+:[A-Za-z0-9+/=]{1,200}", hash) else None,
        mime_type=kind if MIME_TYPE.fullmatch(kind) else None,
        refusal=refusal,
        is_renamed=stored != str(name),
        details=details or {},
    )


def an_id(given: object) -> str:
    if not isinstance(given, str) or not re.fullmatch(r"[!-~]{1,500}", given):
        raise ValueError("no id")
    return given


def a_cursor(given: object) -> str:
    """It is stored, so it must be text that can be stored."""
    if not isinstance(given, str) or not re.fullmatch(r"[ -~]{1,1000000}", given):
        raise ValueError("no cursor")
    return given


def a_size(given: object) -> int | None:
    if given is None:
        return None
    # Google Drive returns numbers as text.
    number = int(str(given))
    if not 0 <= number <= MAX_NUMBER:
        raise ValueError("no size")
    return number


def normalised(path: str) -> str:
    """A remote path as it is stored: /a/b, an id as it is, and empty for the whole drive."""
    if path.startswith("id:"):
        return path
    parts = [part for part in path.split("/") if part]
    return "".join(f"/{part}" for part in parts)


def as_dict(given: Any) -> dict[str, Any]:
    """A part of a response that should be an object."""
    return given if isinstance(given, dict) else {}
