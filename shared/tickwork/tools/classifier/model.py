"""Adds up the evidence for each type, adjusts it by the tenant's corrections, and turns it into a probability."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp

from tickwork.tools.classifier.lessons import lessons
from tickwork.tools.classifier.words import HEADING, folded

OTHER = "other"
# Below this, a guess does more harm than no guess.
THRESHOLD = 0.5
# This share of all documents is not what it looks like: confidence never exceeds the rest.
DOUBT = 0.02
MAX_REASONS = 5
# In characters. A document says early what it is; further down it is about other things.
OPENING = 300


@dataclass(frozen=True)
class DocumentType:
    """`evidence` has words and phrases with their weights for the type (> 0) or against it, in nats.

    `mietvertr` matches all words that begin with it, `*vertrag` all that contain it, `^rechnung` those in headings and
    the file name, and `*` alone every document. Three letters or fewer match only themselves.
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
    """`confidence` is the probability that `doc_type` is right. `reasons` are words, the strongest first."""

    doc_type: str
    confidence: float
    suggested_node: str | None
    reasons: tuple[str, ...]


def classify(words: Sequence[str], types: Sequence[DocumentType], examples: Sequence[Example] = ()) -> Classification:
    """The most probable type; `other` if none reaches the threshold."""
    nodes = {type.key: type.node for type in types}
    known = [(each.doc_type, each.words) for each in examples if each.doc_type in nodes]
    learned = lessons(words, known, lambda seen: scores(seen, types))
    shares = doubted(probabilities(added(scores(words, types), learned)))
    best = max(shares, key=lambda key: shares[key], default=OTHER)
    chosen = best if shares.get(best, 0) >= THRESHOLD else OTHER
    return Classification(
        chosen,
        shares.get(chosen, 0),
        nodes.get(chosen),
        tuple(reasons(words, types, chosen)) if chosen != OTHER else (),
    )


def scores(words: Sequence[str], types: Sequence[DocumentType]) -> dict[str, float]:
    """The evidence for each type, in nats."""
    text, headings = haystacks(words)
    return {
        type.key: sum(weight * loudness(term, text, headings) for term, weight in type.evidence.items())
        for type in types
    }


def haystacks(words: Sequence[str]) -> tuple[str, str]:
    """All words, and those of headings alone, ready for `loudness`."""
    text = " ".join(word.removeprefix(HEADING) for word in words)
    headings = " ".join(word[len(HEADING) :] if word.startswith(HEADING) else "|" * len(word) for word in words)
    return f" {text} ", f" {headings} "


def loudness(term: str, text: str, headings: str) -> float:
    """1 for words at the beginning of the document, less for later ones, 0 for those that do not occur."""
    in_heading, needle = needle_of(term)
    at = (headings if in_heading else text).find(needle)
    return 0.0 if at < 0 else min(1.0, OPENING / (at + 1))


@lru_cache(maxsize=20_000)
def needle_of(term: str) -> tuple[bool, str]:
    in_heading = term.startswith(HEADING)
    is_inside = term.removeprefix(HEADING).startswith("*")
    needle = " ".join(folded(term.strip(HEADING + "*")))
    # Too short to match longer words that begin with it.
    ending = " " if 0 < len(needle) <= 3 else ""
    return in_heading, needle if is_inside else f" {needle}{ending}"


def added(one: Mapping[str, float], other: Mapping[str, float]) -> dict[str, float]:
    return {key: value + other.get(key, 0) for key, value in one.items()}


def probabilities(scores: Mapping[str, float]) -> dict[str, float]:
    highest = max(scores.values(), default=0)
    odds = {key: exp(value - highest) for key, value in scores.items()}
    total = sum(odds.values())
    return {key: value / total for key, value in odds.items()}


def doubted(shares: Mapping[str, float]) -> dict[str, float]:
    return {key: share * (1 - DOUBT) + DOUBT / len(shares) for key, share in shares.items()}


def reasons(words: Sequence[str], types: Iterable[DocumentType], chosen: str) -> list[str]:
    text, headings = haystacks(words)
    evidence = next(type.evidence for type in types if type.key == chosen)
    found = {term: weight * loudness(term, text, headings) for term, weight in evidence.items()}
    strongest = sorted((term for term in found if found[term] > 0), key=lambda term: -found[term])
    shown = (term.strip(HEADING + "*") for term in strongest)
    return list(dict.fromkeys(filter(None, shown)))[:MAX_REASONS]
