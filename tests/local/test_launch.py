"""A launched program ends with its parent, and gets nothing of the launcher: neither its signals nor its rights."""

import ast
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.world.waiting import PATIENCE, until
from tickwork_local.launch import ends_with_parent
from tickwork_local.postgres import nobody_for_root

ROOT = Path(__file__).parents[2]
SOURCES = ("shared", "infra", "functions", "tests", "checks")
SLEEPING = ["sh", "-c", "echo $$; exec sleep 600"]

PARENT = """
import subprocess, sys
from tickwork_local.launch import ends_with_parent
from tickwork_local.postgres import nobody_for_root
subprocess.run(ends_with_parent(sys.argv[1:], user=nobody_for_root()))
"""

CHILD = """
import os, sys, time
from tickwork_local.launch import die_with_parent
die_with_parent(*map(int, sys.argv[1:]))
print(os.getpid(), flush=True)
time.sleep(600)
"""

# With any of these, Popen copies this process with all the locks that its threads hold, and runs code in the copy.
COPYING = {"preexec_fn", "user", "group", "extra_groups"}


@pytest.fixture
def processes() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def test_a_launched_program_dies_with_its_parent(processes: ExitStack) -> None:
    parent = started(processes, [sys.executable, "-c", PARENT, *SLEEPING])
    child = first_number(parent)
    assert is_there(child)

    parent.kill()

    until(lambda: not is_there(child), "it survives its parent")


def test_a_process_that_asks_for_it_dies_with_its_parent(processes: ExitStack) -> None:
    calling = "import subprocess, sys; subprocess.run([sys.executable, '-c', sys.argv[1]])"
    parent = started(processes, [sys.executable, "-c", calling, CHILD])
    child = first_number(parent)
    assert is_there(child)

    parent.kill()

    until(lambda: not is_there(child), "it survives its parent")


def test_a_program_whose_parent_is_gone_is_not_started(processes: ExitStack, tmp_path: Path) -> None:
    gone = started(processes, ["true"])
    gone.wait()
    mark = tmp_path / "started"
    command = ends_with_parent(["touch", str(mark)])
    command[command.index(str(os.getpid()))] = str(gone.pid)

    late = subprocess.run(command, timeout=PATIENCE)
    asking = subprocess.run([sys.executable, "-c", CHILD, str(gone.pid)], timeout=PATIENCE)

    assert (late.returncode, asking.returncode) == (1, 1)
    assert not mark.exists()


def test_a_program_ignores_no_signal_that_only_its_launcher_ignores() -> None:
    asking = ["grep", "SigIgn", "/proc/self/status"]

    plain, launched = [printed(command) for command in (asking, ends_with_parent(asking, by=signal.SIGUSR1))]

    assert launched == plain


def test_a_signal_that_is_to_end_a_program_is_not_ignored() -> None:
    ignoring = (
        "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])"
    )
    command = ends_with_parent(["sh", "-c", "kill -INT $$; echo deaf"], by=signal.SIGINT)

    ended = subprocess.run([sys.executable, "-c", ignoring, *command], stdout=subprocess.PIPE)

    assert (ended.returncode, ended.stdout) == (-signal.SIGINT, b"")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives up its rights")
def test_a_program_keeps_no_rights_of_root() -> None:
    nobody = nobody_for_root()
    assert nobody

    rights = printed(after("os.setgroups([0])", ends_with_parent(["sh", "-c", "id -u; id -g; id -G"], user=nobody)))

    assert rights.split() == [str(nobody.pw_uid), str(nobody.pw_gid), str(nobody.pw_gid)]


def test_a_program_that_does_not_run_here_is_named() -> None:
    failed = subprocess.run(ends_with_parent(["no-such-program"]), stderr=subprocess.PIPE, text=True)

    assert failed.returncode == 1
    assert failed.stderr == "no-such-program cannot be run: No such file or directory\n"


def test_no_process_is_started_as_a_copy_of_its_parent() -> None:
    files = [file for folder in SOURCES for file in (ROOT / folder).rglob("*.py")]

    copying = [
        f"{file.relative_to(ROOT)}:{call.lineno}"
        for file in files
        for call in ast.walk(ast.parse(file.read_text()))
        if isinstance(call, ast.Call) and starts_a_process(call.func) and COPYING & {each.arg for each in call.keywords}
    ]

    assert len(files) > 200
    assert copying == [], "start them with tickwork_local.launch.ends_with_parent"


def starts_a_process(called: ast.expr) -> bool:
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    return name in {"Popen", "run", "call", "check_call", "check_output"}


def started(processes: ExitStack, command: list[str]) -> "subprocess.Popen[str]":
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    processes.enter_context(process)
    processes.callback(process.kill)
    return process


def first_number(process: "subprocess.Popen[str]") -> int:
    assert process.stdout
    return int(process.stdout.readline())


def after(statement: str, command: list[str]) -> list[str]:
    script = f"import os, signal, sys; {statement}; os.execv(sys.argv[1], sys.argv[1:])"
    return [sys.executable, "-c", script, *command]


def printed(command: list[str]) -> str:
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def is_there(pid: int) -> bool:
    """A zombie, which nobody may reap here, has no program any more."""
    try:
        return bool(os.readlink(f"/proc/{pid}/exe"))
    except FileNotFoundError:
        return False
