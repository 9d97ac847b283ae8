"""Runs one program and everything that it starts, and leaves none of it behind. Run as a file, beside the worker.

It stops the program when its standard input ends, which is also what happens when the worker dies. On the descriptor
that it is given it writes the id of the process and then how that ended.
"""

import ctypes
import os
import resource
import select
import signal
import sys
import time
from contextlib import suppress

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 1, 36, 38
IS_LINUX = sys.platform == "linux"
# How long to go on killing what is killed already, or cannot be.
KILL_SECONDS = 10.0


def main() -> None:
    report, stop_seconds, memory, cpu, *argv = sys.argv[1:]
    os.set_inheritable(int(report), False)
    # Whatever loses its parent becomes a child of this process, even if it has left the group and the session.
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    woken = wake_on_end_of_child()
    program = os.fork()
    if program == 0:
        become(argv, int(memory), int(cpu))
    # Whoever stops the worker may stop this process too, which has something left to do then.
    for each in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)
    tell(int(report), f"pid {program}")
    ended = Ended(program)
    wait_for(ended, woken, sys.stdin.fileno(), float("inf"))
    if ended.status is None:
        signal_all(program, signal.SIGTERM)
        wait_for(ended, woken, None, time.monotonic() + float(stop_seconds))
    kill_all(program, ended)
    if ended.status is not None:
        tell(int(report), f"exit {ended.status}")


class Ended:
    """Takes note of children that have ended, and of how the program did."""

    def __init__(self, program: int) -> None:
        self._program = program
        self.status: int | None = None

    def note(self) -> bool:
        """Whether children are left."""
        with suppress(ChildProcessError):
            while True:
                process, status = os.waitpid(-1, os.WNOHANG)
                if process == 0:
                    return True
                if process == self._program:
                    self.status = os.waitstatus_to_exitcode(status)
        return False


def wake_on_end_of_child() -> int:
    """A descriptor that can be read when a child has ended."""
    reader, writer = os.pipe()
    for each in (reader, writer):
        os.set_blocking(each, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return reader


def wait_for(ended: Ended, woken: int, lifeline: int | None, until: float) -> None:
    """Wait until the program has ended, the other end of the lifeline is closed, or it is that late."""
    while ended.note() and ended.status is None and time.monotonic() < until:
        left = None if until == float("inf") else max(0.0, until - time.monotonic())
        ready, _, _ = select.select([woken] if lifeline is None else [woken, lifeline], [], [], left)
        if woken in ready:
            os.read(woken, 4096)
        if lifeline in ready:
            return


def become(argv: list[str], memory: int, cpu: int) -> None:
    """The program, in a group of its own, within its limits."""
    try:
        os.setsid()
        prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL))
        # Else it could start what nobody here may signal.
        prctl(PR_SET_NO_NEW_PRIVS, 1)
        # First SIGXCPU, then SIGKILL.
        limit(resource.RLIMIT_CPU, cpu, cpu + 1)
        limit(resource.RLIMIT_CORE, 0, 0)
        # Other systems refuse it, or count what was never used.
        if IS_LINUX:
            limit(resource.RLIMIT_AS, memory, memory)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        # Python ignores them, and so would the program.
        for each in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(each, signal.SIG_DFL)
        os.execvp(argv[0], argv)
    except OSError as error:
        os.write(2, f"{argv[0]} cannot be run: {error.strerror}\n".encode())
    os._exit(127)


def limit(kind: int, soft: int, hard: int) -> None:
    _, most = resource.getrlimit(kind)
    if most != resource.RLIM_INFINITY:
        soft, hard = min(soft, most), min(hard, most)
    resource.setrlimit(kind, (soft, hard))


def signal_all(program: int, by: signal.Signals) -> None:
    """Signal the group of the program, and those that it or its children have founded."""
    # Whole groups: a process that goes on as its own child, again and again, is never where it was just seen.
    for group in {program, *groups_below()}:
        with suppress(OSError):
            os.killpg(group, by)


def kill_all(program: int, ended: Ended) -> None:
    """Kill whatever is left, and wait for it."""
    give_up_at = time.monotonic() + KILL_SECONDS
    while ended.note() and time.monotonic() < give_up_at:
        signal_all(program, signal.SIGKILL)
        time.sleep(0.005)


def groups_below() -> set[int]:
    """The groups of all processes that this one, or a child of it, and so on, has started."""
    if not IS_LINUX:
        return set()
    children: dict[int, list[tuple[int, int]]] = {}
    for name in os.listdir("/proc"):
        if name.isdecimal():
            with suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
                # After the name of the program, which may contain anything.
                _, parent, group, *_ = file.read().rpartition(b")")[2].split()
                children.setdefault(int(parent), []).append((int(name), int(group)))
    groups: set[int] = set()
    ahead = [os.getpid()]
    while ahead:
        found = [each for process in ahead for each in children.pop(process, [])]
        groups.update(group for _, group in found)
        ahead = [process for process, _ in found]
    # A child that has just been forked is still in this one.
    return groups - {os.getpgrp()}


def prctl(option: int, value: int) -> None:
    if IS_LINUX:
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def tell(report: int, line: str) -> None:
    # The worker may be gone.
    with suppress(OSError):
        os.write(report, f"{line}\n".encode())


if __name__ == "__main__":
    main()
