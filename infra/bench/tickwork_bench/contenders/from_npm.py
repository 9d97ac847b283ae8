"""graphile-worker and pg-boss: each is a module of infra/bench/npm with the verbs of a contender, run by Node."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO

import psycopg

from tickwork_bench import node
from tickwork_bench.contenders import Sender
from tickwork_bench.measure import batches
from tickwork_bench.processes import Pacer
from tickwork_local.launch import ends_with_parent


@dataclass(frozen=True)
class FromNpm:
    module: str

    def prepare(self, url: str) -> None:
        with talk(self.module, "prepare", url) as child:
            child.finish()

    def fill(self, url: str, jobs: int) -> None:
        self.prepare(url)
        with self.sender(url) as to_queue:
            for batch in batches(jobs, 1000):
                to_queue.in_bulk(len(batch))
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("vacuum analyze")

    def drain(self, url: str, pacer: Pacer, setting: str) -> None:
        with talk(self.module, "drain", url, setting) as child:
            over_at = child.reply()
            while True:
                over_at = child.ask(pacer.pause(float(over_at)))

    @contextmanager
    def sender(self, url: str) -> Iterator[Sender]:
        with talk(self.module, "send", url) as child:
            child.reply()
            yield Sender(lambda jobs: child.ask(f"one_by_one {jobs}"), lambda jobs: child.ask(f"in_bulk {jobs}"))


@dataclass(frozen=True)
class Child:
    """A process of Node's, which sends a line, waits for one, and so on."""

    process: subprocess.Popen[str]
    replies: IO[str]

    def ask(self, request: object) -> str:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{request}\n")
        self.process.stdin.flush()
        return self.reply()

    def reply(self) -> str:
        if line := self.replies.readline():
            return line.strip()
        raise ChildProcessError(f"{self.process.args!r} ended with status {self.process.wait()}")

    def finish(self) -> None:
        if status := self.process.wait():
            raise ChildProcessError(f"{self.process.args!r} ended with status {status}")


@contextmanager
def talk(module: str, verb: str, url: str, setting: str = "") -> Iterator[Child]:
    reading, writing = os.pipe()
    with os.fdopen(reading) as replies:
        process = subprocess.Popen(
            ends_with_parent([*node.program(), module, verb, url, str(writing), setting], by=signal.SIGKILL),
            stdin=subprocess.PIPE,
            # What they log.
            stdout=subprocess.DEVNULL,
            pass_fds=[writing],
            # As graphile-worker's own benchmark has it.
            env={**os.environ, "NO_LOG_SUCCESS": "1"},
            text=True,
        )
        os.close(writing)
        try:
            yield Child(process, replies)
        finally:
            process.kill()
            process.wait()


GRAPHILE_WORKER = FromNpm("graphile_worker")
PG_BOSS = FromNpm("pg_boss")
