"""The client for programs with an event loop."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any, Self
from uuid import UUID

from tickwork.client.aio.verbs import Verbs
from tickwork.client.target import as_target

if TYPE_CHECKING:
    import psycopg

    from tickwork.client.aio.rpc_way import HasRpc
    from tickwork.client.aio.way import Way


class AsyncTickwork(Verbs):
    """The methods of Tickwork, to be awaited, over the same ways in; a connection is psycopg's AsyncConnection.

    What needs the database itself, such as tenants, secrets and the files of the vault, only Tickwork has.
    """

    def __init__(
        self,
        target: str | psycopg.AsyncConnection[Any] | HasRpc | None = None,
        *,
        url: str | None = None,
        key: str | None = None,
        token: str | None = None,
        tenant_id: UUID | str | None = None,
        timeout: float = 30.0,
    ) -> None:
        super().__init__(way_of(target or url, key or token, timeout), tenant_id)

    def with_options(self, *, timeout: float | None = None, traceparent: str | None = None) -> AsyncTickwork:
        """The same client over HTTP with another timeout for each request, or with a trace to pass on."""
        from tickwork.client.target import over_http

        changed = AsyncTickwork.__new__(AsyncTickwork)
        Verbs.__init__(changed, over_http(self._way).with_options(timeout, traceparent), self._tenant_id)
        return changed

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.close()


def way_of(target: Any, credential: str | None, timeout: float) -> Way:
    match as_target(target, credential):
        case "http":
            from tickwork.client.aio.http_way import HttpWay

            return HttpWay(target, str(credential), timeout)
        case "rpc":
            from tickwork.client.aio.rpc_way import RpcWay

            return RpcWay(target)
        case "database":
            from tickwork.client.aio.database_way import ThreadedWay
            from tickwork.client.database_way import DatabaseWay
            from tickwork.database.connection import Database

            return ThreadedWay(DatabaseWay(Database(target), is_ours=True))
        case _:
            from tickwork.client.aio.database_way import OpenConnectionWay

            return OpenConnectionWay(target)
