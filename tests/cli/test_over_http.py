"""The command line with a key of the API, and no database."""

import json
from collections.abc import Iterator
from pathlib import Path
from subprocess import CompletedProcess
from uuid import UUID

import pytest

from tests.servers.api import running_api
from tests.world import World
from tests.world.command_line import run, run_all


@pytest.fixture
def tenant(world: World) -> UUID:
    world.type()
    return world.tenant("acme")


@pytest.fixture
def environment(world: World, tenant: UUID, tmp_path: Path) -> Iterator[dict[str, str]]:
    key = world.service.keys.create_api_key("command line", ["operate"], tenant)["key"]
    with running_api(world, tmp_path / "api") as url:
        yield {"TICKWORK_API_URL": url, "TICKWORK_API_KEY": key}


def test_jobs_schedules_and_triggers_work_over_http(world: World, environment: dict[str, str], tmp_path: Path) -> None:
    job = world.job(correlation_id="chain")

    commands = [
        ["enqueue", "greet_person", '{"n": 1}', "--tenant", "acme", "--run-at", "1 hour", "--json"],
        ["jobs", "--type", "greet_person", "--created-after", "1 hour ago"],
        ["job", str(job.id)],
        ["summary", "--tenant", "acme"],
        ["types"],
        ["cancel", str(job.id)],
        ["retry", "--tenant", "acme", "--status", "cancelled", "--yes"],
        ["schedules", "add", "Mornings", "greet_person", "0 7 * * *", "--tenant", "acme"],
        ["schedules", "pause", "Mornings", "--note", "holiday"],
        ["schedules"],
        ["triggers"],
    ]
    ran = run_all(commands, home=tmp_path, **environment)
    enqueued, jobs, shown, *_, cancelled, retried, added, paused, schedules, _ = ran

    assert [(command, each.stderr) for command, each in zip(commands, ran, strict=True) if each.returncode] == []
    assert json.loads(enqueued.stdout)["payload"] == {"n": 1}
    assert (str(job.id) in jobs.stdout, "acme" in jobs.stdout) == (True, True)
    assert "chain" in shown.stdout
    assert (f"{job.id} is cancelled" in cancelled.stdout, "1 job is queued again" in retried.stdout) == (True, True)
    assert ("07:00" in added.stdout, "Mornings is paused" in paused.stdout) == (True, True)
    assert "paused: holiday" in schedules.stdout


def test_endpoints_connectors_and_documents_work_over_http(
    world: World, environment: dict[str, str], tmp_path: Path
) -> None:
    letter = tmp_path / "letter.txt"
    letter.write_text("Mietvertrag Hauptstraße")
    commands = [
        ["webhooks", "add", "https://hooks.example/in", "--tenant", "acme", "--event", "job.*"],
        ["webhooks"],
        ["connectors"],
        ["connectors", "remove", "Ours"],
        ["documents", "add", str(letter), "--tenant", "acme", "--wait", "0"],
        ["documents", "--tenant", "acme"],
    ]
    connector = ["connectors", "add", "gdrive", "--tenant", "acme", "--name", "Ours"]
    connected = run(*connector, home=tmp_path, stdin="a-refresh-token\n", **environment)
    ran = run_all(commands, home=tmp_path, **environment)
    endpoint = world.value("select id from webhook_endpoints")
    changes = [
        ["webhooks", "update", str(endpoint), "--timeout", "5"],
        ["webhooks", "rotate", str(endpoint)],
        ["webhooks", "disable", str(endpoint)],
        ["webhooks", "remove", str(endpoint)],
    ]
    changed = run_all(changes, home=tmp_path, **environment)

    # Nobody extracts the document: it is only said to be on its way.
    codes = [each.returncode for each in (connected, *ran, *changed)]
    assert codes == [0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0], [each.stderr for each in (connected, *ran)]
    assert ("whsec_" in ran[0].stdout, "whsec_" in changed[1].stdout) == (True, True)
    assert ("hooks.example" in ran[1].stdout, "Ours" in ran[2].stdout, "letter.txt" in ran[5].stdout) == (True,) * 3
    assert world.rows("select from webhook_endpoints") == world.rows("select from connectors") == []
    document = world.row("select * from documents")
    assert (tmp_path / "api" / "vault" / document["vault_path"]).read_text() == letter.read_text()


def test_what_needs_the_database_says_so(environment: dict[str, str], tmp_path: Path) -> None:
    commands = [
        ["tenants", "add", "birch"],
        ["purge", "--older-than", "30", "--yes"],
        ["job", "0000"],
        ["jobs", "--created-after", "yesterday"],
        ["jobs", "--type", "no_such_type"],
    ]

    ran = run_all(commands, home=tmp_path, **environment)

    assert [each.returncode for each in ran] == [1] * len(commands)
    assert [first_line(each) for each in ran] == [
        "tickwork: this can only be done in the database itself",
        "tickwork: this can only be done in the database itself",
        "tickwork: ID: '0000' is not a whole id",
        "tickwork: created_after: 'yesterday' is not a point in time",
        "tickwork: type: there is no job type 'no_such_type'",
    ]


def test_a_url_without_a_key_is_refused(tmp_path: Path) -> None:
    (ran,) = run_all([["jobs"]], home=tmp_path, TICKWORK_API_URL="https://api.example.com/api/v1")

    assert first_line(ran).startswith("tickwork: TICKWORK_API_URL is set, and TICKWORK_API_KEY is not")


def first_line(ran: "CompletedProcess[str]") -> str:
    return str(ran.stderr.splitlines()[0])
