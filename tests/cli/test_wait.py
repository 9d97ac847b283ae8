"""Commands that wait for a job: they show its end, exit accordingly, and say why it waits."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import Popen

import pytest

from tests.cli.test_main import Ask, ask
from tests.world import World
from tests.world.command_line import started
from tests.world.waiting import PATIENCE, until
from tickwork.jobs.rows import ClaimedJob

__all__ = ["ask"]


@contextmanager
def waiting(world: World, folder: Path, *options: str) -> "Iterator[tuple[Popen[bytes], Path, ClaimedJob]]":
    """A command that enqueues and waits, its output, and the job, which runs."""
    output = folder / "output"
    command = ["enqueue", world.type(), '{"name": "Ann"}', "--tenant", "acme", "--wait", *options]
    with started(*command, "--database-url", world.url, home=folder / "home", output=output) as process:
        until(lambda: world.rows("select from jobs"), "nothing is enqueued")
        yield process, output, world.claim()


def test_who_waits_gets_the_result(world: World, tmp_path: Path) -> None:
    world.tenant()
    with waiting(world, tmp_path) as (process, output, job):
        world.queue.complete_job(job, {"greeting": "Hello Ann"})
        code = process.wait(PATIENCE)

    first, _, result = output.read_text().partition("\n")
    assert (code, first) == (0, f"{job.id} is done")
    assert json.loads(result) == {"greeting": "Hello Ann"}
    assert job.payload == {"name": "Ann"}
    assert world.value("select notify from jobs")


def test_who_waits_for_json_gets_the_job(world: World, tmp_path: Path) -> None:
    world.tenant()
    with waiting(world, tmp_path, "--json") as (process, output, job):
        world.queue.complete_job(job, {"greeting": "Hello Ann"})
        process.wait(PATIENCE)

    ended = json.loads(output.read_text())
    assert (ended["id"], ended["status"], ended["result"]) == (str(job.id), "done", {"greeting": "Hello Ann"})


def test_who_waits_gets_the_error(world: World, tmp_path: Path) -> None:
    world.tenant()
    with waiting(world, tmp_path) as (process, output, job):
        world.queue.fail_job(job, {"code": "NO_INK", "message": "The printer is empty"}, retryable=False)
        code = process.wait(PATIENCE)

    assert code == 1
    assert output.read_text().startswith("tickwork: NO_INK: The printer is empty\n")


def test_who_waits_for_a_cancelled_job_is_told(world: World, tmp_path: Path) -> None:
    world.tenant()
    with waiting(world, tmp_path) as (process, output, job):
        world.service.jobs.cancel_job(job.id)
        world.queue.fail_job(job, {"code": "CANCELLED"})
        code = process.wait(PATIENCE)

    assert code == 1
    assert output.read_text().startswith(f"tickwork: job {job.id} was cancelled\n")


def test_who_waits_too_long_is_told_why(world: World, ask: Ask) -> None:
    type, tenant = world.type(), world.tenant()
    world.service.pauses.pause_jobs(tenant_id=tenant, reason="unpaid bill")

    asked = ask("enqueue", type, "--tenant", "acme", "--wait", "--timeout", "0")

    job = world.value("select id from jobs")
    assert (asked.returncode, asked.stdout) == (1, "")
    assert f"tickwork: job {job} has not ended yet: " in asked.stderr
    assert "Its tenant is paused: unpaid bill." in asked.stderr


@pytest.mark.parametrize("command", ["enqueue", "documents add"])
def test_why_a_job_waits_is_said_while_it_waits(world: World, tmp_path: Path, command: str) -> None:
    type, tenant = world.type(), world.tenant()
    world.service.pauses.pause_jobs(tenant_id=tenant, reason="unpaid bill")
    (tmp_path / "letter.txt").write_text("Dear Ann")
    commands = {
        "enqueue": ["enqueue", type, "--tenant", "acme", "--wait"],
        "documents add": ["documents", "add", str(tmp_path / "letter.txt"), "--tenant", "acme"],
    }
    output = tmp_path / "output"
    settings = {"TICKWORK_VAULT_URL": f"file:{tmp_path / 'vault'}"}

    with started(
        *commands[command], "--database-url", world.url, home=tmp_path / "home", output=output, **settings
    ) as process:
        until(lambda: "Its tenant is paused: unpaid bill." in output.read_text(), "it waits in silence")

        assert process.poll() is None
