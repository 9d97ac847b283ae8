"""What is measured again and again while a load goes on, and how fast it grows."""

import os
import time
from collections import defaultdict
from contextlib import suppress
from statistics import fmean, linear_regression

from tickwork_chaos.place import Place
from tickwork_chaos.workers import Crew

# By how much each may grow over the whole time: what a process, a table or the log needs to breathe, and no more.
BOUNDS = {
    "memory of all workers, MB": 30,
    "open files of all workers": 20,
    "connections": 10,
    "jobs": 10_000,
    "dead rows of waiting": 10_000,
    "dead rows of parked": 10_000,
    "dead rows of leases": 10_000,
    "dead rows of jobs": 20_000,
    "hot tables, MB": 20,
    "jobs table, MB": 100,
    "files of the server": 100,
    "WAL, MB": 600,
}
FIGURES = """
    select
      (select count(*) from pg_stat_activity where backend_type = 'client backend') as "connections",
      (select count(*) from public.jobs) as "jobs",
      (select n_dead_tup from pg_stat_user_tables where relid = 'tickwork.waiting'::regclass) as "dead rows of waiting",
      (select n_dead_tup from pg_stat_user_tables where relid = 'tickwork.parked'::regclass) as "dead rows of parked",
      (select n_dead_tup from pg_stat_user_tables where relid = 'tickwork.leases'::regclass) as "dead rows of leases",
      (select n_dead_tup from pg_stat_user_tables where relid = 'public.jobs'::regclass) as "dead rows of jobs",
      (
        select sum(pg_total_relation_size(oid)) / 2 ^ 20 from pg_class
        where oid in ('tickwork.waiting'::regclass, 'tickwork.parked'::regclass, 'tickwork.leases'::regclass)
      ) as "hot tables, MB",
      pg_total_relation_size('public.jobs') / 2 ^ 20 as "jobs table, MB",
      (select sum(size) / 2 ^ 20 from pg_ls_waldir()) as "WAL, MB"
"""


class Samples:
    def __init__(self, place: Place, crew: Crew) -> None:
        self._place = place
        self._crew = crew
        self._hours: list[float] = []
        self._values: dict[str, list[float]] = defaultdict(list)

    def take(self, is_kept: bool) -> dict[str, float]:
        with self._place.cluster.connect() as connection:
            (row,) = connection.execute(FIGURES).fetchall()
            connection.execute("delete from storm.effects")
        (self._place.folder / "executions").write_bytes(b"")
        latest = {name: float(value) for name, value in row.items()}
        latest["memory of all workers, MB"] = sum(worker.megabytes() for worker in self._crew.workers)
        latest["open files of all workers"] = sum(open_files(worker.pid()) for worker in self._crew.workers)
        latest["files of the server"] = sum(
            len(files) for _, _, files in os.walk(self._place.cluster.primary.data / "base")
        )
        if is_kept:
            self._hours.append(time.monotonic() / 3600)
            for name, value in latest.items():
                self._values[name].append(value)
        return latest

    def mean(self, name: str) -> float:
        return fmean(self._values[name])

    def slope(self, name: str) -> float:
        """In an hour."""
        return linear_regression(self._hours, self._values[name]).slope

    def growth(self, name: str) -> float:
        return self.slope(name) * (self._hours[-1] - self._hours[0])

    def grown(self) -> list[str]:
        return [name for name, bound in BOUNDS.items() if self.growth(name) > bound]


def open_files(process: int) -> int:
    with suppress(OSError):
        return len(os.listdir(f"/proc/{process}/fd"))
    return 0
