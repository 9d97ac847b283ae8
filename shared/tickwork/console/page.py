"""Pages: a method and a path below that of the console, and the function that shows it."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tickwork.console.session import Cookie

# The modules with pages, in the order of the navigation.
MODULES = (
    *("overview", "jobs", "job", "errors", "latency", "schedules", "schedule_changes", "triggers", "trigger_changes"),
    *("webhook_changes", "webhooks", "documents", "artifacts", "imports", "pauses", "job_types", "tenants", "members"),
    *("keys", "workers", "alerts", "audit", "tenant_choice", "sign_in", "preferences"),
)


class Refused(Exception):
    """What the viewer cannot have, in words, with the status of the response."""

    def __init__(self, status: int, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.hint = hint


@dataclass(frozen=True)
class Shown:
    text: str
    status: int = 200
    mime_type: str = "text/html"
    # The browser saves it under this name instead of showing it.
    file_name: str | None = None


@dataclass(frozen=True)
class Sent:
    """A file for the browser to save, piece by piece; `close` is called in the end, whatever happens."""

    pieces: Iterator[bytes]
    file_name: str
    close: Callable[[], None]


@dataclass(frozen=True)
class Redirect:
    address: str
    # What has happened, for the next page to say.
    said: str = ""
    cookies: Sequence["Cookie"] = ()
    is_signed_out: bool = False


@dataclass(frozen=True)
class Page:
    method: str
    path: str
    function: "Callable[..., Shown | Sent | Redirect]"
    # Whoever is not signed in may see it too.
    is_open: bool = False
    # It takes a file, and opens no transaction before that has been read.
    takes_file: bool = False
    # The part of the schema that it is about, if a database may be without.
    module: str | None = None
    # It is about one tenant, which has to be chosen first.
    needs_tenant: bool = False

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        return re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", self.path))


@dataclass(frozen=True)
class Found:
    page: Page
    in_path: Mapping[str, Any] = field(default_factory=dict)


def find_page(method: str, path: str) -> Found:
    """Raises Refused: 404 if there is no such page, 405 if it cannot be used like that."""
    wanted = "GET" if method == "HEAD" else method
    matches = [(page, match) for page in all_pages() if (match := page.pattern.fullmatch(path))]
    for page, match in matches:
        if page.method == wanted:
            return Found(page, match.groupdict())
    if matches:
        raise Refused(405, "This page cannot be used like that: go back and try again.")
    raise Refused(404, "There is no such page.")


@cache
def all_pages() -> tuple[Page, ...]:
    return tuple(page for name in MODULES for page in import_module(f"tickwork.console.{name}").PAGES)
