"""People who cancel, retry, bury, pause and hold while the storm goes on, and cron that ticks."""

import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from random import Random
from uuid import UUID

from tickwork.client import Tickwork
from tickwork.database.call import call
from tickwork.database.connection import Database
from tickwork.errors import QueueError
from tickwork_chaos.ledger import Ledger
from tickwork_chaos.scene import LANES, TYPES, Scene

PAUSE_SECONDS = 0.25
TICK_SECONDS = 1.0


class Operator:
    """One of them. `requests` has what it asked for, whether or not it was told that it was done."""

    def __init__(self, url: str, scene: Scene, ledger: Ledger, seed: int) -> None:
        self.requests: list[tuple[UUID, str]] = []
        self._database = Database(url, "tickwork operator")
        self._jobs = Tickwork(self._database).jobs
        self._scene = scene
        self._ledger = ledger
        self._chance = Random(f"{seed} operator")
        self._stopped = threading.Event()
        self._is_calm = threading.Event()
        self._threads = [threading.Thread(target=each, daemon=True) for each in (self._run, self._tick)]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """And undo whatever keeps jobs waiting, however often it takes. Cron goes on."""
        self._stopped.set()
        self._threads[0].join()
        for undo in (self._resume, self._release):
            while not self._is_done(undo):
                time.sleep(0.5)

    def stop_cron(self) -> None:
        self._is_calm.set()
        self._threads[1].join()
        self._database.close()

    def _run(self) -> None:
        chores = [*[self._cancel] * 6, *[self._retry] * 4, self._bury, self._pause, *[self._resume] * 4, self._hold]
        while not self._stopped.wait(PAUSE_SECONDS):
            self._is_done(self._chance.choice(chores))

    def _tick(self) -> None:
        cron = Database(self._database.url, "tickwork cron")
        with closing(cron):
            while not self._is_calm.wait(TICK_SECONDS):
                self._is_done(lambda: call(cron, "maintain"))

    def _is_done(self, chore: Callable[[], object]) -> bool:
        with suppress(QueueError):
            chore()
            return True
        return False

    def _cancel(self) -> None:
        self._change("cancel", self._jobs.cancel_job)

    def _retry(self) -> None:
        self._change("retry", self._jobs.retry_job)

    def _bury(self) -> None:
        self._change("bury", self._jobs.bury_job)

    def _change(self, verb: str, change: Callable[[UUID], object]) -> None:
        if verb == "retry" and self.requests:
            job_id: UUID | None = self._chance.choice(self.requests)[0]
        else:
            job_id = self._ledger.some_id(self._chance)
        if job_id:
            self.requests.append((job_id, verb))
            change(job_id)

    def _pause(self) -> None:
        call(self._database, "pause_jobs", type=self._chance.choice([*TYPES]), reason="storm")
        call(self._database, "pause_jobs", tenant_id=self._chance.choice(self._scene.tenants), reason="storm")

    def _resume(self) -> None:
        for type in TYPES:
            call(self._database, "resume_jobs", type=type)
        for tenant in self._scene.tenants:
            call(self._database, "resume_jobs", tenant_id=tenant)

    def _hold(self) -> None:
        tenant, lane = self._chance.choice(self._scene.tenants), self._chance.choice(LANES)
        query = "select public.hold_lane('storm', %(tenant)s, %(lane)s, clock_timestamp() + interval '2 seconds')"
        self._database.rows(query, {"tenant": tenant, "lane": lane})

    def _release(self) -> None:
        for tenant in self._scene.tenants:
            for lane in LANES:
                call(self._database, "release_lane", family="storm", tenant_id=tenant, lane=lane)
