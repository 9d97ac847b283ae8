"""In place of cron and of insert webhooks: wakes the functions every 30 s, and at once when a job is inserted."""

import json
import threading
import urllib.request
from collections.abc import Mapping
from http.client import HTTPException
from pathlib import Path
from types import TracebackType
from typing import Any

import psycopg

from tickwork.client import Tickwork
from tickwork.database.connection import Database, connect
from tickwork.errors import QueueError
from tickwork.logs import log_line

# So many calls of one family run at once; each goes on until nothing is due.
AT_ONCE = 4

# No proxy: the functions are on this machine.
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Ticker:
    """A wake-up is only a hint, here as in the cloud: lost and doubled ones do no harm."""

    def __init__(self, database_url: str, functions: Mapping[str, str], tick_seconds: float, logs: Path) -> None:
        self._database_url = database_url
        self._client = Tickwork(Database(database_url, "tickwork ticker"))
        self._functions = functions
        self._tick_seconds = tick_seconds
        self._logs = logs
        self._last_line: tuple[str, dict[str, str]] | None = None
        self._stopped = threading.Event()
        self._places = {family: threading.Semaphore(AT_ONCE) for family in functions}
        self._missed = {family: threading.Event() for family in functions}
        self._threads = [threading.Thread(target=target, daemon=True) for target in (self._tick, self._listen)]

    def __enter__(self) -> "Ticker":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stopped.set()
        for thread in self._threads:
            thread.join()
        self._client.database.close()

    def _tick(self) -> None:
        while not self._stopped.is_set():
            try:
                self._client.maintenance.maintain()
            except QueueError as error:
                self._log("miss_maintenance", reason=str(error))
            for family in self._functions:
                self._wake(family)
            self._stopped.wait(self._tick_seconds)

    def _listen(self) -> None:
        while not self._stopped.is_set():
            try:
                with connect(self._database_url, "tickwork ticker") as connection:
                    connection.execute("listen tickwork")
                    while not self._stopped.is_set():
                        for notice in connection.notifies(timeout=0.2):
                            self._wake(notice.payload)
            except psycopg.Error as error:
                self._log("lose_listener", reason=str(error))
                self._stopped.wait(1)

    def _wake(self, family: str) -> None:
        if family not in self._functions:
            return
        if self._places[family].acquire(blocking=False):
            threading.Thread(target=self._call, args=(family,), daemon=True).start()
        else:
            # Calls under way may already have checked for the last time.
            self._missed[family].set()

    def _call(self, family: str) -> None:
        try:
            while not self._stopped.is_set() and wake(self._functions[family]).get("claimed"):
                pass
        except (OSError, HTTPException, ValueError) as error:
            # The function died during the call. The lease of its job expires, and the next tick continues.
            if not self._stopped.is_set():
                self._log("lose_call", family=family, reason=str(error))
            self._stopped.wait(0.5)
            # It is being loaded again, and was not even reached.
            if isinstance(getattr(error, "reason", None), ConnectionRefusedError):
                self._missed[family].set()
        finally:
            self._places[family].release()
        if self._missed[family].is_set():
            self._missed[family].clear()
            self._wake(family)

    def _log(self, verb: str, **fields: str) -> None:
        if (verb, fields) == self._last_line:
            return
        self._last_line = (verb, fields)
        # Not to the terminal, where the live table is.
        with self._logs.open("a") as file:
            file.write(log_line(verb, "WARNING", **fields) + "\n")


def wake(url: str) -> dict[str, Any]:
    """Call a function once and return its report; an empty one if nothing was due."""
    with OPENER.open(url, data=b"", timeout=3600) as answer:
        body = answer.read()
    report: dict[str, Any] = json.loads(body) if body else {}
    return report


def wake_all(functions: Mapping[str, str]) -> list[dict[str, Any]]:
    """Call each function once, one after the other, and return what each did or why it could not."""
    reports = []
    for family, url in functions.items():
        try:
            reports.append({"family": family, "claimed": 0, **wake(url)})
        except (OSError, HTTPException, ValueError) as error:
            reports.append({"family": family, "error": str(error)})
    return reports
