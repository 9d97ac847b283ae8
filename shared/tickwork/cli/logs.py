"""`tickwork logs`: what the functions of the local stack have logged, for people to read."""

import heapq
import json
import os
import time
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from tickwork.cli import arguments, connect
from tickwork.cli.options import AsJson
from tickwork.errors import BadSetting
from tickwork.logs import LABELS, printable, readable

commands = typer.Typer()

LOOK_SECONDS = 0.2


@commands.command()
def logs(
    job: Annotated[
        str | None, typer.Argument(help="Only this job: its id, or the beginning of it.", metavar="JOB")
    ] = None,
    follow: Annotated[bool, typer.Option("--follow", help="Go on with what is logged from now on.")] = False,
    limit: Annotated[int, typer.Option(min=1, help="How many lines, the newest.")] = 100,
    as_json: AsJson = False,
) -> None:
    """Show the logs of the local stack, or those of one job."""
    folder = connect.stack_home() / "logs"
    if not folder.is_dir():
        raise BadSetting(f"no local stack has run in {connect.stack_home()}. Start one with `tickwork up`.")
    digits = None if job is None else arguments.digits_of_id(job, "JOB", "job")
    files = Files(folder)
    show(deque(wanted(heapq.merge(*files.new_lines(), key=lambda line: line.at), digits), limit), as_json)
    with suppress(KeyboardInterrupt):
        while follow:
            time.sleep(LOOK_SECONDS)
            for lines in files.new_lines():
                show(wanted(lines, digits), as_json)


@dataclass(frozen=True)
class Line:
    """What was logged, or printed by something else, which has no fields and the time of the line before it."""

    at: str
    family: str
    text: str
    fields: dict[str, Any] | None


class Files:
    """The log files of a stack, and how far they have been read."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read: dict[Path, int] = {}

    def new_lines(self) -> list[Iterator[Line]]:
        """Of each file what has been added since the last time."""
        return [lines_of(file.stem, self._new_text(file)) for file in sorted(self._folder.glob("*.log"))]

    def _new_text(self, file: Path) -> str:
        begin = self._read.get(file, 0)
        with file.open("rb") as stream:
            # A stack that was reset has begun a new file.
            begin = begin if begin <= stream.seek(0, os.SEEK_END) else 0
            stream.seek(begin)
            # A line that has no end yet is read when it has one.
            lines, end, _ = stream.read().rpartition(b"\n")
        self._read[file] = begin + len(lines) + len(end)
        return lines.decode(errors="replace")


def lines_of(family: str, text: str) -> Iterator[Line]:
    at = ""
    for line in text.splitlines():
        fields = parsed(line)
        at = fields["time"] if fields else at
        yield Line(at, family, line, fields)


def parsed(line: str) -> dict[str, Any] | None:
    """The fields of a line of ours; None for what gunicorn, or a handler, has printed."""
    try:
        fields = json.loads(line)
    except ValueError:
        return None
    return fields if isinstance(fields, dict) and {"time", "severity", "message"} <= fields.keys() else None


def wanted(lines: Iterable[Line], digits: str | None) -> Iterator[Line]:
    """All lines, or those of the job whose id begins with these digits."""
    for line in lines:
        if digits is None or job_of(line.fields or {}).replace("-", "").startswith(digits):
            yield line


def job_of(fields: dict[str, Any]) -> str:
    return str(fields.get(LABELS, {}).get("job_id", ""))


def show(lines: Iterable[Line], as_json: bool) -> None:
    for line in lines:
        if not as_json:
            words = readable({"family": line.family, **line.fields}) if line.fields else f"  {printable(line.text)}"
            print(words, flush=True)
        elif line.fields:
            print(line.text, flush=True)
