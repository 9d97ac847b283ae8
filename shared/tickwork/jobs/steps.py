"""Steps and waits of a handler: what is stored under the lease, so that the next attempt need not do it again."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, NoReturn
from uuid import UUID

from tickwork.errors import InvalidRequest, NotYet, Permanent, Unavailable
from tickwork.jobs.held_steps import open_held_wait, read_held_steps, store_held_step
from tickwork.jobs.outcomes import Done

if TYPE_CHECKING:
    from tickwork.jobs.connection import Connection

# When to try again to reach the database with the result of a step: what the step did would be done twice.
STORE_AGAIN_SECONDS = (0.2, 1.0, 4.0)


@dataclass(frozen=True)
class Event:
    """An event that a handler has waited for."""

    id: UUID
    type: str
    aggregate: str | None
    payload: Mapping[str, Any]
    occurred_at: datetime


@dataclass(frozen=True)
class Wait:
    """What a handler waits for: an event, a time, or whichever comes first."""

    name: str
    event_name: str | None = None
    condition: str | None = None
    timeout_seconds: float | None = None
    ends_at: datetime | None = None


class Steps:
    """The steps of one attempt, by their names; those that an earlier attempt has stored are not run again."""

    def __init__(
        self, under_lease: Callable[[Callable[[Connection], Any]], Any], pause: Callable[[float], None]
    ) -> None:
        self._under_lease = under_lease
        self._pause = pause
        self._stored = {row["name"]: row for row in self._held(read_held_steps)}
        self._used: set[str] = set()

    def result(self, name: str, run: Callable[[], object]) -> Any:
        """What the step returned, as it is stored; run now if it has not been."""
        self._use(name)
        return self._stored_as("step", name) if name in self._stored else self._store(name, run())

    async def awaited_result(self, name: str, run: Callable[[], Awaitable[object]]) -> Any:
        """The same for a step that is async."""
        self._use(name)
        return self._stored_as("step", name) if name in self._stored else self._store(name, await run())

    def expect(self, wait: Wait) -> None:
        """From now on it counts, although nobody waits for it yet."""
        if wait.name not in self._stored:
            self._open(wait, gives_back=False)

    def event(self, wait: Wait) -> Event | None:
        """The event, or None if its time was over first. Gives the job back if neither has come."""
        self._use(wait.name)
        if wait.name in self._stored:
            found = self._stored_as("wait", wait.name)
        else:
            row = self._open(wait, gives_back=True)
            if not row["is_over"]:
                raise NotYet(f"It waits for {wait.event_name or 'its time'}", delay=row["seconds_left"])
            found = row["event"]
        return None if found is None else event_of(found)

    def unused(self) -> list[str]:
        """What is stored under names that this attempt did not use: the handler has changed since."""
        return sorted(self._stored.keys() - self._used)

    def _store(self, name: str, returned: object) -> Any:
        """Keep what the step has returned, with what it wants written."""
        if isinstance(returned, Coroutine):
            returned.close()
            raise refused(f"The step {name!r} is async: use `await tools.step_async` in an async handler")
        done = returned if isinstance(returned, Done) else Done()
        if done.follow_ups:
            raise refused(f"The step {name!r} returned follow-ups: return them with the result of the job")
        result = encoded(name, done.result if returned is done else returned)

        def store(connection: Connection) -> Any:
            row = store_held_step(connection, name, result)
            # Otherwise an earlier try has gone through, with its writes, and only the response got lost.
            if row["is_new"]:
                for write in done.writes:
                    write(connection)
            return row["result"]

        return self._held(store)

    def _use(self, name: str) -> None:
        if name in self._used:
            raise refused(f"There are two steps {name!r} in one run: give each a name of its own")
        self._used.add(name)

    def _stored_as(self, kind: str, name: str) -> Any:
        row = self._stored[name]
        if row["kind"] != kind:
            raise refused(f"{name!r} is stored as a {row['kind']}, not as a {kind}: give the {kind} another name")
        return row["result"]

    def _open(self, wait: Wait, gives_back: bool) -> Any:
        row = self._held(lambda connection: open_held_wait(connection, **vars(wait), gives_back=gives_back))
        if row["is_over"] and not gives_back:
            self._stored[wait.name] = {"kind": "wait", "result": row["event"]}
        return row

    def _held(self, work: Callable[[Connection], Any]) -> Any:
        for pause in (*STORE_AGAIN_SECONDS, None):
            try:
                return self._under_lease(work)
            except Unavailable:
                if pause is None:
                    raise
                self._pause(pause)
            except InvalidRequest as error:
                if (error.sqlstate or "").startswith("TW"):
                    raise refused(f"{error}. {error.hint or ''}".strip()) from error
                raise
        raise AssertionError("the last round returns or raises")


def refused(message: str) -> Permanent:
    return Permanent(message, code="STEP_REFUSED")


def encoded(name: str, result: object) -> str:
    """As JSON that the database can store; models as their fields."""
    dump = getattr(result, "model_dump", None)
    try:
        text = json.dumps(dump(mode="json") if dump else result, allow_nan=False, ensure_ascii=False)
        text.encode()
    except (ValueError, TypeError, RecursionError) as error:
        not_json(name, str(error), error)
    if "\\u0000" in text:
        not_json(name, "it contains \\u0000", None)
    return text


def not_json(name: str, problem: str, cause: Exception | None) -> NoReturn:
    raise refused(f"The step {name!r} returned what is not JSON: {problem}. Return a model, or plain values") from cause


def event_of(found: Mapping[str, Any]) -> Event:
    return Event(
        UUID(found["event_id"]),
        found["event_type"],
        found["aggregate"],
        found["payload"],
        datetime.fromisoformat(found["occurred_at"]),
    )
