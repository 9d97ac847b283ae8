"""Members: one method per SQL function, with the same name."""

from uuid import UUID

from tickwork.client.aio.way import Row, Way


class Members:
    def __init__(self, way: Way) -> None:
        self._way = way

    async def find_tenants(self, words: str | None = None, max_tenants: int = 20) -> list[Row]:
        """The tenants with these words in their name, or with this id, that the caller may see."""
        return await self._way.rows("find_tenants", {"words": words, "max_tenants": max_tenants})

    async def list_members(self, tenant_id: UUID | str | None) -> list[Row]:
        """Who belongs to a tenant, and as what."""
        return await self._way.rows("list_members", {"tenant_id": tenant_id})

    async def set_member(self, tenant_id: UUID | str | None, user_id: UUID | str, role: str = "member") -> Row:
        """Make a user a member, admin or owner of the tenant."""
        (row,) = await self._way.rows("set_member", {"tenant_id": tenant_id, "user_id": user_id, "role": role})
        return row

    async def remove_member(self, tenant_id: UUID | str | None, user_id: UUID | str) -> bool:
        """Returns whether the user was a member."""
        given = {"tenant_id": tenant_id, "user_id": user_id}
        (row,) = await self._way.rows("remove_member", given, repeatable=False)
        (was_member,) = row.values()
        return bool(was_member)
