"""The command line as people and scripts use it: in a process of its own, in a home of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.world.waiting import PATIENCE, until
from tickwork.cli.main import all_commands, main
from tickwork_local.launch import ends_with_parent

COMMAND = [sys.executable, "-m", "tickwork.cli"]

# Each command is a process of its own, forked from one that has loaded the command line, which takes half a second.
PROCESSES = get_context("forkserver")
PROCESSES.set_forkserver_preload(["tests.world.command_line"])
all_commands()

# One command after the other, without the price of a start for each.
ONE_AFTER_THE_OTHER = """
import io, json, sys
from tickwork.cli.main import main

def run(arguments):
    sys.argv = ["tickwork", *arguments]
    sys.stdout, sys.stderr = out, err = [io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2)]
    try:
        main()
    except SystemExit as end:
        sys.stdout.flush()
        sys.stderr.flush()
        return [end.code or 0, out.buffer.getvalue().decode(), err.buffer.getvalue().decode()]

runs = [run(arguments) for arguments in json.load(sys.stdin)]
json.dump(runs, sys.__stdout__)
"""


def run(
    *arguments: str, home: Path, stdin: str | None = None, cwd: str | Path | None = None, **environment: str
) -> "subprocess.CompletedProcess[str]":
    """Run a command to its end, in a process of its own; nothing of the developer's own settings reaches it."""
    settings = environment_for(home, environment)
    with TemporaryDirectory() as folder:
        given, out, error = (Path(folder, name) for name in ("stdin", "stdout", "stderr"))
        given.write_text(stdin or "")
        process = PROCESSES.Process(target=command, args=(arguments, settings, cwd or os.getcwd(), given, out, error))
        process.start()
        process.join(2 * PATIENCE)
        if process.exitcode is None:
            process.kill()
            raise subprocess.TimeoutExpired(arguments, 2 * PATIENCE)
        return subprocess.CompletedProcess(arguments, process.exitcode, out.read_text(), error.read_text())


def command(
    arguments: Sequence[str], settings: dict[str, str], cwd: str | Path, stdin: Path, stdout: Path, stderr: Path
) -> None:
    # multiprocessing has closed the one that there was.
    sys.stdin = stdin.open()
    for path, number in ((stdout, 1), (stderr, 2)):
        os.dup2(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600), number)
    os.environ.clear()
    os.environ.update(settings)
    os.chdir(cwd)
    if "PYTHONPATH" in settings:
        sys.path[:0] = settings["PYTHONPATH"].split(os.pathsep)
    sys.argv = ["tickwork", *arguments]
    main()


def run_all(
    commands: Sequence[Sequence[str]], *, home: Path, cwd: str | Path | None = None, **environment: str
) -> "list[subprocess.CompletedProcess[str]]":
    """Run many commands to their end, in one process."""
    command = [sys.executable, "-c", ONE_AFTER_THE_OTHER]
    given = json.dumps(commands)
    ran = subprocess.run(
        command,
        cwd=cwd,
        env=environment_for(home, environment),
        input=given,
        stdout=subprocess.PIPE,
        check=True,
        text=True,
        timeout=2 * PATIENCE,
    )
    return [subprocess.CompletedProcess([], code, out, error) for code, out, error in json.loads(ran.stdout)]


@contextmanager
def started(
    *arguments: str, home: Path, output: Path, cwd: str | Path | None = None, **environment: str
) -> Iterator["subprocess.Popen[bytes]"]:
    """A command that goes on, with its output in a file; killed at the end if it still runs."""
    with output.open("wb") as file:
        process = subprocess.Popen(
            ends_with_parent([*COMMAND, *arguments]),
            cwd=cwd,
            env=environment_for(home, environment),
            stdout=file,
            stderr=file,
        )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        until(lambda: not processes_of(home), "it left a process")


@contextmanager
def open_folder() -> Iterator[Path]:
    """A folder that everybody can enter: root's Postgres would keep its data elsewhere, and leave it there."""
    with TemporaryDirectory(prefix="tickwork-test-") as name:
        folder = Path(name).resolve()
        folder.chmod(0o755)
        yield folder


def environment_for(home: Path, settings: dict[str, str]) -> dict[str, str]:
    ours = {name: value for name, value in os.environ.items() if not name.startswith("TICKWORK_")}
    return {**ours, "TICKWORK_HOME": str(home), "TICKWORK_PORT": "0", "COLUMNS": "80", **settings}


def processes_of(home: Path) -> list[str]:
    """What runs for the stack in this home: all of it has the home in its environment, or works in its data folder."""
    marks = (f"TICKWORK_HOME={home}\0".encode(), str((home / "postgres").resolve()), str(demo_data(home)))
    found = []
    for process in Path("/proc").iterdir():
        if not process.name.isdecimal():
            continue
        try:
            # A zombie has neither.
            is_ours = marks[0] in (process / "environ").read_bytes() or os.readlink(process / "cwd") in marks[1:]
            command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        except OSError:
            continue
        if is_ours:
            found.append(f"{process.name} {command}")
    return found


def demo_data(home: Path) -> Path:
    return (home.with_name(f"{home.name}-demo") / "postgres").resolve()
