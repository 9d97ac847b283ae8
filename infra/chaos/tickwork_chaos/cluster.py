"""The servers of a storm: a primary that crashes and comes back, and a standby that takes its place."""

import os
import shutil
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import psycopg
from psycopg.rows import dict_row

from tests.world.waiting import until
from tickwork.database.connection import Connection
from tickwork_local.postgres import (
    PostgresFailed,
    Server,
    embedded_binaries,
    make_cluster,
    nobody_for_root,
    reachable_binaries,
    spawn,
    start,
)

SETTINGS = {
    # A crash here is one of the server, not of the machine: what was written is kept, what was not is lost.
    "fsync": "off",
    "shared_buffers": "256MB",
    "max_connections": "300",
    "max_wal_size": "512MB",
    "wal_keep_size": "256MB",
    "wal_retrieve_retry_interval": "200ms",
    "log_min_messages": "warning",
}
NO_SETTINGS: Mapping[str, str] = {}


class Cluster:
    """One primary; its files, and those of the standbys, are in a folder that user nobody can enter."""

    def __init__(self, folder: Path, binaries: Path | None, settings: Mapping[str, str]) -> None:
        self._folder = folder
        self._programs = reachable_binaries((binaries or embedded_binaries()).resolve())
        self._settings = {**SETTINGS, **settings}
        self._made = 0
        self._logs: list[BinaryIO] = []
        self._data, log = self._new_place()
        make_cluster(self._programs, self._data, log)
        self.primary = start(self._programs, self._data, self._settings, None, log)
        self._standby: Server | None = None

    def connect(self) -> Connection:
        """Past the proxy."""
        return psycopg.connect(self.primary.url(), autocommit=True, row_factory=dict_row, connect_timeout=10)

    def crash(self) -> None:
        """As `pg_ctl stop -m immediate`: every process of the server is gone at once, and recovers what it had."""
        self.primary.process.send_signal(signal.SIGQUIT)
        self.primary.process.wait()
        self.start_again()

    def start_again(self) -> None:
        log = self._logs[-1] if self._standby is None else self._logs[-2]
        self.primary = start(self._programs, self.primary.data, self._settings, self.primary.port, log)

    def add_standby(self) -> None:
        """From here on no commit is acknowledged before the standby has it."""
        data, log = self._new_place()
        data.mkdir(mode=0o700)
        if nobody := nobody_for_root():
            os.chown(data, nobody.pw_uid, nobody.pw_gid)
        copying = ["-D", str(data), "-R", "-X", "stream", "-c", "fast", "--no-sync"]
        source = ["-h", "127.0.0.1", "-p", str(self.primary.port), "-U", "postgres"]
        if spawn([f"{self._programs}/pg_basebackup", *source, *copying], log, signal.SIGTERM).wait():
            raise PostgresFailed(f"pg_basebackup failed: read {log.name}")
        self._standby = start(self._programs, data, self._settings, None, log)
        with self.connect() as connection:
            connection.execute("alter system set synchronous_standby_names = '*'")
            connection.execute("select pg_reload_conf()")
            query = "select from pg_stat_replication where sync_state = 'sync'"
            until(lambda: connection.execute(query).fetchall(), "the standby does not follow")

    def promote(self) -> int:
        """The primary is gone for good, the standby takes its place; returns its port."""
        assert self._standby
        self.primary.process.send_signal(signal.SIGQUIT)
        self.primary.process.wait()
        shutil.rmtree(self.primary.data)
        self.primary, self._standby = self._standby, None
        with self.connect() as connection:
            connection.execute("select pg_promote(true, 120)")
        return self.primary.port

    def stop(self) -> None:
        for server in (self._standby, self.primary):
            if server:
                server.process.send_signal(signal.SIGQUIT)
                server.process.wait()
        for log in self._logs:
            log.close()

    def count_logged(self, text: bytes) -> int:
        """How often the servers have said so: their own figures are forgotten in a crash."""
        return sum(Path(log.name).read_bytes().count(text) for log in self._logs)

    def first_logged(self, text: str) -> str:
        """The first time that a server said so, with what it said about it."""
        for log in self._logs:
            _, found, rest = Path(log.name).read_text(errors="replace").partition(text)
            if found:
                return "\n".join([found, *rest.splitlines()[1:30]])
        return ""

    def _new_place(self) -> tuple[Path, BinaryIO]:
        self._made += 1
        data = self._folder / f"server-{self._made}"
        self._logs.append(open(f"{data}.log", "ab"))  # noqa: SIM115 - the server writes to it until it stops
        return data, self._logs[-1]


@contextmanager
def running_cluster(
    folder: Path, binaries: Path | None = None, settings: Mapping[str, str] = NO_SETTINGS
) -> Iterator[Cluster]:
    cluster = Cluster(folder, binaries, settings)
    try:
        yield cluster
    finally:
        cluster.stop()
