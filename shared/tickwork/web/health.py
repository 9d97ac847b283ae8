"""Whether a process lives and can work: /health/live and /health/ready, for everybody, without details."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from tickwork.database.call import call
from tickwork.database.connection import Database
from tickwork.database.version import SERVED
from tickwork.errors import QueueError
from tickwork.logs import log

LIVE = "/health/live"
READY = ("/health/ready", "/v1/health/ready")
# How long an answer may take, and for how long it is the answer to everybody: anybody may ask.
ANSWER_SECONDS = 3.0
KEPT_SECONDS = 2.0

# Something else that must be there, by its name: true if it is. It has to give up by itself.
Checks = Mapping[str, Callable[[], bool]]
Answer = tuple[dict[str, Any], int]


class Health:
    def __init__(self, database: Database, checks: Checks | None = None) -> None:
        self._database = database
        self._checks = checks or {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._failed: list[str] = []
        self._known_until = float("-inf")

    def answer(self, path: str) -> Answer | None:
        """None for any other path."""
        if path == LIVE:
            return {"status": "live"}, 200
        if path not in READY:
            return None
        failed = self.failed()
        return ({"status": "not ready", "failed": failed}, 503) if failed else ({"status": "ready"}, 200)

    def failed(self) -> list[str]:
        """The names of the checks that fail; `database` also if it does not answer in time."""
        with self._lock:
            if time.monotonic() < self._known_until:
                return self._failed
            # One look at a time: the one that hangs is not joined by others.
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._look, name="tickwork-health", daemon=True)
                self._thread.start()
            thread = self._thread
        thread.join(ANSWER_SECONDS)
        return ["database"] if thread.is_alive() else self._failed

    def _look(self) -> None:
        failed = failed_in(self._database)
        failed += [name for name, check in self._checks.items() if not passes(name, check)]
        self._failed, self._known_until = failed, time.monotonic() + KEPT_SECONDS


def failed_in(database: Database) -> list[str]:
    try:
        rows = call(database, "queue_health")
    except QueueError as error:
        log("fail_health", "WARNING", check="database", reason=str(error))
        # It is there, but its schema is older than that function.
        return ["schema"] if error.sqlstate in ("42883", "3F000", "42501") else ["database"]
    return failed_of(rows)


def failed_of(rows: list[dict[str, Any]]) -> list[str]:
    """The names of the checks of `queue_health` that fail."""
    failed = [row for row in rows if not (int(row["detail"]) in SERVED if row["name"] == "schema" else row["is_ok"])]
    for row in failed:
        log("fail_health", "WARNING", check=row["name"], reason=row["detail"])
    return [row["name"] for row in failed]


def passes(name: str, check: Callable[[], bool]) -> bool:
    try:
        is_there = check()
    except Exception as error:
        log("fail_health", "WARNING", check=name, reason=f"{type(error).__name__}: {error}")
        return False
    if not is_there:
        log("fail_health", "WARNING", check=name)
    return is_there
