"""One storm: workers, producers, people and faults, and then the checker."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

from tickwork.database.connection import Connection
from tickwork_chaos.checks import Violation, violations
from tickwork_chaos.faults import Faults
from tickwork_chaos.figures import Figures, count_jobs
from tickwork_chaos.ledger import Ledger
from tickwork_chaos.operators import Operator
from tickwork_chaos.place import Place, running_place
from tickwork_chaos.plan import Sizes, plan_of
from tickwork_chaos.producers import Producers
from tickwork_chaos.results import store_results
from tickwork_chaos.watch import Watch
from tickwork_chaos.workers import Crew

LOOK_SECONDS = 0.05
BOUNDS = {"deadlocks": 0, "idle in transaction, max s": 75, "memory of a worker, max MB": 256}
Say = Callable[[str], None]


@dataclass(frozen=True)
class Weather:
    """How large a storm is, on which server, and what is broken on purpose."""

    name: str
    sizes: Sizes
    seed: int
    binaries: Path | None = None
    # Without any progress for so long, what is left is stuck.
    stuck_seconds: float = 120
    break_database: Callable[[Connection], None] | None = None
    environment: Mapping[str, str] = field(default_factory=dict)


def run_storm(weather: Weather, say: Say = lambda text: None) -> Figures:
    sizes = weather.sizes
    began = time.monotonic()
    with running_place(
        weather.binaries,
        has_pooler=sizes.has_pooler,
        has_small_disk=sizes.fill_disk > 0,
        break_database=weather.break_database,
    ) as place:
        storm = Storm(weather, place, say)
        try:
            storm.rage()
            storm.drain()
            figures = storm.judge()
        finally:
            storm.crew.stop()
    figures.seconds = time.monotonic() - began
    return figures


class Storm:
    def __init__(self, weather: Weather, place: Place, say: Say) -> None:
        self._weather = weather
        self._place = place
        self._say = say
        self._ledger = Ledger()
        self._producers = Producers(place.url(), place.scene, self._ledger, weather.seed, weather.sizes)
        self._operator = Operator(place.url(), place.scene, self._ledger, weather.seed)
        urls = place.url("tickwork_worker"), place.url("tickwork_worker", place.pooler_port)
        self.crew = Crew(*urls, place.folder, weather.environment)
        self._watch = Watch(place.cluster, self.crew)
        plan = [each for each in plan_of(weather.seed, weather.sizes) if each.kind != "fill_disk" or place.ballast]
        self._faults = Faults(plan, place.cluster, place.proxy, self.crew, place.ballast)

    def rage(self) -> None:
        """Until the plan is carried out and everything is enqueued. Whoever has died is started again."""
        for each in (self.crew, self._producers, self._operator, self._faults):
            each.start()
        while not (self._faults.are_over() and self._producers.are_done()):
            try:
                self._faults.step()
            except psycopg.OperationalError:
                # The server is being started again by itself.
                time.sleep(0.2)
            self._look()
        self._faults.calm_down()
        self._operator.stop()

    def drain(self) -> None:
        """Until nothing is queued or running, or nothing moves any more."""
        moved_at, progress = time.monotonic(), -1
        while self._watch.left and time.monotonic() < moved_at + self._weather.stuck_seconds:
            self._look()
            if self._watch.progress != progress:
                moved_at, progress = time.monotonic(), self._watch.progress
        self._operator.stop_cron()
        self._watch.close()

    def judge(self) -> Figures:
        self._say("checking")
        figures = Figures(self._weather.name, self._weather.seed, self._place.server_version, notes=self._place.notes)
        figures.faults = {kind: count for kind, count in self._faults.done.items() if kind not in ("cut", "standby")}
        figures.faults |= {f"cut {cut.value}": count for cut, count in self._place.proxy.done.items()}
        with self._place.cluster.connect() as connection:
            executions = self._place.folder / "executions"
            requests, outages = self._operator.requests, self._faults.outages
            store_results(connection, self._place.scene, self._ledger, requests, outages, executions)
            figures.violations = violations(connection)
            count_jobs(figures, connection)
        figures.measures |= {
            "repeated enqueues": self._ledger.repeated,
            "enqueues nobody knows of": len(self._ledger.unknown),
            "deadlocks": self._place.cluster.count_logged(b"deadlock detected"),
            "idle in transaction, max s": round(self._watch.idle_seconds, 1),
            "memory of a worker, max MB": round(self._watch.megabytes),
        }
        self._hold_bounds(figures)
        return figures

    def _hold_bounds(self, figures: Figures) -> None:
        for name, bound in BOUNDS.items():
            if (value := figures.measures[name]) > bound:
                figures.violations.append(Violation(name, int(value), f"the bound is {bound}"))
        if figures.measures["deadlocks"]:
            figures.notes.append(self._place.cluster.first_logged("deadlock detected"))
        for worker in self.crew.workers:
            if worker.deaths:
                figures.violations.append(Violation("died by itself", worker.deaths, worker.name))

    def _look(self) -> None:
        self._watch.look()
        for worker in self.crew.workers:
            worker.revive()
        enqueued, left, faults = len(self._ledger.acknowledged), self._watch.left, self._faults.done.total()
        self._say(f"{enqueued:,} enqueued, {left:,} left, {faults:,} faults")
        time.sleep(LOOK_SECONDS)
