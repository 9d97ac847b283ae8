"""Members of tenants: the rows of `memberships`, or of the application's own table of members."""

from uuid import UUID

from psycopg.rows import DictRow

from tickwork.client import members
from tickwork.client.direct import Direct
from tickwork.client.direct.tenants import check_ours


class Members(members.Members, Direct):
    def overview(self, tenant_id: UUID | None = None) -> list[DictRow]:
        """Users with their tenants and roles, wherever they are kept."""
        return self._database.rows(MEMBERS, {"tenant_id": tenant_id})

    def add(self, tenant_id: UUID, user_id: UUID, role: str) -> None:
        """Make a user a member of a tenant, or give a member another role."""
        check_ours(self._database, "memberships", "members")
        self._database.rows(ADD, {"tenant_id": tenant_id, "user_id": user_id, "role": role})

    def remove(self, tenant_id: UUID, user_id: UUID) -> bool:
        """Returns whether the user was a member."""
        check_ours(self._database, "memberships", "members")
        given = {"tenant_id": tenant_id, "user_id": user_id}
        return bool(self._database.rows(REMOVE, given, repeatable=False))


MEMBERS = """
    select memberships.user_id, memberships.role, memberships.tenant_id, organizations.name as tenant
    from tickwork.memberships
    join tickwork.organizations on organizations.id = memberships.tenant_id
    where %(tenant_id)s::uuid is null or memberships.tenant_id = %(tenant_id)s
    order by organizations.name, memberships.role, memberships.user_id
"""
ADD = """
    insert into public.memberships (tenant_id, user_id, role)
    values (%(tenant_id)s, %(user_id)s, %(role)s)
    on conflict (tenant_id, user_id) do update set role = excluded.role
    returning user_id
"""
REMOVE = "delete from public.memberships where tenant_id = %(tenant_id)s and user_id = %(user_id)s returning user_id"
