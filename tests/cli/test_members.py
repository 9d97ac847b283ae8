"""The commands for members and platform admins, as people use them."""

from pathlib import Path
from uuid import uuid4

from tests.cli.test_main import answer, refusal
from tests.world import World
from tests.world.command_line import run_all
from tickwork.database.adoption import members_in, tenants_in
from tickwork.database.migrate import migrate
from tickwork.testing.database import cloned
from tickwork_local.postgres import Server


def test_members_are_added_listed_and_removed(world: World, tmp_path: Path) -> None:
    tenant, user, other = world.tenant(), str(uuid4()), str(uuid4())
    world.tenant("birch")
    commands = [
        *(["add", user, "--tenant", "acme"], ["add", user, "--tenant", "acme", "--role", "admin"]),
        *(["add", other, "--tenant", "birch", "--role", "owner"], ["list", "--tenant", "acme", "--json"], ["list"]),
        *(["remove", user, "--tenant", "acme"], ["remove", user, "--tenant", "acme"]),
        *(["add", user, "--tenant", "acme", "--role", "king"], ["add", "Ann", "--tenant", "acme"]),
    ]

    asked = run_all([["members", *each, "--database-url", world.url] for each in commands], home=tmp_path)

    assert [each.stdout for each in asked[:3]] == [
        f"{user} is member of acme.\n",
        f"{user} is admin of acme.\n",
        f"{other} is owner of birch.\n",
    ]
    assert answer(asked[3]) == [{"user_id": user, "role": "admin", "tenant_id": str(tenant), "tenant": "acme"}]
    assert [line.split() for line in asked[4].stdout.splitlines()] == [
        ["user", "tenant", "role"],
        [user, "acme", "admin"],
        [other, "birch", "owner"],
    ]
    assert asked[5].stdout == f"{user} is no longer a member of acme.\n"
    assert refusal(asked[6]) == f"tickwork: USER: {user} is no member of 'acme'"
    assert refusal(asked[7]) == "tickwork: role: there is no role 'king'"
    assert refusal(asked[8], code=2).startswith("tickwork: Invalid value for 'USER'")


def test_a_platform_admin_is_added_listed_and_removed(world: World, tmp_path: Path) -> None:
    user = str(uuid4())
    commands = [["list"], ["add", user], ["add", user], ["list", "--json"], ["remove", user], ["remove", user]]

    asked = run_all([["admins", *each, "--database-url", world.url] for each in commands], home=tmp_path)

    assert asked[0].stdout == "No platform admins. `tickwork admins add USER` adds one.\n"
    assert asked[1].stdout == f"{user} is a platform admin.\n"
    assert asked[2].stdout == f"{user} was already a platform admin.\n"
    assert [each["user_id"] for each in answer(asked[3])] == [user]
    assert asked[4].stdout == f"{user} is no longer a platform admin.\n"
    assert refusal(asked[5]) == f"tickwork: USER: {user} is no platform admin"


def test_an_application_keeps_its_own_tenants_and_members(server: Server, tmp_path: Path) -> None:
    with cloned(server, "template0") as name, World(server.url(name), server.url(name)) as world:
        world.run("create schema app")
        world.run("create table app.companies (id uuid primary key, title text)")
        world.run("create table app.people (company uuid, person uuid, rank text)")
        migrate(
            world.url, ["queue"], tenants_in("app.companies(id, title)"), members_in("app.people(company,person,rank)")
        )
        company, user = uuid4(), uuid4()
        world.run("insert into app.companies values (%s, 'acme')", company)
        world.run("insert into app.people values (%s, %s, 'admin')", company, user)
        commands = [
            *(["tenants", "--json"], ["members", "list", "--tenant", "acme", "--json"]),
            *(["tenants", "add", "birch"], ["members", "add", str(user), "--tenant", "acme"]),
            ["members", "remove", str(user), "--tenant", "acme"],
        ]

        asked = run_all([[*each, "--database-url", world.url] for each in commands], home=tmp_path)

        assert answer(asked[0]) == [{"id": str(company), "name": "acme"}]
        assert [each["role"] for each in answer(asked[1])] == ["admin"]
        assert refusal(asked[2]) == "tickwork: the tenants of this database are the application's, in app.companies"
        for each in asked[3:]:
            assert refusal(each) == "tickwork: the members of this database are the application's, in app.people"
            assert "Change app.people as your application does." in each.stderr
