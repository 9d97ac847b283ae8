"""What engines extract from a file: elements, in the format of the Unstructured API."""

import hashlib
import json
import re
import unicodedata
import weakref
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from tempfile import SpooledTemporaryFile
from typing import TypedDict

# What Postgres cannot store or no font shows: control characters except tab and line feed, lone surrogates.
UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
LIGATURE = re.compile("[\ufb00-\ufb06]")
# No letter has more marks than Unicode's stream-safe text allows, and sorting a longer row of them takes its square.
MAX_MARKS = 30
PERHAPS_MARKS = re.compile(rf"[^\w\s!-~]{{{MAX_MARKS + 1},}}")


class Metadata(TypedDict, total=False):
    page_number: int
    parent_id: str
    text_as_html: str
    category_depth: int
    filetype: str
    languages: list[str]


class Element(TypedDict):
    type: str
    element_id: str
    text: str
    metadata: Metadata


# Few documents have more, and those that do are kept on disk.
IN_MEMORY = 1_000_000


class Elements:
    """Elements in reading order, as lines of JSON: a few megabytes of text would be hundreds as objects of Python."""

    def __init__(self, elements: Iterable[Element] = ()) -> None:
        self._file = SpooledTemporaryFile(IN_MEMORY, prefix="tickwork-")  # noqa: SIM115 (closed with this object)
        weakref.finalize(self, self._file.close)
        self._count = 0
        for each in elements:
            self.add(each)

    def add(self, element: Element) -> None:
        self._file.write(json.dumps(element, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
        self._count += 1

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Element]:
        return map(json.loads, self._lines())

    def as_json(self) -> Iterator[bytes]:
        """A list of all of them, piece by piece."""
        before = b"["
        for line in self._lines():
            yield before + line.rstrip(b"\n")
            before = b","
        yield b"]" if self else b"[]"

    def _lines(self) -> Iterator[bytes]:
        self._file.seek(0)
        # Not from the file itself, which would be closed with a reader that stops early.
        yield from iter(self._file.readline, b"")


@dataclass(frozen=True)
class Extracted:
    """Everything that an engine found in a file, in reading order, and what of it was not read.

    `left_out` are the names of attached files, `cut` is the number of characters.
    """

    elements: Elements
    page_count: int
    left_out: tuple[str, ...] = ()
    cut: int = 0


def element(type: str, text: str, position: int, **metadata: object) -> Element:
    """One element; its id is the same every time the same file is extracted."""
    text = cleaned(text)
    digest = hashlib.sha256(f"{position}\n{type}\n{text}".encode()).hexdigest()
    known: Metadata = {name: value for name, value in metadata.items() if value is not None}  # type: ignore[assignment]
    return {"type": type, "element_id": digest[:32], "text": text, "metadata": known}


def cleaned(text: str) -> str:
    """As people type it: composed letters, no ligatures, no soft hyphens, nothing that cannot be stored."""
    if text.isascii() and text.isprintable():
        return text.strip()
    text = unicodedata.normalize("NFC", PERHAPS_MARKS.sub(_fewer_marks, text))
    text = LIGATURE.sub(lambda found: unicodedata.normalize("NFKC", found[0]), text)
    return UNPRINTABLE.sub("", text.replace("\r\n", "\n").replace("\r", "\n").replace("\xad", "")).strip()


def _fewer_marks(found: re.Match[str]) -> str:
    kept: list[str] = []
    marks = 0
    for sign in found[0]:
        marks = marks + 1 if unicodedata.combining(sign) else 0
        if marks <= MAX_MARKS:
            kept.append(sign)
    return "".join(kept)
