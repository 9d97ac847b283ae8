"""Maintenance of the queue: one method per SQL function, with the same name."""

from datetime import timedelta

from tickwork.database.call import call
from tickwork.database.connection import Database


class Maintenance:
    def __init__(self, database: Database) -> None:
        self._database = database

    def reap_expired_leases(self) -> int:
        return int(call(self._database, "reap_expired_leases")[0]["reap_expired_leases"])

    def rebuild_queue(self) -> int:
        """Rebuild the queue's own tables from the jobs, after a restore; returns how many are queued."""
        return int(call(self._database, "rebuild_queue", repeatable=False)[0]["rebuild_queue"])

    def purge_jobs(self, older_than: timedelta, batch_size: int = 1000) -> int:
        (row,) = call(self._database, "purge_jobs", older_than=older_than, batch_size=batch_size)
        return int(row["purge_jobs"])
