"""
Two and three transactions at once, in every order: nothing is lost, doubled, over a limit or stuck; nobody deadlocks.

A schedule is some scripts and the order in which their sessions take turns. The schedules are numbered:
`TICKWORK_SCHEDULES=4711` runs one, `0:20000` a range, `all` every one of them; `make test-all` runs some of
them. A second test puts gates between the statements inside the queue's own functions, so that
one session stops in the midst of a verb while another one goes on.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain, combinations_with_replacement, product
from string import Template
from typing import NamedTuple

import pytest

from tests.world import World
from tests.world.agreement import disagreements
from tests.world.schedules import MAX_GATES, Driver, Outcome, interleavings, put_gates
from tickwork.testing.moving_time import MovingTime

ASKED_FOR = os.environ.get("TICKWORK_SCHEDULES", "")
# Before it begins, and before it commits.
GATES_OF_A_SCRIPT = 2
# So many that they take some seconds: one order of every other pair; `make explore` takes all orders of all pairs.
ONE_IN_PAIRS, ONE_IN_TRIPLES, ONE_IN_STOPS = 11, 10007, 83


@dataclass(frozen=True)
class Script:
    """What one session does in a transaction, with $names of jobs, and the SQLSTATEs that it may end with."""

    sql: str
    may_fail: tuple[str, ...] = ()


SCRIPTS = {
    "claim one": Script("select id, lease_token from claim_next_job('test', 'w', types => '{greet_person}')"),
    "claim two of a type": Script("select id, lease_token from claim_jobs('test', 'w', 2, types => '{greet_person}')"),
    "claim two": Script("select id, lease_token from claim_jobs('test', 'w', 2)"),
    "claim what is limited": Script("select id, lease_token from claim_jobs('test', 'w', 5, types => '{wave_hand}')"),
    "complete": Script(
        "select id from complete_job('$running', '$token', "
        """follow_ups => '[{"type": "greet_person", "dedupe_key": "new"}]')""",
        ("TWLSE",),
    ),
    "fail": Script("select id from fail_job('$running', '$token', '{}', retry_after_seconds => 0)", ("TWLSE",)),
    "release in a lane": Script("select id from release_job('$in_lane', '$lane_token')", ("TWLSE",)),
    "release what waits": Script("select id from release_job('$running', '$token', 3600)", ("TWLSE",)),
    "emit an event": Script("select emit_event('$tenant', 'a.b')"),
    "heartbeat": Script("select heartbeat_job('$expired', '$expired_token')", ("TWLSE",)),
    "settle too late": Script("select id from complete_job('$expired', '$expired_token')", ("TWLSE",)),
    "settle and claim": Script(
        "select * from settle_and_claim(array['$running'::uuid], array['$token'::uuid], null, null, 'test', 'w', 2)"
    ),
    "reap": Script("select maintain()"),
    "enqueue": Script("select id from enqueue_job('$tenant', 'greet_person')"),
    "enqueue with keys": Script(
        "select id from enqueue_job('$tenant', 'wave_hand', idempotency_key => 'once', dedupe_key => 'new')"
    ),
    "enqueue a batch": Script(
        "select id from enqueue_jobs('["
        '{"tenant_id": "$tenant", "type": "greet_person", "dedupe_key": "new"}, '
        '{"tenant_id": "$tenant", "type": "greet_person", "lane": "lane", "dedupe_key": "taken"}'
        "]')"
    ),
    "wait for others": Script("select id from enqueue_job('$tenant', 'greet_person', after => '{$running, $queued}')"),
    "cancel": Script("select id from cancel_job('$queued')", ("TWSTA",)),
    "cancel what waits": Script("select id from cancel_job('$last')", ("TWSTA",)),
    "cancel what runs": Script("select id from cancel_job('$running')", ("TWSTA",)),
    "cancel all": Script("select changed from cancel_jobs(tenant_id => '$tenant')"),
    "bury": Script("select id from bury_job('$queued')", ("TWSTA",)),
    "retry": Script("select id from retry_job('$failed')", ("TWSTA",)),
    "retry for a key": Script("select id from retry_job('$keyed')", ("TWSTA", "TWDUP")),
    "reschedule": Script("select id from reschedule_job('$later', now())", ("TWSTA",)),
    "pause": Script("select pause_jobs(type => 'greet_person')"),
    "resume": Script("select resume_jobs(type => 'greet_person')"),
    "hold the lane": Script("select hold_lane('test', '$tenant', 'lane', now() + interval '1 hour')"),
    "free the lane": Script("select limit_lane('test', '$tenant', 'lane'), release_lane('test', '$tenant', 'lane')"),
    "limit a lane": Script("select limit_lane('test', '$tenant', 'free', 1)"),
    "purge": Script("select purge_jobs(interval '0')"),
    "delete the tenant": Script("delete from organizations where id = '$tenant'"),
}
NAMES = tuple(SCRIPTS)


class Schedule(NamedTuple):
    names: tuple[str, ...]
    turns: tuple[int, ...]


def schedules(sessions: int) -> Iterator[Schedule]:
    for names in combinations_with_replacement(NAMES, sessions):
        for turns in interleavings(*[GATES_OF_A_SCRIPT] * sessions):
            yield Schedule(names, turns)


POPULATE = """
    create function populate_scene() returns jsonb language plpgsql as $$
    declare
      acme uuid;
      ids jsonb;
    begin
      delete from organizations;
      delete from tickwork.pauses;
      perform tickwork.follow_pauses();
      update tickwork.family_types set full_until = default where family = 'test';
      insert into organizations (name) values ('acme') returning id into acme;
      perform limit_lane('test', acme, 'lane', 1);
      ids := jsonb_build_object(
        'tenant', acme,
        'running', (enqueue_job(acme, 'greet_person', priority => 100)).id,
        'expired', (enqueue_job(acme, 'greet_person', priority => 99)).id,
        'in_lane', (enqueue_job(acme, 'greet_person', priority => 98, lane => 'lane')).id
      );
      perform claim_jobs('test', 'before', 3, 600);
      ids := ids || jsonb_build_object(
        'failed', (enqueue_job(acme, 'greet_person')).id,
        'keyed', (enqueue_job(acme, 'greet_person', dedupe_key => 'taken')).id
      );
      update jobs set status = 'failed', finished_at = clock_timestamp()
      where id in ((ids ->> 'failed')::uuid, (ids ->> 'keyed')::uuid);
      update jobs set lease_expires_at = clock_timestamp() - interval '1 second' where id = (ids ->> 'expired')::uuid;
      ids := ids || jsonb_build_object(
        'queued', (enqueue_job(acme, 'greet_person', dedupe_key => 'taken')).id,
        'later', (enqueue_job(acme, 'greet_person', run_at => clock_timestamp() + interval '1 hour')).id,
        'last', (
          enqueue_job(acme, 'wave_hand', after => array[(ids ->> 'running')::uuid, (ids ->> 'expired')::uuid])
        ).id
      );
      update jobs set started_at = created_at where id = (ids ->> 'later')::uuid;
      insert into tickwork.waits (job_id, name, tenant_id, event_name, ends_at, waited_at)
      select (ids ->> job)::uuid, 'reply', acme, 'a.b', clock_timestamp() + interval '1 hour', clock_timestamp()
      from unnest(array['running', 'later']) as job;
      perform enqueue_job(acme, type, lane => lane)
      from (values ('wave_hand', null), ('wave_hand', null), ('greet_person', 'lane'), ('greet_person', 'free'),
        ('greet_person', 'free')) as more(type, lane);
      return ids || (
        select jsonb_object_agg(name, token)
        from (values ('token', 'running'), ('expired_token', 'expired'), ('lane_token', 'in_lane')) as known(name, job)
        join tickwork.leases on leases.job_id = (ids ->> job)::uuid
      );
    end
    $$
"""
VIOLATIONS = """
    select concat('dedupe key ', dedupe_key, ' is held by ', count(*), ' jobs') as problem
    from jobs where status in ('queued', 'running') and dedupe_key is not null
    group by tenant_id, dedupe_key having count(*) > 1
    union all
    select concat(count(*), ' jobs of a type run that may have one')
    from jobs where status = 'running' and type = 'wave_hand' having count(*) > 1
    union all
    select concat(count(*), ' jobs of a lane run that may have one')
    from jobs where status = 'running' and lane = 'lane' having count(*) > 1
    union all
    select concat('job ', id, ' is ', status, ' after ', attempts, ' of ', max_attempts, ' attempts')
    from jobs where attempts > max_attempts or status in ('done', 'running') and attempts = 0
"""
# Also of those that the scripts have not ended.
EARLY_STARTS = """
    select concat('job ', jobs.id, ' started before ', peer.id, ' was done') as problem
    from jobs cross join unnest(jobs.after) as awaited(id) join jobs as peer on peer.id = awaited.id
    where jobs.started_at is not null and (peer.status <> 'done' or peer.finished_at > jobs.started_at)
    union all
    select concat('job ', jobs.id, ' was not cancelled with ', peer.id)
    from jobs cross join unnest(jobs.after) as awaited(id) join jobs as peer on peer.id = awaited.id
    where jobs.status <> 'cancelled' and peer.status in ('failed', 'dead', 'cancelled')
"""
MISSED_EVENTS = """
    select id from jobs
    where status = 'queued'
      and (
        exists (select from tickwork.waits where job_id = id)
        or run_at > clock_timestamp() and exists (select from tickwork.steps where job_id = id)
      )
"""
# What becomes of others when a tenant is deleted.
DELETED = ("TWTNT", "TWJOB", "TWLSE", "TWMEM", "23503")


class Scene:
    """The same few jobs before every schedule, and what must be so after it."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.moving_time = MovingTime(world.admin)
        world.type(backoff=[0])
        world.type("wave_hand", max_running=1)
        world.admin.execute(POPULATE.encode())

    def begin(self) -> dict[str, str]:
        """What the names in the scripts stand for."""
        self.names: dict[str, str] = self.world.value("select populate_scene()")
        self.jobs_before = self.ids()
        return dict(self.names)

    def ids(self) -> set[str]:
        return {str(row["id"]) for row in self.world.rows("select id from jobs")}

    def problems(self, names: Sequence[str], outcomes: Sequence[Outcome]) -> Iterator[str]:
        yield from self.refusals(names, outcomes)
        yield from self.claims(names, outcomes)
        yield from self.endings(names, outcomes)
        if "heartbeat" in names:
            # One that meets a locked record leaves it to the next to note how long the lease is now.
            beat = {"job_id": self.names["expired"], "lease_token": self.names["expired_token"]}
            self.world.queue.heartbeat_jobs([beat])
        yield from disagreements(self.world)
        broken = [row["problem"] for row in self.world.rows(VIOLATIONS)]
        yield from (each for each in broken if "lane" not in each or "free the lane" not in names)
        if not {"purge", "delete the tenant"} & {*names} and not self.jobs_before <= self.ids():
            yield "a job is lost"
        yield from self.missed_events(names)
        yield from self.stuck(names)
        yield from (row["problem"] for row in self.world.rows(EARLY_STARTS))

    def refusals(self, names: Sequence[str], outcomes: Sequence[Outcome]) -> Iterator[str]:
        for name, outcome in zip(names, outcomes, strict=True):
            allowed = (None, *SCRIPTS[name].may_fail, *(DELETED if "delete the tenant" in names else ()))
            allowed += ("TWJOB",) if "purge" in names and name.startswith(("retry", "wait")) else ()
            if outcome.sqlstate not in allowed:
                yield f"{name} ended with {outcome.sqlstate}"
            if (
                outcome.has_waited
                and name in ("claim one", "claim two of a type", "reap")
                and "delete the tenant" not in names
            ):
                yield f"{name} had to wait"

    def claims(self, names: Sequence[str], outcomes: Sequence[Outcome]) -> Iterator[str]:
        claimed: list[tuple[str, str]] = []
        for name, outcome in zip(names, outcomes, strict=True):
            if name.startswith("claim") and not outcome.sqlstate:
                claimed += [(id, token) for id, token in outcome.rows]
            if name == "settle and claim" and not outcome.sqlstate:
                claimed += [(row[1], row[8]) for row in outcome.rows if row[1]]
        if len({id for id, _ in claimed}) < len(claimed):
            yield f"a job was claimed twice: {claimed}"
        tokens = {str(row["job_id"]): str(row["token"]) for row in self.world.rows("select * from tickwork.leases")}
        if "delete the tenant" not in names:
            yield from (f"job {id} is not held under {token}" for id, token in claimed if tokens.get(id) != token)

    def endings(self, names: Sequence[str], outcomes: Sequence[Outcome]) -> Iterator[str]:
        """Of those who settle the same lease one succeeds."""
        settled = {"complete": 0, "settle too late": 0}
        for name, outcome in zip(names, outcomes, strict=True):
            is_held = not outcome.sqlstate
            if name == "settle and claim":
                # A row without a job says what became of it, unless it is done.
                is_held = is_held and not any(not row[1] for row in outcome.rows)
            if name in ("complete", "fail", "settle and claim"):
                settled["complete"] += is_held
            if name == "settle too late" or (name == "reap" and outcome.rows == [["1"]]):
                settled["settle too late"] += is_held
        yield from (f"{name}: one lease was settled {times} times" for name, times in settled.items() if times > 1)

    def missed_events(self, names: Sequence[str]) -> Iterator[str]:
        """A second later the jobs that wait know of it, if they are not running."""
        if "emit an event" in names:
            self.moving_time.pass_by(2)
            self.world.service.maintenance.maintain()
            yield from (f"job {row['id']} missed its event" for row in self.world.rows(MISSED_EVENTS))

    def stuck(self, names: Sequence[str]) -> Iterator[str]:
        """Work until nothing more is to be had, also when time has passed."""
        world = self.world
        for _ in range(3):
            self.moving_time.pass_by(4000)
            while jobs := world.queue.claim_jobs("test", 100):
                world.queue.settle_jobs(
                    [{"job_id": str(job.id), "lease_token": str(job.lease_token), "status": "done"} for job in jobs]
                )
        left = world.value(
            "select count(*) from jobs where status in ('queued', 'running') "
            "and not exists (select from tickwork.pauses where scope = 'type ' || jobs.type "
            "or jobs.after is not null and jobs.ready_at is null)"
        )
        if left:
            yield f"{left} jobs are stuck"


def is_chosen(number: int, one_in: int) -> bool:
    """One in so many, or those that are asked for."""
    first, _, last = ASKED_FOR.partition(":")
    if not ASKED_FOR:
        return number % one_in == 0
    return ASKED_FOR == "all" or int(first) <= number < int(last or int(first) + 1)


def run(
    scene: Scene, driver: Driver, number: int, names: Sequence[str], turns: Sequence[int | tuple[int, int]]
) -> None:
    known = scene.begin()
    outcomes = driver.run([Template(SCRIPTS[name].sql).substitute(known) for name in names], turns)
    problems = list(scene.problems(names, outcomes))
    assert problems == [], f"schedule {number}: {names} take turns {turns}: {outcomes}"


def test_every_order_of_two_and_three_transactions_keeps_the_rules(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    scene, runs = Scene(world), 0
    pairs = len(list(schedules(2)))
    with closing(Driver(world, 3)) as driver:
        for number, schedule in enumerate(chain(schedules(2), schedules(3))):
            if is_chosen(number, ONE_IN_PAIRS if number < pairs else ONE_IN_TRIPLES):
                run(scene, driver, number, *schedule)
                runs += 1
    with capsys.disabled():
        print(f"{runs} of {number + 1} schedules of two and three transactions, 0 violations")


def check_pair(world: World, first: str, second: str) -> None:
    """All orders of two transactions."""
    scene = Scene(world)
    with closing(Driver(world, 2)) as driver:
        for number, turns in enumerate(interleavings(GATES_OF_A_SCRIPT, GATES_OF_A_SCRIPT)):
            run(scene, driver, number, (first, second), turns)


@pytest.mark.parametrize("verb", ["release what waits", "fail", "claim one", "reap", "reschedule"])
def test_no_order_loses_an_event(world: World, verb: str) -> None:
    check_pair(world, "emit an event", verb)


# Those in which one transaction can come between two statements of another.
GATED = """
    settle_and_claim claim catch_up pick pick_targets admit_to_lanes room_for settle end_attempts note_outcomes
    free_what_was_held reap insert_jobs store_new_jobs enqueue_job hold_tenants
    change_job end_queued requeue unfile_jobs file_jobs fill_lane
    forget_lane_rule follow_lane_rule hold_lane release_lane set_alarm reset_alarm pause_jobs take_allowance
    renew_allowances file_awaiting unfile_awaiting note_awaited_end check_portions check_portion decide_awaiting
    note_arrivals take_arrivals end_wait
"""


def stops(gates: dict[str, int]) -> Iterator[tuple[tuple[str, str], tuple[tuple[int, int], ...]]]:
    """The first of two sessions stops once, at each of its gates, until the second one has ended or waits for it."""
    for first, second in product(NAMES, NAMES):
        for stop in range(1, gates[first]):
            yield (first, second), ((0, stop), (1, MAX_GATES), (0, MAX_GATES))


def test_whoever_stops_in_the_midst_of_a_verb_harms_nobody(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    scene, runs = Scene(world), 0
    with closing(Driver(world, 2)) as driver:
        put_gates(world, [f"tickwork.{name}" for name in GATED.split()])
        gates = {name: driver.gates_of(Template(SCRIPTS[name].sql).substitute(scene.begin())) for name in NAMES}
        for number, (names, turns) in enumerate(stops(gates)):
            if is_chosen(number, ONE_IN_STOPS):
                run(scene, driver, number, names, turns)
                runs += 1
    with capsys.disabled():
        print(f"{runs} of {number + 1} schedules with a stop inside a verb, 0 violations")


@pytest.mark.parametrize("verb", ["claim one", "complete", "settle too late", "hold the lane", "cancel"])
def test_deleting_a_tenant_waits_for_whoever_is_at_work(world: World, verb: str) -> None:
    scene = Scene(world)
    with closing(Driver(world, 2)) as driver:
        put_gates(world, [f"tickwork.{name}" for name in GATED.split()])
        gates = driver.gates_of(Template(SCRIPTS[verb].sql).substitute(scene.begin()))
        for stop in range(1, gates):
            turns = ((0, stop), (1, MAX_GATES), (0, MAX_GATES))
            run(scene, driver, stop, (verb, "delete the tenant"), turns)
    assert gates > 4
