"""A reader in whose place somebody else has got: run in the real child, it tries what it could do to us.

What it needs for that is loaded beforehand, as it could bring it along.
"""

import ctypes
import json
import os
import resource
import socket
from collections.abc import Callable

from tickwork.families.extract.engines.outline import Outline

CLONE_NEWUSER = 0x1000_0000
libc = ctypes.CDLL(None, use_errno=True)


def read(data: bytes, outline: Outline) -> None:
    """The file says what to try; what it came to is the text."""
    wish = json.loads(data)
    try:
        outcome = ATTEMPTS[wish["attempt"]](wish)
    except OSError as error:
        outcome = f"refused: {error.strerror}"
    outline.text(str(outcome))


def called(result: int) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def open_file(path: str, flags: int) -> bytes:
    file = os.open(path, flags)
    return os.read(file, 1000) if flags == os.O_RDONLY else bytes(os.write(file, b"x"))


def in_place_of_another(wish: dict[str, str]) -> object:
    os.close(2)
    return open_file(wish["path"], os.O_RDONLY)


def after_raising_limits(wish: dict[str, str]) -> object:
    resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))
    return open_file(wish["path"], os.O_RDONLY)


def connect(wish: dict[str, str]) -> object:
    with socket.socket() as connection:
        return connection.connect_ex(("127.0.0.1", int(wish["port"])))


ATTEMPTS: dict[str, Callable[[dict[str, str]], object]] = {
    "read the environment of the parent": lambda wish: open_file(f"/proc/{os.getppid()}/environ", os.O_RDONLY),
    "read a file": lambda wish: open_file(wish["path"], os.O_RDONLY),
    "read a file in place of standard error": in_place_of_another,
    "read a file with other limits": after_raising_limits,
    "write a file": lambda wish: open_file(wish["path"] + ".new", os.O_WRONLY | os.O_CREAT),
    "delete a file": lambda wish: os.unlink(wish["path"]),
    "list a folder": lambda wish: os.listdir("/"),
    "open a socket": connect,
    "open a pair of sockets": lambda wish: socket.socketpair(),
    "start a process": lambda wish: os.fork(),
    "run a program": lambda wish: os.execv("/bin/true", ["/bin/true"]),
    "stop the parent": lambda wish: os.kill(os.getppid(), 0),
    "trace the parent": lambda wish: called(libc.ptrace(16, os.getppid(), 0, 0)),
    "become root": lambda wish: os.setuid(0),
    "make a namespace": lambda wish: called(libc.unshare(CLONE_NEWUSER)),
}
