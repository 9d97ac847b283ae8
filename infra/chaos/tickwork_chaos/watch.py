"""What is looked at while a storm goes on."""

import time

import psycopg

from tickwork.database.connection import Connection
from tickwork_chaos.cluster import Cluster
from tickwork_chaos.workers import Crew

LOOK_SECONDS = 1.0
LEFT = """
    select (select count(*) from tickwork.waiting) + (select count(*) from tickwork.parked)
      + (select count(*) from tickwork.leases) as jobs,
      (select last_value from storm.steps) as progress
"""
IDLE = """
    select coalesce(max(extract(epoch from clock_timestamp() - state_change)), 0)::float as seconds
    from pg_stat_activity where state like 'idle in transaction%'
"""


class Watch:
    """`left` is how many jobs are queued or running, `progress` a number that changes whenever a job does."""

    def __init__(self, cluster: Cluster, crew: Crew) -> None:
        self.left = -1
        self.progress = 0
        self.idle_seconds = 0.0
        self.megabytes = 0.0
        self._cluster = cluster
        self._crew = crew
        self._connection: Connection | None = None
        self._look_at = 0.0

    def look(self) -> None:
        """Once a second."""
        if time.monotonic() < self._look_at:
            return
        self._look_at = time.monotonic() + LOOK_SECONDS
        self.megabytes = max([self.megabytes, *(worker.megabytes() for worker in self._crew.workers)])
        try:
            if self._connection is None or self._connection.closed:
                self._connection = self._cluster.connect()
            (row,) = self._connection.execute(LEFT).fetchall()
            self.left, self.progress = row["jobs"], row["progress"]
            (row,) = self._connection.execute(IDLE).fetchall()
            self.idle_seconds = max(self.idle_seconds, row["seconds"])
        except psycopg.OperationalError:
            # The server has crashed, or moved.
            self.close()

    def close(self) -> None:
        if self._connection:
            self._connection.close()
