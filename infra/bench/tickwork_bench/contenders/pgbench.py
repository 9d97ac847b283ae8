"""pgbench on the bare table: the floor, below any client in Python. Left out where there is no pgbench."""

import re
import shutil
import subprocess
from pathlib import Path

from tickwork_local.postgres import embedded_binaries

INSERT = "insert into jobs (payload) values ('{\"number\": 1}') returning id;"
UPDATE = "\\set id random(1, :jobs)\nupdate jobs set attempts = attempts + 1 where id = :id;"


def program() -> Path | None:
    folders = [embedded_binaries(), *sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)]
    found = shutil.which("pgbench", path=":".join(map(str, folders))) or shutil.which("pgbench")
    return Path(found) if found else None


def rate_of(url: str, script: str, amount: str, clients: int = 1, jobs: int = 1) -> float:
    """Transactions per second of a script that is one statement; the amount is an option, time or transactions."""
    options = ["--no-vacuum", "--protocol=prepared", f"--client={clients}", f"--jobs={clients}", amount]
    answer = subprocess.run(
        [str(program()), *options, f"--define=jobs={jobs}", "--file=-", url],
        input=script,
        capture_output=True,
        text=True,
        check=True,
    )
    found = re.search(r"tps = ([\d.]+)", answer.stdout)
    assert found, answer.stdout
    return float(found[1])
