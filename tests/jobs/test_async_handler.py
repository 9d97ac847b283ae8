"""Handlers that are async."""

import asyncio
from typing import Any

import pytest
from pydantic import BaseModel

from tests.world import World
from tests.world.waiting import PATIENCE
from tickwork.errors import Permanent, Retryable
from tickwork.jobs.handler import Handler, Tools
from tickwork.jobs.outcomes import Done, Report
from tickwork.runtime import watch
from tickwork.runtime.deadline import Deadline
from tickwork.runtime.work import work


class Person(BaseModel):
    name: str = "Ada"


class Greeting(BaseModel):
    text: str


def worked_off(world: World, run: Any) -> Report:
    return work(world.queue, "test", {"greet_person": Handler(Person, run)}, Deadline(60, 10))


def test_what_it_returns_is_the_result(world: World) -> None:
    job = world.job()

    async def greet(person: Person, tools: Tools) -> Greeting:
        await asyncio.sleep(0)
        return Greeting(text=f"Hello {person.name}")

    worked_off(world, greet)

    assert world.reload(job).result == {"text": "Hello Ada"}


def test_what_it_wants_written_is_written(world: World) -> None:
    world.job()
    world.run("create table notes (text text); grant insert on notes to tickwork_worker")

    async def greet(person: Person, tools: Tools) -> Done:
        return Done(writes=[lambda connection: connection.execute("insert into notes values ('hello')")])

    worked_off(world, greet)

    assert world.value("select text from notes") == "hello"


def test_its_steps_are_not_run_again(world: World) -> None:
    job = world.job()
    ran: list[str] = []

    async def greeting() -> Greeting:
        await asyncio.sleep(0)
        ran.append("greeting")
        return Greeting(text="Hello")

    async def greet(person: Person, tools: Tools) -> Greeting:
        first = await tools.step_async("greeting", greeting, Greeting)
        name = tools.step("name", lambda: person.name)
        if tools.attempt == 1:
            raise Retryable("once more", delay=0)
        return Greeting(text=f"{first.text} {name}")

    assert worked_off(world, greet).ended == {"retried": 1, "done": 1}
    assert (world.reload(job).result, ran) == ({"text": "Hello Ada"}, ["greeting"])


def test_it_is_given_back_while_it_waits(world: World) -> None:
    job = world.job()

    async def wait(person: Person, tools: Tools) -> None:
        tools.sleep_for("nap", 3600)

    assert worked_off(world, wait).ended == {"released": 1}
    assert world.reload(job).attempts == 0


def test_a_step_that_is_async_is_refused_where_nobody_awaits_it(world: World) -> None:
    job = world.job()

    async def nothing() -> None:
        pass

    assert worked_off(world, lambda person, tools: tools.step("nothing", nothing)).ended == {"failed": 1}
    assert "use `await tools.step_async`" in str(world.reload(job).error_message)


def test_what_it_raises_ends_the_attempt(world: World) -> None:
    job = world.job()

    async def refuse(person: Person, tools: Tools) -> None:
        raise Permanent("never")

    assert worked_off(world, refuse).ended == {"failed": 1}
    assert world.reload(job).error_message == "never"


def test_a_timeout_cancels_it_where_it_waits(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(watch, "STOP_SECONDS", PATIENCE)
    job = world.job(world.type(timeout_seconds=1))
    cleaned_up = []

    async def hang(person: Person, tools: Tools) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cleaned_up.append(True)

    assert worked_off(world, hang).ended == {"retried": 1}
    assert world.reload(job).error_code == "TIMEOUT"
    assert cleaned_up == [True]


def test_one_that_was_asked_to_stop_before_it_waits_is_cancelled_too(world: World) -> None:
    world.job()
    deadline = Deadline(60, 1, grace_seconds=30)
    handled = []

    async def stop_early(person: Person, tools: Tools) -> None:
        tools.interrupt("no time")
        await asyncio.Event().wait()
        handled.append(True)

    report = work(world.queue, "test", {"greet_person": Handler(Person, stop_early)}, deadline)

    assert (report.ended, handled) == ({"retried": 1}, [])


def test_one_that_is_cancelled_by_itself_has_failed(world: World) -> None:
    job = world.job()

    async def give_up(person: Person, tools: Tools) -> None:
        raise asyncio.CancelledError

    assert worked_off(world, give_up).ended == {"retried": 1}
    assert world.reload(job).error_code == "UNEXPECTED"
