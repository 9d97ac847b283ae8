"""The process that reads one file. It trusts neither the file nor the libraries that parse it."""

import ctypes
import gc
import importlib
import json
import os
import resource
import signal
import sys
from collections.abc import Callable
from typing import Any

from tickwork.families.extract.engines.outline import Outline
from tickwork.families.extract.engines.refusals import MAX_BYTES, Refused

Reader = Callable[[bytes, Outline], None]

MEMORY = 1 << 29
OPEN_FILES = 64
PR_SET_PDEATHSIG = 1


def main() -> None:
    parent, seconds, name = sys.argv[1:4]
    die_with(int(parent))
    # Before the limits, so that Python can keep what it has compiled.
    reader: Reader = importlib.import_module(f"tickwork.families.extract.engines.{name}").read
    limit(int(seconds))
    # One file, one pass: nothing is left behind that would be worth looking for.
    gc.disable()
    write(read(reader))
    sys.stdout.flush()
    # Nothing is left to do that could be worth the time, or crash.
    os._exit(0)


def die_with(parent: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def limit(seconds: int) -> None:
    limits = {
        resource.RLIMIT_CPU: seconds,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_NOFILE: OPEN_FILES,
        resource.RLIMIT_CORE: 0,
    }
    # Other systems refuse it, or count what was never used.
    if sys.platform == "linux":
        limits[resource.RLIMIT_AS] = MEMORY
    for kind, most in limits.items():
        _, hard = resource.getrlimit(kind)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (most, most))


def read(reader: Reader) -> dict[str, Any]:
    """Write the elements of the file on standard input; returns how that ended."""
    try:
        data = sys.stdin.buffer.read(MAX_BYTES + 1)
        if not data:
            raise Refused("empty")
        if len(data) > MAX_BYTES:
            raise Refused("too large")
        outline = Outline(write)
        reader(data, outline)
        return {"page_count": outline.page_count}
    except Refused as refusal:
        return {"refused": refusal.reason}
    except (MemoryError, RecursionError):
        return {"refused": "too demanding"}
    except Exception as error:
        return {"refused": "corrupt", "defect": place_of(error)}


def place_of(error: Exception) -> str:
    """Where and what, without the words of the error: they may quote the file."""
    trace = error.__traceback__
    while trace and trace.tb_next:
        trace = trace.tb_next
    where = f"{os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}" if trace else "nowhere"
    return f"{type(error).__name__} at {where}"


def write(line: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(line, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
