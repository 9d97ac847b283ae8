"""The only way to call a function of the schema public: by name, with named parameters."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from psycopg.rows import DictRow

from tickwork.database.connection import Connection
from tickwork.database.sql import Sql
from tickwork.errors import InvalidRequest


def call(
    database: Sql, function: str, /, *, columns: str = "*", repeatable: bool = True, **arguments: Any
) -> list[DictRow]:
    """The rows that it returns. Only a repeatable call is sent again if the connection turns out to be dead."""
    check_integers(arguments)
    return database.rows(statement(function, tuple(arguments), columns), arguments, repeatable=repeatable)


def call_within(connection: Connection, function: str, /, **arguments: Any) -> list[DictRow]:
    """The same, in an open transaction."""
    return connection.execute(statement(function, tuple(arguments)), arguments).fetchall()


@cache
def statement(function: str, arguments: tuple[str, ...], columns: str = "*") -> str:
    return f"select {columns} from public.{function}({', '.join(f'{name} => %({name})s' for name in arguments)})"


def check_integers(arguments: Mapping[str, Any]) -> None:
    for name, value in arguments.items():
        # The database would look for a function with a larger number type, and report that there is none.
        if isinstance(value, int) and abs(value) >= 2**31:
            raise InvalidRequest(f"{name}: {value} is out of range, it must fit into 32 bits", sqlstate="TWARG")
