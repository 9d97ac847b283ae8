"""Members: admins manage them, owners manage owners, and nobody makes himself more than he is."""

from uuid import UUID, uuid4

import pytest

from tests.database.test_api_keys import holder_of, key_for, platform_admin, refused
from tests.world import World
from tickwork.database.connection import Connection


def with_role(world: World, tenant: UUID, role: str) -> tuple[UUID, Connection]:
    user = uuid4()
    world.run("insert into memberships (tenant_id, user_id, role) values (%s, %s, %s)", tenant, user, role)
    return user, world.connect("authenticated", user)


def roles(world: World, user: UUID) -> list[str]:
    return [row["role"] for row in world.rows("select role from memberships where user_id = %s", user)]


SET = "select * from set_member(%s, %s, %s)"
REMOVE = "select remove_member(%s, %s) as was_one"


def test_admins_add_change_and_remove_members(world: World) -> None:
    tenant, user = world.tenant(), uuid4()
    _, admin = with_role(world, tenant, "admin")

    admin.execute(SET, [tenant, user, "member"])
    assert roles(world, user) == ["member"]
    admin.execute(SET, [tenant, user, "admin"])
    assert roles(world, user) == ["admin"]
    assert [row["was_one"] for row in admin.execute(REMOVE, [tenant, user])] == [True]
    assert [row["was_one"] for row in admin.execute(REMOVE, [tenant, user])] == [False]
    assert roles(world, user) == []


def test_an_admin_makes_nobody_an_owner_and_touches_none(world: World) -> None:
    tenant = world.tenant()
    (owner, _), (myself, admin) = with_role(world, tenant, "owner"), with_role(world, tenant, "admin")
    with_role(world, tenant, "owner")

    for user in (myself, uuid4()):
        with refused("TWADM"):
            admin.execute(SET, [tenant, user, "owner"])
    with refused("TWADM"):
        admin.execute(SET, [tenant, owner, "member"])
    with refused("TWADM"):
        admin.execute(REMOVE, [tenant, owner])

    assert (roles(world, myself), roles(world, owner)) == (["admin"], ["owner"])


def test_the_last_owner_stays_unless_a_platform_admin_says_otherwise(world: World) -> None:
    tenant = world.tenant()
    (one, first), (other, second) = with_role(world, tenant, "owner"), with_role(world, tenant, "owner")

    first.execute(SET, [tenant, other, "member"])
    with refused("TWSTA"):
        first.execute(SET, [tenant, one, "admin"])
    with refused("TWSTA"):
        first.execute(REMOVE, [tenant, one])
    with refused("TWADM"):
        second.execute(REMOVE, [tenant, one])

    platform_admin(world).execute(REMOVE, [tenant, one])
    assert roles(world, one) == []


def test_nobody_else_manages_members(world: World) -> None:
    tenant, other = world.tenant(), world.tenant("birch")
    refusals = {
        world.member_of(tenant): "TWADM",
        world.member_of(other, role="owner"): "TWMEM",
        holder_of(world, key_for(world, "operate", tenant=tenant)): "TWADM",
        holder_of(world, key_for(world, "operate")): "TWADM",
    }

    for caller, code in refusals.items():
        with refused(code):
            caller.execute(SET, [tenant, uuid4(), "member"])
        with refused(code):
            caller.execute(REMOVE, [tenant, uuid4()])


@pytest.mark.parametrize(("user", "role"), [(uuid4(), "king"), (uuid4(), None), (None, "member")])
def test_a_role_that_does_not_exist_is_refused(world: World, user: UUID | None, role: str | None) -> None:
    with refused("TWARG"):
        world.admin.execute(SET, [world.tenant(), user, role])
