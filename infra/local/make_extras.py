"""Writes requirements-extras.toml: which packages of requirements.lock each extra needs that a function can ask for."""

import json
import subprocess
import sys
from pathlib import Path

from packaging.requirements import Requirement

EXTRAS = (
    *("extract", "import", "classify", "webhook", "report", "passport", "sign", "manage", "api"),
    *("safe", "oidc", "s3", "supabase", "otel", "rabbitmq"),
)
HEAD = (
    "# The packages of requirements.lock that each extra adds to what tickwork always needs. Written by `make lock`.\n"
)
ROOT = Path(__file__).parents[2]
# Where functions run: what no Python there needs is left out.
PLACES = [{"sys_platform": "linux", "python_version": version} for version in ("3.11", "3.12", "3.13", "3.14")]


def main() -> None:
    always = packages()
    tables = {"tickwork": always, **{extra: packages("--extra", extra) - always for extra in EXTRAS}}
    lines = (f"{name} = {json.dumps(sorted(found))}\n" for name, found in tables.items())
    (ROOT / "requirements-extras.toml").write_text(HEAD + "".join(lines))


def packages(*options: str) -> set[str]:
    command = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--universal", "--no-annotate", "--no-header"]
    command += ["--python-version", "3.11", "--constraint", "requirements.lock", "pyproject.toml", *options]
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    found = [Requirement(line) for line in done.stdout.splitlines() if line]
    return {each.name for each in found if not each.marker or any(map(each.marker.evaluate, PLACES))}


if __name__ == "__main__":
    main()
