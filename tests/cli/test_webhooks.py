"""The commands on webhooks and secrets, as people and scripts use them."""

import json
import re
import signal
import subprocess
from pathlib import Path
from uuid import UUID

import pytest

from tests.cli.test_main import UNKNOWN, Ask, answer, ask, refusal
from tests.world import World
from tests.world.command_line import COMMAND, environment_for, run, run_all, started
from tests.world.receivers import KEY, Sender, deliveries, state
from tests.world.receivers import sender as sender  # a fixture
from tests.world.waiting import PATIENCE, until
from tickwork.database.connection import Connection
from tickwork.families.webhook.http_request import Secret
from tickwork.tools.secrets import SecretStore
from tickwork_local.webhook_receiver import Receiver

OPEN = {"TICKWORK_SECRET_KEY": KEY, "TICKWORK_OUTBOUND_ALLOW": "loopback", "TICKWORK_OUTBOUND_HTTP": "true"}
URL = "https://hooks.example/in"

__all__ = ["ask"]


def test_an_endpoint_is_added_listed_tested_rotated_and_removed(sender: Sender, ask: Ask) -> None:
    added = answer(
        ask("webhooks", "add", URL, "--tenant", "acme", "--event", "job.*", "--prefix", "X-Acme-", "--json", **OPEN)
    )
    assert added["secret"].startswith("whsec_")
    (row,) = answer(ask("webhooks", "list", "--tenant", "acme", "--json"))
    assert (row["id"], row["url"], row["event_types"], row["header_prefix"]) == (added["id"], URL, ["job.*"], "X-Acme-")

    assert "has not been sent yet" in ask("webhooks", "test", added["id"], "--wait", "0").stderr
    (delivery,) = answer(ask("webhooks", "deliveries", added["id"], "--json"))
    assert (delivery["status"], delivery["event_type"]) == ("pending", "webhook_endpoint.test")

    rotated = ask("webhooks", "rotate", added["id"], "--overlap", "1", **OPEN)
    assert "whsec_" in rotated.stdout
    assert added["secret"] not in rotated.stdout
    assert "For 1 hours the old one is valid as well." in rotated.stdout

    assert "is disabled" in ask("webhooks", "disable", added["id"]).stdout
    assert "Somebody disabled it" in ask("webhooks").stdout
    assert "is active" in ask("webhooks", "enable", added["id"]).stdout
    assert "1 deliveries are pending again" in ask("webhooks", "redeliver", added["id"], "--since", "-1 hour").stdout
    assert "is gone" in ask("webhooks", "remove", added["id"]).stdout
    assert "No endpoints." in ask("webhooks").stdout
    assert sender.world.rows("select from tickwork.secrets") == []


def test_an_endpoint_is_updated_and_what_is_not_named_stays(sender: Sender, ask: Ask) -> None:
    added = answer(
        ask("webhooks", "add", URL, "--tenant", "acme", "--format", "bpc", "--timeout", "5", "--json", **OPEN)
    )
    before = state(sender.world, UUID(added["id"]))
    assert (before["format"], before["timeout_seconds"]) == ("bpc", 5)

    changed = {"--url": f"{URL}/2", "--event": "job.*", "--description": "ours", "--prefix": "X-Acme-"}
    options = [word for pair in changed.items() for word in pair]
    assert "is changed" in ask("webhooks", "update", added["id"], *options).stdout
    answer(ask("webhooks", "update", added["id"], "--format", "standard", "--timeout", "0.5", "--json"))

    after = state(sender.world, UUID(added["id"]))
    assert {name for name in after if after[name] != before[name]} == {
        *("url", "event_types", "description", "header_prefix", "format", "timeout_seconds", "updated_at"),
    }
    assert (after["url"], after["event_types"], after["description"]) == (f"{URL}/2", ["job.*"], "ours")
    assert (after["header_prefix"], after["format"], after["timeout_seconds"]) == ("X-Acme-", "standard", 0.5)


def test_a_secret_is_shown_once(world: World, ask: Ask) -> None:
    world.tenant()
    shown = ask("webhooks", "add", URL, "--tenant", "acme", **OPEN).stdout
    secret = next(word for word in shown.split() if word.startswith("whsec_"))

    later = [ask("webhooks", *more).stdout for more in ([], ["--json"], ["deliveries", "--json"])]

    assert not any(secret.removeprefix("whsec_") in each for each in later)


def test_without_a_key_or_a_vault_no_endpoint_is_added(world: World, ask: Ask) -> None:
    world.tenant()

    assert "there is neither a key to seal the secret with nor" in refusal(
        ask("webhooks", "add", URL, "--tenant", "acme")
    )
    assert world.rows("select from webhook_endpoints") == []


REFUSED = {
    "http://hooks.example/": "URL: must start with https://",
    "https://10.0.0.1/": "URL: this address may not be called",
    "https://user:secret@hooks.example/": "This address is not allowed",
    "gopher://hooks.example/": "This address is not allowed",
    f"{URL} --event job+done": "--event: must be a type",
    f"{URL} --prefix Webhook-": "--prefix: must look like X-Acme-",
    f"{URL} --description {'x' * 501}": "--description: must have at most 500 characters",
    f"{URL} --tenant nobody": "tenant: there is no tenant 'nobody'",
}
# Refused before the command runs, and with another exit code.
MISUSED = {
    f"add --tenant acme {URL} --format xml": "'xml' is not one of 'standard', 'bpc'",
    f"add --tenant acme {URL} --timeout 0": "greater than or equal to 0.1",
    f"update {UNKNOWN} --timeout 51": "less than or equal to 50",
}
MISSING = {
    "test x": "ID: 'x' is not an endpoint id",
    f"test {UNKNOWN}": "there is no endpoint",
    f"rotate {UNKNOWN}": "there is no endpoint",
    f"remove {UNKNOWN}": "there is no endpoint",
    f"update {UNKNOWN} --format bpc": "there is no endpoint",
    f"update {UNKNOWN} --url http://hooks.example/": "URL: must start with https://",
    f"update {UNKNOWN}": "there is nothing to change",
    f"enable {UNKNOWN}": "there is no endpoint",
    f"redeliver {UNKNOWN}": "there is no delivery",
    f"redeliver {UNKNOWN} --since yesterday": "there is no endpoint",
    "deliveries --status lost": "there is no status 'lost'",
}


def test_what_is_no_endpoint_or_not_there_is_refused_with_a_reason(world: World, tmp_path: Path) -> None:
    world.tenant()
    complaints = {f"add --tenant acme {arguments}": complaint for arguments, complaint in REFUSED.items()}
    complaints |= MISSING | MISUSED
    commands = [["webhooks", *arguments.split(), "--database-url", world.url] for arguments in complaints]

    asked = run_all(commands, home=tmp_path, TICKWORK_SECRET_KEY=KEY)

    for each, complaint in zip(asked, complaints.values(), strict=True):
        assert complaint in refusal(each, code=2 if complaint in MISUSED.values() else 1)
    assert world.rows("select from webhook_endpoints") == []


def test_listening_receives_verifies_and_leaves_nothing_behind(sender: Sender, tmp_path: Path) -> None:
    home, output = tmp_path / "home", tmp_path / "output"
    command = ["webhooks", "listen", "--tenant", "acme", "--event", "invoice.*", "--database-url", sender.world.url]
    with started(*command, home=home, output=output, **OPEN) as process:
        until(lambda: "Listening on " in output.read_text(), "it does not listen")
        sender.emit("invoice.paid", amount=3)
        sender.work()
        until(lambda: "verified invoice.paid" in output.read_text(), "nothing arrives")
        process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE)

    assert '"data": {"amount": 3}' in output.read_text()
    assert "whsec_" not in output.read_text()
    assert process.returncode == 0
    assert sender.world.rows("select from webhook_endpoints") == []


def test_what_is_not_genuine_is_said_to_be(sender: Sender, tmp_path: Path) -> None:
    output = tmp_path / "output"
    settings = {**OPEN, "TICKWORK_WEBHOOK_SECRET": f"whsec_{'A' * 43}="}
    with started("webhooks", "listen", home=tmp_path / "home", output=output, **settings) as process:
        until(lambda: "Listening on " in output.read_text(), "it does not listen")
        sender.add(output.read_text().split()[2])
        sender.emit()
        sender.work()
        until(lambda: "NOT GENUINE invoice.paid" in output.read_text(), "nothing arrives")
        process.send_signal(signal.SIGINT)
        process.wait(PATIENCE)

    assert deliveries(sender.world)[0]["http_status"] == 401


def test_a_secret_is_stored_listed_and_forgotten(world: World, tmp_path: Path, ask: Ask) -> None:
    tenant = world.tenant()
    command = ["secrets", "set", "API_KEY", "--tenant", "acme", "--host", "API.example", "--database-url", world.url]

    stored = subprocess.run(
        [*COMMAND, *command],
        env=environment_for(tmp_path, {"TICKWORK_SECRET_KEY": KEY}),
        input="canary-value\n",
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )

    assert "{{secret:API_KEY}}" in stored.stdout, stored.stderr
    assert "canary" not in stored.stdout + stored.stderr
    assert Secret.model_validate_json(value_of(world, tenant)) == Secret(value="canary-value", hosts=["api.example"])
    assert [row["name"] for row in answer(ask("secrets", "list", "--tenant", "acme", "--json"))] == ["API_KEY"]
    assert ask("secrets", "remove", "API_KEY", "--tenant", "acme").stdout == "Deleted.\n"
    assert "there is no secret 'API_KEY'" in refusal(ask("secrets", "remove", "API_KEY", "--tenant", "acme"))
    assert ask("secrets", "list", "--tenant", "acme").stdout == "No secrets.\n"


def value_of(world: World, tenant: UUID) -> str:
    job = world.running_job(tenant=tenant)

    def read(connection: Connection) -> str:
        world.queue.hold_job(job, connection)
        return SecretStore(KEY).read(connection, tenant, "tenant")["API_KEY"]

    return world.queue.database.transaction(read)


@pytest.mark.parametrize(
    ("arguments", "value", "complaint"),
    [
        (["A B", "--host", "x"], "canary-value", "NAME: 'A B' contains characters"),
        (["A", "--host", "x"], "short", "value: must be one line of at least 8 ASCII characters"),
        (["A", "--host", "x"], "canary\nvalue", "value: must be one line of at least 8 ASCII characters"),
        (["A"], "canary-value", "Missing option '--host'"),
    ],
)
def test_what_is_no_secret_is_refused(
    world: World, tmp_path: Path, arguments: list[str], value: str, complaint: str
) -> None:
    world.tenant()
    command = ["secrets", "set", *arguments, "--tenant", "acme", "--database-url", world.url]

    asked = subprocess.run(
        [*COMMAND, *command],
        env=environment_for(tmp_path, {"TICKWORK_SECRET_KEY": KEY}),
        input=value,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )

    assert complaint in asked.stderr
    assert "canary" not in json.dumps([asked.stdout, asked.stderr])
    assert world.rows("select from tickwork.secrets") == []


def try_out(sender: Sender, endpoint: UUID, folder: Path) -> tuple[int, str]:
    """How `tickwork webhooks test` ends, and what it prints, while a function delivers."""
    output = folder / "output"
    command = ["webhooks", "test", str(endpoint)[:8], "--database-url", sender.world.url]
    with started(*command, home=folder / "home", output=output, **OPEN) as process:
        until(lambda: deliveries(sender.world), "nothing is to be delivered")
        sender.work()
        code = process.wait(PATIENCE)
    return code, output.read_text()


def test_who_tests_an_endpoint_sees_that_it_responds(sender: Sender, tmp_path: Path) -> None:
    secrets: list[str] = []
    with Receiver(lambda: secrets[0], lambda message: None) as receiver:
        endpoint, secret = sender.add(receiver.url)
        secrets.append(secret)

        code, shown = try_out(sender, endpoint, tmp_path)

    assert code == 0
    # On a busy machine it also says what it waits for.
    assert re.fullmatch(rf"{receiver.url} responded with 20\d after \d+ ms\.", shown.splitlines()[-1])


def test_who_tests_an_endpoint_that_dns_does_not_know_is_told(sender: Sender, tmp_path: Path) -> None:
    """The operator is: were a missing name told from a private one, a tenant could list the names of our network."""
    endpoint, _ = sender.add("https://nowhere.invalid/in")

    code, shown = try_out(sender, endpoint, tmp_path)

    assert code == 1
    assert "The name nowhere.invalid cannot be resolved" in shown
    assert "It will be tried again." in shown
    assert "not allowed" not in shown
    assert sender.delivery()["error_message"].startswith("This address is not allowed.")


def test_deliveries_are_listed_with_endpoint_and_time(sender: Sender, ask: Ask) -> None:
    sender.add("https://nowhere.invalid/in")
    sender.emit()
    sender.work()

    head, row = ask("webhooks", "deliveries").stdout.splitlines()

    assert head.split() == ["id", "time", "endpoint", "event", "status", "attempts", "response", "ms", "note"]
    assert row.split()[1] == f"{deliveries(sender.world)[0]['attempted_at']:%Y-%m-%d}"
    assert row.split()[3:7] == ["https://nowhere.invalid/in", "invoice.paid", "pending", "1"]
    assert "The name nowhere.invalid cannot be resolved" in row


def test_a_secret_is_replaced_only_by_who_says_so(world: World, tmp_path: Path) -> None:
    tenant = world.tenant()
    command = ["secrets", "set", "API_KEY", "--tenant", "acme", "--database-url", world.url, "--host"]
    key = {"TICKWORK_SECRET_KEY": KEY}

    first = run(*command, "one.example", home=tmp_path, stdin="canary-one", **key)
    refused = run(*command, "two.example", home=tmp_path, stdin="canary-two", **key)
    kept = value_of(world, tenant)
    replaced = run(*command, "two.example", "--yes", home=tmp_path, stdin="canary-two", **key)
    listed = run("secrets", "list", "--tenant", "acme", "--database-url", world.url, home=tmp_path)

    assert (first.returncode, replaced.returncode) == (0, 0)
    assert refusal(refused) == "tickwork: NAME: there is a secret 'API_KEY' already"
    assert "--yes" in refused.stderr
    assert "canary-one" in kept
    assert [line.split()[:2] for line in listed.stdout.splitlines()] == [
        ["secret", "hosts"],
        ["API_KEY", "two.example"],
    ]
    assert "canary" not in listed.stdout
