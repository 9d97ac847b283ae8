"""Workers and functions: who works on what, who has gone silent."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from psycopg.rows import DictRow

from tickwork.console.export import exported, is_export
from tickwork.console.health import last_tick
from tickwork.console.page import Page, Shown

if TYPE_CHECKING:
    from tickwork.console.view import View

COLUMNS = (
    *("worker_id", "hostname", "version", "families", "started_at", "last_seen_at", "is_stale"),
    *("running", "oldest_started_at", "expired", "metadata"),
)
SILENCE = timedelta(minutes=3)


def workers_page(view: "View") -> Shown:
    workers = view.rows("list_workers", tenant_id=view.tenant_id)
    if is_export(view):
        return exported(view, "workers", COLUMNS, workers)
    health = view.rows("queue_health")
    return view.show(
        "workers.html",
        workers=[(worker, told(worker)) for worker in workers],
        stale=[worker for worker in workers if worker["is_stale"]],
        # Who sees only the workers of one tenant does not know when the others were seen.
        is_silent=view.is_platform_admin and view.tenant_id is None and is_silent(workers),
        health=health,
        last_tick=last_tick(view, health),
    )


def told(worker: DictRow) -> dict[str, str]:
    """What it said of itself, as far as it is what our own workers say."""
    metadata = worker["metadata"] if isinstance(worker["metadata"], dict) else {}
    types = metadata.get("types")
    return {
        "kind": metadata["kind"] if metadata.get("kind") in ("function", "worker") else "",
        "types": ", ".join(map(str, types)) if isinstance(types, list) else "",
        "python": str(metadata.get("python", "")),
    }


def is_silent(workers: Sequence[DictRow]) -> bool:
    seen = [worker["last_seen_at"] for worker in workers if worker["last_seen_at"]]
    return not seen or max(seen) < datetime.now(UTC) - SILENCE


PAGES = (Page("GET", "/workers", workers_page),)
