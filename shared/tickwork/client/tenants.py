"""Tenants: the rows of `organizations`."""

from uuid import UUID

from psycopg.rows import DictRow

from tickwork.database.connection import Database
from tickwork.errors import InvalidRequest


class Tenants:
    def __init__(self, database: Database) -> None:
        self._database = database

    def overview(self) -> list[DictRow]:
        return self._database.rows("select id, name from public.organizations order by name, id", {})

    def add(self, name: str) -> DictRow:
        if not name.strip():
            raise InvalidRequest("name: must not be empty")
        if self._database.rows("select from public.organizations where name = %(name)s", {"name": name}):
            raise InvalidRequest(f"name: there is already a tenant {name!r}", hint="`tickwork tenants` lists them.")
        (row,) = self._database.rows(
            "insert into public.organizations (name) values (%(name)s) returning id, name",
            {"name": name},
            repeatable=False,
        )
        return row

    def find(self, name_or_id: str) -> UUID:
        """The id of the only tenant with this id or name."""
        known = "select id from public.organizations where name = %(given)s or id::text = lower(%(given)s)"
        rows = self._database.rows(known, {"given": name_or_id})
        if len(rows) != 1:
            what = f"{len(rows)} tenants are named" if rows else "there is no tenant"
            hint = "`tickwork tenants` lists them; an id is always unambiguous."
            raise InvalidRequest(f"tenant: {what} {name_or_id!r}", hint=hint)
        id: UUID = rows[0]["id"]
        return id
