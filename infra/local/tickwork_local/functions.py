"""The functions of the local stack: each under functions-framework, in a process that is restarted when it dies."""

import os
import runpy
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType

from tickwork.errors import Error
from tickwork_local.launch import die_with_parent, ends_with_parent
from tickwork_local.postgres import free_port
from tickwork_local.watching import Say, Watch, say_nothing

START_SECONDS = 60
# How long running jobs have to end when the stack stops; the lease of a later one runs out, and it is tried again.
STOP_SECONDS = 2
LOOK_SECONDS = 0.1
WATCH_SECONDS = 0.5
# How long running jobs have to end when the function is loaded again.
RELOAD_SECONDS = 10
# What functions-framework would read from an environment in which they are meant for something else.
FOREIGN_SETTINGS = ("DEBUG", "FUNCTION_SIGNATURE_TYPE", "FUNCTION_USE_ASGI")


class FunctionFailed(Error):
    """A function does not start; the message has the end of its log."""


@dataclass(frozen=True)
class Function:
    """Where the source of a function is, the name of its entry point, and its port; 0 is any that is free."""

    source: Path
    target: str = "main"
    port: int = 0


class Functions:
    """The functions of a stack: they respond at their URLs inside the block, and are stopped afterwards.

    One whose files change is loaded again; `say` gets a line about it.
    """

    def __init__(
        self, functions: Mapping[str, Function], settings: Mapping[str, str], logs: Path, say: Say = say_nothing
    ) -> None:
        ports = free_ports(len(functions))
        self._processes = [
            Process(family, function, function.port or port, settings, logs / f"{family}.log", say)
            for (family, function), port in zip(functions.items(), ports, strict=True)
        ]
        self.urls = {process.family: process.url for process in self._processes}
        self._stopped = threading.Event()
        # To the kernel, the parent with whom a process dies is the thread that started it. This one outlives them all.
        self._keeper = threading.Thread(target=self._keep_running, daemon=True)

    def __enter__(self) -> "Functions":
        self._keeper.start()
        try:
            for process in self._processes:
                process.wait_until_it_listens()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stop()

    def _stop(self) -> None:
        self._stopped.set()
        self._keeper.join()

    def _keep_running(self) -> None:
        for process in self._processes:
            process.start()
        while not self._stopped.wait(LOOK_SECONDS):
            for process in self._processes:
                process.look_after()
        stop(self._processes)


class Process:
    def __init__(
        self, family: str, function: Function, port: int, settings: Mapping[str, str], log: Path, say: Say
    ) -> None:
        self.family = family
        self.url = f"http://127.0.0.1:{port}"
        self._say = say
        self._watch = Watch(function.source.parent)
        self._watched_at = time.monotonic()
        self._is_reloading = False
        self._port = port
        self._function = function
        self._settings = settings
        self._log = log
        self._log_began = log.stat().st_size if log.exists() else 0
        self._started_at = 0.0
        self._listens = False
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = [sys.executable, "-m", __name__, "--target", self._function.target]
        command += ["--source", str(self._function.source), "--host", "127.0.0.1", "--port", str(self._port)]
        environment = {name: value for name, value in os.environ.items() if name not in FOREIGN_SETTINGS}
        environment |= {**self._settings, "TICKWORK_OPEN_ON_LOOPBACK": "true"}
        self._started_at = time.monotonic()
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                ends_with_parent(command, by=signal.SIGKILL),
                env={**environment, "PYTHONUNBUFFERED": "1"},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def wait_until_it_listens(self) -> None:
        give_up_at = time.monotonic() + START_SECONDS
        while not self._listens:
            if self.has_died() or time.monotonic() > give_up_at:
                raise FunctionFailed(f"the function {self.family} does not start: see {self._log}{self._last_words()}")
            time.sleep(0.02)
            self._listens = self._takes_connections()

    def _takes_connections(self) -> bool:
        with suppress(OSError):
            socket.create_connection(("127.0.0.1", self._port), timeout=1).close()
            return True
        return False

    def look_after(self) -> None:
        if self._is_reloading:
            self._finish_reload()
        if time.monotonic() > self._watched_at + WATCH_SECONDS:
            self._watched_at = time.monotonic()
            if self._watch.has_changed():
                self._reload()
        self._start_again_if_dead()

    def _reload(self) -> None:
        """Let running jobs end for a while, and start it with its new files."""
        self.ask_to_stop()
        self.wait_until_it_stopped(time.monotonic() + RELOAD_SECONDS)
        self._log_began = self._log.stat().st_size
        self._listens, self._is_reloading = False, True
        self.start()

    def _finish_reload(self) -> None:
        if self.has_died():
            self._is_reloading = False
            self._say(f"{self.family} does not load: {self._last_line()} (see {self._log})")
        elif self._takes_connections():
            self._listens, self._is_reloading = True, False
            self._say(f"{self.family} reloaded")

    def _start_again_if_dead(self) -> None:
        """Not more than once in a second, and not one that never ran: that is for the developer to see."""
        if self._listens and self.has_died() and time.monotonic() > self._started_at + 1:
            with self._log.open("a") as log:
                log.write("tickwork: the function died and is being restarted\n")
            self.start()

    def has_died(self) -> bool:
        return self._process is not None and self._process.poll() is not None

    def ask_to_stop(self) -> None:
        if self._process:
            self._process.terminate()

    def wait_until_it_stopped(self, deadline: float) -> None:
        if self._process:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(max(deadline - time.monotonic(), 0))
            # Its workers are in the same group.
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def _last_words(self) -> str:
        lines = self._new_lines()[-5:]
        return ", which ends with" + "".join(f"\n  {line}" for line in lines) if lines else ""

    def _last_line(self) -> str:
        return next((line.strip() for line in reversed(self._new_lines()) if line.strip()), "it ended")

    def _new_lines(self) -> list[str]:
        with self._log.open("rb") as log:
            log.seek(self._log_began)
            return log.read().decode(errors="replace").splitlines()


def stop(processes: Sequence[Process]) -> None:
    """All at once, and by force when the time is up."""
    deadline = time.monotonic() + STOP_SECONDS
    for process in processes:
        process.ask_to_stop()
    for process in processes:
        process.wait_until_it_stopped(deadline)


def free_ports(count: int) -> list[int]:
    ports: set[int] = set()
    while len(ports) < count:
        ports.add(free_port())
    return list(ports)


def run_functions_framework() -> None:
    """As in the cloud, but its workers end as soon as their parent does."""
    from gunicorn.config import ControlSocketDisable  # type: ignore[import-untyped]

    # All of a user's would take the same socket in the home folder.
    ControlSocketDisable.default = True
    os.register_at_fork(after_in_child=partial(die_with_parent, os.getpid(), signal.SIGKILL))
    runpy.run_module("functions_framework", run_name="__main__")


if __name__ == "__main__":
    run_functions_framework()
