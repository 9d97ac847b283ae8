"""Each command by itself, against a database of its own: what it prints, what it refuses and how."""

import json
import re
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from subprocess import CompletedProcess
from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID

import pytest

from tests.world import World
from tests.world.command_line import run, run_all, started
from tests.world.waiting import PATIENCE, until
from tickwork.database.connection import Connection
from tickwork.database.migrate import check_version
from tickwork.errors import InvalidRequest
from tickwork.testing.database import cloned
from tickwork_local.postgres import Server

Ask = Callable[..., "CompletedProcess[str]"]

UNKNOWN = "123e4567-e89b-42d3-a456-426614174000"

HANDLERS = """
from pydantic import BaseModel
from tickwork.jobs.handler import Handler

class Person(BaseModel):
    name: str

class Greeting(BaseModel):
    text: str

HANDLERS = {"greet_person": Handler(Person, lambda person, tools: Greeting(text=f"Hello {person.name}"))}
"""


@pytest.fixture
def ask(world: World, tmp_path: Path) -> Ask:
    """Run a command on the database of this test."""

    def ask(*arguments: str, **environment: str) -> "CompletedProcess[str]":
        return run(*arguments, "--database-url", world.url, home=tmp_path / "home", **environment)

    return ask


def answer(asked: "CompletedProcess[str]") -> Any:
    """What a script reads: JSON on stdout, nothing on stderr."""
    assert asked.returncode == 0, asked.stderr
    assert asked.stderr == ""
    return json.loads(asked.stdout)


def refusal(asked: "CompletedProcess[str]", code: int = 1) -> str:
    """The first line of the complaint; no traceback, and nothing on stdout that a script might take for an answer."""
    assert asked.returncode == code, asked.stdout + asked.stderr
    assert asked.stdout == ""
    assert "Traceback" not in asked.stderr
    first, *hints = asked.stderr.splitlines()
    assert len(hints) <= 1
    return first


def test_enqueue_answers_the_job(world: World, ask: Ask) -> None:
    tenant = world.tenant()
    type = world.type()

    job = answer(ask("enqueue", type, '{"name": "Ann"}', "--tenant", "acme", "--priority", "7", "--json"))

    assert (job["status"], job["tenant_id"], job["priority"]) == ("queued", str(tenant), 7)
    assert job["payload"] == {"name": "Ann"}
    assert job["deduplicated"] is False
    assert world.value("select id from jobs") == UUID(job["id"])


def test_enqueue_leaves_the_priority_to_the_type(world: World, ask: Ask) -> None:
    world.tenant("acme")

    job = answer(ask("enqueue", world.type(priority=40), "--tenant", "acme", "--json"))

    assert job["priority"] == 40


def test_enqueue_takes_a_tenant_by_its_id_and_says_what_was_there_already(world: World, ask: Ask) -> None:
    tenant = world.tenant()
    arguments = ["enqueue", world.type(), "--tenant", str(tenant), "--idempotency-key", "once"]

    first = ask(*arguments)
    second = ask(*arguments)

    job_id = world.value("select id from jobs")
    assert first.stdout == f"{job_id} is queued\n"
    assert second.stdout == f"{job_id} already existed and is queued\n"


def test_enqueue_takes_a_time_or_an_interval(world: World, tmp_path: Path) -> None:
    world.tenant()
    enqueue = ["enqueue", world.type(), "--tenant", "acme", "--database-url", world.url]
    times = ["2 hours", "2099-01-31T08:00Z", "tomorrow"]

    asked = run_all([[*enqueue, "--run-at", time] for time in times], home=tmp_path)

    assert all("queued, due " in each.stdout for each in asked)
    assert world.value("select count(*) from jobs where run_at > now()") == 3


BAD_JOBS = [
    (["{"], "payload: is not JSON"),
    (["[1]"], "payload: must be an object, not array"),
    (["null"], "payload: must be an object, not null"),
    (['{"a": NaN}'], "payload: is not JSON"),
    ([json.dumps({"a": "x" * 65536})], "payload: 65545 bytes is too large, the maximum is 65536"),
    (['{"a":' * 33 + "1" + "}" * 33], "payload: nested deeper than 32 levels"),
    (['{"a":' + "[" * 60000], "payload: nested deeper than 32 levels"),
    ([r'{"a": "\u0000"}'], r"payload: must not contain \u0000"),
    ([r'{"a": "\ud800"}'], "payload: contains half of a surrogate pair"),
    (["--priority", "-1"], "priority: -1 is out of range, it must be 0 to 100"),
    (["--priority", "1000"], "priority: 1000 is out of range, it must be 0 to 100"),
    (["--priority", "99999999999"], "priority: 99999999999 is out of range"),
    (["--run-at", "infinity"], "run_at: 'infinity' is not a point in time"),
    (["--run-at", "20000-01-01"], "run_at: '20000-01-01' is not a point in time"),
    (["--run-at", "0044-03-15 BC"], "run_at: '0044-03-15 BC' is not a point in time"),
    (["--run-at", "garbage"], "run_at: 'garbage' is not a point in time"),
    (["--run-at", "08:00"], "run_at: '08:00' is not a point in time"),
    (["--idempotency-key", "x" * 201], "idempotency_key: 201 bytes is too large, the maximum is 200"),
    (["--dedupe-key", "x" * 201], "dedupe_key: 201 bytes is too large, the maximum is 200"),
    (["--lane", ""], "lane: must not be empty"),
    (["--max-attempts", "26"], "max_attempts: 26 is out of range, it must be 1 to 25"),
    (["--lane", b"\xff".decode(errors="surrogateescape")], "an argument is not UTF-8"),
    (["--tenant", "nobody"], "tenant: there is no tenant 'nobody'"),
    (["--tenant", UNKNOWN], f"tenant: there is no tenant '{UNKNOWN}'"),
]


def test_enqueue_names_the_field_and_the_rule(world: World, tmp_path: Path) -> None:
    world.tenant()
    enqueue = ["enqueue", world.type(), "--tenant", "acme", "--database-url", world.url]

    asked = run_all([[*enqueue, *arguments] for arguments, _ in BAD_JOBS], home=tmp_path)

    for each, (_, complaint) in zip(asked, BAD_JOBS, strict=True):
        assert refusal(each).startswith(f"tickwork: {complaint}")
    assert world.value("select count(*) from jobs") == 0


def test_enqueue_refuses_an_unknown_type_and_an_ambiguous_tenant(world: World, ask: Ask) -> None:
    world.tenant()

    assert refusal(ask("enqueue", "nonsense", "--tenant", "acme")) == "tickwork: type: there is no job type 'nonsense'"

    world.tenant()
    asked = ask("enqueue", world.type(), "--tenant", "acme")

    assert refusal(asked) == "tickwork: tenant: 2 tenants are named 'acme'"
    assert world.value("select count(*) from jobs") == 0


def test_jobs_are_listed_with_their_whole_ids_however_narrow_the_terminal(world: World, ask: Ask) -> None:
    first, second = world.job(), world.job(run_at="2099-01-01")

    asked = ask("jobs", COLUMNS="20")

    lines = asked.stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["id", str(second.id), str(first.id)]
    assert "queued 0/4" in lines[1]
    assert "due 2099-01-01" in lines[1]


def test_jobs_are_filtered_and_paged(world: World, ask: Ask) -> None:
    first, second, third = world.job(), world.job(), world.job()
    world.claim()

    page = answer(ask("jobs", "--tenant", "acme", "--status", "queued", "--limit", "1", "--json"))
    rest = answer(ask("jobs", "--family", "test", "--after", page[0]["id"], "--json"))

    assert [job["id"] for job in page] == [str(third.id)]
    assert [job["id"] for job in rest] == [str(second.id), str(first.id)]
    assert f"--after {third.id}" in ask("jobs", "--limit", "1").stdout
    assert refusal(ask("jobs", "--type", "nope")) == "tickwork: type: there is no job type 'nope'"
    assert refusal(ask("jobs", "--family", "nope")) == "tickwork: family: there is no family 'nope'"
    assert refusal(ask("jobs", "--status", "nonsense")) == "tickwork: status: there is no status 'nonsense'"
    assert refusal(ask("jobs", "--after", "nonsense")) == "tickwork: after: 'nonsense' is not a job id"


def test_what_a_handler_wrote_is_shown_as_it_is(world: World, ask: Ask) -> None:
    job = world.running_job()
    world.queue.heartbeat_job(job, 0.5, "half [/red] \x1b[31mway")

    asked = ask("jobs")

    assert r"50% half [/red] \u001b[31mway" in asked.stdout


def test_job_shows_attempts_error_and_why(world: World, ask: Ask) -> None:
    job = world.running_job(payload={"name": "Ann"})
    world.queue.fail_job(job, {"code": "NOT_AT_HOME", "message": "Nobody opened"}, logs="knocking\nknocking again")

    page = ask("job", str(job.id)).stdout
    data = answer(ask("job", str(job.id), "--json"))

    assert re.search(r"attempt 1 failed after \d+\.\d\d s on worker-1\n  NOT_AT_HOME: Nobody opened\n", page)
    assert "\n  | knocking\n  | knocking again\n" in page
    assert '\npayload              {"name": "Ann"}\n' in page
    assert str(job.lease_token) not in page
    assert page.splitlines()[-1] == data["why"]
    assert data["why"].startswith("Attempt 1 of 4 ended with NOT_AT_HOME")
    assert (data["id"], data["status"]) == (str(job.id), "queued")
    assert [attempt["error_code"] for attempt in data["attempt_history"]] == ["NOT_AT_HOME"]
    assert "T" in data["attempt_history"][0]["started_at"]


def test_a_job_that_is_not_there_is_refused(world: World, tmp_path: Path) -> None:
    for command in ("job", "cancel", "retry", "bury"):
        given = [[command, job_id, "--database-url", world.url] for job_id in (UNKNOWN, "nonsense")]

        unknown, malformed = run_all(given, home=tmp_path)

        assert refusal(unknown) == f"tickwork: job_id: there is no job {UNKNOWN}"
        assert refusal(malformed) == "tickwork: ID: 'nonsense' is not a job id"


def test_cancel_and_retry_say_what_the_job_is_now(world: World, ask: Ask) -> None:
    job = world.job()

    cancelled = ask("cancel", str(job.id))
    retried = answer(ask("retry", str(job.id), "--json"))
    world.claim()
    asked_to_stop = ask("cancel", str(job.id))

    assert cancelled.stdout == f"{job.id} is cancelled\n"
    assert (retried["id"], retried["status"]) == (str(job.id), "queued")
    assert asked_to_stop.stdout == f"{job.id} is running, asked to stop\n"


def test_what_the_state_chart_has_no_arrow_for_is_refused(world: World, ask: Ask) -> None:
    job = world.running_job()
    world.queue.complete_job(job)

    assert refusal(ask("cancel", str(job.id))).startswith(f"tickwork: job {job.id} is done and cannot be cancelled")
    assert refusal(ask("retry", str(job.id))).startswith(f"tickwork: job {job.id} is done and cannot be retried")
    assert world.reload(job).status == "done"


def test_tick_gives_back_expired_leases(world: World, ask: Ask) -> None:
    job = world.running_job()
    world.expire(job)

    ticked = answer(ask("tick", "--json"))

    assert ticked == {"reaped": 1, "functions": []}
    assert world.reload(job).status == "queued"
    assert ask("tick").stdout == "0 expired leases ended, 0 functions woken\n"


def test_tenants_are_listed_and_added(ask: Ask) -> None:
    added = answer(ask("tenants", "add", "dune [co]", "--json"))

    assert answer(ask("tenants", "--json")) == [{"id": added["id"], "name": "dune [co]"}]
    assert f"{added['id']} dune [co]" in ask("tenants").stdout
    assert refusal(ask("tenants", "add", " ")) == "tickwork: name: must not be empty"
    assert "there is already a tenant 'dune [co]'" in refusal(ask("tenants", "add", "dune [co]"))


def test_who_connects_as_the_worker_is_told_to_be_somebody_else(world: World, tmp_path: Path) -> None:
    refused = run("jobs", "--database-url", world.worker_url, home=tmp_path)

    assert refused.returncode == 1
    assert "permission denied" in refused.stderr
    assert "with the role that ran the migrations" in refused.stderr


def test_migrate_twice_changes_nothing(server: Server, tmp_path: Path) -> None:
    with cloned(server, "template0") as name:
        first = answer(run("migrate", server.url(name), "--json", home=tmp_path))
        second = run("migrate", server.url(name), home=tmp_path)

    assert first["applied"][0] == "stand_ins"
    assert len(first["applied"]) > 10
    assert second.stdout == "Nothing to do: the schema is up to date.\n"


def test_migrate_says_what_is_wrong_with_the_url(tmp_path: Path) -> None:
    complaints = {
        "postgresql://postgres@127.0.0.1:1/x": "the database cannot be reached: connection failed",
        "postgresql://postgres@127.0.0.1:port/x": "URL: is not a valid URL",
        "mysql://127.0.0.1/x": "URL: must start with postgresql://",
        "nonsense": "URL: must start with postgresql://",
    }

    asked = run_all([["migrate", url] for url in complaints], home=tmp_path)

    for each, complaint in zip(asked, complaints.values(), strict=True):
        assert refusal(each).startswith(f"tickwork: {complaint}")


def test_migrate_refuses_an_old_server() -> None:
    old = cast(Connection, SimpleNamespace(info=SimpleNamespace(server_version=140_011)))

    with pytest.raises(InvalidRequest, match="Postgres 14 is too old: tickwork needs 15 or later"):
        check_version(old)


def test_worker_works_off_its_family_until_it_is_stopped(world: World, tmp_path: Path) -> None:
    (tmp_path / "test").mkdir()
    (tmp_path / "test" / "main.py").write_text(HANDLERS)
    job = world.job(payload={"name": "Ann"})
    command = ["worker", "test", "--functions", str(tmp_path), "--database-url", world.worker_url]

    with started(*command, home=tmp_path / "home", output=tmp_path / "log") as worker:
        until(lambda: world.reload(job).status == "done", (tmp_path / "log").read_text())
        worker.terminate()
        code = worker.wait(PATIENCE)

    assert code == 0
    assert world.reload(job).result == {"text": "Hello Ann"}
    assert "Traceback" not in (tmp_path / "log").read_text()


def test_worker_says_what_is_wrong_with_its_function(world: World, ask: Ask, tmp_path: Path) -> None:
    (tmp_path / "test").mkdir()
    (tmp_path / "test" / "main.py").write_text("import nonexistent")

    unknown = refusal(ask("worker", "nonsense", "--functions", str(tmp_path)))
    broken = refusal(ask("worker", "test", "--functions", str(tmp_path)))

    assert unknown == "tickwork: FAMILY: there is no family 'nonsense'"
    assert "does not load (ModuleNotFoundError: No module named 'nonexistent')" in broken


def test_without_a_database_each_command_says_how_to_get_one(tmp_path: Path) -> None:
    commands = [["jobs"], ["job", UNKNOWN], ["enqueue", "x", "--tenant", "y"], ["tick"], ["worker", "extract"]]

    for asked in run_all(commands, home=tmp_path):
        assert "Start the local stack with `tickwork up`" in refusal(asked)


def test_a_bad_url_in_the_environment_is_named(tmp_path: Path) -> None:
    asked = run("jobs", home=tmp_path, TICKWORK_DATABASE_URL="nonsense")

    assert refusal(asked).startswith("tickwork: TICKWORK_DATABASE_URL: must start with postgresql://")


def test_status_of_nothing_is_json_too(tmp_path: Path) -> None:
    asked = run("status", "--json", home=tmp_path)

    assert asked.returncode == 1
    assert json.loads(asked.stdout) == {"running": False}
    assert list(tmp_path.iterdir()) == []


def test_a_traceback_comes_only_with_debug_before_or_after_the_command(ask: Ask) -> None:
    assert refusal(ask("job", UNKNOWN))
    for arguments in (["--debug", "job", UNKNOWN], ["job", "--debug", UNKNOWN]):
        asked = ask(*arguments)
        assert asked.returncode == 1
        assert "Traceback" in asked.stderr
        assert "tickwork.errors.NoSuchJob" in asked.stderr


def test_wrong_usage_ends_in_one_line(tmp_path: Path) -> None:
    complaints = {
        ("nonsense",): "No such command 'nonsense'.",
        ("jobs", "--nonsense"): "No such option: --nonsense",
        ("enqueue", "x"): "Missing option '--tenant'.",
        ("jobs", "--limit", "0"): "Invalid value for '--limit'",
    }

    asked = run_all(list(complaints), home=tmp_path)

    for each, complaint in zip(asked, complaints.values(), strict=True):
        assert refusal(each, code=2).startswith(f"tickwork: {complaint}")


def test_the_version_is_that_of_the_package(tmp_path: Path) -> None:
    assert run("--version", home=tmp_path).stdout == f"tickwork {version('tickwork')}\n"


def test_help_names_every_command(tmp_path: Path) -> None:
    text = run(home=tmp_path).stdout

    commands = "up demo status migrate enqueue jobs job retry reschedule cancel bury worker tick "
    commands += "summary types purge lanes logs members admins"
    for command in commands.split():
        assert re.search(rf"^  {command} +\w", text, re.MULTILINE), command
    assert "..." not in text.split("Commands:")[1]


def test_a_database_without_the_schema_is_told_from_one_that_has_it(server: Server, tmp_path: Path) -> None:
    with cloned(server, "template0") as name:
        for command in (
            ["jobs"],
            ["tenants"],
            ["documents"],
            ["webhooks"],
            ["holds"],
            ["connectors"],
            ["cron", "status"],
        ):
            said = run(*command, "--database-url", server.url(name), home=tmp_path)

            assert "tickwork migrate" in said.stderr, command
            assert "Traceback" not in said.stderr


def test_a_module_that_is_not_installed_is_named(server: Server, tmp_path: Path) -> None:
    with cloned(server, "template0") as name:
        run("migrate", server.url(name), "--with", "queue", home=tmp_path)

        refused = run("documents", "--database-url", server.url(name), home=tmp_path)

        assert refused.returncode == 1
        assert "--with" in refused.stderr
        assert run("jobs", "--database-url", server.url(name), home=tmp_path).returncode == 0


def test_migrations_are_written_for_the_supabase_cli(tmp_path: Path) -> None:
    run("migrations", str(tmp_path), "--with", "queue", "--tenants", "companies(id, title)", home=tmp_path / "home")

    (chapter,) = tmp_path.glob("*_tenants_and_members.sql")
    assert "set tickwork.tenant_table = 'public.companies';" in chapter.read_text()
    assert not list(tmp_path.glob("*_organizations.sql"))
