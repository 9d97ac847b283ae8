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

    def lanes(self, tenant_id: UUID | None = None) -> list[DictRow]:
        """The lanes that are held or limited, with the names of their tenants."""
        return self._database.rows(LANES, {"tenant_id": tenant_id})

    def list_holds(self) -> list[DictRow]:
        return call(self._database, "list_holds")


LANES = """
    select
      lane_rules.tenant_id, organizations.name as tenant, lane_rules.family, lane_rules.lane, lane_rules.max_running,
      lane_rules.starts_per_minute,
      -- What ended by itself stays until somebody changes the lane. Not every language can read infinity.
      coalesce(lane_rules.held_until > clock_timestamp(), false) as is_held,
      nullif(lane_rules.held_until, 'infinity') as held_until,
      lane_rules.reason
    from tickwork.lane_rules
    join tickwork.organizations on organizations.id = lane_rules.tenant_id
    where (%(tenant_id)s::uuid is null or lane_rules.tenant_id = %(tenant_id)s)
      and (
        lane_rules.held_until > clock_timestamp()
        or num_nonnulls(lane_rules.max_running, lane_rules.starts_per_minute) > 0
      )
    order by organizations.name, lane_rules.family, lane_rules.lane
"""
