"""Adds up the evidence for each type, adjusts it by the tenant's corrections, and turns it into a probability."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp
from typing import NamedTuple

from tickwork.tools.classifier.lessons import lessons
from tickwork.tools.classifier.words import HEADING, folded, is_telling

OTHER = "other"
# Below this, a guess does more harm than no guess.
THRESHOLD = 0.5
# This share of all documents is not what it looks like, and less of those whose type is clear: a third of it where the
# first type is that many nats ahead of the second.
DOUBT, CLEAR = 0.04, 25.0
MAX_REASONS = 5
# In characters. A document says early what it is; further down it is about other things.
OPENING = 300
FADING = 1.25


@dataclass(frozen=True)
class DocumentType:
    """`evidence` has words and phrases with their weights for the type (> 0) or against it, in nats.

    `mietvertr` matches all words that begin with it, `*vertrag` all that contain it, `^rechnung` those in headings and
    the file name, and `*` alone every document. A word of three letters or fewer at the end matches only itself.
    """

    key: str
    node: str | None
    evidence: Mapping[str, float]


@dataclass(frozen=True)
class Example:
    """A document whose type was set by a member of the tenant."""

    doc_type: str
    words: Sequence[str]


@dataclass(frozen=True)
class Classification:
    """`confidence` is the probability that `doc_type` is right, `runner_up` the next best type with its own.

    If no type is probable enough, that may be more than for `other`. `reasons` are words, the strongest first.
    """

    doc_type: str
    confidence: float
    suggested_node: str | None
    reasons: tuple[str, ...]
    runner_up: tuple[str, float] | None = None


def classify(words: Sequence[str], types: Sequence[DocumentType], examples: Sequence[Example] = ()) -> Classification:
    """The most probable type; `other` if none reaches the threshold."""
    nodes = {type.key: type.node for type in types}
    known = [(each.doc_type, each.words) for each in examples if each.doc_type in nodes]
    learned = lessons(words, known, lambda seen: scores(seen, types))
    shares = doubted(added(scores(words, types), learned))
    best = max(shares, key=lambda key: shares[key], default=OTHER)
    chosen = best if shares.get(best, 0) >= THRESHOLD else OTHER
    return Classification(
        chosen,
        shares.get(chosen, 0),
        nodes.get(chosen),
        tuple(reasons(words, types, chosen)) if chosen != OTHER else (),
        max(((key, share) for key, share in shares.items() if key != chosen), key=lambda each: each[1], default=None),
    )


def scores(words: Sequence[str], types: Sequence[DocumentType]) -> dict[str, float]:
    """The evidence for each type, in nats."""
    haystack = haystack_of(words)
    return {
        type.key: sum(weight * loudness(term, haystack) for term, weight in type.evidence.items()) for type in types
    }


class Haystack(NamedTuple):
    """All words and those of headings alone, twice: as they are written, and without those that every letter has."""

    written: tuple[str, str]
    telling: tuple[str, str]


def haystack_of(words: Sequence[str]) -> Haystack:
    return Haystack(joined(words), joined([word for word in words if is_telling(word)]))


def joined(words: Sequence[str]) -> tuple[str, str]:
    text = " ".join(word.removeprefix(HEADING) for word in words)
    headings = " ".join(word[len(HEADING) :] if word.startswith(HEADING) else "|" * len(word) for word in words)
    return f" {text} ", f" {headings} "


def loudness(term: str, haystack: Haystack) -> float:
    """1 for words at the beginning of the document, less for later ones, 0 for those that do not occur."""
    needle = needle_of(term)
    texts = haystack.written if needle.is_written else haystack.telling
    at = texts[needle.in_heading].find(needle.text)
    if needle.is_written:
        # As far as it would be among the telling words.
        at = at * len(haystack.telling[0]) // len(haystack.written[0])
    return 0.0 if at < 0 else min(1.0, (OPENING / (at + 1)) ** FADING)


class Needle(NamedTuple):
    """What to look for; a phrase with words that every letter has is looked for as it is written."""

    in_heading: bool
    is_written: bool
    text: str


@lru_cache(maxsize=20_000)
def needle_of(term: str) -> Needle:
    words = folded(term.strip(HEADING + "*"))
    is_inside = term.removeprefix(HEADING).startswith("*")
    # Too short to match longer words that begin with it.
    ending = " " if words and len(words[-1]) <= 3 else ""
    text = ("" if is_inside else " ") + " ".join(words) + ending
    return Needle(term.startswith(HEADING), not all(map(is_telling, words)), text)


def added(one: Mapping[str, float], other: Mapping[str, float]) -> dict[str, float]:
    return {key: value + other.get(key, 0) for key, value in one.items()}


def probabilities(scores: Mapping[str, float]) -> dict[str, float]:
    highest = max(scores.values(), default=0)
    odds = {key: exp(value - highest) for key, value in scores.items()}
    total = sum(odds.values())
    return {key: value / total for key, value in odds.items()}


def doubted(scores: Mapping[str, float]) -> dict[str, float]:
    """Probabilities that are never certain."""
    first, second, *_ = [*sorted(scores.values(), reverse=True), 0.0, 0.0]
    doubt = DOUBT * exp((second - first) / CLEAR)
    return {key: share * (1 - doubt) + doubt / len(scores) for key, share in probabilities(scores).items()}


def reasons(words: Sequence[str], types: Iterable[DocumentType], chosen: str) -> list[str]:
    haystack = haystack_of(words)
    evidence = next(type.evidence for type in types if type.key == chosen)
    found = {term: weight * loudness(term, haystack) for term, weight in evidence.items()}
    strongest = sorted((term for term in found if found[term] > 0), key=lambda term: -found[term])
    shown = (term.strip(HEADING + "*") for term in strongest)
    return list(dict.fromkeys(filter(None, shown)))[:MAX_REASONS]
