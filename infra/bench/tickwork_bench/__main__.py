"""The command line: measures, shows a table, and leaves JSON and pictures behind."""

import os
import sys
import time
from argparse import ArgumentParser, Namespace
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from tickwork_bench.api import API
from tickwork_bench.bloat import BLOAT
from tickwork_bench.chunks import CHUNKS
from tickwork_bench.claim_cost import CLAIM_COST
from tickwork_bench.cold_start import COLD_START
from tickwork_bench.concurrency import CONCURRENCY
from tickwork_bench.console import CONSOLE
from tickwork_bench.contention import CONTENTION
from tickwork_bench.core import CORE
from tickwork_bench.drain import DRAIN
from tickwork_bench.enqueue import ENQUEUE
from tickwork_bench.fair_claim import FAIR_CLAIM
from tickwork_bench.fairness import FAIRNESS
from tickwork_bench.figures import FIGURES
from tickwork_bench.held_snapshot import HELD_SNAPSHOT
from tickwork_bench.invoke import INVOKE
from tickwork_bench.latency import LATENCY
from tickwork_bench.measure import Bench, Measurement, Result
from tickwork_bench.pages import PAGES_READ
from tickwork_bench.passports import PASSPORTS
from tickwork_bench.picture import draw
from tickwork_bench.place import running_place
from tickwork_bench.report import save, show
from tickwork_bench.schedules import SCHEDULES
from tickwork_bench.search import SEARCH_TIME
from tickwork_bench.wake_ups import WAKE_UPS
from tickwork_bench.worker_python import WORKER_PYTHON
from tickwork_local.stack import stopped_by_signals

MEASUREMENTS = (
    DRAIN,
    ENQUEUE,
    CORE,
    WORKER_PYTHON,
    HELD_SNAPSHOT,
    LATENCY,
    WAKE_UPS,
    CONCURRENCY,
    CLAIM_COST,
    FAIR_CLAIM,
    CONTENTION,
    BLOAT,
    FAIRNESS,
    SCHEDULES,
    FIGURES,
    CONSOLE,
    INVOKE,
    COLD_START,
    API,
    PAGES_READ,
    CHUNKS,
    SEARCH_TIME,
    PASSPORTS,
)


def main() -> None:
    options = parsed()
    console = Console()
    if options.list:
        for each in MEASUREMENTS:
            console.print(f"{each.name:13} {each.about}")
        return
    chosen = [each for each in MEASUREMENTS if options.only is None or each.name in options.only]
    options.folder.mkdir(parents=True, exist_ok=True)
    warn_if_busy(console)
    with stopped_by_signals():
        results = measured(console, chosen, options)
    show(console, results)
    for path in (options.folder / "results.json", *draw(options.folder, results)):
        console.print(str(path))
    if len(results) < len(chosen):
        sys.exit(1)


def parsed() -> Namespace:
    parser = ArgumentParser("make bench", description="Measure tickwork against other queues and bare Postgres.")
    names = [each.name for each in MEASUREMENTS]
    parser.add_argument("--quick", action="store_true", help="small sizes, a few minutes, as a smoke test")
    parser.add_argument("--only", nargs="+", choices=names, metavar="NAME", help="measure only these")
    parser.add_argument("--list", action="store_true", help="list what can be measured")
    parser.add_argument("--folder", type=Path, default=Path(".bench"), help="where results go (%(default)s)")
    return parser.parse_args()


def warn_if_busy(console: Console) -> None:
    load, cores = os.getloadavg()[0], os.cpu_count() or 1
    if load > cores / 2:
        console.print(
            f"[yellow]The machine is busy (load {load:.1f}, {cores} cores): ratios will be off, spreads wide.[/]"
        )


def measured(console: Console, chosen: list[Measurement], options: Namespace) -> dict[str, Result]:
    """One after the other; each result is saved at once, and a failure does not affect the others."""
    results: dict[str, Result] = {}
    columns = SpinnerColumn(), MofNCompleteColumn(), BarColumn(), TimeElapsedColumn(), TextColumn("{task.description}")
    with running_place(options.folder) as place, Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=len(chosen))
        for measurement in chosen:

            def say(step: str, name: str = measurement.name) -> None:
                progress.update(task, description=f"{name}: {step}")

            bench = Bench(place, options.folder, options.quick, say)
            began = time.monotonic()
            try:
                results[measurement.name] = measurement.run(bench)
            except Exception:
                console.print_exception()
            else:
                save(options.folder / "results.json", bench, results)
            progress.advance(task)
            console.print(f"{measurement.name}: {time.monotonic() - began:.0f} s")
    return results


if __name__ == "__main__":
    main()
