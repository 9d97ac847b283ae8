"""Every time of a schedule becomes a job or is recorded as skipped, exactly once, whoever ticks and whenever."""

from collections import Counter
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any
from uuid import UUID

import pytest

from tests.database.test_enqueue import in_thread
from tests.world import World
from tests.world.calendar import FIRE, LEAD, NOON, fires, outcomes, schedule, set_next, tick
from tests.world.plans import nodes_of

HOUR, MINUTE, SECOND = timedelta(hours=1), timedelta(minutes=1), timedelta(seconds=1)


def job_of(world: World, schedule_id: UUID) -> dict[str, Any]:
    """The job of its last fire."""
    return world.row(
        "select jobs.* from jobs join schedule_fires on job_id = jobs.id where schedule_id = %s "
        "order by nominal_at desc limit 1",
        schedule_id,
    )


def end(world: World, schedule_id: UUID, status: str) -> None:
    """The job of its last fire runs, or has ended so."""
    world.run(
        "update jobs set status = state, finished_at = case when state not in ('queued', 'running') then now() end, "
        "lease_expires_at = case state when 'running' then now() + interval '1 hour' end "
        "from (values (%s, %s)) as given(state, job_id) where id = job_id",
        *(status, job_of(world, schedule_id)["id"]),
    )


def test_a_job_is_enqueued_ahead_of_its_time_and_only_once(world: World) -> None:
    hourly = schedule(world, payload_template={"at": "{{scheduled_for}}", "by": "{{label}}"}, priority=7, lane="a")

    early = tick(world, NOON - LEAD - SECOND)
    jobs = [tick(world, NOON - LEAD), tick(world, NOON - LEAD), tick(world, NOON)]

    job = job_of(world, hourly)
    assert (early, jobs) == (0, [1, 0, 0])
    assert (job["run_at"], job["status"]) == (NOON, "queued")
    assert (job["source"], job["source_ref"], job["priority"], job["lane"]) == ("schedule", str(hourly), 7, "a")
    assert datetime.fromisoformat(job["payload"]["at"]) == NOON
    assert job["payload"]["by"] == "hourly"
    assert outcomes(world, hourly) == [("12:00", "fired")]


@pytest.mark.parametrize("tickers", [2, 8])
def test_however_many_tick_at_once_each_time_fires_once(world: World, tickers: int) -> None:
    for number in range(100):
        schedule(world, "* * * * *", f"number {number}", overlap="allow", missed="all")
    connections = [world.connect() for _ in range(tickers)]

    def tick_on(connection: Any) -> None:
        for step in range(6):
            tick(world, NOON + step * MINUTE, 10, connection)
            tick(world, NOON + step * MINUTE, 200, connection)

    for finish in [in_thread(lambda on=connection: tick_on(on)) for connection in connections]:
        finish()

    # One that ticks behind the others may come late.
    assert Counter(fire["outcome"] in ("fired", "late") for fire in fires(world)) == {True: 600}
    assert world.value("select count(*) from jobs") == 600
    assert world.value("select count(distinct (source_ref, run_at)) from jobs") == 600


def test_a_tick_that_is_killed_before_it_commits_has_not_happened(world: World) -> None:
    hourly = schedule(world)
    killed = world.connect()
    killed.execute("begin; set local role tickwork_owner")
    killed.execute(FIRE, [NOON, 100])

    meanwhile = tick(world, NOON)
    world.run("select pg_terminate_backend(%s, 60000)", killed.info.backend_pid)
    killed.close()
    after = tick(world, NOON + SECOND)

    assert (meanwhile, after) == (0, 1)
    assert outcomes(world, hourly) == [("12:00", "fired")]


def test_a_clock_that_is_set_back_or_forward_fires_nothing_twice(world: World) -> None:
    hourly = schedule(world, overlap="allow")

    tick(world, NOON)
    back = tick(world, NOON - MINUTE)
    tick(world, NOON + 24 * HOUR)
    again = [tick(world, NOON + hours * HOUR) for hours in (1, 2, 23, 24)]

    assert (back, again) == (0, [0, 0, 0, 0])
    assert Counter(outcome for _, outcome in outcomes(world, hourly)) == {"fired": 2, "skipped_missed": 23}


def test_a_time_that_was_decided_is_not_decided_again_even_if_the_schedule_was_moved_back(world: World) -> None:
    hourly = schedule(world, overlap="allow")
    tick(world, NOON)

    set_next(world, hourly, NOON)

    assert tick(world, NOON) == 0
    assert outcomes(world, hourly) == [("12:00", "fired")]


OUTAGES = {
    # A day without a tick: 12:00 to 11:00, and it is 11:30.
    "skip": {"skipped_missed": 24},
    "latest": {"skipped_missed": 23, "late": 1},
    "all": {"skipped_missed": 20, "late": 4},
}


@pytest.mark.parametrize("missed", OUTAGES)
def test_after_an_outage_each_missed_time_is_made_up_for_or_recorded(world: World, missed: str) -> None:
    hourly = schedule(world, missed=missed, overlap="allow", catch_up_seconds=4 * 3600)

    jobs = tick(world, NOON + 23.5 * HOUR)
    afterwards = tick(world, NOON + 24 * HOUR)

    found = fires(world, hourly)
    assert Counter(fire["outcome"] for fire in found[:-1]) == OUTAGES[missed]
    assert (jobs, afterwards) == (OUTAGES[missed].get("late", 0), 1)
    assert [later["nominal_at"] - fire["nominal_at"] for fire, later in pairwise(found)] == [HOUR] * 24
    assert all(fire["outcome"] == "skipped_missed" for fire in found[: 24 - jobs])


def test_no_more_than_a_hundred_times_are_made_up_for(world: World) -> None:
    minutely = schedule(world, "* * * * *", missed="all", overlap="allow", catch_up_seconds=86400)

    jobs = tick(world, NOON + 10 * HOUR + 30 * SECOND)

    assert jobs == 100
    assert Counter(fire["outcome"] for fire in fires(world, minutely)) == {
        "skipped_missed": 502,
        "late": 98,
        "fired": 2,
    }


def test_a_long_outage_is_recorded_in_portions(world: World) -> None:
    minutely = schedule(world, "* * * * *", overlap="allow")
    a_week = 7 * 24 * 60

    ticks = 0
    while tick(world, NOON + a_week * MINUTE - MINUTE + ticks * SECOND) == 0:
        ticks += 1

    found = fires(world, minutely)
    assert ticks == a_week // 1500
    assert len(found) == a_week
    assert Counter(fire["outcome"] for fire in found) == {"skipped_missed": a_week - 1, "fired": 1}


OVERLAPS = [
    ("skip", "queued", "skipped_overlap"),
    ("skip", "running", "skipped_overlap"),
    ("skip", "done", "fired"),
    ("skip", "dead", "fired"),
    ("queue_one", "queued", "skipped_overlap"),
    ("queue_one", "running", "fired"),
    ("allow", "running", "fired"),
    ("allow", "queued", "fired"),
    ("cancel_previous", "queued", "fired"),
    ("cancel_previous", "running", "fired"),
]


@pytest.mark.parametrize(("overlap", "status", "outcome"), OVERLAPS)
def test_what_happens_if_the_last_job_has_not_ended(world: World, overlap: str, status: str, outcome: str) -> None:
    hourly = schedule(world, overlap=overlap)
    tick(world, NOON)
    first = job_of(world, hourly)["id"]
    end(world, hourly, status)

    tick(world, NOON + HOUR)

    assert outcomes(world, hourly) == [("12:00", "fired"), ("13:00", outcome)]
    row = world.row("select status, cancel_requested_at from jobs where id = %s", first)
    if overlap == "cancel_previous":
        assert row["status"] == ("cancelled" if status == "queued" else "running")
        assert row["cancel_requested_at"] is not None
    else:
        assert (row["status"], row["cancel_requested_at"]) == (status, None)


def test_whether_jobs_overlap_is_decided_at_the_time_and_not_before(world: World) -> None:
    hourly = schedule(world, overlap="skip")
    tick(world, NOON)
    end(world, hourly, "running")

    ahead = tick(world, NOON + HOUR - LEAD), tick(world, NOON + HOUR - SECOND)
    undecided = outcomes(world, hourly)
    end(world, hourly, "done")
    in_time = tick(world, NOON + HOUR)

    assert (ahead, in_time) == ((0, 0), 1)
    assert undecided == [("12:00", "fired")]
    assert outcomes(world, hourly) == [("12:00", "fired"), ("13:00", "fired")]


def test_of_several_late_times_that_must_not_overlap_only_the_newest_starts(world: World) -> None:
    hourly = schedule(world, missed="all", catch_up_seconds=86400, overlap="skip")

    tick(world, NOON + 3.5 * HOUR)

    assert [outcome for _, outcome in outcomes(world, hourly)] == [*["skipped_overlap"] * 3, "late"]


def test_a_spread_moves_the_job_always_by_the_same_and_never_the_nominal_time(world: World) -> None:
    spread = [schedule(world, label=f"number {number}", spread_seconds=600, overlap="allow") for number in range(40)]

    tick(world, NOON + 10 * MINUTE)
    tick(world, NOON + HOUR + 10 * MINUTE)

    shifts = []
    for each in spread:
        first, second = (fire["run_at"] - fire["nominal_at"] for fire in fires(world, each))
        assert first == second
        shifts.append(first.total_seconds())
    assert 0 <= min(shifts) < 150
    assert 450 < max(shifts) <= 600


def test_a_schedule_is_silent_before_its_start_and_after_its_end(world: World) -> None:
    hourly = schedule(world, starts_at=NOON + 2 * HOUR, ends_at=NOON + 4 * HOUR, overlap="allow")

    for hours in range(8):
        tick(world, NOON + hours * HOUR)

    assert outcomes(world, hourly) == [("14:00", "fired"), ("15:00", "fired"), ("16:00", "fired")]
    assert world.row("select next_nominal_at, look_at from schedules") == {"next_nominal_at": None, "look_at": None}


def test_a_job_that_is_refused_is_recorded_and_holds_up_nobody(world: World) -> None:
    world.type()
    world.type("wave_hand")
    good, bad = schedule(world, label="good", type="greet_person"), schedule(world, label="bad", type="wave_hand")
    world.run("update job_types set is_active = false where key = 'wave_hand'")

    tick(world, NOON)
    tick(world, NOON + HOUR)

    assert outcomes(world, good) == [("12:00", "fired"), ("13:00", "skipped_overlap")]
    assert outcomes(world, bad) == [("12:00", "refused"), ("13:00", "refused")]
    assert "inactive" in fires(world, bad)[0]["error"]
    assert fires(world, bad)[0]["job_id"] is None


def test_a_schedule_whose_jobs_keep_failing_is_paused(world: World) -> None:
    hourly = schedule(world, pause_after_failures=2)
    for hours, status in enumerate(("failed", "done", "dead", "failed")):
        tick(world, NOON + hours * HOUR)
        end(world, hourly, status)

    tick(world, NOON + 4 * HOUR)
    paused = world.row("select paused_at, pause_note from schedules")
    world.service.schedules.resume_schedules([hourly])
    set_next(world, hourly, NOON + 5 * HOUR)
    tick(world, NOON + 5 * HOUR)

    assert [outcome for _, outcome in outcomes(world, hourly)] == ["fired"] * 5
    assert paused["paused_at"] is not None
    assert paused["pause_note"] == "Its last 2 jobs failed"


def test_a_paused_schedule_starts_nothing_and_withdraws_what_was_ahead_of_its_time(world: World) -> None:
    hourly = schedule(world)
    tick(world, NOON - LEAD)
    ahead = job_of(world, hourly)["id"]

    world.service.schedules.pause_schedules([hourly], "holiday")
    silent = tick(world, NOON + 3 * HOUR)
    (resumed,) = world.service.schedules.resume_schedules([hourly])
    set_next(world, hourly, NOON)
    again = tick(world, NOON)

    assert (silent, again) == (0, 1)
    assert world.value("select status from jobs where id = %s", ahead) == "cancelled"
    assert (resumed["paused_at"], resumed["pause_note"]) == (None, None)
    assert outcomes(world, hourly) == [("12:00", "fired")]


def test_old_history_is_forgotten(world: World) -> None:
    schedule(world, overlap="allow")
    for hours in range(3):
        tick(world, NOON + hours * HOUR)
    world.run("update schedule_fires set decided_at = now() - interval '91 days' where nominal_at < %s", NOON + HOUR)

    world.service.maintenance.maintain()

    assert [fire["nominal_at"] for fire in fires(world)] == [NOON + HOUR, NOON + 2 * HOUR]


def test_whoever_maintains_the_queue_fires_and_no_claim_does(world: World) -> None:
    yearly = schedule(world, "@yearly")
    world.run("update schedules set next_nominal_at = now(), look_at = now() - interval '1 second'")

    assert world.queue.claim_next_job("test") is None
    world.queue.maintain()

    assert [fire["outcome"] for fire in fires(world, yearly)] == ["fired"]
    assert world.queue.claim_next_job("test")


def test_a_tick_reads_only_the_schedules_that_are_due(world: World) -> None:
    tenant, type = world.tenant(), world.type()
    world.service.schedules.create_schedule(tenant, "first", type, "@yearly")
    world.run(
        "insert into schedules (tenant_id, label, type, cron_expr, timezone, next_nominal_at, look_at) "
        "select tenant_id, 'number ' || n, type, cron_expr, timezone, next_nominal_at, look_at "
        "from schedules, generate_series(1, 5000) as n"
    )
    world.run(
        "update schedules set look_at = %s + case label when 'number 7' then '0 s' else interval '1 day' end", NOON
    )
    world.run("analyze schedules")

    world.run("set role tickwork_owner")
    nodes = nodes_of(world, "select tickwork.fire_schedules(%(at)s, 100)", {"at": NOON})
    world.run("reset role")

    scans = [node for node in nodes if node.get("Relation Name") == "schedules"]
    assert scans
    assert all("Index" in node["Node Type"] or node["Node Type"] == "ModifyTable" for node in scans)
    assert len({fire["schedule_id"] for fire in fires(world)}) == 1
