"""How much CPU time the steps to a passport take, and how many a minute go through the queue."""

import json
import resource
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import UUID

from tickwork.passports.compiler import Inputs, compile_passport
from tickwork.passports.exports.evidence import evidence
from tickwork.passports.exports.export import Wanted, export
from tickwork.passports.found import checked
from tickwork.passports.qr import PassportQr
from tickwork.passports.reading import read_json
from tickwork.passports.rules.default import default_rules, default_tests
from tickwork.passports.rules.rules import read_rules
from tickwork.passports.rules.runner import run_tests
from tickwork.passports.shapes import facts_of_json
from tickwork.passports.sheets import rows_of_csv
from tickwork.passports.tables import facts_of_rows
from tickwork_bench import passport_inputs as samples
from tickwork_bench.measure import Bench, Figure, Measurement, Result, Target, interleaved, median_figure, seconds_of
from tickwork_bench.passport_queue import through_the_queue
from tickwork_bench.processes import Line, process

Milliseconds = Callable[[], float]
FACTS, RULES, VERIFY = "10,000 facts compiled", "tests of the default rules", "tickwork passport verify"
MEMORY, CLOCK = "memory of the process that compiles 10,000 facts", f"{VERIFY}, on the clock"
# In milliseconds of CPU time.
TARGETS = {
    "10,000 rows of CSV into facts": 2_000,
    "10,000 facts of JSON": 2_000,
    FACTS: 1_500,
    "a passport of 400 attributes": 100,
    RULES: 2_000,
    "QR code": 100,
    "PDF": 500,
    VERIFY: 300,
}


def run(bench: Bench) -> Result:
    with TemporaryDirectory() as folder:
        file = Path(folder, "passport.json")
        file.write_bytes(evidence(samples.signed(), "owner"))
        found = interleaved(bench, {**steps(file), CLOCK: partial(clock_of, partial(verify, file))}, bench.size(5, 2))
    bench.say("memory")
    queue, queue_targets = through_the_queue(bench)
    figures = [median_figure(name, each, "ms") for name, each in found.items()]
    targets = [Target(name, at_most=most) for name, most in TARGETS.items()]
    return Result(
        [*figures, Figure(MEMORY, peak_of(compile_many), "kB"), *queue],
        [*targets, Target(MEMORY, at_most=200_000), *queue_targets],
    )


def steps(file: Path) -> dict[str, Milliseconds]:
    table, document, signed = samples.table(), samples.document(), samples.signed()
    qr = PassportQr(UUID(int=1), bytes(32), bytes(32), bytes(32))
    works: list[Milliseconds] = [
        partial(cpu_of, lambda: checked(facts_of_rows(rows_of_csv(table), "bom", "1", {}))),
        partial(cpu_of, lambda: checked(facts_of_json(read_json(document), "1"))),
        partial(cpu_to_compile, samples.of_many_facts),
        partial(cpu_to_compile, samples.of_many_attributes),
        partial(cpu_of, lambda: run_tests(read_rules(default_rules()), default_tests(), 4711)),
        partial(cpu_of, qr.png),
        partial(cpu_of, lambda: export(signed, None, Wanted("pdf", "standard", "public"))),
        partial(cpu_of, partial(verify, file)),
    ]
    return dict(zip(TARGETS, works, strict=True))


def cpu_to_compile(made: Callable[[], Inputs]) -> float:
    return cpu_of(partial(compile_passport, made()))


def cpu_of(work: Callable[[], object]) -> float:
    """Of this process and of those that it starts and waits for, whatever else the machine does."""
    began = cpu_seconds()
    work()
    return (cpu_seconds() - began) * 1_000


def cpu_seconds() -> float:
    usages = (resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in usages)


def clock_of(work: Callable[[], object]) -> float:
    return seconds_of(work) * 1_000


def verify(file: Path) -> None:
    command = [sys.executable, "-m", "tickwork.cli", "passport", "verify", str(file), "--key", samples.KEY.id]
    # On a day when the passport has been issued.
    ended = subprocess.run([*command, "--as-of", "2099-01-01T00:00:00Z", "--json"], capture_output=True, check=True)
    assert json.loads(ended.stdout)["is_valid"]


def peak_of(work: Callable[[Line], None]) -> float:
    """In kB, of a process that does nothing else."""
    with process(work) as line:
        return float(line.recv())


def compile_many(line: Line) -> None:
    compile_passport(samples.of_many_facts())
    status = Path("/proc/self/status").read_text()
    line.send(next(entry.split()[1] for entry in status.splitlines() if entry.startswith("VmHWM")))


PASSPORTS = Measurement("passports", "the steps to a passport, and how many a minute go through the queue", run)
