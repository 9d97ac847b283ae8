"""The audit log: one method per SQL function, with the same name."""

from datetime import datetime
from uuid import UUID

from tickwork.client.aio.way import Row, Way


class Audit:
    def __init__(self, way: Way) -> None:
        self._way = way

    async def list_audit(
        self,
        tenant_id: UUID | str | None = None,
        action: str | None = None,
        target: str | None = None,
        actor_id: UUID | str | None = None,
        created_after: datetime | str | None = None,
        created_before: datetime | str | None = None,
        after_id: int | None = None,
        max_rows: int = 100,
    ) -> list[Row]:
        """Who did what to which target, the latest first; `after_id` is the last id of the page before."""
        given = {
            "tenant_id": tenant_id,
            "action": action,
            "target": target,
            "actor_id": actor_id,
            "created_after": created_after,
            "created_before": created_before,
            "after_id": after_id,
            "max_rows": max_rows,
        }
        return await self._way.rows("list_audit", given)

    async def note_refusal(
        self, action: str, target: str | None = None, code: str | None = None, detail: str | None = None
    ) -> None:
        """For the API: note that the caller was refused something, since that itself is rolled back."""
        given = {"action": action, "target": target, "code": code, "detail": detail}
        await self._way.rows("note_refusal", given, repeatable=False)
