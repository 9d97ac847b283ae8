"""How much CPU time the steps to a passport take."""

import csv
import io
import json
import time
from collections.abc import Callable
from functools import partial

from tickwork.passports.found import checked
from tickwork.passports.reading import read_json
from tickwork.passports.shapes import facts_of_json
from tickwork.passports.sheets import rows_of_csv
from tickwork.passports.tables import facts_of_rows
from tickwork_bench.measure import Bench, Measurement, Result, Target, interleaved, median_figure

ROWS = 10_000
HEAD = ("name", "cas", "mass", "unit", "location", "is_critical", "recycled_pre_consumer", "recycled_post_consumer")


def run(bench: Bench) -> Result:
    runs = {
        "10,000 rows of CSV into facts": partial(milliseconds_of, partial(parse_table, table())),
        "10,000 facts of JSON": partial(milliseconds_of, partial(parse_json, document())),
    }
    samples = interleaved(bench, runs, bench.size(5, 2))
    figures = [median_figure(name, each, "ms") for name, each in samples.items()]
    return Result(figures, [Target(name, at_most=2_000) for name in runs])


def milliseconds_of(work: Callable[[], object]) -> float:
    """Of this process, whatever else the machine does."""
    began = time.process_time()
    work()
    return (time.process_time() - began) * 1_000


def parse_table(data: bytes) -> None:
    checked(facts_of_rows(rows_of_csv(data), "bom", "1", {}))


def parse_json(data: bytes) -> None:
    checked(facts_of_json(read_json(data), "1"))


def table() -> bytes:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(HEAD)
    writer.writerows((f"Material {n}", "7439-93-2", n * 0.25, "g", "Cathode", "yes", 12.5, 3.25) for n in range(ROWS))
    return text.getvalue().encode()


def document() -> bytes:
    payloads = ({"name": f"Material {n}", "mass": n * 0.25, "unit": "KGM", "cas": "7439-93-2"} for n in range(ROWS))
    facts = [{"fact_type": "material", "fact_key": each["name"], "payload": each} for each in payloads]
    return json.dumps({"type": "BPC-FACTS-1", "schema_version": "1", "facts": facts}).encode()


PASSPORTS = Measurement("passports", "the CPU time of the steps to a passport", run)
