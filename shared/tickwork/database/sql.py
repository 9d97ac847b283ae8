"""What runs SQL: a Database, or an OpenConnection."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar

from psycopg.rows import DictRow

from tickwork.database.connection import Connection

T = TypeVar("T")


class Sql(Protocol):
    def rows(self, query: str, parameters: Mapping[str, Any], *, repeatable: bool = True) -> list[DictRow]: ...

    def transaction(self, work: Callable[[Connection], T]) -> T: ...

    def close(self) -> None: ...
