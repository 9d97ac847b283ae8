"""The engine that reads files right here: in a process of its own, with little memory, time and trust."""

import json
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, Any, NamedTuple

from tickwork.errors import Permanent, Retryable
from tickwork.families.extract.elements import UNPRINTABLE, Element, Elements, Extracted, cleaned
from tickwork.families.extract.engines.refusals import MAX_BYTES, MAX_ELEMENTS, REFUSALS
from tickwork.logs import log
from tickwork.tools.confined.running import OVER_THE_LIMIT, TooDemanding, lines_of, running

Report = Callable[[float, str], None]

ENGINES = "tickwork.families.extract.engines"
# By mime type: the module that reads it.
READERS = {
    "application/pdf": "pdf",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "text/html": "html",
    "application/xhtml+xml": "html",
    "text/markdown": "markdown",
    "text/x-markdown": "markdown",
    "text/plain": "plain",
    "text/csv": "sheet",
    "text/tab-separated-values": "sheet",
    "message/rfc822": "mail",
}
# What a child may write: the text, its markup, and the names of its parts.
MAX_ANSWER = 100_000_000
MAX_NAME_LENGTH = 200


def extract(file: Path, mime_type: str, seconds: float, report: Report) -> Extracted:
    """All elements of a file, or Permanent with the reason why there are none.

    `report` hears how far it is, from 0 to 1, and may raise to stop it.
    """
    reader = READERS.get(mime_type.partition(";")[0].strip().lower())
    if reader is None:
        raise refused("unknown type")
    size = file.stat().st_size
    if size == 0:
        raise refused("empty")
    if size > MAX_BYTES:
        raise refused("too large")
    deadline = time.monotonic() + seconds
    with file.open("rb") as source, running_child(source, f"{ENGINES}.{reader}", seconds) as child:
        return ChildOutput(child, deadline, report).read()


def refused(reason: str) -> Permanent:
    code, message = REFUSALS.get(reason, REFUSALS["corrupt"])
    return Permanent(message, code=code)


def running_child(source: IO[bytes], module: str, seconds: float) -> AbstractContextManager[subprocess.Popen[bytes]]:
    return running(f"{ENGINES}.child", source, seconds, module)


class End(NamedTuple):
    """The last that a child says."""

    page_count: int
    left_out: tuple[str, ...]
    cut: int
    refused: object
    defect: object


class ChildOutput:
    """What a child writes, taken in as it comes and only up to a size."""

    def __init__(self, child: subprocess.Popen[bytes], deadline: float, report: Report) -> None:
        self.child = child
        self.deadline = deadline
        self.report = report
        self.elements = Elements()
        self.progress = (0.0, "reading the file")
        self.end: End | None = None

    def read(self) -> Extracted:
        self.report(*self.progress)
        for line in self._lines():
            self._take(line)
        return self._result()

    def _lines(self) -> Iterator[bytes]:
        try:
            yield from lines_of(self.child, self.deadline, MAX_ANSWER, lambda: self.report(*self.progress))
        except TooDemanding:
            raise refused("too demanding") from None

    def _take(self, line: bytes) -> None:
        # Whoever has taken over the child could say anything.
        try:
            said = json.loads(line)
            if "element" in said:
                self.elements.add(checked(said["element"]))
            elif "unconfined" in said:
                log("unconfined", "WARNING", engine="local", reason=str(said["unconfined"])[:200])
            elif "progress" in said:
                self.progress = (min(max(float(said["progress"]), 0.0), 1.0), str(said["message"])[:200])
            else:
                self.end = end_of(said)
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
            raise refused("corrupt") from None
        if len(self.elements) > MAX_ELEMENTS:
            raise refused("too much text")
        if "progress" in said:
            self.report(*self.progress)

    def _result(self) -> Extracted:
        status = self.child.wait()
        if self.end is None:
            raise self._crash(status)
        if self.end.defect:
            log("misread", "WARNING", defect=str(self.end.defect)[:200])
        if self.end.refused:
            raise refused(str(self.end.refused))
        return Extracted(self.elements, self.end.page_count, self.end.left_out, self.end.cut)

    def _crash(self, status: int) -> Permanent | Retryable:
        log("crash", "WARNING", engine="local", status=status)
        if -status in OVER_THE_LIMIT:
            return refused("too demanding")
        if -status in (signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE):
            return refused("corrupt")
        return Retryable("Reading the file was interrupted. It is tried again.", code="INTERRUPTED_ENGINE")


def end_of(said: dict[str, Any]) -> End:
    left_out = tuple(cleaned(str(name))[:MAX_NAME_LENGTH] for name in said.get("left_out", []))
    cut = min(max(int(said.get("cut", 0)), 0), MAX_BYTES)
    return End(int(said.get("page_count", 0)), left_out, cut, said.get("refused"), said.get("defect"))


def checked(element: Element) -> Element:
    """The element, if it is one that can be stored; else ValueError."""
    parts = [element["type"], element["element_id"], element["text"]]
    if not all(isinstance(each, str) for each in parts) or not isinstance(element["metadata"], dict):
        raise ValueError("no element")
    if UNPRINTABLE.search("".join(parts)):
        raise ValueError("cannot be stored")
    return element
