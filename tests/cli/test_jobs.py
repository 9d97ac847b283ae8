"""The commands that list and change jobs, as people and scripts use them."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_main import Ask, answer, ask, refusal
from tests.world import World
from tests.world.command_line import run, run_all
from tickwork.jobs.rows import Job

__all__ = ["ask"]


def dead_job(world: World, code: str = "BUSY", **arguments: Any) -> Job:
    return world.queue.fail_job(world.running_job(max_attempts=1, **arguments), {"code": code})


def statuses(world: World, *jobs: Job) -> list[str]:
    return [world.reload(job).status for job in jobs]


def test_jobs_are_found_by_each_filter(world: World, tmp_path: Path) -> None:
    world.tenant("other")
    job = dead_job(world, lane="l", correlation_id="order-1")
    world.job(tenant=world.value("select id from organizations where name = 'other'"))
    filters = [
        ["--lane", "l"],
        ["--error-code", "BUSY"],
        ["--key", "order-"],
        ["--status", "dead"],
        ["--created-before", world.value("select (created_at + interval '1 us')::text from jobs where lane = 'l'")],
        ["--finished-after", "1 hour ago"],
        ["--finished-before", "1 hour"],
        ["--oldest-first", "--limit", "1"],
    ]
    nothing = [["--source", "schedule"], ["--created-after", "1 hour"], ["--finished-before", "1 hour ago"]]

    asked = run_all(
        [["jobs", *each, "--json", "--database-url", world.url] for each in filters + nothing], home=tmp_path
    )

    found = [[one["id"] for one in answer(each)] for each in asked]
    assert found == [[str(job.id)]] * len(filters) + [[]] * len(nothing)


def test_one_job_is_retried_at_a_time_with_so_many_attempts(world: World, ask: Ask) -> None:
    job = dead_job(world)

    retried = answer(ask("retry", str(job.id), "--run-at", "2099-01-31T08:00Z", "--max-attempts", "3", "--json"))

    assert (retried["status"], retried["run_at"][:4], retried["max_attempts"]) == ("queued", "2099", 4)


def test_one_job_is_rescheduled(world: World, ask: Ask) -> None:
    job = world.job()

    moved = ask("reschedule", str(job.id), "--run-at", "2099-01-31T08:00Z")

    assert moved.stdout == f"{job.id} is queued, due 2099-01-31 08:00:00+0000\n"


def test_a_job_is_enqueued_after_others_and_cancelled_with_its_chain(world: World, ask: Ask) -> None:
    first, second = world.job(correlation_id="chain"), world.job()

    enqueued = answer(
        ask(
            *("enqueue", first.type, "--tenant", str(first.tenant_id), "--after-when", "any_ended"),
            *("--after", str(first.id), "--after", str(second.id), "--json"),
        )
    )
    shown = answer(ask("job", enqueued["id"], "--json"))
    cancelled = answer(ask("cancel", "--correlation-id", "chain", "--yes", "--json"))

    assert (enqueued["after"], enqueued["after_when"]) == ([str(first.id), str(second.id)], "any_ended")
    assert shown["why"].startswith("It waits for one of 2 jobs to end: ")
    assert cancelled == {"changed": 2}
    assert statuses(world, first, second) == ["cancelled", "queued"]


def test_a_buried_job_keeps_the_reason(world: World, ask: Ask) -> None:
    job = world.job()

    buried = ask("bury", str(job.id), "--reason", "The customer is gone")

    assert buried.stdout == f"{job.id} is dead, BURIED\n"
    assert world.reload(job).error_message == "The customer is gone"
    assert refusal(ask("bury", str(job.id))).startswith(f"tickwork: job {job.id} is dead and cannot be buried")


def test_whoever_changes_many_is_asked_with_their_number(world: World, tmp_path: Path) -> None:
    jobs = [dead_job(world), dead_job(world), dead_job(world, "BROKEN")]
    command = ["retry", "--error-code", "BUSY", "--database-url", world.url]

    refused = [run(*command, home=tmp_path, stdin=answer) for answer in ("", "n\n")]
    before = statuses(world, *jobs)
    agreed = run(*command, home=tmp_path, stdin="y\n")

    for each in refused:
        assert each.returncode == 1
        assert each.stderr.startswith("Retry 2 failed or dead jobs with error_code BUSY? [y/N] tickwork: nothing was")
        assert "--yes" in each.stderr
    assert before == ["dead", "dead", "dead"]
    assert agreed.stdout == "2 jobs are queued again.\n"
    assert statuses(world, *jobs) == ["queued", "queued", "dead"]


def test_many_are_cancelled_and_rescheduled_without_a_question(world: World, ask: Ask) -> None:
    world.tenant()
    jobs = [world.job(lane="l") for _ in range(3)]
    other = world.job()

    moved = ask("reschedule", "--lane", "l", "--run-at", "1 hour", "--yes")
    again = answer(ask("reschedule", "--lane", "l", "--run-at", "2099-01-01T00:00Z", "--yes", "--json"))
    cancelled = ask("cancel", "--tenant", "acme", "--lane", "l", "--yes")
    nothing = ask("cancel", "--lane", "l")

    assert moved.stdout == "3 jobs are rescheduled.\n"
    assert again == {"changed": 3}
    assert cancelled.stdout == "3 jobs are cancelled or asked to stop.\n"
    assert nothing.stdout == "0 jobs are cancelled or asked to stop.\n"
    assert statuses(world, *jobs, other) == ["cancelled"] * 3 + ["queued"]


def test_more_than_a_portion_is_changed_to_the_end(world: World, ask: Ask) -> None:
    tenant, type = world.tenant(), world.type()
    world.service.jobs.enqueue_jobs([{"tenant_id": str(tenant), "type": type} for _ in range(1500)])

    cancelled = ask("cancel", "--type", type, "--yes")

    assert cancelled.stdout == "1500 jobs are cancelled or asked to stop.\n"
    assert world.value("select count(*) from jobs where status = 'cancelled'") == 1500


def test_what_could_not_be_changed_is_said(world: World, ask: Ask) -> None:
    blocked = world.service.jobs.cancel_job(world.job(dedupe_key="d").id)
    world.job(dedupe_key="d")
    world.service.jobs.cancel_job(world.job().id)

    retried = ask("retry", "--status", "cancelled", "--yes")

    assert retried.stdout == "1 of 2 jobs are queued again. The others needed no change, or could not be changed.\n"
    assert statuses(world, blocked) == ["cancelled"]


@pytest.mark.parametrize("command", ["retry", "cancel", "reschedule"])
def test_an_id_or_filters_are_needed_but_not_both(world: World, tmp_path: Path, command: str) -> None:
    job = world.job()
    given = [command, "--database-url", world.url, *(["--run-at", "1 hour"] if command == "reschedule" else [])]

    neither, both = run_all([given, [*given, str(job.id), "--family", "test"]], home=tmp_path)

    assert refusal(neither) == "tickwork: give an ID, or options that select jobs"
    assert refusal(both) == "tickwork: give either an ID or options, not both"
    assert world.reload(job) == job


SLIPS = [
    (["reschedule", "--family", "test"], "run_at: is missing"),
    (["cancel", "--status", "dead", "--yes"], "status: dead jobs cannot be cancelled"),
    (["retry", "--status", "nonsense"], "status: there is no status 'nonsense'"),
    (["retry", "--created-after", "soon", "--yes"], "created_after: 'soon' is not a point in time"),
    (["jobs", "--finished-before", "never"], "finished_before: 'never' is not a point in time"),
    (["cancel", "--tenant", "nobody"], "tenant: there is no tenant 'nobody'"),
]


def test_a_slip_is_named(world: World, tmp_path: Path) -> None:
    world.job()

    asked = run_all([[*given, "--database-url", world.url] for given, _ in SLIPS], home=tmp_path)

    for each, (_, complaint) in zip(asked, SLIPS, strict=True):
        assert refusal(each).startswith(f"tickwork: {complaint}")


def test_the_page_of_a_running_job_shows_since_when(world: World, ask: Ask) -> None:
    job = world.running_job()
    error = {"code": "EXIT", "message": "It ended badly", "page": 3}
    world.queue.fail_job(job, error, retry_after_seconds=0, exit_code=137, stderr_tail="Out of memory\nKilled")
    world.claim()

    page = ask("job", str(job.id)).stdout

    assert "\nattempt 1 failed after " in page
    assert '\n  error\n  | {"page": 3}\n  exit_code\n  | 137\n  stderr_tail\n  | Out of memory\n  | Killed\n' in page
    assert "\nattempt 2 has been running since 20" in page


def test_jobs_are_listed_with_tenant_age_and_duration(world: World, ask: Ask) -> None:
    job = dead_job(world)
    world.run(
        "update jobs set created_at = now() - interval '3 hours', started_at = finished_at - interval '5 minutes'"
    )
    waiting = world.job()

    head, queued, dead = ask("jobs").stdout.splitlines()

    assert head.split() == ["id", "status", "type", "tenant", "age", "took", "note"]
    assert re.fullmatch(rf"{waiting.id} queued 0/4 +greet_person acme +[0-9.]+ s *", queued)
    assert re.fullmatch(rf"{job.id} dead 1/1 +greet_person acme +3 h +5 min BUSY *", dead)


def test_the_beginning_of_an_id_is_enough(world: World, tmp_path: Path) -> None:
    first, second, third = (world.job() for _ in range(3))
    for job, id in ((first, "aaaa1111"), (second, "aaaa2222"), (third, "bbbb3333")):
        world.run("update jobs set id = %s where id = %s", f"{id}-0000-4000-8000-000000000000", job.id)
        world.run("select rebuild_queue()")
    commands = [
        *(["job", "aaaa1"], ["cancel", "AAAA1111-00"], ["retry", "aaaa1111"], ["bury", "bbbb"]),
        ["reschedule", "aaaa2", "--run-at", "1 hour"],
        *(["job", "aaaa"], ["job", "cccc"], ["job", "aaa"], ["job", "bbbb-xyz"], ["jobs", "--after", "bbbb"]),
    ]

    asked = run_all([[*each, "--database-url", world.url] for each in commands], home=tmp_path)

    assert [each.returncode for each in asked] == [0] * 5 + [1] * 4 + [0]
    assert "aaaa1111-0000-4000-8000-000000000000" in asked[0].stdout
    assert asked[1].stdout.endswith(" is cancelled\n")
    assert asked[3].stdout.startswith("bbbb3333-0000-4000-8000-000000000000 is dead")
    assert refusal(asked[5]) == "tickwork: ID: several ids of jobs begin with 'aaaa'"
    assert refusal(asked[6]) == "tickwork: ID: no id of jobs begins with 'cccc'"
    assert refusal(asked[7]) == "tickwork: ID: 'aaa' is not a job id"
    assert refusal(asked[8]) == "tickwork: ID: 'bbbb-xyz' is not a job id"


def test_a_retry_keeps_the_time_of_a_job_for_later(world: World, tmp_path: Path) -> None:
    job = world.service.jobs.cancel_job(world.job(run_at="2999-01-01T00:00Z").id)
    retry = ["retry", str(job.id), "--database-url", world.url]

    kept, _, moved = run_all(
        [retry, ["cancel", str(job.id), "--database-url", world.url], [*retry, "--run-at", "now"]], home=tmp_path
    )

    assert kept.stdout == f"{job.id} is queued, due 2999-01-01 00:00:00+0000\n"
    assert moved.stdout == f"{job.id} is queued\n"


def test_an_operator_reads_the_exception_that_the_tenant_cannot(world: World, tmp_path: Path) -> None:
    job = world.running_job(max_attempts=1)
    world.queue.fail_job(job, {"code": "UNEXPECTED", "message": "ValueError"}, exception="Traceback:\n  File /srv/x.py")
    page = ["job", str(job.id), "--database-url", world.url]

    plain, operator, listed = run_all([page, [*page, "--operator"], [*page, "--operator", "--json"]], home=tmp_path)

    assert "/srv/x.py" not in plain.stdout
    assert "\n  exception\n  | Traceback:\n  |   File /srv/x.py\n" in operator.stdout
    assert answer(listed)["attempt_history"][0]["exception"] == "Traceback:\n  File /srv/x.py"
