"""A function that looks again within its budget, for schedulers that cannot call more than once a minute."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from pydantic import BaseModel

from tests.world import World
from tests.world.calendar import schedule
from tests.world.waiting import PATIENCE, until
from tickwork.errors import NotAllowed
from tickwork.jobs.handler import Handler, Handlers, Tools
from tickwork.runtime.deadline import Deadline
from tickwork.serve.wake_up import work_within_budget
from tickwork.settings import Settings


class Nothing(BaseModel):
    pass


def handling(work: Callable[[], object] = lambda: None) -> Handlers:
    def handle(payload: Nothing, tools: Tools) -> None:
        work()

    return {"greet_person": Handler(Nothing, handle)}


def settings(world: World, **changed: float) -> Settings:
    return Settings(database_url=world.worker_url, **changed)  # type: ignore[arg-type]


def test_a_job_that_comes_later_is_done_by_the_same_invocation(world: World) -> None:
    first = world.job()
    patient = settings(world, budget_seconds=60, look_again_seconds=0.05, max_jobs=2)

    with ThreadPoolExecutor(1) as threads:
        working = threads.submit(work_within_budget, world.queue, "test", handling(), patient)
        until(lambda: world.reload(first).status == "done")
        second = world.job()
        report = working.result(PATIENCE)

    assert report.as_json() == {"family": "test", "claimed": 2, "done": 2}
    assert world.reload(second).status == "done"


def test_without_the_setting_it_looks_once(world: World) -> None:
    world.job()

    assert work_within_budget(world.queue, "test", handling(), settings(world, budget_seconds=60)).claimed == 1


def test_what_upkeep_makes_due_is_done_by_the_same_invocation(world: World) -> None:
    schedule(world, "@yearly")
    world.run("update schedules set next_nominal_at = now(), look_at = now() - interval '1 second'")

    assert work_within_budget(world.queue, "test", handling(), settings(world, budget_seconds=60)).claimed == 1


def test_a_look_beyond_the_budget_is_not_waited_for() -> None:
    assert not Deadline(1, 10).wait(5)
    assert not Deadline(60, 0).wait(0.01)
    assert Deadline(60, 10).wait(0.01)


def test_what_was_done_is_reported_although_the_second_look_fails(world: World) -> None:
    world.job()
    patient = settings(world, budget_seconds=60, look_again_seconds=0.05)
    revoke = "revoke execute on function settle_and_claim, tickwork.settle_and_claim from tickwork_worker"

    report = work_within_budget(world.queue, "test", handling(lambda: world.run(revoke)), patient)

    assert report.as_json() == {"family": "test", "claimed": 1, "done": 1}
    with pytest.raises(NotAllowed):
        work_within_budget(world.queue, "test", handling(), patient)
