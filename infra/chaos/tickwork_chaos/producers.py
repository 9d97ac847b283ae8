"""Those who enqueue at an even pace, and repeat what was not acknowledged."""

import threading
import time
from contextlib import closing

from tickwork_chaos.ledger import Ledger, Way
from tickwork_chaos.orders import Wanted, wanted
from tickwork_chaos.plan import Sizes
from tickwork_chaos.scene import Scene
from tickwork_chaos.ways import Batch, Insert, Single

BATCH = 20


class Producers:
    """A thread for each way into the queue; the orders are the same for the same seed."""

    def __init__(self, url: str, scene: Scene, ledger: Ledger, seed: int, sizes: Sizes) -> None:
        self._ledger = ledger
        self._seed = seed
        self._sizes = sizes
        self._next = 0
        self._began = 0.0
        self._lock = threading.Lock()
        ways: list[tuple[Way, int]] = [(Single(url, scene), 1), (Batch(url, scene), BATCH), (Insert(url, scene), 1)]
        self._threads = [threading.Thread(target=self._run, args=each, daemon=True) for each in ways]

    def start(self) -> None:
        self._began = time.monotonic()
        for thread in self._threads:
            thread.start()

    def are_done(self) -> bool:
        return not any(thread.is_alive() for thread in self._threads)

    def _run(self, way: Way, size: int) -> None:
        with closing(way):
            while orders := self._take(size):
                self._ledger.note(orders)
                while not self._ledger.is_settled(way, orders):
                    time.sleep(0.2)
                # As whoever clicks twice.
                if orders[0].idempotency_key and orders[0].number % 10 == 0:
                    self._ledger.is_settled(way, orders)

    def _take(self, size: int) -> list[Wanted]:
        """The next orders, when they are due."""
        with self._lock:
            numbers = range(self._next, min(self._next + size, self._sizes.jobs))
            self._next += len(numbers)
            due_at = self._began + self._next * self._sizes.seconds / self._sizes.jobs
        time.sleep(max(0.0, due_at - time.monotonic()))
        orders = [wanted(number, self._seed, self._sizes.slow_share) for number in numbers]
        # A batch is repeated as a whole: all that is in it needs a key.
        return [each.keyed() for each in orders] if size > 1 else orders
