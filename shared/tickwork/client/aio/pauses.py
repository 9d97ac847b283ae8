"""Pauses, and holds and limits of lanes: one method per SQL function, with the same name."""

from datetime import datetime
from uuid import UUID

from tickwork.client.aio.way import Row, Way


class Pauses:
    def __init__(self, way: Way) -> None:
        self._way = way

    async def pause_jobs(
        self,
        family: str | None = None,
        type: str | None = None,
        tenant_id: UUID | str | None = None,
        reason: str | None = None,
    ) -> None:
        """Stop jobs of one family, type or tenant from starting until `resume_jobs`."""
        given = {"family": family, "type": type, "tenant_id": tenant_id, "reason": reason}
        await self._way.rows("pause_jobs", given)

    async def resume_jobs(
        self, family: str | None = None, type: str | None = None, tenant_id: UUID | str | None = None
    ) -> None:
        given = {"family": family, "type": type, "tenant_id": tenant_id}
        await self._way.rows("resume_jobs", given)

    async def hold_lane(
        self, family: str, tenant_id: UUID | str, lane: str, held_until: datetime | str, reason: str | None = None
    ) -> None:
        """Stop jobs of the lane from starting before that time."""
        given = {"family": family, "tenant_id": tenant_id, "lane": lane, "held_until": held_until, "reason": reason}
        await self._way.rows("hold_lane", given)

    async def release_lane(self, family: str, tenant_id: UUID | str, lane: str) -> None:
        given = {"family": family, "tenant_id": tenant_id, "lane": lane}
        await self._way.rows("release_lane", given)

    async def limit_lane(
        self,
        family: str,
        tenant_id: UUID | str,
        lane: str,
        max_running: int | None = None,
        starts_per_minute: int | None = None,
    ) -> None:
        """Set the limits of a lane; None removes them."""
        given = {
            "family": family,
            "tenant_id": tenant_id,
            "lane": lane,
            "max_running": max_running,
            "starts_per_minute": starts_per_minute,
        }
        await self._way.rows("limit_lane", given)

    async def list_holds(self) -> list[Row]:
        return await self._way.rows("list_holds", {})

    async def list_lanes(self, tenant_id: UUID | str | None = None) -> list[Row]:
        """The lanes that are held or limited."""
        return await self._way.rows("list_lanes", {"tenant_id": tenant_id})
