"""A steady load without faults, for as long as wanted: what grows meanwhile grows without bound."""

import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path
from random import SystemRandom

from rich.console import Console
from rich.table import Table

from tickwork_chaos.ledger import Ledger
from tickwork_chaos.place import Place, running_place
from tickwork_chaos.plan import Sizes
from tickwork_chaos.producers import Producers
from tickwork_chaos.samples import BOUNDS, Samples
from tickwork_chaos.workers import Crew
from tickwork_local.stack import stopped_by_signals

JOBS_PER_SECOND = 60
SAMPLE_SECONDS = 5.0


def main() -> None:
    parser = ArgumentParser("make soak", description="A steady load, and what grows meanwhile.")
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--seed", type=int, default=SystemRandom().randrange(10_000))
    parser.add_argument("--binaries", type=Path, help="a folder of Postgres programs (default: the embedded ones)")
    options = parser.parse_args()
    console = Console(soft_wrap=True)
    with stopped_by_signals(), running_place(options.binaries, has_pooler=True) as place:
        samples = soaked(place, options.seed, options.minutes * 60, console.print)
    console.print(table_of(samples))
    sys.exit(1 if samples.grown() else 0)


def soaked(place: Place, seed: int, seconds: float, say: Callable[[str], None]) -> Samples:
    """The samples of the time in which jobs came evenly; the first fifth, in which everything warms up, is left out."""
    with place.cluster.connect() as connection:
        # Jobs are deleted at once when they are done, so that what is there stays the same.
        connection.execute("update public.tenant_settings set keep_done_days = 0, keep_failed_days = 0")
        # The audit is none of what is measured.
        connection.execute("drop trigger note_insert on public.jobs")
        connection.execute("drop trigger note_change on public.jobs")
    sizes = Sizes(jobs=int(JOBS_PER_SECOND * seconds), seconds=seconds, slow_share=0.02)
    urls = place.url("tickwork_worker"), place.url("tickwork_worker", place.pooler_port)
    crew = Crew(*urls, place.folder, {})
    producers = Producers(place.url(), place.scene, Ledger(), seed, sizes)
    samples = Samples(place, crew)
    began = time.monotonic()
    crew.start()
    producers.start()
    try:
        while not producers.are_done():
            time.sleep(SAMPLE_SECONDS)
            latest = samples.take(is_kept=time.monotonic() - began > seconds / 5)
            minutes = (time.monotonic() - began) / 60
            say(f"{minutes:.1f} min: {', '.join(f'{name} {value:,.0f}' for name, value in latest.items())}")
    finally:
        crew.stop()
    return samples


def table_of(samples: Samples) -> Table:
    table = Table("", "mean", "growth in an hour", "growth in this time", "bound", "")
    for name, bound in BOUNDS.items():
        slope, growth = samples.slope(name), samples.growth(name)
        verdict = "grows" if growth > bound else ""
        table.add_row(name, f"{samples.mean(name):,.1f}", f"{slope:+,.1f}", f"{growth:+,.1f}", f"{bound:,}", verdict)
    return table


if __name__ == "__main__":
    main()
