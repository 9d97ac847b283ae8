"""Presence: a process says that it works, seldom, and never at the cost of a job."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from tests.serve.test_wake_up import running_function, settings
from tests.serve.test_wake_up import source as source  # a fixture
from tests.world import World
from tests.world.waiting import until
from tickwork.jobs.handler import Handler, Handlers, Tools
from tickwork.runtime import presence, watch
from tickwork.runtime.deadline import Deadline
from tickwork.runtime.presence import Presence
from tickwork.runtime.work import work


class Nobody(BaseModel):
    pass


def told(world: World) -> list[tuple[str, int]]:
    return [(row["worker_id"], row["running_count"]) for row in world.rows("select * from job_workers")]


def forget(world: World) -> None:
    world.run("delete from job_workers")


def test_a_function_is_a_worker_and_says_so(world: World, source: Path, tmp_path: Path) -> None:
    with running_function(source, tmp_path, **settings(world)) as function:
        assert function.wake().status == 204
        row = world.row("select * from job_workers")

    assert (row["families"], row["running_count"], row["metadata"]["kind"]) == (["test"], 0, "function")
    assert "greet_person" in row["metadata"]["types"]
    assert row["version"]


def test_invocations_are_told_of_only_now_and_then(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(presence, "NOTE_SECONDS", 3600.0)
    one = Presence(world.queue, "function", ["test"], ["greet_person"])

    with one.invoked():
        pass
    assert told(world) == [("worker-1", 0)]
    forget(world)
    with one.invoked():
        pass

    assert told(world) == []


def test_an_invocation_that_takes_long_is_told_of_while_it_lasts(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(presence, "NOTE_SECONDS", 0.0)
    one = Presence(world.queue, "function", ["test"], ["greet_person"])

    with one.invoked(), one.invoked():
        one.note()
        assert told(world) == [("worker-1", 2)]
        monkeypatch.setattr(presence, "NOTE_SECONDS", 3600.0)
        one.note()
        one.note()
        forget(world)
        one.note()
        assert told(world) == []

    # Those that were running are not left standing there.
    assert told(world) == [("worker-1", 0)]


def test_it_is_told_while_handlers_run(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(presence, "NOTE_SECONDS", 0.0)
    monkeypatch.setattr(watch, "LOOK_SECONDS", 0.01)
    one = Presence(world.queue, "worker", ["test"], ["greet_person"])
    world.job()
    world.job()

    def handle(payload: Nobody, tools: Tools) -> None:
        until(lambda: told(world) == [("worker-1", 1)])
        forget(world)

    handlers: Handlers = {"greet_person": Handler(Nobody, handle)}
    with one.invoked():
        report = work(world.queue, "test", handlers, Deadline(60, 2), one)

    assert report.ended == {"done": 2}


def test_what_cannot_be_told_fails_nothing(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    world.run("drop function public.note_worker")
    one = Presence(world.queue, "worker", ["test"], ["greet_person"])

    with one.invoked():
        one.note()
    one.stop()

    assert capsys.readouterr().out.count("miss_presence") >= 2


def test_a_failed_invocation_does_not_ask_the_database_again(world: World) -> None:
    one: Any = Presence(world.queue, "function", ["test"], [])

    with pytest.raises(RuntimeError), one.invoked():
        raise RuntimeError

    assert told(world) == []
