"""What is measured: for each a module of the same verbs, with the settings that its own documentation recommends."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from tickwork_bench.processes import Watch


@dataclass(frozen=True)
class Sender:
    """Both enqueue as many jobs as they are told: with a commit for each, or all with one."""

    one_by_one: Callable[[int], object]
    in_bulk: Callable[[int], object]


class Contender(Protocol):
    def prepare(self, url: str) -> None:
        """Bring the schema into an empty database."""

    def sender(self, url: str) -> AbstractContextManager[Sender]:
        """Connect to a prepared database."""


class Listener(Contender, Protocol):
    def listen(self, url: str, watch: Watch) -> None:
        """Process one job after the other, woken by NOTIFY, for ever."""
