"""Which errors of the database are refusals."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from tickwork.database.connection import translated


@contextmanager
def refusable(*sqlstates: str) -> Iterator[None]:
    """What is in it may be refused with one of these codes and a hint; any other error fails the test."""
    try:
        yield
    except psycopg.Error as error:
        if error.sqlstate not in sqlstates or not error.diag.message_hint:
            raise


@contextmanager
def translating() -> Iterator[None]:
    """Errors of the database as those of the client, on connections that are not its own."""
    try:
        yield
    except psycopg.Error as error:
        raise translated(error) from error
