"""What is measured: a module for each queue with the same verbs, and the settings that its documentation recommends."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

import psycopg

from tickwork_bench.measure import batches
from tickwork_bench.processes import Watch


@dataclass(frozen=True)
class Sender:
    """Both enqueue as many jobs as they are told: with a commit for each, or all with one."""

    one_by_one: Callable[[int], object]
    in_bulk: Callable[[int], object]


def send_all(sender: Sender, url: str, jobs: int) -> None:
    """Enqueue a thousand jobs with each commit, and leave the database as autovacuum would."""
    for batch in batches(jobs, 1000):
        sender.in_bulk(len(batch))
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("vacuum analyze")


class Contender(Protocol):
    def prepare(self, url: str) -> None:
        """Create the schema in an empty database."""

    def sender(self, url: str) -> AbstractContextManager[Sender]:
        """Connect to a prepared database."""


class Listener(Contender, Protocol):
    def listen(self, url: str, watch: Watch) -> None:
        """Process one job after the other, woken by NOTIFY, forever."""
