"""A connection for each thread, so that nobody waits for another one's statement."""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

import psycopg
from psycopg.pq import TransactionStatus
from psycopg.rows import DictRow

from tickwork.database.connection import (
    MAX_SILENCE_SECONDS,
    Connection,
    connect,
    is_direct,
    translated,
    was_hung_up,
)

T = TypeVar("T")
# A statement is prepared when it comes for the third time.
PREPARE_THRESHOLD = 2


class Connections:
    def __init__(self, url: str) -> None:
        self._url = url
        self._local = threading.local()
        self._open: list[Connection] = []

    def close(self) -> None:
        for connection in self._open:
            connection.close()

    def transaction(self, preamble: str, query: str, parameters: Mapping[str, Any], *, is_kept: bool) -> list[DictRow]:
        """The rows of the query, after the statements of the preamble; rolled back unless `is_kept`."""
        with self.opened(preamble, is_kept=is_kept) as connection:
            return connection.execute(query, parameters).fetchall()

    def within(self, preamble: str, work: Callable[[Connection], T], *, is_kept: bool) -> T:
        """The same, for what takes several statements."""
        with self.opened(preamble, is_kept=is_kept) as connection:
            return work(connection)

    @contextmanager
    def opened(self, preamble: str, *, is_kept: bool = True) -> Iterator[Connection]:
        """A transaction for several statements; rolled back unless `is_kept`, and if anything is raised."""
        connection = self._begun(preamble)
        try:
            yield connection
            connection.execute("commit" if is_kept else "rollback")
        except psycopg.Error as error:
            raise translated(error) from error
        finally:
            if not connection.closed and connection.info.transaction_status != TransactionStatus.IDLE:
                with suppress(psycopg.Error):
                    connection.execute("rollback")

    def _begun(self, preamble: str) -> Connection:
        """With the transaction open. A connection that turns out to be dead is replaced: nothing has happened yet."""
        for is_last in (False, True):
            connection = self._healthy()
            try:
                # Several statements without parameters are one trip to the server and back.
                connection.execute(f"begin; {preamble}".encode())
                return connection
            except psycopg.Error as error:
                if not connection.broken:
                    connection.execute("rollback")
                if is_last or not connection.broken:
                    raise translated(error) from error
        raise AssertionError("the last round returns or raises")

    def _healthy(self) -> Connection:
        connection: Connection | None = getattr(self._local, "connection", None)
        if connection and not connection.closed and not was_hung_up(connection):
            return connection
        if connection:
            connection.close()
            self._open.remove(connection)
        try:
            connection = connect(self._url, "tickwork api", MAX_SILENCE_SECONDS)
            connection.execute("set timezone = 'UTC'")
            if is_direct(connection):
                connection.prepare_threshold = PREPARE_THRESHOLD
        except psycopg.Error as error:
            raise translated(error) from error
        self._local.connection = connection
        self._open.append(connection)
        return connection
