"""The process that typesets one PDF. It trusts neither the texts nor the library."""

import json
import os
import resource
import sys
from datetime import datetime

import typst

MEMORY = 1 << 29


def main() -> None:
    task = json.loads(sys.stdin.buffer.read())
    compiler = typst.Compiler(b"", root="/", ignore_system_fonts=True)
    # Starts its threads, which cannot be started any more later.
    compiler.compile(format="pdf")
    give_up(int(sys.argv[1]))
    compiled = compiler.compile(
        task["source"].encode(),
        format="pdf",
        sys_inputs={"data": task["data"]},
        pdf_standards=["a-3b", "ua-1"],
        timestamp=int(datetime.fromisoformat(task["issued_at"]).timestamp()),
    )
    assert isinstance(compiled, bytes)
    sys.stdout.buffer.write(compiled)
    sys.stdout.flush()
    os._exit(0)


def give_up(seconds: int) -> None:
    """From here on nothing can be opened or started: no file, no connection, no process."""
    limits = {
        resource.RLIMIT_CPU: seconds,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_NOFILE: 0,
        resource.RLIMIT_NPROC: 0,
        resource.RLIMIT_CORE: 0,
    }
    # Other systems refuse it, or count what was never used.
    if sys.platform == "linux":
        limits[resource.RLIMIT_AS] = MEMORY
    for kind, most in limits.items():
        resource.setrlimit(kind, (most, most))


if __name__ == "__main__":
    main()
