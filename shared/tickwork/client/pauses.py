"""Pauses, and holds and limits of lanes: one method per SQL function, with the same name."""

from datetime import datetime
from uuid import UUID

from psycopg.rows import DictRow

from tickwork.database.call import call
from tickwork.database.connection import Database


class Pauses:
    def __init__(self, database: Database) -> None:
        self._database = database

    def pause_jobs(
        self,
        family: str | None = None,
        type: str | None = None,
        tenant_id: UUID | str | None = None,
        reason: str | None = None,
    ) -> None:
        """Stop jobs of one family, type or tenant from starting until `resume_jobs`."""
        call(self._database, "pause_jobs", family=family, type=type, tenant_id=tenant_id, reason=reason)

    def resume_jobs(
        self, family: str | None = None, type: str | None = None, tenant_id: UUID | str | None = None
    ) -> None:
        call(self._database, "resume_jobs", family=family, type=type, tenant_id=tenant_id)

    def hold_lane(
        self, family: str, tenant_id: UUID | str, lane: str, held_until: datetime | str, reason: str | None = None
    ) -> None:
        """Stop jobs of the lane from starting before that time."""
        call(
            self._database,
            "hold_lane",
            family=family,
            tenant_id=tenant_id,
            lane=lane,
            held_until=held_until,
            reason=reason,
        )

    def release_lane(self, family: str, tenant_id: UUID | str, lane: str) -> None:
        call(self._database, "release_lane", family=family, tenant_id=tenant_id, lane=lane)

    def limit_lane(
        self,
        family: str,
        tenant_id: UUID | str,
        lane: str,
        max_running: int | None = None,
        starts_per_minute: int | None = None,
    ) -> None:
        """Set the limits of a lane; None removes them."""
        call(
            self._database,
            "limit_lane",
            family=family,
            tenant_id=tenant_id,
            lane=lane,
            max_running=max_running,
            starts_per_minute=starts_per_minute,
        )

    def list_holds(self) -> list[DictRow]:
        return call(self._database, "list_holds")
