"""What is paused or held: in words, with the jobs behind it, and whether it is in the way of some jobs."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from psycopg.rows import DictRow

from tickwork.console.filters import written

if TYPE_CHECKING:
    from tickwork.console.view import View

# As list_holds names what is held.
LANE = re.compile("tenant (?P<tenant_id>[0-9a-f-]{36}) family (?P<family>[^ ]+) lane (?P<lane>.+)", re.DOTALL)
PAUSE = re.compile("(?P<kind>family|type|tenant) (?P<name>.+)", re.DOTALL)


@dataclass(frozen=True)
class Hold:
    scope: str
    words: str
    reason: str
    created_at: datetime
    # None means until somebody ends it.
    held_until: datetime | None
    waiting: int | None
    is_lane: bool
    # The page with its queued jobs.
    jobs: str


def holds(view: "View") -> list[Hold]:
    rows = view.rows("list_holds")
    owned = [{"tenant_id": found[1]} for row in rows if (found := re.match("tenant ([0-9a-f-]{36})", row["scope"]))]
    names = view.names_of(owned)
    return [hold_of(view, row, names) for row in rows]


def hold_of(view: "View", row: DictRow, names: Mapping[str, str]) -> Hold:
    words, query = row["scope"], {}
    if lane := LANE.fullmatch(row["scope"]):
        tenant_id, family, name = lane.groups()
        words = view.say("lane {} of the family {}, tenant {}", name, family, names.get(tenant_id, tenant_id))
        query = {"tenant": tenant_id, "q": written(status="queued", family=family, lane=name)}
    elif paused := PAUSE.fullmatch(row["scope"]):
        words, query = pause_in_words(view, paused["kind"], paused["name"], names)
    return Hold(
        row["scope"],
        words,
        row["reason"] or "",
        row["created_at"],
        row["held_until"],
        row["waiting"],
        bool(lane),
        view.url("/jobs", **query),
    )


def pause_in_words(view: "View", kind: str, name: str, names: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    if kind == "tenant":
        return view.say("tenant {}", names.get(name, name)), {"tenant": name, "q": "status:queued"}
    words = view.say("type {}", name) if kind == "type" else view.say("family {}", name)
    return words, {"q": written(status="queued", **{kind: name})}


def in_the_way(
    found: Iterable[Hold], type: str, family: str | None, tenant_id: Any = None, lane: str | None = None
) -> list[Hold]:
    """Those that keep jobs of this kind from starting."""
    tenant = f"tenant {tenant_id}"
    scopes = {f"type {type}", f"family {family}", tenant, f"{tenant} family {family} lane {lane}"}
    return [hold for hold in found if hold.scope in scopes]
