"""What engines read out of a file: elements, in the shape that the Unstructured API answers."""

import hashlib
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

# What Postgres cannot store or no font shows: control characters but tab and line feed, lone surrogates.
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


@dataclass(frozen=True)
class Extracted:
    """All that an engine found in one file, in reading order."""

    elements: Sequence[Element]
    page_count: int


def element(type: str, text: str, position: int, **metadata: object) -> Element:
    """One element; its id is the same each time the same file is read."""
    text = cleaned(text)
    digest = hashlib.sha256(f"{position}\n{type}\n{text}".encode()).hexdigest()
    known: Metadata = {name: value for name, value in metadata.items() if value is not None}  # type: ignore[assignment]
    return {"type": type, "element_id": digest[:32], "text": text, "metadata": known}


def cleaned(text: str) -> str:
    """As people type it: letters with their dots, no ligatures, no soft hyphens, nothing that cannot be stored."""
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
