"""How good the classifier is: accuracy by type, confusions, and whether its confidence is calibrated.

`tickwork classifier [FOLDER]` prints it.
"""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tickwork.tools.classifier.model import Classification, DocumentType, classify
from tickwork.tools.classifier.words import TITLE, Piece, words_of

HELD_OUT = Path(__file__).parents[4] / "tests/families/classify/held_out"
TYPES_FILE = "20261116002310_known_document_types.sql"
BINS = 10
# A line this long that is no sentence goes on in the next one.
MIN_WRAPPED = 80
MAX_TITLE_WORDS = 10
ENDINGS = (".", ",", ";", ":", "!", "?")


@dataclass(frozen=True)
class Sample:
    """A document of a corpus, and its true type."""

    doc_type: str
    name: str
    text: str


@dataclass(frozen=True)
class Verdict:
    sample: Sample
    answer: Classification

    @property
    def is_right(self) -> bool:
        return self.answer.doc_type == self.sample.doc_type


@dataclass(frozen=True)
class Bin:
    """The results with about the same confidence, and how many of them were right."""

    answers: int
    confidence: float
    accuracy: float


def read_corpus(corpus: Path) -> list[Sample]:
    """One file for each type; `=== name` begins a document."""
    return [
        Sample(file.stem, *(part.strip() for part in document.split("\n", 1)))
        for file in sorted(corpus.glob("*.txt"))
        for document in ("\n" + file.read_text()).split("\n=== ")[1:]
    ]


def shipped_types(migrations: Path) -> list[DocumentType]:
    """The types that every tenant has, as the migration inserts them."""
    rows = json.loads((migrations / TYPES_FILE).read_text().split("$types$")[1])
    return [DocumentType(row["key"], row["node"], row["evidence"]) for row in rows]


def judged(samples: Iterable[Sample], types: Sequence[DocumentType]) -> list[Verdict]:
    return [Verdict(each, classify(words_of(pieces_of(each.text), each.name), types)) for each in samples]


def pieces_of(text: str) -> list[Piece]:
    """The lines of a sample as an engine would tell them apart: titles are short and no sentences."""
    lines: list[str] = []
    for line in text.splitlines():
        if lines and len(lines[-1]) >= MIN_WRAPPED and not lines[-1].endswith(ENDINGS):
            lines[-1] += f"\n{line}"
        elif line.strip():
            lines.append(line)
    return [(TITLE if is_title(line) else "NarrativeText", line) for line in lines]


def is_title(line: str) -> bool:
    return len(line.split()) <= MAX_TITLE_WORDS and not line.endswith(ENDINGS)


def accuracy(verdicts: Sequence[Verdict]) -> float:
    return sum(each.is_right for each in verdicts) / len(verdicts)


def calibration_error(verdicts: Sequence[Verdict]) -> float:
    """By how much confidence and accuracy differ on average (expected calibration error)."""
    return sum(each.answers * abs(each.confidence - each.accuracy) for each in bins(verdicts)) / len(verdicts)


def bins(verdicts: Sequence[Verdict]) -> list[Bin]:
    found = []
    for number in range(BINS):
        inside = [each for each in verdicts if min(int(each.answer.confidence * BINS), BINS - 1) == number]
        if inside:
            confidence = sum(each.answer.confidence for each in inside) / len(inside)
            found.append(Bin(len(inside), confidence, accuracy(inside)))
    return found


def report(verdicts: Sequence[Verdict]) -> list[str]:
    right = sum(each.is_right for each in verdicts)
    lines = [f"{right} of {len(verdicts)} right: accuracy {accuracy(verdicts):.1%}, "]
    lines[0] += f"expected calibration error {calibration_error(verdicts):.3f}"
    lines += ["", f"{'type':<20} {'right':>7}   taken for"]
    for doc_type in sorted({each.sample.doc_type for each in verdicts}):
        own = [each for each in verdicts if each.sample.doc_type == doc_type]
        wrong = Counter(each.answer.doc_type for each in own if not each.is_right)
        taken_for = ", ".join(f"{key} {count}" for key, count in wrong.most_common())
        lines.append(f"{doc_type:<20} {sum(each.is_right for each in own):>3}/{len(own):<3}   {taken_for}")
    lines += ["", "answers  confidence  accuracy"]
    lines += [f"{each.answers:>7}  {each.confidence:>10.2f}  {each.accuracy:>8.2f}" for each in bins(verdicts)]
    return lines
