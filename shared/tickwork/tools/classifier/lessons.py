"""Learns from a tenant's corrections: a document tends towards the type that similar ones were corrected to."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import exp, log, sqrt

from tickwork.tools.classifier.words import HEADING, is_telling

# Kernel logistic regression on the nearest examples: few enough to fit again for each document.
NEAREST = 12
PASSES = 4
STEP = 3.0
# Documents of different types are less similar than the first, those of one type and sender more than the second.
STRANGE, ALIKE = 0.1, 0.35

# Only the beginning of a word counts: endings vary, and German words are long.
STEM = 7

Scores = Mapping[str, float]


def lessons(
    words: Sequence[str], examples: Sequence[tuple[str, Sequence[str]]], score: Callable[[Sequence[str]], Scores]
) -> dict[str, float]:
    """How much to add to, or subtract from, the evidence for each type."""
    bags = [bag_of(words)] + [bag_of(seen) for _, seen in examples]
    rarity = rarity_in(bags)
    likeness = [closeness(bags[0], bag, rarity) for bag in bags[1:]]
    nearest = sorted((at for at, close in enumerate(likeness) if close > 0), key=lambda at: -likeness[at])[:NEAREST]
    surprises = fitted(
        [examples[at][0] for at in nearest],
        [score(examples[at][1]) for at in nearest],
        [[closeness(bags[a + 1], bags[b + 1], rarity) for b in nearest] for a in nearest],
    )
    return weighed([likeness[at] for at in nearest], surprises)


def fitted(doc_types: Sequence[str], scores: Sequence[Scores], kernel: Sequence[Sequence[float]]) -> list[Scores]:
    """What each example teaches: nothing if the evidence and similar examples already agree with it."""
    surprises: list[dict[str, float]] = [{} for _ in doc_types]
    for _ in range(PASSES):
        for at, doc_type in enumerate(doc_types):
            learned = weighed(kernel[at], surprises)
            odds = {key: value + learned.get(key, 0) for key, value in scores[at].items()}
            highest = max(odds.values())
            total = sum(exp(value - highest) for value in odds.values())
            for key, value in odds.items():
                error = (key == doc_type) - exp(value - highest) / total
                surprises[at][key] = surprises[at].get(key, 0) + STEP * error
    return list(surprises)


def weighed(closeness: Sequence[float], surprises: Sequence[Scores]) -> dict[str, float]:
    total: dict[str, float] = {}
    for close, surprise in zip(closeness, surprises, strict=True):
        for key, value in surprise.items():
            total[key] = total.get(key, 0) + close * value
    return total


def bag_of(words: Sequence[str]) -> frozenset[str]:
    return frozenset(word.removeprefix(HEADING)[:STEM] for word in words if is_telling(word))


def rarity_in(bags: Sequence[frozenset[str]]) -> dict[str, float]:
    """Words that all documents of a tenant share, such as its letterhead, count little."""
    counts = Counter(word for bag in bags for word in bag)
    return {word: log(1 + len(bags) / count) for word, count in counts.items()}


def closeness(one: frozenset[str], other: frozenset[str], rarity: Mapping[str, float]) -> float:
    """0 for unrelated documents, 1 for documents of one type."""
    shared = sum(rarity[word] for word in one & other)
    whole = sqrt(sum(rarity[word] for word in one) * sum(rarity[word] for word in other))
    cosine = shared / whole if whole else 0.0
    return min(max((cosine - STRANGE) / (ALIKE - STRANGE), 0.0), 1.0)
