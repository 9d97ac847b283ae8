"""`make demo`: every job ends as it should, and nothing stays behind."""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.world import World
from tests.world.command_line import COMMAND, environment_for, open_folder, processes_of, run
from tests.world.waiting import until
from tickwork.jobs.rows import Receipt
from tickwork_local.demo import KINDS, summarize


@pytest.fixture
def folder() -> Iterator[Path]:
    with open_folder() as folder:
        yield folder


def test_every_job_ends_as_it_should_and_nothing_stays_behind(folder: Path) -> None:
    home = folder / "home"

    demo = run("demo", home=home)

    assert demo.returncode == 0, demo.stdout + demo.stderr
    assert "\nEvery job ended as it should.\n" in demo.stdout
    assert "\nEvery document was extracted and classified.\n" in demo.stdout
    assert "verified them: 10 document.extracted, 10 document.classified.\n\n`tickwork demo --keep`" in demo.stdout
    assert "\nThe passport is valid, as of " in demo.stdout
    assert [line[:2] for line in demo.stdout.splitlines()[-3:]] == ["1.", "2.", "3."]
    assert demo.stderr == ""
    for kind in KINDS:
        (line,) = [line for line in demo.stdout.splitlines() if line.startswith(f"{kind.type} ")]
        assert line.split()[1] == str(3 * kind.how_many)
        assert len(line.rstrip()) <= 80
        assert line.rstrip().endswith("✓")
    assert processes_of(home) == []


def test_a_demo_whose_parent_is_killed_leaves_nothing_behind(folder: Path) -> None:
    home, output = folder / "home", folder / "output"
    script = f"import subprocess; subprocess.run({[*COMMAND, 'demo']}, stdout=open({str(output)!r}, 'w'))"
    make = os.spawnve(os.P_NOWAIT, sys.executable, [sys.executable, "-c", script], environment_for(home, {}))
    try:
        until(lambda: output.exists() and "Enqueued" in output.read_text(), "the demo does not start")
    finally:
        os.kill(make, signal.SIGKILL)
        os.waitpid(make, 0)

    until(lambda: not processes_of(home), "something is left")


def test_a_job_in_the_wrong_status_fails_the_demo(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    world.type("demo_quick", "demo")
    job = world.service.jobs.enqueue_job(world.tenant(), "demo_quick")

    is_right = summarize([Receipt(job.id, False)], [job], tmp_path)

    shown = capsys.readouterr().out
    assert not is_right
    assert "Not every job ended as it should" in shown
    assert str(job.id) in shown


def test_a_job_that_is_gone_fails_the_demo(world: World, tmp_path: Path) -> None:
    world.type("demo_quick", "demo")
    job = world.service.jobs.enqueue_job(world.tenant(), "demo_quick")

    assert not summarize([Receipt(job.id, False)], [], tmp_path)
