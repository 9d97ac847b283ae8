"""The one connection of a process: shared by its threads, healed when it breaks, at home behind a pooler."""

import select
import threading
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import psycopg
from psycopg.rows import DictRow, dict_row

from tickwork.errors import BY_SQLSTATE, InvalidRequest, QueueError, Unavailable

Connection = psycopg.Connection[DictRow]
T = TypeVar("T")


class Database:
    """Calls are made one at a time; none leaves state behind in the session."""

    def __init__(self, url: str, name: str = "tickwork") -> None:
        self._url = url
        self._name = name
        self._lock = threading.Lock()
        self._connection: Connection | None = None

    def rows(self, query: str, parameters: Mapping[str, Any], *, repeatable: bool = True) -> list[DictRow]:
        """Run one statement in a transaction of its own, in one round trip."""
        return self._run(lambda connection: connection.execute(query, parameters).fetchall(), repeatable)

    def transaction(self, work: Callable[[Connection], T]) -> T:
        """Run `work` in one transaction; it may run a second time if the connection breaks under it."""

        def in_transaction(connection: Connection) -> T:
            with connection.transaction():
                return work(connection)

        return self._run(in_transaction, repeatable=True)

    def close(self) -> None:
        with self._lock:
            if self._connection:
                self._connection.close()

    def _run(self, work: Callable[[Connection], T], repeatable: bool) -> T:
        with self._lock:
            for is_last in (not repeatable, True):
                connection = self._healthy_connection()
                try:
                    return work(connection)
                except psycopg.Error as error:
                    if is_last or not connection.broken:
                        raise translated(error) from error
        raise AssertionError("the last round returns or raises")

    def _healthy_connection(self) -> Connection:
        if self._connection is None or self._connection.closed or _was_hung_up(self._connection):
            if self._connection:
                self._connection.close()
            try:
                self._connection = connect(self._url, self._name)
            except psycopg.Error as error:
                raise translated(error) from error
        return self._connection


def connect(url: str, name: str) -> Connection:
    return psycopg.connect(
        url,
        autocommit=True,
        row_factory=dict_row,
        # A transaction-mode pooler may send each statement to another session, which knows no prepared one.
        prepare_threshold=None,
        application_name=name,
        connect_timeout=10,
        keepalives_idle=30,
        tcp_user_timeout=30_000,
    )


def translated(error: psycopg.Error) -> Exception:
    """The error of the tree that stands for what the database said."""
    message = error.diag.message_primary or str(error).strip()
    if error.sqlstate in BY_SQLSTATE:
        if error.sqlstate == "22P05":
            message = f"payload: must not contain \\u0000 ({message})"
        return BY_SQLSTATE[error.sqlstate](message, sqlstate=error.sqlstate, hint=error.diag.message_hint)
    if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
        return Unavailable(message, sqlstate=error.sqlstate, hint="Is the database up, and is its URL right?")
    if isinstance(error, psycopg.DataError):
        return InvalidRequest(message, sqlstate=error.sqlstate, hint=error.diag.message_hint)
    return QueueError(message, sqlstate=error.sqlstate, hint=error.diag.message_hint)


def _was_hung_up(connection: Connection) -> bool:
    # Between two statements the server has nothing to say, unless it closes the line.
    readable, _, _ = select.select([connection.fileno()], [], [], 0)
    return bool(readable)
