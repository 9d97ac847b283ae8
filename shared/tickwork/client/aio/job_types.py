"""Types of job: one method per SQL function, with the same name."""

from collections.abc import Mapping
from typing import Any

from tickwork.client.aio.way import Row, Way
from tickwork.client.json_values import as_json

JSON = ("payload_schema", "result_schema", "backoff", "keep_days")


class JobTypes:
    def __init__(self, way: Way) -> None:
        self._way = way

    async def list_job_types(self) -> list[Row]:
        return await self._way.rows("list_job_types", {})

    async def create_job_type(
        self,
        key: str,
        family: str = "command",
        description: str = "",
        payload_schema: Mapping[str, Any] | None = None,
        timeout_seconds: int = 300,
        max_attempts: int = 4,
        *,
        result_schema: Mapping[str, Any] | None = None,
        backoff: Any = (60, 300, 1800),
        lease_seconds: int = 60,
        priority: int = 0,
        enqueued_by: str = "admin",
        max_running: int | None = None,
        max_running_per_tenant: int | None = None,
        starts_per_minute: int | None = None,
        follow_ups: list[str] | None = None,
        keep_days: Mapping[str, Any] | None = None,
        redacted: list[str] | None = None,
        not_redacted: list[str] | None = None,
        is_active: bool = True,
    ) -> Row:
        """For platform admins."""
        given = {name: value for name, value in locals().items() if name != "self" and value is not None}
        given |= {name: as_json(given[name]) for name in JSON if name in given}
        (row,) = await self._way.rows("create_job_type", given, repeatable=False)
        return row

    async def change_job_type(self, type: str, changes: Mapping[str, Any]) -> Row:
        """Change fields, named as the parameters of `create_job_type`. For platform admins."""
        (row,) = await self._way.rows("change_job_type", {"type": type, "changes": as_json(changes)})
        return row
