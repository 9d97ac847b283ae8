"""Maintenance of the queue: one method per SQL function, with the same name."""

from datetime import timedelta
from uuid import UUID

from tickwork.database.call import call
from tickwork.database.sql import Sql


class Maintenance:
    def __init__(self, database: Sql) -> None:
        self._database = database

    def maintain(self, every_seconds: float = 0.0) -> int:
        """The upkeep of all families; returns how many leases had expired."""
        return int(call(self._database, "maintain", every_seconds=every_seconds)[0]["maintain"])

    def rebuild_queue(self) -> int:
        """Rebuild the queue's own tables from the jobs, after a restore; returns how many are queued."""
        return int(call(self._database, "rebuild_queue", repeatable=False)[0]["rebuild_queue"])

    def purge_jobs(self, older_than: timedelta, batch_size: int = 1000) -> int:
        (row,) = call(self._database, "purge_jobs", older_than=older_than, batch_size=batch_size)
        return int(row["purge_jobs"])

    def purge_audit(self) -> int:
        """Delete rows of the audit log that have been kept long enough; returns how many."""
        return int(call(self._database, "purge_audit")[0]["purge_audit"])

    def create_sign_in_link(self, user_id: UUID | str, valid_seconds: int = 600) -> str:
        """A code that signs this user in to the console, once."""
        (row,) = call(self._database, "create_sign_in_link", user_id=user_id, valid_seconds=valid_seconds)
        return str(row["create_sign_in_link"])
