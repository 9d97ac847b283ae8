"""Webhook endpoints, as an operator or an application's backend keeps them. A secret is told once, when it is made."""

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from tickwork.database.connection import Connection, Database
from tickwork.errors import NoSuchEndpoint
from tickwork.tools.secrets import Safe
from tickwork.tools.signing import new_secret


class Endpoints:
    def __init__(self, database: Database, safe: Safe) -> None:
        self._database = database
        self._safe = safe

    def add(
        self,
        tenant_id: UUID,
        url: str,
        event_types: list[str] | None = None,
        description: str = "",
        header_prefix: str = "X-BPC-",
    ) -> tuple[dict[str, Any], str]:
        """The new endpoint and its secret, which is nowhere to be read again."""
        endpoint_id, secret = uuid4(), new_secret()
        given = [endpoint_id, tenant_id, url, event_types or [], description, header_prefix]

        def work(connection: Connection) -> dict[str, Any]:
            row = connection.execute(INSERT, given).fetchone()
            assert row is not None
            self._store(connection, tenant_id, endpoint_id, secret)
            return row

        return self._database.transaction(work), secret

    def rotate(self, endpoint_id: UUID, overlap: timedelta) -> str:
        """A new secret; what is sent is signed with the old one too until the overlap is over."""
        secret = new_secret()

        def work(connection: Connection) -> None:
            found = connection.execute(TENANT, [endpoint_id]).fetchone()
            if found is None:
                raise NoSuchEndpoint(f"there is no endpoint {endpoint_id}", hint="`tickwork webhooks` lists them.")
            owner = {"tenant_id": found["tenant_id"], "owner": owner_of(endpoint_id), "overlap": overlap}
            connection.execute(SET_ASIDE, owner)
            self._store(connection, found["tenant_id"], endpoint_id, secret)

        self._database.transaction(work)
        return secret

    def change(self, endpoint_id: UUID, status: str) -> dict[str, Any]:
        """Enable or disable it: `active` or `disabled`."""
        return self._one(CHANGE, {"id": endpoint_id, "status": status})

    def remove(self, endpoint_id: UUID) -> dict[str, Any]:
        """Delete it, with its secrets, its deliveries and what waits for it."""
        return self._one("delete from public.webhook_endpoints where id = %(id)s returning *", {"id": endpoint_id})

    def _one(self, query: str, parameters: dict[str, Any]) -> dict[str, Any]:
        rows = self._database.rows(query, parameters, repeatable=False)
        if not rows:
            raise NoSuchEndpoint(f"there is no endpoint {parameters['id']}", hint="`tickwork webhooks` lists them.")
        return rows[0]

    def _store(self, connection: Connection, tenant_id: UUID, endpoint_id: UUID, secret: str) -> None:
        self._safe.store(Statements(connection), tenant_id, owner_of(endpoint_id), "current", secret)


class Statements:
    """An open transaction, for those who know databases only."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def rows(self, query: str, parameters: dict[str, Any], /) -> list[dict[str, Any]]:
        return self._connection.execute(query, parameters).fetchall()


def owner_of(endpoint_id: UUID) -> str:
    return f"endpoint:{endpoint_id}"


INSERT = """
    insert into public.webhook_endpoints (id, tenant_id, url, event_types, description, header_prefix)
    values (%s, %s, %s, %s, %s, %s)
    returning *
"""
TENANT = "select tenant_id from public.webhook_endpoints where id = %s for no key update"
SET_ASIDE = """
    select tickwork.rename_secret(
      %(tenant_id)s, %(owner)s, 'current', 'previous', clock_timestamp() + %(overlap)s::interval
    )
"""
CHANGE = """
    update public.webhook_endpoints
    set
      status = %(status)s,
      disabled_reason = case %(status)s when 'disabled' then 'Somebody disabled it' end
    where id = %(id)s
    returning *
"""
