"""Tenants: the rows of `organizations`, or of the application's own table of tenants."""

from uuid import UUID

from tickwork.client.direct import Direct
from tickwork.client.way import Row, Way
from tickwork.database.sql import Sql
from tickwork.errors import InvalidRequest


class Tenants(Direct):
    """Over HTTP and with a supabase client, those that the caller may act for."""

    def __init__(self, way: Way) -> None:
        self._way = way

    def overview(self) -> list[Row]:
        if self._has_database:
            return self._database.rows("select id, name from tickwork.organizations order by name, id", {})
        (caller,) = self._way.rows("who_am_i", {})
        return [{"id": UUID(each["tenant_id"]), "name": each["name"]} for each in caller["tenants"]]

    def add(self, name: str) -> Row:
        check_ours(self._database, "organizations", "tenants")
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
        if not self._has_database and (id := id_in(name_or_id)):
            # Whether the caller may act for it is found out with whatever is done next.
            return id
        if self._has_database:
            known = "select id from tickwork.organizations where name = %(given)s or id::text = lower(%(given)s)"
            rows = self._database.rows(known, {"given": name_or_id})
        else:
            rows = [row for row in self.overview() if name_or_id == row["name"]]
        if len(rows) != 1:
            what = f"{len(rows)} tenants are named" if rows else "there is no tenant"
            hint = "`tickwork tenants` lists them; an id is always unambiguous."
            raise InvalidRequest(f"tenant: {what} {name_or_id!r}", hint=hint)
        found: UUID = rows[0]["id"]
        return found


def id_in(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def check_ours(database: Sql, table: str, what: str) -> None:
    """Refuse to change the application's own table, which the view of tickwork was made for by `tickwork migrate`."""
    (row,) = database.rows(KEPT_IN, {"view": f"tickwork.{table}"})
    if not row["is_ours"]:
        hint = f"Change {row['kept_in']} as your application does."
        raise InvalidRequest(f"the {what} of this database are the application's, in {row['kept_in']}", hint=hint)


# Every table of ours is guarded by a policy of this name.
KEPT_IN = """
    select
      format('%%I.%%I', pg_class.relnamespace::regnamespace, pg_class.relname) as kept_in,
      exists (
        select
        from pg_catalog.pg_policy
        where pg_policy.polrelid = pg_class.oid
          and pg_policy.polname in ('members_reach_their_own', 'members_see_their_tenants')
      ) as is_ours
    from pg_catalog.pg_class
    where pg_class.oid in (
      select pg_depend.refobjid
      from pg_catalog.pg_rewrite
      join pg_catalog.pg_depend on pg_depend.objid = pg_rewrite.oid
      where pg_rewrite.ev_class = %(view)s::regclass
        and pg_depend.refclassid = 'pg_catalog.pg_class'::regclass
        and pg_depend.refobjid <> pg_rewrite.ev_class
    )
"""
