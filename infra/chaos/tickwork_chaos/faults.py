"""The faults themselves."""

import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime

from tickwork_chaos.ballast import Ballast
from tickwork_chaos.cluster import Cluster
from tickwork_chaos.plan import Fault, Kind
from tickwork_chaos.proxy import Cut, CuttingProxy
from tickwork_chaos.workers import Crew, Worker

CUTS = list(Cut)
# A fault that finds no victim waits for one so long.
PATIENCE = 20.0
NO_SPACE = b"No space left on device"
# Sessions of workers, producers and operators: none of our own.
TERMINATE = """
    select pg_terminate_backend(pid) from (
      select pid from pg_stat_activity
      where backend_type = 'client backend' and application_name like 'tickwork%%' and pid <> pg_backend_pid()
      order by pid
      offset floor(%(choice)s * (
        select count(*) from pg_stat_activity
        where backend_type = 'client backend' and application_name like 'tickwork%%'
      )) limit 1
    ) as victim
"""


class Faults:
    """Carries out a plan, from the main thread. `done` counts what met somebody."""

    def __init__(
        self, plan: list[Fault], cluster: Cluster, proxy: CuttingProxy, crew: Crew, ballast: Ballast | None
    ) -> None:
        self.done: Counter[Kind] = Counter()
        # When the server was gone, and when it was back.
        self.outages: list[tuple[datetime, datetime]] = []
        self._plan = plan
        self._cluster = cluster
        self._proxy = proxy
        self._crew = crew
        self._ballast = ballast
        self._thaws: list[tuple[float, Worker]] = []
        self._began = 0.0
        self._methods: dict[Kind, Callable[[Fault], bool]] = {
            "kill": self._kill,
            "freeze": self._freeze,
            "terminate": self._terminate,
            "crash": self._crash,
            "cut": self._cut,
            "standby": self._standby,
            "promote": self._promote,
            "fill_disk": self._fill_disk,
        }

    def start(self) -> None:
        self._began = time.monotonic()

    def are_over(self) -> bool:
        return not self._plan and not self._thaws

    def step(self) -> None:
        """All that is due by now."""
        now = time.monotonic()
        for at, worker in [each for each in self._thaws if each[0] <= now]:
            worker.thaw()
            self._thaws.remove((at, worker))
        for fault in [each for each in self._plan if self._began + each.at <= now]:
            if self._methods[fault.kind](fault):
                self.done[fault.kind] += 1
                self._plan.remove(fault)
            elif self._began + fault.at + PATIENCE < now:
                self._plan.remove(fault)

    def calm_down(self) -> None:
        for _, worker in self._thaws:
            worker.thaw()
        self._thaws = []

    def _kill(self, fault: Fault) -> bool:
        worker = chosen(self._crew.workers, fault.choice)
        worker.kill()
        return True

    def _freeze(self, fault: Fault) -> bool:
        awake = [worker for worker in self._crew.workers if not worker.is_frozen]
        # Some must be left to take over.
        if len(awake) * 2 < len(self._crew.workers):
            return False
        worker = chosen(awake, fault.choice)
        worker.freeze()
        self._thaws.append((time.monotonic() + fault.seconds, worker))
        return True

    def _terminate(self, fault: Fault) -> bool:
        with self._cluster.connect() as connection:
            return bool(connection.execute(TERMINATE, {"choice": fault.choice}).fetchall())

    def _crash(self, fault: Fault) -> bool:
        began = datetime.now(UTC)
        self._cluster.crash()
        self.outages.append((began, datetime.now(UTC)))
        return True

    def _cut(self, fault: Fault) -> bool:
        self._proxy.cut(CUTS[int(fault.choice * 1000) % len(CUTS)], int(fault.choice * 20), fault.seconds)
        return True

    def _standby(self, fault: Fault) -> bool:
        self._cluster.add_standby()
        return True

    def _promote(self, fault: Fault) -> bool:
        began = datetime.now(UTC)
        self._proxy.target = self._cluster.promote()
        self._proxy.drop_all()
        self.outages.append((began, datetime.now(UTC)))
        return True

    def _fill_disk(self, fault: Fault) -> bool:
        assert self._ballast
        began = datetime.now(UTC)
        is_full = self._until_disk_is_full(self._ballast)
        time.sleep(fault.seconds)
        self._ballast.drop()
        # Some servers do not survive it, and are started again as an operating system would.
        if self._cluster.primary.process.poll() is not None:
            self._cluster.start_again()
        self.outages.append((began, datetime.now(UTC)))
        return is_full

    def _until_disk_is_full(self, ballast: Ballast) -> bool:
        """The server has some files in reserve: until it complains."""
        complaints = self._cluster.count_logged(NO_SPACE)
        give_up_at = time.monotonic() + PATIENCE
        while self._cluster.count_logged(NO_SPACE) == complaints and time.monotonic() < give_up_at:
            ballast.fill()
            time.sleep(0.1)
        return self._cluster.count_logged(NO_SPACE) > complaints


def chosen(workers: list[Worker], choice: float) -> Worker:
    return workers[int(choice * len(workers))]
