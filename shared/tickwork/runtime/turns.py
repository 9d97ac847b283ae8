"""Which family is served next."""

import threading
from collections.abc import Iterable, Mapping


class Turns:
    """Of the families that may have due jobs, the one with the fewest jobs held; of these, the one that was not served
    for the longest time. So each gets its share of the room, even beside one whose handlers take long."""

    def __init__(self, families: Iterable[str], room: int = 1) -> None:
        # How many jobs of each are held or about to be claimed; those that were served last are at the end.
        self._held = dict.fromkeys(families, 0)
        self._room = room
        # Those without due jobs, as far as known.
        self._idle: set[str] = set()
        # Those that were announced after their latest claim began: that may have come too early.
        self._announced: set[str] = set()
        self._lock = threading.Lock()

    def begin(self, free: int) -> tuple[str, int] | None:
        """The family to claim jobs of, and how many, at most as many as are free; None if none of them has any."""
        with self._lock:
            due = [family for family in self._held if family not in self._idle]
            if not due:
                return None
            family = min(due, key=self._held.__getitem__)
            share = -(-self._room // len(due)) - self._held[family]
            return self._begun(family, max(1, min(free, share)))

    def begin_with(self, family: str, free: int) -> tuple[str, int]:
        """Claim jobs of this one, which costs nothing: others are being settled."""
        with self._lock:
            return self._begun(family, free)

    def end_claim(self, family: str, wanted: int, claimed: int) -> None:
        """If there were fewer than wanted, it is left alone until it is announced again."""
        with self._lock:
            self._held[family] -= wanted - claimed
            if claimed == wanted:
                self._idle.discard(family)
            elif family not in self._announced:
                self._idle.add(family)

    def end(self, jobs: Mapping[str, int]) -> None:
        """So many jobs of these families have ended."""
        with self._lock:
            for family, count in jobs.items():
                self._held[family] -= count

    def announce(self, *families: str) -> None:
        """They may have due jobs."""
        with self._lock:
            known = self._held.keys() & families
            self._announced |= known
            self._idle -= known

    def rest(self) -> None:
        """Leave all of them alone until they are announced again."""
        with self._lock:
            self._idle.update(self._held)

    def is_anybodys(self) -> bool:
        """Whether any family may have due jobs."""
        return len(self._idle) < len(self._held)

    def _begun(self, family: str, count: int) -> tuple[str, int]:
        self._held[family] = self._held.pop(family) + count
        self._announced.discard(family)
        return family, count
