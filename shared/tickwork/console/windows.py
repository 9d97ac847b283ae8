"""Windows of time for charts, each in steps that the figures have."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property

from psycopg.rows import DictRow

# Steps begin where those of the SQL functions do.
ORIGIN = datetime(2001, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Window:
    length: timedelta
    step: timedelta

    @cached_property
    def times(self) -> list[datetime]:
        """The beginnings of its steps; the last one is the step that we are in."""
        now = ORIGIN + (datetime.now(UTC) - ORIGIN) // self.step * self.step
        count = self.length // self.step
        return [now - self.step * (count - place) for place in range(count + 1)]

    @property
    def since(self) -> datetime:
        return self.times[0]

    def values(self, rows: Iterable[DictRow], column: str) -> list[float | None]:
        """What the rows have in this column, step by step; None for steps without a row."""
        found = {row["at"]: row[column] for row in rows}
        return [found.get(time) for time in self.times]

    def counts(self, rows: Sequence[DictRow], *outcomes: str) -> list[int]:
        """How many jobs had one of these outcomes, step by step."""
        found = dict.fromkeys(self.times, 0)
        for row in rows:
            if row["outcome"] in outcomes and row["at"] in found:
                found[row["at"]] += row["jobs"]
        return list(found.values())


def window(name: str) -> Window:
    """Raises KeyError."""
    length, step = LENGTHS[name]
    return Window(length, step)


LENGTHS = {
    "1h": (timedelta(hours=1), timedelta(minutes=1)),
    "24h": (timedelta(hours=24), timedelta(hours=1)),
    "7d": (timedelta(days=7), timedelta(hours=2)),
    "30d": (timedelta(days=30), timedelta(days=1)),
    "400d": (timedelta(days=400), timedelta(days=4)),
}
