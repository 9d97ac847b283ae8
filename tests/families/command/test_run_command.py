"""Commands as jobs: through the queue, with a real program, to what people see of the attempt."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.families.command.test_process import processes_with
from tests.world import World
from tests.world.command_line import run_all, started
from tests.world.waiting import PATIENCE, until
from tickwork.families.command.allowlist import Command
from tickwork.families.command.run_command import handler_of
from tickwork.jobs.rows import Job
from tickwork.queue import Queue
from tickwork.runtime.deadline import Deadline
from tickwork.runtime.work import work

TYPE = "run-script"


def script(text: str, **fields: Any) -> Command:
    return Command.model_validate({"argv": ["sh", "-c", text], "folder": "/", "stop_seconds": 0.2, **fields})


def perform(world: World, command: Command, **job: Any) -> Job:
    """The job after one attempt."""
    one = world.job(world.type(TYPE, "command"), **job)
    work(world.queue, "command", {TYPE: handler_of(command)}, Deadline(600, 1))
    return world.reload(one)


@contextmanager
def running(world: World, command: Command, **type: Any) -> Iterator[Job]:
    """A job whose command runs, with heartbeats in quick succession."""
    job = world.job(world.type(TYPE, "command", **type))
    queue = Queue(world.queue.database, "worker-1", heartbeat_seconds=0.1)
    arguments = (queue, "command", {TYPE: handler_of(command)}, Deadline(600, 1))
    thread = threading.Thread(target=work, args=arguments, daemon=True)
    thread.start()
    try:
        until(lambda: world.reload(job).status != "queued")
        yield job
    finally:
        thread.join(PATIENCE)


def test_a_command_that_succeeds_leaves_its_output_with_the_attempt(world: World) -> None:
    job = perform(world, script("echo $$; echo warned >&2"))

    assert (job.status, job.result) == ("done", {"exit_code": 0})
    (attempt,) = world.attempts(job)
    assert (attempt["status"], attempt["exit_code"], attempt["stderr_tail"]) == ("done", 0, "warned\n")
    assert attempt["stdout_tail"] == f"{attempt['pid']}\n"
    listed = world.member_of(job.tenant_id).execute("select * from list_attempts(%s)", [job.id]).fetchall()
    assert [row["stdout_tail"] for row in listed] == [attempt["stdout_tail"]]
    stranger = world.member_of(world.tenant("birch"))
    assert stranger.execute("select * from job_attempts").fetchall() == []


@pytest.mark.parametrize(
    ("code", "status", "error", "attempts"),
    [(3, "queued", "EXIT_3", 1), (64, "failed", "EXIT_64", 1), (75, "queued", None, 0)],
)
def test_an_exit_code_decides_what_follows(
    world: World, code: int, status: str, error: str | None, attempts: int
) -> None:
    meant = {"permanent": [64], "not_yet": [75]}

    job = perform(world, script(f"echo it broke >&2; exit {code}", exit_codes=meant))

    assert (job.status, job.error_code, job.attempts) == (status, error, attempts)
    if error:
        assert job.error_message == f"The command ended with the exit code {code}: it broke"
        assert [row["exit_code"] for row in world.attempts(job)] == [code]


def test_a_command_that_is_killed_is_tried_again(world: World) -> None:
    job = perform(world, script("kill -KILL $$"))

    assert (job.status, job.error_code) == ("queued", "SIGKILL")
    assert [row["exit_code"] for row in world.attempts(job)] == [137]


def test_a_command_that_cannot_be_started_says_why_to_the_operator_only(world: World) -> None:
    job = perform(world, script("true", folder="/no/such/folder"))

    assert (job.status, job.error_code) == ("queued", "NOT_STARTED")
    assert "/no/such/folder" not in str(job.error_message)
    assert "/no/such/folder" in world.value("select exception from tickwork.exceptions")


@pytest.mark.parametrize("of_file", [True, False])
def test_a_command_that_takes_too_long_is_stopped(world: World, of_file: bool) -> None:
    """By the time of its file, or by that of its type if that is shorter. Long enough for it to begin."""
    endless = script("trap '' TERM; echo begun; while :; do sleep 0.05; done", timeout_seconds=5 if of_file else 3600)

    with running(world, endless, timeout_seconds=3600 if of_file else 5) as job:
        pass

    assert (world.reload(job).status, world.reload(job).error_code) == ("queued", "TIMEOUT")
    (attempt,) = world.attempts(job)
    assert (attempt["status"], attempt["exit_code"], attempt["stdout_tail"]) == ("timeout", 137, "begun\n")


def test_cancel_reaches_the_process_and_people_see_its_output_meanwhile(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    follows = script(f"echo the key is $OWN_KEY; exec tail -f {tmp_path}/it", secrets=["OWN_KEY"])
    (tmp_path / "it").write_text("first\nlast\nhalf a line")
    monkeypatch.setenv("OWN_KEY", "s3cret-key")

    with running(world, follows) as job:
        # What is shown first may be the first line only.
        until(lambda: str(world.reload(job).progress_message).endswith("last"))
        message = world.reload(job).progress_message
        world.service.jobs.cancel_job(job.id)

    assert message == "the key is [secret OWN_KEY]\nfirst\nlast"
    assert processes_with(tmp_path) == []
    assert world.reload(job).status == "cancelled"
    (attempt,) = world.attempts(job)
    assert (attempt["status"], attempt["exit_code"]) == ("cancelled", 143)
    assert attempt["stdout_tail"] == f"{message}\nhalf a line"


def test_what_is_redacted_in_the_payload_is_redacted_in_the_output(world: World) -> None:
    told = script("", argv=["echo", "{password}"], payload={"password": {}})

    job = perform(world, told, payload={"password": "hunter2-hunter2"})

    assert [row["stdout_tail"] for row in world.attempts(job)] == ["[redacted]\n"]


def test_the_output_is_purged_with_the_job(world: World) -> None:
    job = perform(world, script("echo here"))

    world.run("delete from jobs where id = %s", job.id)

    assert world.rows("select * from tickwork.attempts") == []


def test_a_worker_runs_the_commands_of_the_file_and_leaves_none_when_it_is_killed(world: World, tmp_path: Path) -> None:
    file = tmp_path / "commands.toml"
    file.write_text(f'[commands.wait-here]\nargv = ["tail", "-f", "{tmp_path}/it"]\nfolder = "/"\nstop_seconds = 0.2\n')
    file.chmod(0o600)
    (tmp_path / "it").touch()
    settings = {"TICKWORK_COMMANDS_FILE": str(file)}
    (applied,) = run_all([["commands", "apply"]], home=tmp_path, **settings, TICKWORK_DATABASE_URL=world.url)
    job = world.job("wait-here")

    with started(
        *("worker", "command"),
        home=tmp_path,
        output=tmp_path / "log",
        **settings,
        TICKWORK_DATABASE_URL=world.worker_url,
    ) as worker:
        until(lambda: processes_with(tmp_path / "it"))
        os.kill(worker.pid, signal.SIGKILL)
        worker.wait()
        until(lambda: not processes_with(tmp_path / "it"))

    assert applied.stdout == "wait-here is a type now.\n"
    assert world.reload(job).status == "running"
