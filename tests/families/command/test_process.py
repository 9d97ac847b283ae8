"""Programs that do not want to end, to be found or to be quiet: contained, and nothing of them is left."""

import os
import resource
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from tests.world.waiting import until
from tickwork.families.command.allowlist import Command
from tickwork.families.command.process import MARGIN, MAX_TAIL, Process, Tail

IGNORES_TERM = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
note(); print("ready", flush=True); time.sleep(120)
"""
FORKS = """
for _ in range(20):
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        note(); time.sleep(120)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
note(); until_noted(21); print("ready", flush=True); time.sleep(120)
"""
DAEMONISES = """
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        note(); time.sleep(120)
    os._exit(0)
until_noted(1)
"""
HOPS = """
if os.fork() == 0:
    os.setsid(); note()
    # From one process to the next one, so that it is never there when it is looked for.
    while time.monotonic() < began + 60:
        if os.fork():
            os._exit(0)
        note()
until_noted(50)
"""
PROLOGUE = """
import os, signal, sys, time
began = time.monotonic()
def note():
    with open(sys.argv[1], "a") as file:
        file.write(f"{os.getpid()}\\n")
def until_noted(most):
    while not os.path.exists(sys.argv[1]) or len(open(sys.argv[1]).readlines()) < most:
        time.sleep(0.01)
"""


def command(**limits: float) -> Command:
    return Command.model_validate({"argv": ["true"], "folder": "/", "stop_seconds": 0.2, **limits})


def run(*argv: str, stop_when: Callable[[Process], object] = lambda _: False, **limits: float) -> Process:
    own = command(**limits)
    with Process(own, argv, own.own_environment({})) as process:
        while process.read(0.05) and not stop_when(process):
            pass
    return process


def is_ready(process: Process) -> bool:
    return "ready" in process.stdout.text({})


def processes_with(argument: Path) -> list[str]:
    """Those that have this argument. One that has ended has none."""
    found = []
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if str(argument).encode() in process.read_bytes():
                found.append(process.parent.name)
    return found


@pytest.mark.parametrize("script", [IGNORES_TERM, FORKS], ids=["ignores", "forks"])
def test_nothing_of_a_program_that_does_not_stop_is_left(script: str, tmp_path: Path) -> None:
    noted = tmp_path / "pids"

    process = run(sys.executable, "-c", PROLOGUE + script, str(noted), stop_when=is_ready)

    assert noted.exists()
    assert processes_with(noted) == []
    assert process.exit_code == 137


@pytest.mark.parametrize("script", [DAEMONISES, HOPS], ids=["daemon", "hops"])
def test_nothing_of_a_program_that_ends_by_itself_is_left(script: str, tmp_path: Path) -> None:
    noted = tmp_path / "pids"

    process = run(sys.executable, "-c", PROLOGUE + script, str(noted))

    assert noted.exists()
    assert processes_with(noted) == []
    assert process.exit_code == 0


def test_a_program_that_is_stopped_may_end_in_an_orderly_way() -> None:
    script = "trap 'echo bye; exit 7' TERM; echo ready; while :; do sleep 0.01; done"

    process = run("sh", "-c", script, stop_when=is_ready, stop_seconds=4)

    assert (process.exit_code, process.stdout.text({})) == (7, "ready\nbye\n")


def test_output_at_full_speed_needs_no_memory() -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    process = run("sh", "-c", "yes | head -c 200000000; yes error | head -c 48000000 >&2; printf end")

    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000
    assert process.exit_code == 0
    assert process.stdout.text({}) == ("y\n" * MAX_TAIL + "end")[-MAX_TAIL:]
    assert process.stderr.text({}) == ("error\n" * MAX_TAIL)[-MAX_TAIL:]


def test_a_program_that_prints_faster_than_it_is_read_has_to_wait_and_can_be_stopped() -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    readings = iter(range(5))

    # It prints a gigabyte a second, where anybody reads that much.
    process = run("dd", "if=/dev/zero", "bs=1M", "status=none", stop_when=lambda _: next(readings, None) is None)

    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000
    assert process.killed_by == signal.SIGTERM
    assert set(process.stdout.text({})) == {"\N{REPLACEMENT CHARACTER}"}


def test_binary_output_is_kept_as_text() -> None:
    process = run("printf", r"a\000b\377\376c\303\244\n")

    assert process.stdout.text({}) == "a\ufffdb\ufffd\ufffdcä\n"


@pytest.mark.parametrize("by", [signal.SIGSEGV, signal.SIGKILL, signal.SIGPIPE])
def test_death_by_a_signal_is_told(by: signal.Signals) -> None:
    process = run("sh", "-c", f"kill -{by.name[3:]} $$")

    assert (process.exit_code, process.killed_by) == (128 + by, by)


def test_a_program_that_is_not_there_is_told_as_a_shell_does() -> None:
    process = run("no-such-program")

    assert (process.exit_code, process.stderr.text({})) == (
        127,
        "no-such-program cannot be run: No such file or directory\n",
    )


def test_memory_and_processor_time_are_limited() -> None:
    greedy = run(sys.executable, "-c", "bytearray(1 << 30)", memory_mb=256)
    busy = run("sh", "-c", "while :; do :; done", cpu_seconds=1)

    assert (greedy.exit_code, "MemoryError" in greedy.stderr.text({})) == (1, True)
    assert busy.killed_by == signal.SIGXCPU


def test_a_program_gets_no_more_rights_no_input_and_no_descriptors() -> None:
    looked = run("sh", "-c", "grep NoNewPrivs /proc/self/status; readlink /proc/self/fd/0; ls /proc/self/fd | wc -l")

    # The fourth is that of the folder that ls reads.
    assert looked.stdout.text({}).split() == ["NoNewPrivs:", "1", "/dev/null", "4"]


def test_the_group_does_not_outlive_its_supervisor(tmp_path: Path) -> None:
    followed = tmp_path / "it"
    followed.touch()
    script = "tail -f $0 & echo ready; wait"
    with Process(command(), ["sh", "-c", script, str(followed)], {"PATH": os.defpath}) as process:
        while process.read(0.05) and not is_ready(process):
            pass
        os.kill(process._supervisor.pid, signal.SIGKILL)

    assert process.exit_code is None
    until(lambda: processes_with(followed) == [])


def test_secrets_are_redacted_even_where_the_tail_is_cut() -> None:
    secret = "s3cret-" + "0123456789" * 10
    tail = Tail()
    for length in (MAX_TAIL + MARGIN - 50, MAX_TAIL - 50):
        tail.add(secret.encode() + b"." * length)
        shown = tail.text({"KEY": secret})

        assert "0123456789" not in shown
        assert len(shown) <= MAX_TAIL


def test_half_a_secret_is_not_shown_while_the_other_half_is_on_its_way() -> None:
    tail = Tail()
    tail.add(b"first line\nthe key is s3cr")

    assert tail.text({"KEY": "s3cret"}, whole_lines=True) == "first line\n"

    tail.add(b"et\n")
    assert tail.text({"KEY": "s3cret"}, whole_lines=True) == "first line\nthe key is [secret KEY]\n"


def test_a_tail_begins_with_a_whole_character() -> None:
    tail = Tail()
    tail.add("漢".encode() * 10_000)

    shown = tail.text({})

    assert set(shown[1:]) == {"漢"}
    assert MAX_TAIL - 3 <= len(shown.encode()) <= MAX_TAIL + 9
