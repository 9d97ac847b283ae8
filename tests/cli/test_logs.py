"""`tickwork logs`, and what a process writes on a terminal."""

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.test_main import refusal
from tests.cli.test_output import HOSTILE
from tests.world.command_line import run, started
from tests.world.waiting import until
from tickwork.logs import LABELS

FIRST = "11111111-0000-4000-8000-000000000001"
SECOND = "22222222-0000-4000-8000-000000000002"


def line(second: int, verb: str, job: str | None = None, severity: str = "INFO", **fields: object) -> str:
    labels = {"job_id": job, "family": "extract", "type": "extract_document", "attempt": "1"} if job else {}
    at = f"2027-01-31T08:00:{second:02}+00:00"
    return json.dumps({"severity": severity, "time": at, "message": verb, LABELS: labels, **fields}) + "\n"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    logs = tmp_path / "logs"
    logs.mkdir()
    exception = "Traceback:\n  File x\nValueError: no ink"
    (logs / "extract.log").write_text(
        "[2027] [INFO] Booting worker\n"
        + line(1, "claim", FIRST)
        + line(3, "handler_raised", FIRST, "ERROR", exception=exception)
        + line(5, "settle", SECOND, ending="done", error_code=None)
    )
    (logs / "ticker.log").write_text(line(4, "lose_call", severity="WARNING", family="extract", reason="refused"))
    return tmp_path


def without_times(text: str) -> list[str]:
    return [re.sub(r"^\d\d:\d\d:\d\d ", "", line) for line in text.splitlines()]


def test_lines_of_all_files_are_shown_in_their_order(home: Path) -> None:
    shown = run("logs", home=home)

    assert without_times(shown.stdout) == [
        "  [2027] [INFO] Booting worker",
        f"extract  {FIRST} claim type=extract_document",
        f"extract  {FIRST} ERROR handler_raised type=extract_document",
        "  | Traceback:",
        "  |   File x",
        "  | ValueError: no ink",
        "extract  WARNING lose_call reason=refused",
        f"extract  {SECOND} settle type=extract_document ending=done",
    ]


def test_the_lines_of_a_job_are_found_by_the_beginning_of_its_id(home: Path) -> None:
    by_all, by_some, by_none = (run("logs", each, "--json", home=home) for each in (SECOND, "2222", "3333"))

    assert [json.loads(each)["message"] for each in by_all.stdout.splitlines()] == ["settle"]
    assert by_all.stdout == by_some.stdout
    assert by_none.stdout == ""
    assert refusal(run("logs", "22", home=home)) == "tickwork: JOB: '22' is not a job id"


def test_the_newest_lines_are_shown_and_then_what_comes(home: Path, tmp_path: Path) -> None:
    output = tmp_path / "output"
    with started("logs", "--follow", "--limit", "1", home=home, output=output):
        until(lambda: "settle" in output.read_text(), "nothing is shown")
        with (home / "logs" / "extract.log").open("a") as log:
            whole = line(6, "claim", FIRST)
            log.write(whole[:30])
            log.flush()
            (home / "logs" / "import.log").write_text(line(7, "start"))
            until(lambda: "start" in output.read_text(), "a new file is not found")
            log.write(whole[30:])
        until(lambda: "claim" in output.read_text(), "what is added is not shown")

    assert [each.split()[-2] for each in without_times(output.read_text())] == [
        "type=extract_document",
        "import",
        "claim",
    ]


def test_nothing_that_was_logged_forges_a_line(home: Path) -> None:
    log = home / "logs" / "extract.log"
    log.write_text(line(1, HOSTILE, reason=HOSTILE, exception=HOSTILE) + HOSTILE + "\n" + '{"time": 1}\n[]\n')

    shown = run("logs", home=home)

    assert shown.returncode == 0
    assert all(each.isprintable() for each in shown.stdout.split("\n"))
    # Lines of ours begin with a time, all others with a blank.
    assert [line[2] for line in shown.stdout.splitlines() if not line.startswith("  ")] == [":", ":"]


def test_where_no_stack_has_run_that_is_said(tmp_path: Path) -> None:
    assert refusal(run("logs", home=tmp_path)).startswith(f"tickwork: no local stack has run in {tmp_path}. Start one")


def test_on_a_terminal_lines_are_for_people_and_elsewhere_for_programs() -> None:
    source = f"from tickwork.logs import bound, log\nwith bound(family='extract', job_id='{FIRST}'): log('claim', n=1)"

    piped = subprocess.run([sys.executable, "-c", source], stdout=subprocess.PIPE, check=True, text=True).stdout
    ours, theirs = pty.openpty()
    subprocess.run([sys.executable, "-c", source], stdout=theirs, check=True)
    os.close(theirs)
    with open(ours, "rb") as terminal:
        shown = terminal.readline().decode()

    assert json.loads(piped)["message"] == "claim"
    assert without_times(shown) == [f"extract  {FIRST} claim n=1"]
