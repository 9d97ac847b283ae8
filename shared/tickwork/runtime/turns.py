"""Which family a free thread serves next."""

import threading
from collections.abc import Iterable


class Turns:
    """Of the families that may have due jobs, the one with the fewest running jobs; of these, the one that was not
    served for the longest time. So each gets its share, even beside one whose handlers take long."""

    def __init__(self, families: Iterable[str]) -> None:
        # How many jobs of each are running or about to be claimed; those that were served last are at the end.
        self._running = dict.fromkeys(families, 0)
        # Those without due jobs, as far as known.
        self._idle: set[str] = set()
        # Those that were announced after their latest claim began: that may have come too early.
        self._announced: set[str] = set()
        self._lock = threading.Lock()

    def begin(self) -> str | None:
        """The family to claim a job of; None if none of them has any."""
        with self._lock:
            due = [family for family in self._running if family not in self._idle]
            return self._begun(min(due, key=self._running.__getitem__)) if due else None

    def begin_with(self, family: str) -> str:
        """Claim a job of this one, which costs nothing: another job is being settled."""
        with self._lock:
            return self._begun(family)

    def end(self, family: str) -> None:
        """Its job has ended."""
        with self._lock:
            self._running[family] -= 1

    def end_without_job(self, family: str) -> None:
        """Nothing was due: it is left alone until it is announced again."""
        with self._lock:
            self._running[family] -= 1
            if family not in self._announced:
                self._idle.add(family)

    def announce(self, *families: str) -> None:
        """They may have due jobs."""
        with self._lock:
            known = self._running.keys() & families
            self._announced |= known
            self._idle -= known

    def rest(self) -> None:
        """Leave all of them alone until they are announced again."""
        with self._lock:
            self._idle.update(self._running)

    def is_anybodys(self) -> bool:
        """Whether any family may have due jobs."""
        return len(self._idle) < len(self._running)

    def _begun(self, family: str) -> str:
        self._running[family] = self._running.pop(family) + 1
        self._announced.discard(family)
        return family
