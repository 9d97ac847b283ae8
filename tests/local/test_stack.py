"""The local stack as developers run it: `tickwork up` in a process of its own."""

import io
import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
from rich.console import Console

from tests.world import World
from tests.world.command_line import COMMAND, environment_for, open_folder, processes_of, run, started
from tests.world.waiting import PATIENCE, until
from tickwork.shipped import FUNCTIONS
from tickwork_local.live import picture
from tickwork_local.stack import find_stack

# The payload of a job whose document there is not.
NO_DOCUMENT = '{"document_id": "00000000-0000-4000-8000-0000000000ff"}'
# A job that outlasts every patience.
SLEEPER = """
import time
from pydantic import BaseModel
from tickwork.jobs.handler import Handler
from tickwork.serve import serve

class Anything(BaseModel):
    pass

main = serve("extract", {"extract_document": Handler(Anything, lambda payload, tools: time.sleep(600))})
"""


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    """Of a stack that runs for the whole module, and whose ticker ticks only once."""
    with open_folder() as folder, running(folder / "home", FUNCTIONS, "--tick-seconds", "3600"):
        yield folder / "home"


@pytest.fixture
def folder() -> Iterator[Path]:
    with open_folder() as folder:
        yield folder


@contextmanager
def running(home: Path, functions: Path, *options: str) -> "Iterator[subprocess.Popen[bytes]]":
    output = home.with_name("output")
    with started("up", "--functions", str(functions), *options, home=home, output=output) as stack:
        until(lambda: find_stack(home) or stack.poll() is not None, "the stack does not start")
        assert stack.poll() is None, output.read_text()
        yield stack


def status(home: Path) -> Any:
    return json.loads(run("status", "--json", home=home).stdout)


def answer(*arguments: str, home: Path) -> Any:
    asked = run(*arguments, "--json", home=home)
    assert asked.returncode == 0, asked.stderr
    return json.loads(asked.stdout)


def test_the_key_of_a_stack_seals_nothing_in_another_database(home: Path, world: World) -> None:
    world.tenant("acme")
    command = ["secrets", "set", "API_KEY", "--tenant", "acme", "--host", "api.example"]

    elsewhere, here = (
        subprocess.run(
            [*COMMAND, *command, *options],
            env=environment_for(home, {}),
            input="canary-value",
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        for options in (["--database-url", world.url], [])
    )

    assert "Set TICKWORK_SECRET_KEY" in elsewhere.stderr
    assert world.rows("select * from tickwork.secrets") == []
    assert here.returncode == 0, here.stderr


def test_the_doctor_knows_the_stack_and_its_key(home: Path) -> None:
    told = run("doctor", home=home)

    assert told.returncode == 0, told.stdout
    assert "✓ secrets      sealed with a key" in told.stdout


def test_the_logs_of_a_job_are_shown(home: Path) -> None:
    job = answer("enqueue", "extract_document", NO_DOCUMENT, "--tenant", "acme", home=home)
    until(lambda: answer("job", job["id"], home=home)["finished_at"], "nobody processes it")

    until(lambda: "settle" in run("logs", job["id"][:18], home=home).stdout, "its end is not logged")
    lines = run("logs", job["id"][:18], home=home).stdout.splitlines()

    assert [line.split()[1:4] for line in lines] == [["extract", job["id"], each] for each in ("claim", "settle")]
    assert "ending=failed" in lines[-1]


def family_folder(folder: Path, name: str, source: str) -> Path:
    (folder / name).mkdir(parents=True)
    (folder / name / "main.py").write_text(source)
    return folder


@pytest.fixture
def one_function(folder: Path) -> Path:
    return family_folder(folder / "functions", "extract", (FUNCTIONS / "extract" / "main.py").read_text())


def test_status_names_the_database_and_the_functions(home: Path) -> None:
    found = status(home)

    assert set(found) == {
        *("running", "pid", "database_url", "worker_database_url", "vault_url", "functions", "logs"),
        *("api_url", "api_key"),
    }
    assert found["functions"].keys() == {
        *("manage", "extract", "import", "classify", "webhook", "report", "passport", "sign"),
    }
    assert found["worker_database_url"].startswith("postgresql://tickwork_worker@127.0.0.1:")
    assert Path(found["logs"], "extract.log").exists()
    os.kill(found["pid"], 0)
    assert found["database_url"] in run("status", home=home).stdout


def test_the_api_is_served_and_its_key_is_good(home: Path) -> None:
    found = status(home)
    request = Request(f"{found['api_url']}/api/v1/whoami", headers={"X-Api-Key": found["api_key"]})

    with urlopen(request, timeout=PATIENCE) as response:
        caller = json.load(response)

    assert (caller["kind"], caller["scopes"]) == ("key", ["enqueue", "operate", "read"])
    assert run("status", "api_url", home=home).stdout.strip() == found["api_url"]


def test_status_says_how_to_start_supabase(home: Path) -> None:
    asked = run("status", "supabase_url", home=home)

    assert asked.returncode == 1
    assert "the local stack runs without Supabase. Start it with `tickwork up --supabase`." in asked.stderr


def test_a_job_goes_through_the_real_function_at_once(home: Path) -> None:
    job = answer("enqueue", "extract_document", NO_DOCUMENT, "--tenant", "acme", home=home)

    until(lambda: answer("job", job["id"], home=home)["status"] == "failed", "the insert woke nobody")

    ended = answer("job", job["id"], home=home)
    assert ended["error_code"] == "DOCUMENT_MISSING"
    assert [attempt["number"] for attempt in ended["attempt_history"]] == [1]


def test_tick_wakes_every_function(home: Path) -> None:
    ticked = answer("tick", home=home)

    assert [report["family"] for report in ticked["functions"]] == [
        "classify",
        "extract",
        "import",
        "manage",
        "passport",
        "report",
        "sign",
        "webhook",
    ]
    assert all("claimed" in report for report in ticked["functions"])


def test_a_second_stack_in_the_same_home_is_refused(home: Path) -> None:
    second = run("up", home=home)

    assert second.returncode == 1
    assert f"is already running in {home} (process {status(home)['pid']};" in second.stderr
    assert status(home)["running"]


def test_a_function_that_dies_is_started_again(home: Path) -> None:
    url = status(home)["functions"]["classify"]
    (master, *_) = [int(each.split()[0]) for each in processes_of(home) if f"--port {url.rpartition(':')[2]}" in each]

    os.kill(master, signal.SIGKILL)

    log = home / "logs" / "classify.log"
    until(lambda: "the function died and is being restarted" in log.read_text(), "nobody noticed")
    until(lambda: "error" not in answer_of_tick(home, "classify"), "it does not answer")


def answer_of_tick(home: Path, family: str) -> Any:
    (report,) = [
        each for each in json.loads(run("tick", "--json", home=home).stdout)["functions"] if each["family"] == family
    ]
    return report


def test_however_it_ends_it_leaves_no_process_and_keeps_the_data(folder: Path) -> None:
    home = folder / "home"
    functions = family_folder(folder / "functions", "extract", SLEEPER)
    jobs: list[str] = []

    for by, code in ((signal.SIGTERM, 143), (signal.SIGKILL, -9), (signal.SIGINT, 130)):
        with running(home, functions) as stack:
            jobs.append(answer("enqueue", "extract_document", NO_DOCUMENT, "--tenant", "acme", home=home)["id"])
            until(lambda: answer("job", jobs[-1], home=home)["status"] == "running", "nobody works")
            assert len(processes_of(home)) > 3
            stack.send_signal(by)
            assert stack.wait(PATIENCE) == code
            until(lambda: not processes_of(home), f"something is left after {by.name}")
        # A killed stack cannot take its file along.
        assert (home / "stack.json").exists() == (by == signal.SIGKILL)
        assert status(home) == {"running": False}
        assert "Traceback" not in (folder / "output").read_text()

    with running(home, functions):
        assert [job["id"] for job in reversed(answer("jobs", home=home))] == jobs


def test_reset_starts_with_an_empty_database_and_touches_nothing_else(folder: Path, one_function: Path) -> None:
    home = folder / "home"
    with running(home, one_function) as stack:
        answer("enqueue", "extract_document", NO_DOCUMENT, "--tenant", "acme", home=home)
        (home / "notes").write_text("mine")
        stack.kill()

        # The killed stack's Postgres may still be shutting down.
        stack.wait()
        with running(home, one_function, "--reset"):
            assert answer("jobs", home=home) == []
    assert (home / "notes").read_text() == "mine"


def test_a_function_that_cannot_start_is_shown_with_the_end_of_its_log(folder: Path) -> None:
    home = folder / "home"
    functions = family_folder(folder / "functions", "broken", "import nonexistent")

    asked = run("up", "--functions", str(functions), home=home)

    assert asked.returncode == 1
    assert f"the function broken does not start: see {home}/logs/broken.log, which ends with" in asked.stderr
    assert asked.stderr.endswith("\n  ModuleNotFoundError: No module named 'nonexistent'\n")
    until(lambda: not processes_of(home), "it left a process")


def test_a_home_that_holds_other_files_is_refused(folder: Path) -> None:
    (folder / "logs").mkdir()

    asked = run("up", "--reset", home=folder)

    assert asked.returncode == 1
    assert f"{folder} contains other files" in asked.stderr
    assert (folder / "logs").exists()


@pytest.mark.parametrize("width", [36, 60, 80, 120])
def test_the_live_table_never_cuts_an_id(world: World, width: int) -> None:
    job = world.running_job()
    world.queue.heartbeat_job(job, 0.5, "half [/red] way")
    console = Console(file=io.StringIO(), width=width, height=24, force_terminal=True, color_system=None)

    console.print(picture(console, world.service.jobs.queue_summary(), world.service.jobs.list_jobs()))

    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert any(line.startswith(str(job.id)) for line in lines)
    assert max(map(len, lines)) <= width
