"""Latency: how long jobs waited and ran, and how many ended, over an hour to 400 days."""

from typing import TYPE_CHECKING, Any

from tickwork.console.charts import Line
from tickwork.console.export import exported, is_export
from tickwork.console.page import Page, Refused, Shown
from tickwork.console.windows import LENGTHS, window

if TYPE_CHECKING:
    from tickwork.console.view import View

PERCENTILES = ("p50", "p95", "p99")
COLUMNS = (
    *("family", "type", "jobs", "wait_p50", "wait_p95", "wait_p99"),
    *("run_p50", "run_p95", "run_p99", "average_wait", "average_run"),
)
ENDINGS = ("done", "failed", "dead")


def latency_page(view: "View") -> Shown:
    chosen = view.query.get("window", "1h")
    if chosen not in LENGTHS:
        raise Refused(404, view.say("There is no such window."), view.say("Choose one of the page Latency."))
    if not view.is_of_one_scope:
        return view.show("latency.html", chosen=chosen, windows=LENGTHS, types=None)
    steps = window(chosen)
    given: dict[str, Any] = {"tenant_id": view.tenant_id, "since": steps.since}
    types = view.rows("latency", **given)
    if is_export(view):
        return exported(view, "latency", COLUMNS, types)
    given["type"] = view.query.get("type")
    percentiles = view.rows("percentiles", step=steps.step, **given)
    ended = view.rows("throughput", step=steps.step, **given)
    return view.show(
        "latency.html",
        chosen=chosen,
        windows=LENGTHS,
        types=types,
        known=[row["key"] for row in view.rows("list_job_types")],
        times=steps.times,
        percentiles=percentiles,
        waits=[Line(name, steps.values(percentiles, f"wait_{name}")) for name in PERCENTILES],
        runs=[Line(name, steps.values(percentiles, f"run_{name}")) for name in PERCENTILES],
        endings=[Line(view.say(name), steps.counts(ended, name)) for name in ENDINGS],
    )


PAGES = (Page("GET", "/latency", latency_page),)
