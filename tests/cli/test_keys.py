"""The commands for API keys, as people use them."""

from pathlib import Path
from uuid import uuid4

from tests.cli.test_main import answer, refusal
from tests.world import World
from tests.world.command_line import run_all


def test_keys_are_created_listed_and_revoked(world: World, tmp_path: Path) -> None:
    tenant, unknown = world.tenant(), str(uuid4())
    account = "cron@project.iam.gserviceaccount.com"
    commands = [
        ["create", "the shop", "--scope", "read", "--scope", "enqueue", "--tenant", "acme", "--days", "90"],
        ["create", "cron", "--scope", "operate", "--account", account],
        *(["list", "--json"], ["list"], ["revoke", unknown], ["create", "no", "--scope", "write"]),
    ]

    asked = run_all([["keys", *each, "--database-url", world.url] for each in commands], home=tmp_path)

    key = asked[0].stdout.strip()
    assert asked[1].stdout == f"{account} may call the API with a token of its own.\n"
    cron, shop = answer(asked[2])
    assert (shop["tenant_id"], shop["prefix"], shop["key"]) == (str(tenant), key[:9], None)
    assert (cron["tenant_id"], cron["scopes"]) == (None, ["operate"])
    assert f"{key[:9]}…" in asked[3].stdout
    assert key not in asked[3].stdout
    assert refusal(asked[4]) == f"tickwork: key_id: there is no API key {unknown}"
    assert refusal(asked[5]) == "tickwork: scopes: '{write}' is not a list of scopes"

    revoked, listed = run_all(
        [["keys", *each, "--database-url", world.url] for each in (["revoke", shop["id"]], ["list", "--json"])],
        home=tmp_path,
    )

    assert revoked.stdout == "The key the shop is revoked.\n"
    assert [each["name"] for each in answer(listed)] == ["cron"]
