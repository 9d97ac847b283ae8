"""What a session takes of the server: CPU time of its process by Linux, and bytes of WAL."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg


class Metered:
    """Slices of work in one session. Nobody else may write to the server meanwhile: the WAL is everybody's."""

    def __init__(self, connection: psycopg.Connection[Any], step: Callable[[], int], jobs: int) -> None:
        self.wal: list[float] = []
        self._connection = connection
        self._step = step
        self._jobs = jobs

    def microseconds(self) -> float:
        """CPU time per job of one slice."""
        wal, cpu, done = self._written(), self._cpu(), 0
        while done < self._jobs:
            more = self._step()
            assert more, "the queue ran empty"
            done += more
        took = self._cpu() - cpu
        self.wal.append((self._written() - wal) / done)
        return took / done / 1_000

    def _cpu(self) -> int:
        return int(Path(f"/proc/{self._connection.info.backend_pid}/schedstat").read_text().split()[0])

    def _written(self) -> int:
        row = self._connection.execute("select (pg_current_wal_insert_lsn() - '0/0')::bigint").fetchone()
        assert row
        return int(row[0])
