"""The client for programs without an event loop, the command line among them."""

from __future__ import annotations

from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self
from uuid import UUID

from tickwork.client.direct import database_of
from tickwork.client.target import as_target, over_http
from tickwork.client.verbs import Verbs

if TYPE_CHECKING:
    import psycopg

    from tickwork.client.direct.admins import Admins
    from tickwork.client.direct.artifacts import Artifacts
    from tickwork.client.direct.connectors import Connectors
    from tickwork.client.direct.documents import Documents
    from tickwork.client.direct.job_types import JobTypes
    from tickwork.client.direct.jobs import Jobs
    from tickwork.client.direct.maintenance import Maintenance
    from tickwork.client.direct.members import Members
    from tickwork.client.direct.pauses import Pauses
    from tickwork.client.direct.schedules import Schedules
    from tickwork.client.direct.secrets import Secrets
    from tickwork.client.direct.tenants import Tenants
    from tickwork.client.direct.triggers import Triggers
    from tickwork.client.direct.webhooks import Webhooks
    from tickwork.client.rpc_way import HasRpc
    from tickwork.client.way import Way
    from tickwork.database.sql import Sql


class Tickwork(Verbs):
    """Takes the URL of a database or of the HTTP API, with a key or a token; a connection of psycopg, in whose
    transaction everything is done; or a supabase client.

    Secrets are sealed with `secret_key`; without one they are stored in Supabase Vault, if there is one.
    """

    def __init__(
        self,
        target: str | psycopg.Connection[Any] | Sql | HasRpc | None = None,
        *,
        url: str | None = None,
        key: str | None = None,
        token: str | None = None,
        tenant_id: UUID | str | None = None,
        timeout: float = 30.0,
        secret_key: str | None = None,
    ) -> None:
        super().__init__(way_of(target or url, key or token, timeout), tenant_id)
        self._secret_key = secret_key

    def with_options(self, *, timeout: float | None = None, traceparent: str | None = None) -> Tickwork:
        """The same client over HTTP with another timeout for each request, or with a trace to pass on."""
        changed = Tickwork.__new__(Tickwork)
        Verbs.__init__(changed, over_http(self._way).with_options(timeout, traceparent), self._tenant_id)
        changed._secret_key = self._secret_key
        return changed

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    @property
    def has_database(self) -> bool:
        return hasattr(self._way, "database")

    @property
    def database(self) -> Sql:
        """For what has no method. Raises InvalidRequest over HTTP and with a supabase client."""
        return database_of(self._way)

    @cached_property
    def jobs(self) -> Jobs:
        from tickwork.client.direct.jobs import Jobs

        return Jobs(self._way)

    @cached_property
    def schedules(self) -> Schedules:
        from tickwork.client.direct.schedules import Schedules

        return Schedules(self._way)

    @cached_property
    def triggers(self) -> Triggers:
        from tickwork.client.direct.triggers import Triggers

        return Triggers(self._way)

    @cached_property
    def documents(self) -> Documents:
        from tickwork.client.direct.documents import Documents

        return Documents(self._way)

    @cached_property
    def artifacts(self) -> Artifacts:
        from tickwork.client.direct.artifacts import Artifacts

        return Artifacts(self._way)

    @cached_property
    def webhooks(self) -> Webhooks:
        from tickwork.client.direct.webhooks import Webhooks

        return Webhooks(self._way, self._secret_key)

    @cached_property
    def connectors(self) -> Connectors:
        from tickwork.client.direct.connectors import Connectors

        return Connectors(self._way, self._secret_key)

    @cached_property
    def pauses(self) -> Pauses:
        from tickwork.client.direct.pauses import Pauses

        return Pauses(self._way)

    @cached_property
    def job_types(self) -> JobTypes:
        from tickwork.client.direct.job_types import JobTypes

        return JobTypes(self._way)

    @cached_property
    def maintenance(self) -> Maintenance:
        from tickwork.client.direct.maintenance import Maintenance

        return Maintenance(self.database)

    @cached_property
    def tenants(self) -> Tenants:
        from tickwork.client.direct.tenants import Tenants

        return Tenants(self._way)

    @cached_property
    def members(self) -> Members:
        from tickwork.client.direct.members import Members

        return Members(self._way)

    @cached_property
    def admins(self) -> Admins:
        from tickwork.client.direct.admins import Admins

        return Admins(self.database)

    @cached_property
    def secrets(self) -> Secrets:
        from tickwork.client.direct.secrets import secrets_of

        return secrets_of(self.database, self._secret_key)


def way_of(target: Any, credential: str | None, timeout: float) -> Way:
    match as_target(target, credential):
        case "http":
            from tickwork.client.http_way import HttpWay

            return HttpWay(target, str(credential), timeout)
        case "rpc":
            from tickwork.client.rpc_way import RpcWay

            return RpcWay(target)
        case _:
            return database_way(target)


def database_way(target: Any) -> Way:
    from tickwork.client.database_way import DatabaseWay
    from tickwork.database.connection import Database
    from tickwork.database.open_connection import OpenConnection

    if isinstance(target, str):
        return DatabaseWay(Database(target), is_ours=True)
    return DatabaseWay(target if hasattr(target, "rows") else OpenConnection(target))
