"""Endpoints over HTTP: their secrets are shown once, sealed before the database sees them, and nowhere else."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest

from tests.world import World
from tests.world.api import KEY, Api, api_of, member_of
from tests.world.supabase_vault import VAULT
from tickwork.tools.secrets import SecretStore

URL = "https://hooks.example/in"


@pytest.fixture
def acme(world: World) -> UUID:
    return world.tenant("acme")


@pytest.fixture
def nobody(world: World) -> Iterator[Api]:
    with api_of(world, TICKWORK_SECRET_KEY=KEY) as api:
        yield api


@pytest.fixture
def admin(world: World, acme: UUID, nobody: Api) -> Api:
    return nobody.as_user(member_of(world, acme, role="admin"))


def kept(world: World, tenant: UUID, endpoint: str) -> dict[str, str]:
    """The secrets of an endpoint, unsealed as the function that delivers does it."""
    rows = world.rows("select name, sealed from tickwork.secrets where owner = %s", f"endpoint:{endpoint}")
    return {row["name"]: SecretStore(KEY)._unsealed(tenant, f"endpoint:{endpoint}", row["sealed"]) for row in rows}


def test_a_secret_is_shown_once_and_stored_sealed(world: World, acme: UUID, admin: Api) -> None:
    made = admin.post("webhooks", url=URL, event_types=["job.*"])
    endpoint = made.body["webhook_endpoint_id"]
    rotated = admin.post(f"webhooks/{endpoint}/rotate", overlap_hours=2)

    assert (made.status, rotated.status) == (200, 200)
    assert made.body["secret"].startswith("whsec_")
    assert kept(world, acme, endpoint) == {"current": rotated.body["secret"], "previous": made.body["secret"]}
    (listed,) = admin.get("webhooks").items
    assert (listed["id"], listed["event_types"]) == (endpoint, ["job.*"])
    shown = [str(listed), str(world.rows("select * from audit_log")), str(world.rows("select * from tickwork.secrets"))]
    assert [each for each in shown if made.body["secret"] in each or rotated.body["secret"] in each] == []
    actions = world.rows("select action from audit_log where target = %s order by id", f"webhook_endpoints {endpoint}")
    assert [row["action"] for row in actions] == [
        *("webhook_endpoints.created", "webhook_endpoints.rotated", "webhook_endpoints.rotated")
    ]


def test_without_a_key_vault_stores_it_and_without_vault_the_setting_is_named(world: World, acme: UUID) -> None:
    with api_of(world) as nobody:
        admin = nobody.as_user(member_of(world, acme, role="admin"))
        refused = admin.post("webhooks", url=URL)
        assert world.rows("select from webhook_endpoints") == []
        world.run(VAULT)
        made = admin.post("webhooks", url=URL)

    assert (refused.status, refused.body["code"]) == (422, "TWSEC")
    assert "TICKWORK_SECRET_KEY" in refused.body["hint"]
    assert world.value("select reverse(secret) from vault.secrets") == made.body["secret"]


def test_only_admins_of_the_tenant_manage_endpoints(world: World, acme: UUID, nobody: Api, admin: Api) -> None:
    endpoint = admin.post("webhooks", url=URL).body["webhook_endpoint_id"]
    member = nobody.as_user(member_of(world, acme))
    stranger = nobody.as_user(member_of(world, world.tenant("other"), role="owner"))
    before = kept(world, acme, endpoint)

    for caller, status in ((member, 403), (stranger, 404)):
        answers = [
            caller.post(f"webhooks/{endpoint}/rotate"),
            caller.patch(f"webhooks/{endpoint}", url="https://elsewhere.example"),
            caller.delete(f"webhooks/{endpoint}"),
        ]
        assert [answer.status for answer in answers] == [status] * 3
    assert stranger.post("webhooks", url=URL, tenant_id=str(acme)).status == 403
    assert (kept(world, acme, endpoint), world.value("select url from webhook_endpoints")) == (before, URL)


@pytest.mark.parametrize(
    "changes",
    [
        {"url": "ftp://hooks.example"},
        {"url": None},
        {"status": "asleep"},
        {"timeout_seconds": 51},
        {"timeout_seconds": "long"},
        {"event_types": ["no good"]},
        {"header_prefix": "Webhook-"},
        {"secret": "mine"},
        {"tenant_id": "00000000-0000-0000-0000-000000000000"},
    ],
    ids=str,
)
def test_a_refused_value_changes_nothing(world: World, admin: Api, changes: dict[str, Any]) -> None:
    endpoint = admin.post("webhooks", url=URL).body["webhook_endpoint_id"]
    before = world.row("select * from webhook_endpoints")

    answer = admin.patch(f"webhooks/{endpoint}", **changes)

    assert answer.status in (400, 422), answer.body
    assert world.row("select * from webhook_endpoints") == before


def test_an_endpoint_is_disabled_enabled_and_deleted_with_its_secrets(world: World, admin: Api) -> None:
    endpoint = admin.post("webhooks", url=URL).body["webhook_endpoint_id"]

    disabled = admin.patch(f"webhooks/{endpoint}", status="disabled").body
    enabled = admin.patch(f"webhooks/{endpoint}", status="active").body
    tried = admin.send("DELETE", f"webhooks/{endpoint}?dry_run=true")
    assert world.value("select count(*) from tickwork.secrets") == 1
    deleted = admin.delete(f"webhooks/{endpoint}")

    assert (disabled["status"], disabled["disabled_reason"]) == ("disabled", "Somebody disabled it")
    assert (enabled["status"], enabled["disabled_reason"]) == ("active", None)
    assert (tried.status, deleted.status) == (204, 204)
    assert world.value("select count(*) from tickwork.secrets") == 0
    assert admin.get("webhooks").items == []


def test_a_dry_run_leaves_nothing(world: World, admin: Api) -> None:
    answer = admin.send("POST", "webhooks?dry_run=true", json={"url": URL})

    assert (answer.status, answer.body["dry_run"]) == (200, True)
    assert world.rows("select from webhook_endpoints") == []
    assert world.rows("select from tickwork.secrets") == []
