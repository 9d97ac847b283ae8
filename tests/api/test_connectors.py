"""Connectors over HTTP: their tokens go in, sealed, and never come out."""

from typing import Any
from uuid import UUID

import pytest

from tests.world import World
from tests.world.api import KEY, api_of, member_of
from tickwork.tools.secrets import SecretStore

TOKEN = "a-refresh-token-of-theirs"


def test_a_token_is_stored_sealed_and_shown_nowhere(world: World) -> None:
    acme = world.tenant("acme")
    with api_of(world, TICKWORK_SECRET_KEY=KEY) as nobody:
        admin = nobody.as_user(member_of(world, acme, role="admin"))
        connector = admin.post("connectors", provider="gdrive", name="Ours").body
        given = admin.post(f"connectors/{connector['id']}/token", refresh_token=TOKEN)

    owner = f"connector:{connector['id']}"
    sealed = world.value("select sealed from tickwork.secrets where owner = %s and name = 'refresh_token'", owner)
    assert (given.status, given.body) == (204, None)
    assert SecretStore(KEY)._unsealed(acme, owner, sealed) == TOKEN
    assert TOKEN not in str(world.rows("select * from audit_log"))
    assert world.value("select count(*) from audit_log where action = 'connectors.token_set'") == 1


def test_only_admins_of_the_tenant_manage_connectors(world: World) -> None:
    acme = world.tenant("acme")
    with api_of(world, TICKWORK_SECRET_KEY=KEY) as nobody:
        admin = nobody.as_user(member_of(world, acme, role="admin"))
        member = nobody.as_user(member_of(world, acme))
        stranger = nobody.as_user(member_of(world, world.tenant("other"), role="owner"))
        path = f"connectors/{admin.post('connectors', provider='gdrive', name='Ours').body['id']}"
        for caller, status in ((member, 403), (stranger, 404)):
            answers = [
                caller.patch(path, name="Mine"),
                caller.post(f"{path}/token", refresh_token=TOKEN),
                caller.delete(path),
            ]
            assert [answer.status for answer in answers] == [status] * 3
        assert member.post("connectors", provider="gdrive", name="Mine").status == 403
        assert world.rows("select from tickwork.secrets") == []

        assert admin.delete(path).status == 204
    assert world.rows("select from connectors") == []


@pytest.mark.parametrize(
    ("given", "status", "code"),
    [
        ({"provider": "floppy", "name": "Other"}, 422, "TWARG"),
        ({"provider": "gdrive", "name": "Ours"}, 409, "TWDUP"),
        ({"provider": "gdrive", "name": "Other", "engine": "magic"}, 422, "TWARG"),
        ({"provider": "gdrive", "name": "Other", "engine": "unstructured_fast"}, 422, "TWCON"),
        ({"provider": "gdrive", "name": "Other", "engine": "unstructured_fast", "consent": True}, 200, None),
    ],
    ids=str,
)
def test_a_connector_needs_a_name_of_its_own_and_consent(
    world: World, given: dict[str, Any], status: int, code: str | None
) -> None:
    acme: UUID = world.tenant("acme")
    with api_of(world) as nobody:
        admin = nobody.as_user(member_of(world, acme, role="admin"))
        admin.post("connectors", provider="dropbox", name="Ours")

        answer = admin.post("connectors", **given)

    assert (answer.status, answer.body.get("code")) == (status, code), answer.body


def test_a_tenant_has_at_most_a_hundred_connectors(world: World) -> None:
    acme = world.tenant("acme")
    many = "select %s, 'gdrive', number::text from generate_series(1, 100) as number"
    world.run(f"insert into connectors (tenant_id, provider, name) {many}", acme)
    with api_of(world) as nobody:
        answer = nobody.as_user(member_of(world, acme, role="admin")).post("connectors", provider="gdrive", name="Ours")

    assert (answer.status, answer.body["code"]) == (413, "TWBIG")
