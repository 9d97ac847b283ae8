"""Start programs that end when their parent does. Run as a file, it is the launcher between Popen and the program."""

import ctypes
import os
import pwd
import signal
import sys
import warnings  # noqa: F401 - execvp imports it, and another user may not be able to read it
from collections.abc import Sequence

PRCTL = ctypes.CDLL(None).prctl if sys.platform == "linux" else None
PR_SET_PDEATHSIG = 1
# Python ignores them, and so would every program that it becomes.
IGNORED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)


def ends_with_parent(
    command: Sequence[str], by: signal.Signals = signal.SIGTERM, user: pwd.struct_passwd | None = None
) -> list[str]:
    """
    What Popen is to run, so that the command gets this signal when its parent dies, and runs as this user.

    With preexec_fn or user, Popen would copy this process, and gRPC aborts a copy of a process in which it has threads.
    To the kernel the parent is the thread that calls Popen: call it from one that lives as long as the command should.
    """
    owner = f"{user.pw_uid}:{user.pw_gid}" if user else ""
    return [sys.executable, "-I", "-S", __file__, str(os.getpid()), str(int(by)), owner, *command]


def die_with_parent(parent: int | None = None, by: signal.Signals = signal.SIGTERM) -> None:
    """Be signalled when the parent dies, and end at once if it has died already, which only its id can tell."""
    if PRCTL is None:
        return
    parent = parent or os.getppid()
    PRCTL(PR_SET_PDEATHSIG, int(by), 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def main() -> None:
    parent, by, owner, *command = sys.argv[1:]
    ended_by = signal.Signals(int(by))
    # The kernel forgets the request when the user changes.
    if owner:
        become(*map(int, owner.split(":")))
    restore_signals(ended_by)
    die_with_parent(int(parent), ended_by)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        sys.exit(f"{command[0]} cannot be run: {error.strerror}")


def become(user: int, group: int) -> None:
    os.setgroups([])
    os.setgid(group)
    os.setuid(user)


def restore_signals(ended_by: signal.Signals) -> None:
    for each in IGNORED_BY_PYTHON:
        signal.signal(each, signal.SIG_DFL)
    # A background job of a shell ignores SIGINT, and would pass that on.
    if ended_by != signal.SIGKILL:
        signal.signal(ended_by, signal.SIG_DFL)


if __name__ == "__main__":
    main()
