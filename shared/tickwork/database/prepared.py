"""A statement that a worker sends for every job, without what a cursor does for each."""

import select
import time
from collections.abc import Sequence
from typing import Any
from zlib import crc32

import psycopg
from psycopg import pq
from psycopg.adapt import Transformer
from psycopg.types.string import TextLoader

from tickwork.database.connection import MISTAKEN, Connection, SilentServer, cancel, is_direct

# After this many executions it pays to prepare it, where no pooler is in between.
EXECUTIONS_BEFORE_PREPARING = 5
# What stays text until somebody needs more.
TEXTS = ("uuid", "jsonb", "text[]")
READABLE, BOTH = select.POLLIN, select.POLLIN | select.POLLOUT


class Prepared:
    """One statement on one connection: parameters as text, rows as tuples. One thread uses it at a time."""

    def __init__(self, connection: Connection, query: str, max_silence: float) -> None:
        self.connection = connection
        self._query = query.encode()
        self._timeout = None if max_silence == float("inf") else max_silence * 1000
        self._name = b""
        self._executions = 0
        self._has_loaders = False
        self._socket = select.poll()
        self._socket.register(connection.fileno(), READABLE)
        cursor = connection.cursor()
        for name in TEXTS:
            cursor.adapters.register_loader(oid_of(name), TextLoader)
        self._transformer = Transformer.from_context(cursor)

    def is_lost(self) -> bool:
        # Between two statements the server sends nothing, unless it closes the connection.
        return self.connection.closed or bool(self._socket.poll(0))

    def rows(self, parameters: Sequence[bytes | None]) -> list[tuple[Any, ...]]:
        """Run it in a transaction of its own."""
        self._executions += 1
        if self._executions == EXECUTIONS_BEFORE_PREPARING and is_direct(self.connection):
            # Behind a pooler that was not noticed, another version may have prepared another one.
            self._name = b"tickwork_%08x" % crc32(self._query)
            self.connection.pgconn.prepare(self._name, self._query)
        result = self._sent(parameters)
        if result.status != pq.ExecStatus.TUPLES_OK:
            error = psycopg.errors.error_from_result(result)
            if not (self._name and isinstance(error, MISTAKEN)):
                raise error
            self._name = b""
            return self.rows(parameters)
        # The columns are the same each time.
        self._transformer.set_pgresult(result, set_loaders=not self._has_loaders)
        self._has_loaders = True
        return self._transformer.load_rows(0, result.ntuples, tuple)

    def _sent(self, parameters: Sequence[bytes | None]) -> Any:
        pgconn = self.connection.pgconn
        try:
            if self._name:
                pgconn.send_query_prepared(self._name, parameters)
            else:
                pgconn.send_query_params(self._query, parameters)
            while pgconn.flush():
                self._wait(BOTH)
            while pgconn.is_busy():
                self._wait(READABLE)
            result = pgconn.get_result()
            # There is nothing more, which libpq wants to be asked for.
            while pgconn.get_result():
                pass
            return result
        except BaseException:
            # Whatever the server says later belongs to no statement of ours.
            pgconn.finish()
            raise

    def _wait(self, events: int) -> None:
        if events != READABLE:
            self._socket.modify(self.connection.fileno(), events)
        began = time.monotonic()
        if not self._socket.poll(self._timeout):
            cancel(self.connection)
            raise SilentServer(f"the database said nothing for {time.monotonic() - began:g} seconds")
        if events != READABLE:
            self._socket.modify(self.connection.fileno(), READABLE)
        self.connection.pgconn.consume_input()


def oid_of(name: str) -> int:
    array = name.endswith("[]")
    info = psycopg.adapters.types[name.removesuffix("[]")]
    return info.array_oid if array else info.oid
