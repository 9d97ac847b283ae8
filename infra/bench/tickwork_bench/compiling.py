"""How long the compiler of battery passports takes: facts and rules in, payload, proof and receipt out."""

import resource
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from statistics import median
from typing import Any
from uuid import UUID

from tickwork.passports.compiler import Inputs, compile_passport
from tickwork.passports.fact import Fact
from tickwork.passports.rules.rules import read_rules
from tickwork_bench.measure import Bench, Figure, Measurement, Result, Target

ROUNDS = 5
MATERIAL = {"type": "object", "properties": {"name": {"type": "string"}, "mass": {"type": "number"}}}


def run(bench: Bench) -> Result:
    many = bench.size(10_000, 1_000)
    bench.say(f"{many} facts")
    facts = cpu_ms(lambda: inputs(materials(many), []))
    bench.say("400 attributes")
    attributes = cpu_ms(lambda: inputs(values(400), [f"a.b{number}" for number in range(400)]))
    figures = [
        Figure(f"{many} facts, CPU", median(facts), "ms", samples=facts),
        Figure("400 attributes, CPU", median(attributes), "ms", samples=attributes),
        Figure("memory of the process", float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss), "kB"),
    ]
    targets = [Target(f"{many} facts, CPU", at_most=1_500), Target("400 attributes, CPU", at_most=100)]
    return Result(figures, targets)


def cpu_ms(made: Callable[[], Inputs]) -> list[float]:
    """Of new facts in each round: a fact computes its hash once."""
    found = []
    for _ in range(ROUNDS):
        given = made()
        began = time.process_time()
        compile_passport(given)
        found.append((time.process_time() - began) * 1_000)
    return found


def inputs(facts: Sequence[Fact], paths: Sequence[str]) -> Inputs:
    rules: Mapping[str, Any] = {
        "facts": {"material": MATERIAL},
        "attributes": [
            {"path": "materials.mass", "access": "public", "schema": {"type": "number"}, "value": "sum.material.mass"},
            *({"path": path, "access": "restricted", "schema": {"type": "number"}} for path in paths),
        ],
    }
    return Inputs(
        passport_id=UUID(int=1),
        battery_identifier="battery",
        model="model",
        category="ev",
        issuer="issuer",
        issued_at=datetime(2027, 2, 18, tzinfo=UTC),
        snapshot_id=UUID(int=2),
        facts=facts,
        rule_package="bench",
        rule_package_version="1",
        rules=read_rules(rules),
        rule_tests=None,
        salt_key=bytes(32),
        previous_receipt_hash=None,
        compiler_build_id="bench",
    )


def materials(many: int) -> list[Fact]:
    return [
        Fact("material", f"material number {number}", "1", {"name": f"material number {number}", "mass": number / 7})
        for number in range(many)
    ]


def values(many: int) -> list[Fact]:
    return [Fact("attribute", f"a.b{number}", "1", {"value": number / 7}) for number in range(many)]


COMPILING = Measurement("compiling", "how long a battery passport takes to compile", run)
