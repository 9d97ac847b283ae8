"""Webhook endpoints and deliveries, for an operator or an application's backend.

One method per SQL function, with the same name, and methods for the rows of endpoints. A secret is only returned
when it is created.
"""

from datetime import datetime, timedelta
from typing import Any, Literal
from uuid import UUID, uuid4

from psycopg.rows import DictRow

from tickwork.client.secrets import Secrets
from tickwork.database.call import call
from tickwork.database.connection import Connection, Database
from tickwork.errors import NoSuchEndpoint
from tickwork.tools.signing import new_secret

Format = Literal["standard", "bpc"]


class Webhooks:
    def __init__(self, database: Database, secrets: Secrets) -> None:
        self._database = database
        self._secrets = secrets

    def overview(self, tenant_id: UUID | None = None) -> list[DictRow]:
        """Endpoints, the oldest first."""
        return self._database.rows(ENDPOINTS, {"tenant_id": tenant_id})

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

    def add(
        self,
        tenant_id: UUID,
        url: str,
        event_types: list[str] | None = None,
        description: str = "",
        header_prefix: str = "X-BPC-",
        format: Format = "standard",
        timeout_seconds: float = 30,
    ) -> tuple[DictRow, str]:
        """The new endpoint and its secret, which cannot be read again."""
        endpoint_id, secret = uuid4(), new_secret()
        given = {
            "id": endpoint_id,
            "tenant_id": tenant_id,
            "url": url,
            "event_types": event_types or [],
            "description": description,
            "header_prefix": header_prefix,
            "format": format,
            "timeout_seconds": timeout_seconds,
        }

        def work(connection: Connection) -> DictRow:
            row = connection.execute(INSERT, given).fetchone()
            assert row is not None
            self._secrets.store_within(connection, tenant_id, owner_of(endpoint_id), "current", secret)
            return row

        return self._database.transaction(work), secret

    def rotate(self, endpoint_id: UUID, overlap: timedelta) -> str:
        """A new secret. Until the overlap is over, deliveries are signed with the old one too."""
        secret, owner = new_secret(), owner_of(endpoint_id)

        def work(connection: Connection) -> None:
            found = connection.execute(TENANT, [endpoint_id]).fetchone()
            if found is None:
                raise no_such(endpoint_id)
            self._secrets.set_aside(connection, found["tenant_id"], owner, "current", "previous", overlap)
            self._secrets.store_within(connection, found["tenant_id"], owner, "current", secret)

        self._database.transaction(work)
        return secret

    def change(self, endpoint_id: UUID, status: Literal["active", "disabled"]) -> DictRow:
        return self._one(CHANGE, {"id": endpoint_id, "status": status})

    def update(
        self,
        endpoint_id: UUID,
        url: str | None = None,
        event_types: list[str] | None = None,
        description: str | None = None,
        header_prefix: str | None = None,
        format: Format | None = None,
        timeout_seconds: float | None = None,
    ) -> DictRow:
        """Change what is given, from the next attempt on; its secret stays the same."""
        given = {
            "id": endpoint_id,
            "url": url,
            "event_types": event_types,
            "description": description,
            "header_prefix": header_prefix,
            "format": format,
            "timeout_seconds": timeout_seconds,
        }
        return self._one(UPDATE, given)

    def remove(self, endpoint_id: UUID) -> DictRow:
        """Delete it, with its secrets, deliveries and queued jobs."""
        return self._one("delete from public.webhook_endpoints where id = %(id)s returning *", {"id": endpoint_id})

    def test_webhook(self, webhook_endpoint_id: UUID | str) -> DictRow:
        # Repeating it after a broken connection might send everything twice.
        return call(self._database, "test_webhook", repeatable=False, webhook_endpoint_id=webhook_endpoint_id)[0]

    def redeliver_webhook(self, webhook_delivery_id: UUID | str) -> DictRow:
        return call(self._database, "redeliver_webhook", repeatable=False, webhook_delivery_id=webhook_delivery_id)[0]

    def redeliver_webhooks(
        self, webhook_endpoint_id: UUID | str, since: datetime | str, only_failed: bool = True
    ) -> int:
        (row,) = call(
            self._database,
            "redeliver_webhooks",
            repeatable=False,
            webhook_endpoint_id=webhook_endpoint_id,
            since=since,
            only_failed=only_failed,
        )
        return int(row["redeliver_webhooks"])

    def _one(self, query: str, parameters: dict[str, Any]) -> DictRow:
        rows = self._database.rows(query, parameters, repeatable=False)
        if not rows:
            raise no_such(parameters["id"])
        return rows[0]


def no_such(endpoint_id: UUID) -> NoSuchEndpoint:
    return NoSuchEndpoint(f"there is no endpoint {endpoint_id}", hint="`tickwork webhooks` lists them.")


def owner_of(endpoint_id: UUID) -> str:
    return f"endpoint:{endpoint_id}"


ENDPOINTS = """
    select webhook_endpoints.*, organizations.name as tenant
    from public.webhook_endpoints
    join tickwork.organizations on organizations.id = webhook_endpoints.tenant_id
    where %(tenant_id)s::uuid is null or webhook_endpoints.tenant_id = %(tenant_id)s
    order by webhook_endpoints.created_at, webhook_endpoints.id
"""
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
INSERT = """
    insert into public.webhook_endpoints (
      id, tenant_id, url, event_types, description, header_prefix, format, timeout_seconds
    )
    values (
      %(id)s, %(tenant_id)s, %(url)s, %(event_types)s, %(description)s, %(header_prefix)s, %(format)s,
      %(timeout_seconds)s
    )
    returning *
"""
UPDATE = """
    update public.webhook_endpoints
    set
      url = coalesce(%(url)s, url),
      event_types = coalesce(%(event_types)s::text[], event_types),
      description = coalesce(%(description)s, description),
      header_prefix = coalesce(%(header_prefix)s, header_prefix),
      format = coalesce(%(format)s, format),
      timeout_seconds = coalesce(%(timeout_seconds)s, timeout_seconds)
    where id = %(id)s
    returning *
"""
TENANT = "select tenant_id from public.webhook_endpoints where id = %s for no key update"
CHANGE = """
    update public.webhook_endpoints
    set
      status = %(status)s,
      disabled_reason = case %(status)s when 'disabled' then 'Somebody disabled it' end
    where id = %(id)s
    returning *
"""
