"""The workers of a storm: processes that are killed, frozen and started again."""

import http.client
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from tickwork_chaos.handlers import EXECUTIONS, FUNCTIONS
from tickwork_local.functions import free_ports
from tickwork_local.launch import ends_with_parent

WAKE_SECONDS = 0.3
PAGE = os.sysconf("SC_PAGE_SIZE")


class Worker:
    """One of them: a long-running worker, or a function that is woken by HTTP. All its processes are one group."""

    def __init__(self, name: str, command: Sequence[str], settings: Mapping[str, str], folder: Path) -> None:
        self.name = name
        self.is_frozen = False
        self.deaths = 0
        self._command = list(command)
        self._settings = settings
        self._folder = folder
        self._was_killed = False
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """To be called by the main thread: the process ends with the thread that started it."""
        self._was_killed = self.is_frozen = False
        with (self._folder / f"{self.name}.log").open("ab") as log:
            self._process = subprocess.Popen(
                ends_with_parent(self._command, by=signal.SIGKILL),
                env={**os.environ, **self._settings},
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def revive(self) -> None:
        """Start it again if it is dead. One that was not killed has died by itself, which none ever should."""
        if self._process and self._process.poll() is not None:
            self.deaths += not self._was_killed
            self.send(signal.SIGKILL)
            self.start()

    def kill(self) -> None:
        self._was_killed = True
        self.send(signal.SIGKILL)

    def freeze(self) -> None:
        self.is_frozen = True
        self.send(signal.SIGSTOP)

    def thaw(self) -> None:
        if self.is_frozen:
            self.is_frozen = False
            self.send(signal.SIGCONT)

    def send(self, by: signal.Signals) -> None:
        assert self._process
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, by)

    def end(self) -> None:
        if self._process:
            self.send(signal.SIGKILL)
            self._process.wait()

    def pid(self) -> int:
        assert self._process
        return self._process.pid

    def megabytes(self) -> float:
        """Resident memory of the process; of a function, that of its master."""
        with suppress(OSError, IndexError):
            return int(Path(f"/proc/{self.pid()}/statm").read_text().split()[1]) * PAGE / 2**20
        return 0.0


class Crew:
    """All workers, some of them behind the pooler, and those who wake the functions."""

    def __init__(self, direct_url: str, pooled_url: str, folder: Path, extra: Mapping[str, str]) -> None:
        self._stopped = threading.Event()
        ports = free_ports(2)
        self.workers: list[Worker] = []
        plan = [
            ("single", direct_url, worker("storm")),
            ("many", direct_url, worker("storm", "--concurrency=20")),
            ("very-many", direct_url, worker("storm", "--concurrency=100")),
            ("concurrent", direct_url, worker("storm", "gust", "--concurrency=8")),
            ("pooled-concurrent", pooled_url, worker("gust", "storm", "--concurrency=4")),
            ("pooled-many", pooled_url, worker("storm", "--concurrency=20")),
            ("pooled-gust-many", pooled_url, worker("gust", "--concurrency=20")),
            ("function", direct_url, function("storm", ports[0])),
            ("pooled-gust-function", pooled_url, function("gust", ports[1])),
        ]
        for name, url, command in plan:
            settings = {"TICKWORK_DATABASE_URL": url, EXECUTIONS: str(folder / "executions"), **extra}
            settings |= {"TICKWORK_OPEN_ON_LOOPBACK": "true", "TICKWORK_BUDGET_SECONDS": "5"}
            self.workers.append(Worker(name, command, settings, folder))
        self._wakers = [threading.Thread(target=self._wake, args=(port,), daemon=True) for port in ports]

    def start(self) -> None:
        for worker in self.workers:
            worker.start()
        for waker in self._wakers:
            waker.start()

    def stop(self) -> None:
        self._stopped.set()
        for worker in self.workers:
            worker.end()
        for waker in self._wakers:
            waker.join()

    def _wake(self, port: int) -> None:
        """As cron would, but more often; whoever is not there is woken the next time."""
        while not self._stopped.wait(WAKE_SECONDS):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
            with suppress(OSError, http.client.HTTPException):
                connection.request("POST", "/")
                connection.getresponse().read()
            connection.close()


def worker(*arguments: str) -> list[str]:
    program = str(Path(sys.executable).with_name("tickwork"))
    return [program, "worker", "--functions", str(FUNCTIONS), *arguments]


def function(family: str, port: int) -> list[str]:
    source = str(FUNCTIONS / family / "main.py")
    program = [sys.executable, "-m", "tickwork_local.functions", "--target", "main"]
    return [*program, "--source", source, "--host", "127.0.0.1", "--port", str(port)]
