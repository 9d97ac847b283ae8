"""Webhook endpoints and deliveries, for an operator or an application's backend.

A secret is only returned when it is created.
"""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from psycopg.rows import DictRow

from tickwork.client import webhooks
from tickwork.client.direct import Direct
from tickwork.client.way import Way
from tickwork.tools import sealed_verbs
from tickwork.tools.secrets import SecretStore


class Webhooks(webhooks.Webhooks, Direct):
    def __init__(self, way: Way, secret_key: str | None) -> None:
        super().__init__(way)
        self._secret_key = secret_key

    def deliveries(
        self,
        endpoint_id: UUID | None = None,
        status: str | None = None,
        limit: int = 50,
        delivery_id: UUID | None = None,
    ) -> list[DictRow]:
        """Deliveries with their endpoints, events and what only the operator may read, the newest first."""
        given = {"endpoint_id": endpoint_id, "status": status, "limit": limit, "delivery_id": delivery_id}
        return self._database.rows(DELIVERIES, given)

    def _with_secret(self, function: str, given: Mapping[str, Any]) -> DictRow:
        """Sealed here, if there is a key for that; over HTTP the API does it."""
        if not (self._has_database and self._secret_key):
            return super()._with_secret(function, given)
        verb, store = getattr(sealed_verbs, function), SecretStore(self._secret_key)
        row: DictRow = self._database.transaction(lambda connection: verb(connection, store, given))
        return row


DELIVERIES = """
    select
      webhook_deliveries.*, events.type as event_type, webhook_endpoints.url, latest.exception,
      coalesce(jobs.attempts > 0 and jobs.status <> 'running', false) as has_been_tried
    from public.webhook_deliveries
    join public.events on events.id = webhook_deliveries.event_id
    join public.webhook_endpoints on webhook_endpoints.id = webhook_deliveries.webhook_endpoint_id
    left join public.jobs on jobs.id = webhook_deliveries.job_id
    left join lateral (
      select exceptions.exception
      from tickwork.exceptions
      where exceptions.job_id = webhook_deliveries.job_id
        and webhook_deliveries.status <> 'delivered'
      order by exceptions.number desc
      limit 1
    ) as latest on true
    where (%(endpoint_id)s::uuid is null or webhook_deliveries.webhook_endpoint_id = %(endpoint_id)s)
      and (%(delivery_id)s::uuid is null or webhook_deliveries.id = %(delivery_id)s)
      and (%(status)s::text is null or webhook_deliveries.status = %(status)s)
    order by webhook_deliveries.created_at desc, webhook_deliveries.id
    limit %(limit)s
"""
