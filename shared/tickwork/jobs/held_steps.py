"""What a handler stores of its steps in a transaction that holds its job: one function per SQL function."""

from datetime import datetime

from psycopg.rows import DictRow

from tickwork.jobs.connection import Connection


def read_held_steps(connection: Connection) -> list[DictRow]:
    return connection.execute("select * from public.read_held_steps()").fetchall()


def store_held_step(connection: Connection, name: str, result: str) -> DictRow:
    """Store a result, given as JSON text; returns the stored one, and whether it is new."""
    query = "select * from public.store_held_step(name => %s, result => %s::text::jsonb)"
    return connection.execute(query, [name, result]).fetchall()[0]


def open_held_wait(
    connection: Connection,
    name: str,
    event_name: str | None = None,
    condition: str | None = None,
    timeout_seconds: float | None = None,
    ends_at: datetime | None = None,
    gives_back: bool = True,
) -> DictRow:
    query = """
        select * from public.open_held_wait(
          name => %s, event_name => %s, condition => %s, timeout_seconds => %s::float8, ends_at => %s, gives_back => %s
        )
    """
    values = [name, event_name, condition, timeout_seconds, ends_at, gives_back]
    return connection.execute(query, values).fetchall()[0]
