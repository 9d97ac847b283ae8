"""Webhooks: one method per SQL function, with the same name."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from tickwork.client.aio.way import Row, Way
from tickwork.client.json_values import as_json

Format = Literal["standard", "bpc"]


class Webhooks:
    def __init__(self, way: Way) -> None:
        self._way = way

    async def create_webhook_endpoint(
        self,
        tenant_id: UUID | str | None,
        url: str,
        event_types: Sequence[str] = (),
        description: str = "",
        header_prefix: str = "X-BPC-",
        format: Format = "standard",
        timeout_seconds: float = 30,
    ) -> Row:
        """Its webhook_endpoint_id, and its secret in `secret`: that is never shown again."""
        given = {name: value for name, value in locals().items() if name != "self"}
        given |= {"event_types": list(event_types)}
        return await self._with_secret("create_webhook_endpoint", given)

    async def rotate_webhook_secret(self, webhook_endpoint_id: UUID | str, overlap_hours: float = 24) -> Row:
        """The new secret in `secret`: it is never shown again. For so long the old one is valid too."""
        given = {"webhook_endpoint_id": webhook_endpoint_id, "overlap_hours": overlap_hours}
        return await self._with_secret("rotate_webhook_secret", given)

    async def _with_secret(self, function: str, given: Mapping[str, Any]) -> Row:
        (row,) = await self._way.rows(function, given, repeatable=False)
        return row

    async def change_webhook_endpoint(self, webhook_endpoint_id: UUID | str, changes: Mapping[str, Any]) -> Row:
        """Fields of create_webhook_endpoint, and status: active or disabled."""
        given = {"webhook_endpoint_id": webhook_endpoint_id, "changes": as_json(dict(changes))}
        (row,) = await self._way.rows("change_webhook_endpoint", given)
        return row

    async def delete_webhook_endpoint(self, webhook_endpoint_id: UUID | str) -> None:
        """With its secrets, deliveries and queued jobs."""
        given = {"webhook_endpoint_id": webhook_endpoint_id}
        await self._way.rows("delete_webhook_endpoint", given, repeatable=False)

    async def test_webhook(self, webhook_endpoint_id: UUID | str) -> Row:
        # Repeating it after a broken connection might send everything twice.
        given = {"webhook_endpoint_id": webhook_endpoint_id}
        (row,) = await self._way.rows("test_webhook", given, repeatable=False)
        return row

    async def redeliver_webhook(self, webhook_delivery_id: UUID | str) -> Row:
        given = {"webhook_delivery_id": webhook_delivery_id}
        (row,) = await self._way.rows("redeliver_webhook", given, repeatable=False)
        return row

    async def redeliver_webhooks(
        self, webhook_endpoint_id: UUID | str, since: datetime | str, only_failed: bool = True
    ) -> int:
        given = {"webhook_endpoint_id": webhook_endpoint_id, "since": since, "only_failed": only_failed}
        (row,) = await self._way.rows("redeliver_webhooks", given, repeatable=False)
        return int(row["redeliver_webhooks"])

    async def list_webhook_endpoints(self, tenant_id: UUID | str | None = None) -> list[Row]:
        return await self._way.rows("list_webhook_endpoints", {"tenant_id": tenant_id})

    async def list_webhook_deliveries(
        self,
        tenant_id: UUID | str | None = None,
        webhook_endpoint_id: UUID | str | None = None,
        delivery_status: str | None = None,
        after_delivery_id: UUID | str | None = None,
        max_rows: int = 50,
    ) -> list[Row]:
        """The newest first; for the next page, pass the last id as after_delivery_id."""
        given = {name: value for name, value in locals().items() if name != "self"}
        return await self._way.rows("list_webhook_deliveries", given)
