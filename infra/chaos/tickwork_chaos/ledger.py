"""What was sent to the queue, and what it acknowledged."""

import threading
from collections.abc import Sequence
from random import Random
from typing import Protocol
from uuid import UUID

import psycopg

from tickwork.errors import QueueError
from tickwork_chaos.orders import Wanted

# A member's insert is not translated to the errors of ours.
UNCLEAR = (QueueError, psycopg.OperationalError, psycopg.InterfaceError, psycopg.InternalError)


class Way(Protocol):
    """A way into the queue."""

    def __call__(self, orders: Sequence[Wanted]) -> list[UUID | None]:
        """Enqueue all of them or none, and return their ids, as far as this way tells them."""

    def close(self) -> None: ...


class Ledger:
    """`acknowledged` has what is known to be there; `unknown` the numbers of jobs without a key of which nobody knows:
    they may not be sent again."""

    def __init__(self) -> None:
        self.sent: list[Wanted] = []
        self.acknowledged: dict[int, UUID | None] = {}
        self.unknown: set[int] = set()
        self.repeated = 0
        self._lock = threading.Lock()

    def note(self, orders: Sequence[Wanted]) -> None:
        """Before they are sent."""
        with self._lock:
            self.sent += orders

    def is_settled(self, way: Way, orders: Sequence[Wanted]) -> bool:
        """Send them once; false if they have to be sent again."""
        try:
            ids = way(orders)
        except UNCLEAR:
            if orders[0].idempotency_key:
                self.repeated += 1
                return False
            self.unknown.add(orders[0].number)
            return True
        with self._lock:
            self.acknowledged.update(zip((each.number for each in orders), ids, strict=True))
        return True

    def some_id(self, chance: Random) -> UUID | None:
        """Of a job that was enqueued a moment ago."""
        with self._lock:
            recent = [self.acknowledged.get(each.number) for each in self.sent[-200:]]
        found = [each for each in recent if each]
        return chance.choice(found) if found else None
