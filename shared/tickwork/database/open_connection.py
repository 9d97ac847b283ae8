"""A connection that the application opened: what is done on it belongs to the application's own transaction."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

import psycopg
from psycopg.rows import DictRow, dict_row

from tickwork.database.connection import Connection, translated
from tickwork.errors import InvalidRequest

T = TypeVar("T")


class OpenConnection:
    """Has the methods of Database, but never opens, repeats, commits or closes anything."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection

    def rows(self, query: str, parameters: Mapping[str, Any], *, repeatable: bool = True) -> list[DictRow]:
        with self._connection.cursor(row_factory=dict_row) as cursor:
            try:
                return cursor.execute(query, parameters).fetchall()
            except UnicodeEncodeError:
                raise InvalidRequest("a text is not valid Unicode: write it in UTF-8", sqlstate="TWARG") from None
            except psycopg.Error as error:
                raise translated(error) from error

    def transaction(self, work: Callable[[Connection], T]) -> T:
        """Within the application's transaction, if there is one, this is a savepoint."""
        own_factory = self._connection.row_factory
        self._connection.row_factory = dict_row
        try:
            with self._connection.transaction():
                return work(cast(Connection, self._connection))
        except psycopg.Error as error:
            raise translated(error) from error
        finally:
            self._connection.row_factory = own_factory

    def close(self) -> None:
        """It is for the application to close it."""
