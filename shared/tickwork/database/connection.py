"""The connections of a process: shared by its threads, reopened when they break, usable with a pooler."""

import select
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

import psycopg
from psycopg import capabilities
from psycopg.abc import PQGen
from psycopg.rows import DictRow, dict_row

from tickwork.errors import BY_SQLSTATE, InvalidRequest, Unavailable, queue_error

if TYPE_CHECKING:
    from tickwork.database.prepared import Prepared

Connection = psycopg.Connection[DictRow]
T = TypeVar("T")

# After this many statements it pays to check whether a connection goes through a pooler.
STATEMENTS_BEFORE_PREPARING = 20
# After how many seconds without a response from the server a worker gives up its statement, as TCP does with a peer
# that acknowledges nothing. A verb takes milliseconds.
MAX_SILENCE_SECONDS = 30.0
# How long to try to tell the server that nobody waits for a statement any more.
CANCEL_SECONDS = 2.0
# The session does not know a prepared statement, or knows another one by that name. Nothing was executed.
MISTAKEN = (psycopg.errors.InvalidSqlStatementName, psycopg.errors.DuplicatePreparedStatement)


class Database:
    """Connections for the verbs, which threads use in turn, and others for the transactions of handlers."""

    def __init__(
        self, url: str, name: str = "tickwork", max_silence: float = float("inf"), connections: int = 1
    ) -> None:
        """As many threads as there are `connections` call verbs at the same time; the others wait for them."""
        self.url = url
        self.name = name
        self.max_silence = max_silence
        self._turns = threading.Semaphore(connections)
        # The one that was used last is used next: the others are opened only if they are needed.
        self._sessions = [Session(self) for _ in range(connections)]
        self._max_spare = connections
        self._spare: list[Connection] = []

    def rows(self, query: str, parameters: Mapping[str, Any], *, repeatable: bool = True) -> list[DictRow]:
        """Run one statement in its own transaction; once more if the connection turns out to be dead."""
        with self._turns:
            session = self._sessions.pop()
            try:
                return session.rows(query, parameters, repeatable)
            finally:
                self._sessions.append(session)

    def tuples(self, query: str, parameters: Sequence[bytes | None], *, repeatable: bool) -> list[tuple[Any, ...]]:
        """The same, for the one statement of a worker: it is sent again and again."""
        with self._turns:
            session = self._sessions.pop()
            try:
                return session.tuples(query, parameters, repeatable)
            finally:
                self._sessions.append(session)

    def transaction(self, work: Callable[[Connection], T]) -> T:
        """Run `work` in one transaction, once: if the response to a commit is lost, it may have taken place."""
        # Not on a connection of the verbs: a heartbeat must not wait for a handler.
        with self._lent() as connection:
            try:
                with connection.transaction():
                    return work(connection)
            except psycopg.Error as error:
                raise translated(error) from error

    def close(self) -> None:
        for connection in (*(session.connection for session in self._sessions), *self._spare):
            if connection:
                connection.close()

    def healthy(self, connection: Connection | None, max_silence: float | None = None) -> Connection:
        """This one, or a new one in its place."""
        if connection and not connection.closed and not was_hung_up(connection):
            return connection
        if connection:
            connection.close()
        try:
            return connect(self.url, self.name, self.max_silence if max_silence is None else max_silence)
        except psycopg.Error as error:
            raise translated(error) from error

    @contextmanager
    def _lent(self) -> Iterator[Connection]:
        try:
            spare = self._spare.pop()
        except IndexError:
            spare = None
        # What a handler does may take long: it has the time that its type allows.
        connection = self.healthy(spare, max_silence=float("inf"))
        try:
            yield connection
        finally:
            if len(self._spare) < self._max_spare:
                self._spare.append(connection)
            else:
                connection.close()


class Session:
    """A connection for verbs. One thread uses it at a time."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.connection: Connection | None = None
        self._cursor: psycopg.Cursor[DictRow] | None = None
        self._statements = 0
        self._prepared: Prepared | None = None

    def tuples(self, query: str, parameters: Sequence[bytes | None], repeatable: bool) -> list[tuple[Any, ...]]:
        for is_last in (not repeatable, True):
            prepared = self._prepared
            if prepared is None or prepared.connection is not self.connection or prepared.is_lost():
                prepared = self._prepared = self._prepare(query)
            try:
                return prepared.rows(parameters)
            except psycopg.Error as error:
                if is_last or not prepared.connection.broken or isinstance(error, SilentServer):
                    raise translated(error) from error
        raise AssertionError("the last round returns or raises")

    def rows(self, query: str, parameters: Mapping[str, Any], repeatable: bool) -> list[DictRow]:
        for is_last in (not repeatable, True):
            connection = self.connection = self._database.healthy(self.connection)
            try:
                return self._executed(connection, query, parameters)
            except UnicodeEncodeError:
                # An argument of a shell that is not UTF-8, or half of an emoji.
                raise InvalidRequest("a text is not valid Unicode: write it in UTF-8", sqlstate="TWARG") from None
            except psycopg.Error as error:
                if is_last or not connection.broken or isinstance(error, SilentServer):
                    raise translated(error) from error
        raise AssertionError("the last round returns or raises")

    def _prepare(self, query: str) -> "Prepared":
        # Imported late: it needs the connection.
        from tickwork.database.prepared import Prepared

        self.connection = self._database.healthy(self.connection)
        return Prepared(self.connection, query, self._database.max_silence)

    def _executed(self, connection: Connection, query: str, parameters: Mapping[str, Any]) -> list[DictRow]:
        # Created once: creating it for every statement takes a fifth of the time of a short one.
        if self._cursor is None or self._cursor.connection is not connection:
            self._cursor = connection.cursor()
            self._statements = 0
        self._statements += 1
        if self._statements == STATEMENTS_BEFORE_PREPARING and is_direct(connection):
            connection.prepare_threshold = 0
        try:
            return self._cursor.execute(query, parameters).fetchall()
        except MISTAKEN:
            connection.prepare_threshold = None
            return self._cursor.execute(query, parameters).fetchall()


class SilentServer(psycopg.OperationalError):
    pass


class LimitedConnection(psycopg.Connection[DictRow]):
    """Gives up a server that keeps its connection open and says nothing: no setting of TCP or of the server does."""

    max_silence = float("inf")

    def wait(self, gen: PQGen[T], *arguments: Any, **options: Any) -> T:
        if self.max_silence < float("inf"):
            gen = heard_within(self.max_silence, gen)
        try:
            return super().wait(gen, *arguments, **options)
        except SilentServer:
            # It may be alive and at work.
            cancel(self)
            self.pgconn.finish()
            raise


def heard_within(seconds: float, generator: PQGen[T]) -> PQGen[T]:
    """The same exchange with the server. psycopg looks ten times a second whether there is anything to read."""
    silent_at = None
    try:
        wanted = next(generator)
        while True:
            ready = yield wanted
            if ready:
                silent_at = None
            elif silent_at is None:
                silent_at = time.monotonic() + seconds
            elif time.monotonic() > silent_at:
                raise SilentServer(f"the database said nothing for {seconds:g} seconds")
            wanted = generator.send(ready)
    except StopIteration as end:
        result: T = end.value
        return result


def cancel(connection: Connection) -> None:
    """Ask the server to end the statement that runs: it notices only between two that nobody is there any more."""
    # The older way to cancel waits for the server without limit.
    if capabilities.has_cancel_safe():
        with suppress(psycopg.Error):
            connection.cancel_safe(timeout=CANCEL_SECONDS)


def connect(url: str, name: str, max_silence: float = float("inf")) -> Connection:
    connection = LimitedConnection.connect(
        url,
        autocommit=True,
        row_factory=dict_row,
        # A transaction-mode pooler may send each statement to another session, which has not prepared it.
        prepare_threshold=None,
        application_name=name,
        connect_timeout=10,
        keepalives_idle=30,
        tcp_user_timeout=30_000,
    )
    connection.max_silence = max_silence
    return connection


def is_direct(connection: Connection) -> bool:
    """Whether there is no pooler in between: a pooler reports another process id when the connection is opened."""
    (row,) = connection.execute("select pg_backend_pid() as pid").fetchall()
    return bool(row["pid"] == connection.info.backend_pid)


def translated(error: psycopg.Error) -> Exception:
    """Our error for an error of the database."""
    message = error.diag.message_primary or str(error).strip()
    if error.sqlstate not in BY_SQLSTATE:
        if is_unavailable(error):
            return Unavailable(message, sqlstate=error.sqlstate, hint="Is the database up, and is its URL right?")
        if isinstance(error, psycopg.DataError):
            return InvalidRequest(message, sqlstate=error.sqlstate, hint=error.diag.message_hint)
    return queue_error(error.sqlstate, message, error.diag.message_hint)


def is_unavailable(error: psycopg.Error) -> bool:
    """Whether the statement may go through later, on another connection."""
    return (
        isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
        # What psycopg makes of a session that ends in the middle of a BEGIN or COMMIT: two results, and no SQLSTATE.
        or (isinstance(error, psycopg.InternalError) and error.sqlstate is None)
        # The server that was the primary a moment ago, or is not yet.
        or isinstance(error, psycopg.errors.ReadOnlySqlTransaction)
    )


def was_hung_up(connection: Connection) -> bool:
    # Between two statements the server sends nothing, unless it closes the connection.
    line = select.poll()
    line.register(connection.fileno(), select.POLLIN)
    return bool(line.poll(0))
