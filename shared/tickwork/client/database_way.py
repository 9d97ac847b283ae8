"""The way in by SQL: with a URL, or in the transaction of a connection that the application has opened."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from tickwork.client import looking
from tickwork.client.json_values import JsonArgument
from tickwork.client.way import Arguments, Row
from tickwork.database.call import call
from tickwork.database.connection import Database
from tickwork.database.listener import Listener, listening
from tickwork.database.sql import Sql
from tickwork.waking.announcer import announce

if TYPE_CHECKING:
    from pydantic import BaseModel

    M = TypeVar("M", bound=BaseModel)


class DatabaseWay:
    def __init__(self, database: Sql, is_ours: bool = False) -> None:
        self.database = database
        self._is_ours = is_ours

    def rows(self, function: str, arguments: Arguments, *, columns: str = "*", repeatable: bool = True) -> list[Row]:
        rows = call(self.database, function, columns=columns, repeatable=repeatable, **in_sql(arguments))
        # In a transaction of the application nothing is committed yet.
        if function == "enqueue_jobs" and rows and isinstance(self.database, Database):
            announce(rows[0]["id"])
        return rows

    def one(self, model: type[M], function: str, arguments: Arguments, *, repeatable: bool = True) -> M:
        # One column to read instead of 38.
        (row,) = self.rows(function, arguments, columns=f"to_json({function})::text as one", repeatable=repeatable)
        found = model.model_validate_json(row["one"])
        if function == "enqueue_job" and isinstance(self.database, Database):
            announce(getattr(found, "id"))  # noqa: B009  a model of a job has one
        return found

    @contextmanager
    def watch(self) -> Iterator[Looking]:
        if not isinstance(self.database, Database):
            yield Looking()
            return
        with listening(self.database, "tickwork_done") as listener:
            yield Listening(listener)

    def close(self) -> None:
        if self._is_ours:
            self.database.close()


class Looking:
    """Nothing is announced: the job is read again and again."""

    def pauses(self) -> Sequence[float]:
        return looking.LOOK_SECONDS

    def wait_for(self, job_id: str, seconds: float) -> None:
        time.sleep(seconds)


class Listening(Looking):
    def __init__(self, listener: Listener) -> None:
        self._listener = listener

    def wait_for(self, job_id: str, seconds: float) -> None:
        self._listener.wait_for(job_id, seconds)


def in_sql(arguments: Arguments) -> dict[str, Any]:
    return {name: value.text if isinstance(value, JsonArgument) else value for name, value in arguments.items()}
