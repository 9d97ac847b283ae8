"""Computes the weights of the evidence from the training texts, and writes them into the migration.

    python infra/classifier/train.py            cross-validates, then writes
    python infra/classifier/train.py --check    cross-validates only

Multinomial logistic regression around what people wrote into evidence.toml: a weight stays as it was written unless the
training texts say otherwise. The temperature is chosen by cross-validation, so that confidence is calibrated.
"""

import json
import random
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, log
from pathlib import Path
from typing import Any

from tickwork.families.classify.evaluate import TYPES_FILE, Sample, read_corpus
from tickwork.families.classify.model import OTHER, haystacks, loudness, probabilities
from tickwork.families.classify.words import words_of
from tickwork.shipped import MIGRATIONS

HERE = Path(__file__).parent
LEVELS = {"strong": 2.5, "fair": 1.2, "weak": 0.5, "against": -1.0}
# How firmly a written weight, and the absence of one, stands against the training texts.
WRITTEN, UNWRITTEN = 1.0, 3.0
FOLDS = 6
# The training texts were written by those who wrote the evidence; a stranger's says less of what we listen for.
UNHEARD = 0.5
ROUNDS = 60
RATE = 0.15
# What is closer to nothing is left out.
SMALLEST = 0.15

Weights = dict[str, dict[str, float]]  # term -> type -> weight


@dataclass(frozen=True)
class Seen:
    """A training text, reduced to the terms that speak in it, and how loudly."""

    doc_type: str
    terms: Mapping[str, float]


def main() -> None:
    written = tomllib.loads((HERE / "evidence.toml").read_text())
    samples = read_corpus(HERE / "training")
    prior = prior_of(written)
    documents = seen(samples, prior)
    temperature = cross_validated(documents, prior)
    if "--check" not in sys.argv:
        write(written, trained(documents, prior), temperature)


def prior_of(written: Mapping[str, Any]) -> Weights:
    prior: Weights = defaultdict(dict)
    for doc_type, row in written.items():
        for level, weight in LEVELS.items():
            for term in row[level]:
                prior[term][doc_type] = weight
                # In a heading it says more.
                if weight > LEVELS["weak"] and not term.startswith("^"):
                    prior["^" + term][doc_type] = weight / 2
    prior["*"] = {OTHER: 2.0}
    return dict(prior)


def seen(samples: Sequence[Sample], prior: Weights) -> list[Seen]:
    documents = []
    for sample in samples:
        text, headings = haystacks(words_of(sample.text, sample.name))
        heard = {term: loudness(term, text, headings) for term in prior}
        documents.append(Seen(sample.doc_type, {term: loud for term, loud in heard.items() if loud}))
    return documents


def thinned(document: Seen) -> Seen:
    """The document as a stranger might have worded it; always in the same way."""
    chance = random.Random(" ".join(document.terms))
    unheard = {term.strip("^") for term in document.terms if term != "*" and chance.random() < UNHEARD}
    heard = {term: loud for term, loud in document.terms.items() if term.strip("^") not in unheard}
    return Seen(document.doc_type, heard)


def trained(documents: Sequence[Seen], prior: Weights) -> Weights:
    types = sorted({doc_type for row in prior.values() for doc_type in row})
    weights = {term: {key: row.get(key, 0.0) for key in types} for term, row in prior.items()}
    documents = [*documents, *map(thinned, documents)]
    used = {term for document in documents for term in document.terms}
    for _ in range(ROUNDS):
        slopes: dict[str, dict[str, float]] = {term: dict.fromkeys(types, 0.0) for term in used}
        for document in documents:
            shares = probabilities(scored(document, weights, types))
            for key in types:
                error = (key == document.doc_type) - shares[key]
                for term, loud in document.terms.items():
                    slopes[term][key] += error * loud
        for term in used:
            for key in types:
                meant = prior[term].get(key)
                pull = WRITTEN * (meant - weights[term][key]) if meant is not None else -UNWRITTEN * weights[term][key]
                weights[term][key] += RATE * (slopes[term][key] + pull) / (1 + WRITTEN)
    return weights


def scored(document: Seen, weights: Weights, types: Sequence[str]) -> dict[str, float]:
    return {key: sum(weights[term].get(key, 0.0) * loud for term, loud in document.terms.items()) for key in types}


def cross_validated(documents: Sequence[Seen], prior: Weights) -> float:
    """Print how good the weights are on texts that they were not computed from, and return the best temperature."""
    unseen: list[tuple[str, dict[str, float]]] = []
    types = sorted({doc_type for row in prior.values() for doc_type in row})
    for fold in range(FOLDS):
        weights = trained([each for at, each in enumerate(documents) if at % FOLDS != fold], prior)
        held = [thinned(each) for at, each in enumerate(documents) if at % FOLDS == fold]
        unseen += [(each.doc_type, scored(each, weights, types)) for each in held]
    temperature = min((step / 20 for step in range(10, 80)), key=lambda each: surprise(unseen, each))
    right = sum(max(scores, key=lambda key: scores[key]) == doc_type for doc_type, scores in unseen)
    wrong = Counter(
        (doc_type, best)
        for doc_type, scores in unseen
        if (best := max(scores, key=lambda key: scores[key])) != doc_type
    )
    print(
        f"{right} of {len(unseen)} right, temperature {temperature:.2f}, surprise {surprise(unseen, temperature):.3f}"
    )
    print(", ".join(f"{doc_type} for {best} {count}" for (doc_type, best), count in wrong.most_common()))
    return temperature


def surprise(unseen: Sequence[tuple[str, Mapping[str, float]]], temperature: float) -> float:
    total = 0.0
    for doc_type, scores in unseen:
        shares = probabilities({key: value / temperature for key, value in scores.items()})
        total -= log(max(shares[doc_type], exp(-50)))
    return total / len(unseen)


def write(written: Mapping[str, Any], weights: Weights, temperature: float) -> None:
    migration = MIGRATIONS / TYPES_FILE
    before, _, after = migration.read_text().split("$types$")
    rows = []
    for key, row in written.items():
        evidence = {term: round(row_of[key] / temperature, 2) for term, row_of in weights.items()}
        kept = {term: weight for term, weight in evidence.items() if abs(weight) >= SMALLEST}
        ordered = dict(sorted(kept.items(), key=lambda item: (-item[1], item[0])))
        rows.append({name: row[name] for name in ("label", "label_en", "node")} | {"key": key, "evidence": ordered})
    migration.write_text("$types$".join([before, "\n" + as_json(rows) + "\n", after]))


def as_json(rows: Sequence[Mapping[str, Any]]) -> str:
    """Two lines for each type, and its evidence in lines of a readable length."""
    blocks = []
    for row in rows:
        shown = ("label", "label_en", "node")
        head = ", ".join(f'"{name}": {json.dumps(row[name], ensure_ascii=False)}' for name in shown)
        blocks.append(f'{{{head},\n  "key": "{row["key"]}", "evidence": {{\n{wrapped(row["evidence"])}\n}}}}')
    return "[" + ",\n".join(blocks) + "]"


def wrapped(evidence: Mapping[str, float]) -> str:
    lines = [""]
    for term, weight in evidence.items():
        entry = f"{json.dumps(term, ensure_ascii=False)}: {weight:g}, "
        if len(lines[-1]) + len(entry) > 118:
            lines.append("")
        lines[-1] += entry
    return "\n".join("  " + line.rstrip() for line in lines).removesuffix(",")


if __name__ == "__main__":
    main()
