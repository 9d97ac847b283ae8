"""The overview: how much there is to do, how fast it is done, and what is in the way."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from psycopg.rows import DictRow

from tickwork.console.export import exported, is_export
from tickwork.console.health import last_tick
from tickwork.console.holds import holds
from tickwork.console.page import Page, Shown
from tickwork.console.windows import Window, window

if TYPE_CHECKING:
    from tickwork.console.view import View

COUNTS = ("queued", "due", "running", "done", "failed", "dead", "cancelled")
# How attempts end.
ATTEMPTS = ("done", "failed", "dead", "retried")


@dataclass(frozen=True)
class LastHour:
    """What has happened within an hour, minute by minute, and in all of it."""

    steps: Window
    throughput: Sequence[DictRow]
    percentiles: Sequence[DictRow]
    wait_p95: float | None

    def counts(self, *outcomes: str) -> list[int]:
        return self.steps.counts(self.throughput, *outcomes)

    @property
    def attempts(self) -> list[int]:
        return self.counts(*ATTEMPTS)

    @property
    def starts_per_minute(self) -> float:
        return sum(self.attempts) / 60

    @property
    def success_rates(self) -> list[float | None]:
        return [done / all if all else None for done, all in zip(self.counts("done"), self.attempts, strict=True)]

    @property
    def success_rate(self) -> float | None:
        return sum(self.counts("done")) / sum(self.attempts) if sum(self.attempts) else None

    @property
    def waits(self) -> list[float | None]:
        return self.steps.values(self.percentiles, "wait_p95")


def overview_page(view: "View") -> Shown:
    types = view.rows("queue_by_type", tenant_id=view.tenant_id)
    if is_export(view):
        return exported(view, "queue", ("family", "type", *COUNTS, "oldest_due_at"), types)
    health = view.rows("queue_health")
    sees_several = view.tenant_id is None and (view.is_platform_admin or len(view.tenants) > 1)
    return view.show(
        "overview.html",
        queue=summed(types),
        families={family: summed([row for row in types if row["family"] == family]) for family in families(types)},
        hour=last_hour(view) if view.is_of_one_scope else None,
        widgets=view.row("queue_widgets", tenant_id=view.tenant_id) if view.is_of_one_scope else None,
        tenants=view.rows("queue_by_tenant", max_tenants=20) if sees_several else [],
        holds=holds(view),
        alerts=view.rows("list_alerts", only_open=True) if view.is_platform_admin else [],
        health=health,
        last_tick=last_tick(view, health),
    )


def last_hour(view: "View") -> LastHour:
    steps = window("1h")
    given: dict[str, Any] = {"tenant_id": view.tenant_id, "since": steps.since}
    (whole,) = view.rows("percentiles", **given) or [{"wait_p95": None}]
    return LastHour(
        steps,
        view.rows("throughput", **given),
        view.rows("percentiles", step=steps.step, **given),
        whole["wait_p95"],
    )


def families(types: Sequence[DictRow]) -> list[str]:
    return list(dict.fromkeys(row["family"] for row in types))


def summed(types: Sequence[DictRow]) -> dict[str, Any]:
    """Of several types together."""
    due = [row["oldest_due_at"] for row in types if row["oldest_due_at"]]
    return {**{name: sum(row[name] for row in types) for name in COUNTS}, "oldest_due_at": min(due, default=None)}


PAGES = (Page("GET", "/", overview_page),)
