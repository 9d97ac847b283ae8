"""Enqueues over connections that are cut around their commit, repeated with the same key until acknowledged."""

import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from tickwork_chaos.checks import violations
from tickwork_chaos.figures import Figures
from tickwork_chaos.ledger import Ledger, Way
from tickwork_chaos.orders import wanted
from tickwork_chaos.place import Place, running_place
from tickwork_chaos.proxy import Cut
from tickwork_chaos.results import store_results
from tickwork_chaos.ways import Batch, Insert, Single

THREADS = 8
CUTS = (Cut.BEFORE, Cut.AFTER, Cut.AFTER, Cut.SILENT)
WAYS = (Single, Batch, Insert)
CHECKS = ("lost", "doubled", "illegal", "gaps", "queue tables")


def run_enqueue_cuts(seed: int, binaries: Path | None, cuts: int, say: Callable[[str], None]) -> Figures:
    began = time.monotonic()
    with running_place(binaries) as place:
        figures = Figures("enqueue_cuts", seed, place.server_version)
        ledger = Ledger()
        enqueue_all(place, ledger, seed, cuts, say)
        with place.cluster.connect() as connection:
            store_results(connection, place.scene, ledger)
            figures.violations = violations(connection, *CHECKS)
            (row,) = connection.execute("select count(*) as jobs from public.jobs").fetchall()
        figures.jobs = row["jobs"]
        figures.faults = {f"cut {cut.value}": count for cut, count in place.proxy.done.items()}
        figures.measures = {
            "connections": place.proxy.connections,
            "repeated enqueues": ledger.repeated,
            "acknowledged": len(ledger.acknowledged),
        }
    figures.seconds = time.monotonic() - began
    return figures


def enqueue_all(place: Place, ledger: Ledger, seed: int, cuts: int, say: Callable[[str], None]) -> None:
    """So long as there are cuts left, each enqueue has a connection of its own, and one of them is cut."""
    numbers = iter(range(10**9))
    lock = threading.Lock()

    def enqueue_until_cut() -> None:
        while place.proxy.done.total() < cuts:
            with lock:
                number = next(numbers)
            way: Way = WAYS[number % len(WAYS)](place.url(), place.scene)
            orders = [wanted(number, seed, 0).keyed()]
            ledger.note(orders)
            place.proxy.cut(CUTS[number % len(CUTS)], seconds=0.2)
            with closing(way):
                while not ledger.is_settled(way, orders):
                    pass

    threads = [threading.Thread(target=enqueue_until_cut, daemon=True) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        say(f"{place.proxy.done.total():,} of {cuts:,} cuts")
        time.sleep(0.2)
