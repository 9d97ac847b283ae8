"""What needs the database itself: rows that only the operator sees, secrets, files of the vault."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tickwork.errors import InvalidRequest

if TYPE_CHECKING:
    from tickwork.client.way import Way
    from tickwork.database.sql import Sql


class Direct:
    _way: Way

    @property
    def _has_database(self) -> bool:
        return hasattr(self._way, "database")

    @property
    def _database(self) -> Sql:
        return database_of(self._way)


def database_of(way: Way) -> Sql:
    """Raises InvalidRequest over HTTP and with a supabase client."""
    database: Sql | None = getattr(way, "database", None)
    if database is None:
        hint = "Connect with a URL such as postgresql://…, or a connection of psycopg."
        raise InvalidRequest("this can only be done in the database itself", hint=hint)
    return database
