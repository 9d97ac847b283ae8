"""The guides do what they say: their commands exist with their options, and those that can run here are run."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from tests.docs.pages import GUIDES, PAGES, ROOT, Block, blocks, name, without_blocks
from tests.world import node
from tickwork_docs.commands import command_line
from tickwork_local.postgres import embedded_binaries

# Seconds for what takes one on an idle machine. Only a test that fails waits so long.
PATIENCE = 900

# Those that go on in the folder of the one before, each line with a stack of its own.
JOURNEYS = [
    [
        *("first-steps", "schedules", "documents", "artifacts", "reports", "imports", "webhooks", "triggers", "traces"),
        *("keys", "redaction", "http-api", "console", "python-client", "metrics", "alerts", "turns-and-limits"),
        *("commands", "rabbitmq", "rolling-out", "typescript-client"),
    ],
    # With a Supabase server, where there is Node.
    ["enqueue-jobs"],
    *(["your-first-job-type"], ["workflows"], ["deploy-supabase"], ["deploy-google-cloud"], ["deploy-anywhere"]),
    ["existing-application"],
    ["passports"],
]

# In an empty folder: see test_own_family.
OWN_FAMILY = ["your-own-family", "testing-handlers"]

# What a reader would see at the end, beside that no command failed.
CHECKS = {
    "your-first-job-type": """
        tickwork jobs --type greet_person --status done --json | grep '"text": "Hello Ada"'
        tickwork jobs --type greet_person --status failed --json | grep '"error_code": "NOBODY"'
    """,
    # The event may have come before the job waited for it.
    "workflows": """
        emit="select emit_event(id, 'gift.paid', payload => jsonb_build_object('number', 7, 'by', 'Ada'))"
        until tickwork jobs --type send_gift --status done --json | grep '"text": "Flowers from Ada"'; do
          psql --quiet "$URL" --command "$emit from organizations where name = 'acme'"
          tickwork tick
        done
        test $(psql "$URL" --tuples-only --no-align --command 'select count(*) from gifts') = 1
    """,
    "existing-application": "test -f my-app/supabase/migrations/20261116001880_tenants_and_members.sql",
    "documents": "tickwork search 'mietvertrag hauptstraße' --tenant acme --json | grep hauptstrasse-17.pdf",
    "commands": "tickwork jobs --type measure-folder --status done --json | grep '\"exit_code\": 0'",
    "triggers": "tickwork jobs --type http_request --status queued --json | grep 'api.example.com/invoices'",
    "passports": """
        tickwork passport list --tenant acme --json | grep '"latest_status": "revoked"'
        (tickwork passport verify passport.pdf --keys keys.json --status-list status-list.json || true) |
          grep 'failed   status: it is revoked'
    """,
    "webhooks": "tickwork webhooks deliveries --status delivered --json | grep '\"id\"'",
}

BEGINNING = "set -euo pipefail\ntrap 'kill $(jobs -p) 2> /dev/null || true; wait' EXIT\n"
# Where the database of the stack in this folder is; the file is there once all of it runs.
STATE = ".tickwork/stack.json"
URL = f"""python -c 'import json; print(json.load(open("{STATE}"))["database_url"])'"""


def test_every_guide_is_run() -> None:
    run = [page for journey in [*JOURNEYS, OWN_FAMILY] for page in journey]

    assert sorted(run) == [page.stem for page in GUIDES]


@pytest.mark.parametrize("journey", JOURNEYS, ids=" ".join)
def test_the_commands_of_a_guide_run(journey: list[str]) -> None:
    script = BEGINNING + "".join(map(script_of, journey))

    with reader_folder() as folder:
        process = subprocess.run(
            ["bash", "-c", script], cwd=folder, env=environment(), capture_output=True, text=True, timeout=PATIENCE
        )
        logs = "".join(f"\n{log.name}:\n{log.read_text()}" for log in sorted(folder.rglob("background-*.log")))

    assert process.returncode == 0, f"{process.stdout[-3000:]}\n{process.stderr[-3000:]}\n{logs[-3000:]}"


@contextmanager
def reader_folder() -> Iterator[Path]:
    """A folder like the clone that a reader is in, where what the guides write harms nobody."""
    with TemporaryDirectory(prefix="tickwork-guide-") as folder:
        # As root, Postgres runs as another user.
        Path(folder).chmod(0o755)
        shutil.copytree(ROOT / "functions", Path(folder, "functions"), ignore=shutil.ignore_patterns("__pycache__"))
        Path(folder, "infra").symlink_to(ROOT / "infra")
        Path(folder, ".venv").symlink_to(sys.prefix)
        yield Path(folder)


def environment() -> dict[str, str]:
    found = dict(os.environ) if node.why_not() else node.environment()
    ours = {name: value for name, value in found.items() if not name.startswith(("TICKWORK_", "PYTEST_"))}
    path = os.pathsep.join([str(Path(sys.prefix, "bin")), ours["PATH"], str(embedded_binaries())])
    return {**ours, "PATH": path, "PYTHONDONTWRITEBYTECODE": "1", "TICKWORK_PORT": "0"}


def script_of(stem: str) -> str:
    page = ROOT / "docs/guide" / f"{stem}.md"
    steps = [step(block, f"background-{stem}-{number}.log") for number, block in enumerate(blocks(page))]
    return "".join(f"{each}\n" for each in [f"echo '== {stem}'", *steps, CHECKS.get(stem, "")])


def step(block: Block, log: str) -> str:
    """One block of a guide as a part of a shell script."""
    if block.file:
        return f"mkdir -p $(dirname {block.file})\ncat > {block.file} <<'GUIDE'\n{block.text}GUIDE"
    match block.words:
        case ("sh", "background"):
            return in_background(block.text.strip(), log)
        case ("sh",):
            return block.text
        case ("sh", "node"):
            return "" if node.why_not() else block.text
        case ("sql",):
            return f"psql --quiet --set ON_ERROR_STOP=1 \"$URL\" <<'GUIDE'\n{block.text}GUIDE"
        case ("text",) | ("sh" | "sql" | "python" | "js" | "ts", "norun"):
            return ""
        case _:
            raise AssertionError(f"what is to be done with a block of {block.words}?\n{block.text}")


def in_background(command: str, log: str) -> str:
    if node.why_not():
        command = command.removesuffix(" --supabase")
    if command.startswith("tickwork up"):
        # Who has a stack running needs no other one.
        start = f"{command} > {log} 2>&1 & until [ -f {STATE} ]; do kill -0 $!; sleep 0.1; done; URL=$({URL})"
        return f'[ -n "${{URL:-}}" ] || {{ {start}; }}'
    if "functions-framework" in command:
        # It says nothing; who calls it waits until it listens.
        return f"{command} > {log} 2>&1 &"
    return f"{command} > {log} 2>&1 & until [ -s {log} ]; do kill -0 $!; sleep 0.1; done"


COMMAND = re.compile(r"(?:^|[|&(`]|\.venv/bin/)\s*tickwork ([a-z][^|`)$\n#]*)", re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_command_exists_with_its_options(page: Path) -> None:
    shell = "\n".join(block.text for block in blocks(page) if block.words[:1] == ("sh",)).replace("\\\n", " ")
    given = COMMAND.findall(shell) + COMMAND.findall(
        "\n".join(re.findall(r"`[^`\n]+`", without_blocks(page.read_text())))
    )

    assert [problem for command in given if (problem := problem_of(command))] == []


def problem_of(command: str) -> str | None:
    words = command.split()
    found: Any = command_line()
    while words and hasattr(found, "commands") and words[0] in found.commands:
        found = found.commands[words.pop(0)]
    if found.name in (None, "tickwork") or (hasattr(found, "commands") and not found.invoke_without_command and words):
        return f"there is no command `tickwork {command}`"
    known = {option for each in found.params for option in each.opts} | {"--help", "--debug"}
    unknown = [word for word in words if word.startswith("--") and word.partition("=")[0] not in known]
    return f"`tickwork {command}`: there is no {unknown[0]}" if unknown else None
