"""
Any sequence of verbs: the database does what a small model of the queue says, and a claim finds a job if there is one.

Each rule calls a verb and tells the model. After every step the record is compared with the model, and the tables that
the queue goes by with the record. `TICKWORK_MODEL_EXAMPLES=5000` tries that many sequences, other ones each time; one
that fails is shown as short as it can be made.
"""

import os
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from math import inf
from typing import Any, TypeVar
from uuid import UUID, uuid4

import psycopg
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from tests.world import World
from tests.world.agreement import disagreements
from tests.world.queue_model import BACKOFF_SECONDS, LEASE_SECONDS, Limits, ModelJob, QueueModel, Request
from tests.world.verb_queue import settled_and_claimed
from tickwork.database.call import call_within
from tickwork.errors import QueueError
from tickwork.jobs.rows import ClaimedJob, FollowUp
from tickwork.testing.moving_time import MovingTime

T = TypeVar("T")
EXAMPLES = int(os.environ.get("TICKWORK_MODEL_EXAMPLES", "0"))
# So many find each defect of test_mutants.
FEW = 150

TYPES = ("greet_person", "wave_hand")
LANES = ("connector:1", "connector:2")
# Far from every time that real seconds could reach: what is later becomes due in a long step only.
A_MOMENT, LATER, LONG = 2, 600, 2000
PICK = st.integers(0, 1000)
TENANT = st.integers(0, 1)
TYPE = st.sampled_from(TYPES)
LANE = st.sampled_from(LANES)
# How many may run, how many of them for one tenant, and how many may start in a minute: seldom more than one of these.
LIMITS = st.sampled_from(
    [(None, None, None), (1, None, None), (2, None, None), (None, 1, None), (None, None, 1), (None, None, 2), (2, 1, 1)]
)
DELAY = st.sampled_from([0, LATER])
ASKED = st.sampled_from([None, None, TYPES[:1], TYPES[1:]])
REQUEST = st.fixed_dictionaries(
    {
        "type": TYPE,
        "lane": st.sampled_from([None, None, *LANES]),
        "priority": st.sampled_from([0, 9]),
        "delay": st.sampled_from([0, 0, 0, LATER]),
        "idempotency_key": st.sampled_from([None, None, None, "a", "b"]),
        "dedupe_key": st.sampled_from([None, None, None, "a", "b"]),
        "max_attempts": st.integers(1, 3),
        "after": st.just([]) | st.just([]) | st.lists(PICK, max_size=3),
        "after_when": st.sampled_from(["all_done", "all_ended", "any_ended"]),
    }
)
OUTCOME = st.fixed_dictionaries(
    {
        "pick": PICK,
        "status": st.sampled_from(["done", "failed", "released"]),
        "is_retryable": st.booleans(),
        "delay": st.sampled_from([0, LATER, None]),
        "has_logs": st.booleans(),
        "follow_up": st.none() | REQUEST,
    }
)

RECORD = """
    select id, status, attempts, max_attempts, priority, lane, idempotency_key, dedupe_key,
      (select token from tickwork.leases where job_id = jobs.id) as lease_token,
      cancel_requested_at is not null as is_cancel_requested, finished_at is not null as is_finished,
      status = 'queued' and run_at <= clock_timestamp() as is_due,
      after, ready_at is not null as is_ready,
      array(select status from tickwork.attempts where job_id = jobs.id order by number) as ended_attempts,
      -- Of others everything that a verb changes.
      case when tenant_id = %s then updated_at end as touched_at
    from jobs
"""
CLEAN = """
    delete from public.organizations where name <> 'bystander';
    delete from tickwork.pauses where scope not like 'tenant %';
    select tickwork.follow_pauses();
    update job_types set max_running = null, max_running_per_tenant = null, starts_per_minute = null
      where family = 'test';
"""


class Verbs(RuleBasedStateMachine):
    world: World
    moving_time: MovingTime
    bystander: UUID
    bystanders_jobs: dict[UUID, dict[str, Any]]

    def __init__(self) -> None:
        super().__init__()
        self.world.admin.execute(CLEAN.encode())
        self.model = QueueModel()
        self.leases: list[tuple[ClaimedJob, ModelJob]] = []
        self.began = time.monotonic()
        self.has_had_limits = False
        self.user = uuid4()
        self.tenants = [self.add_tenant(), self.add_tenant()]

    def add_tenant(self) -> UUID:
        tenant = self.world.tenant()
        self.world.run("insert into memberships values (%s, %s, 'admin')", tenant, self.user)
        return tenant

    # -> queued

    @initialize(requests=st.lists(st.tuples(TENANT, REQUEST), min_size=3, max_size=6))
    def some_jobs(self, requests: list[tuple[int, dict[str, Any]]]) -> None:
        self.enqueue_batch(requests)

    @rule(tenant=TENANT, fields=REQUEST)
    def enqueue(self, tenant: int, fields: dict[str, Any]) -> None:
        request = self.request(self.tenants[tenant], fields)
        enqueued = self.expecting(
            "TWFUL" if self.model.is_full_for([request]) else None,
            lambda: self.world.service.jobs.enqueue_job(request.tenant, **arguments_of(request)),
        )
        if enqueued:
            self.model.enqueue([request], [(enqueued.id, enqueued.deduplicated)])
            self.model.decide()

    @rule(requests=st.lists(st.tuples(TENANT, REQUEST), min_size=2, max_size=4))
    def enqueue_many(self, requests: list[tuple[int, dict[str, Any]]]) -> None:
        self.enqueue_batch(requests)

    def enqueue_batch(self, requests: list[tuple[int, dict[str, Any]]]) -> None:
        wanted = [self.request(self.tenants[tenant], fields) for tenant, fields in requests]
        receipts = self.expecting(
            "TWFUL" if self.model.is_full_for(wanted) else None,
            lambda: self.world.service.jobs.enqueue_jobs(
                [{"tenant_id": str(each.tenant), **as_json(arguments_of(each))} for each in wanted]
            ),
        )
        if receipts:
            self.model.enqueue(wanted, [(each.id, each.deduplicated) for each in receipts])
            self.model.decide()

    @rule(tenant=TENANT, fields=REQUEST)
    def insert(self, tenant: int, fields: dict[str, Any]) -> None:
        """As a member does through the Data API, where a repeated key is an error and attempts are not to choose."""
        request = self.request(self.tenants[tenant], fields | {"max_attempts": 4})
        values = {"tenant_id": request.tenant, **arguments_of(request)}
        values.pop("max_attempts")
        marks = ", ".join(f"%({name})s" for name in values)
        query = f"insert into jobs ({', '.join(values)}) values ({marks}) returning id"
        sqlstate = "23505" if self.model.holder(request) else "TWFUL" if self.model.is_full_for([request]) else None
        rows = self.expecting(
            sqlstate, lambda: self.as_member(lambda: self.world.admin.execute(query, values).fetchall())
        )
        if rows:
            self.model.enqueue([request], [(rows[0]["id"], False)])
            self.model.decide()

    def request(self, tenant: UUID, fields: dict[str, Any]) -> Request:
        """What it waits for is chosen among the jobs that the tenant has by now."""
        known = [job.id for job in self.model.jobs.values() if job.request.tenant == tenant]
        after = {known[pick % len(known)] for pick in fields["after"]} if known else ()
        return Request(tenant, **fields | {"after": tuple(after)})

    # queued -> running

    @rule(types=ASKED)
    def claim_one(self, types: Sequence[str] | None) -> None:
        job = self.world.queue.claim_next_job("test", LEASE_SECONDS, types)
        self.note_claim([job] if job else [], 1, types)

    @rule(max_jobs=st.integers(2, 5), types=ASKED)
    def claim_many(self, max_jobs: int, types: Sequence[str] | None) -> None:
        self.note_claim(self.world.queue.claim_jobs("test", max_jobs, LEASE_SECONDS, types), max_jobs, types)

    def note_claim(self, claimed: Sequence[ClaimedJob], max_jobs: int, types: Sequence[str] | None) -> None:
        self.model.reap()
        self.start(claimed, types)
        assert len(claimed) <= max_jobs
        if len(claimed) < max_jobs and self.model.claimable(types):
            # What is at a limit is skipped for a second.
            assert self.has_had_limits, f"{self.model.claimable(types)} were not claimed"
            self.pass_time(A_MOMENT)
            while more := self.world.queue.claim_jobs("test", 1, LEASE_SECONDS, types):
                self.start(more, types)
            assert self.model.claimable(types) == []

    def start(self, claimed: Sequence[ClaimedJob], types: Sequence[str] | None) -> None:
        self.model.drift = time.monotonic() - self.began
        for job in claimed:
            assert job.lease_token is not None
            self.leases.append((job, self.model.start(job.id, job.lease_token, types)))

    # running -> running, done, queued, failed, dead, cancelled

    @precondition(lambda self: self.leases)
    @rule(pick=PICK, has_to_wait=st.sampled_from([False, False, True]))
    def heartbeat(self, pick: int, has_to_wait: bool) -> None:
        job, known, sqlstate = self.any_lease(pick)
        if has_to_wait:
            self.hold_lane_of_job(job, known, sqlstate)
            return
        is_asked = self.expecting(sqlstate, lambda: self.world.queue.heartbeat_job(job, 0.5))
        if is_asked is not None:
            assert is_asked == known.is_cancel_requested
            known.expires_at = self.model.now + LEASE_SECONDS

    @precondition(lambda self: self.leases)
    @rule(outcome=OUTCOME)
    def settle_one(self, outcome: dict[str, Any]) -> None:
        """By complete_job, fail_job or release_job."""
        job, known, sqlstate = self.any_lease(outcome["pick"])
        follow_ups = self.follow_ups_of(outcome, known)
        sqlstate = sqlstate or self.refusal_of([(known, outcome, follow_ups)])
        logs = "said something" if outcome["has_logs"] else None
        queue, delay = self.world.queue, outcome["delay"]
        settled = self.expecting(
            sqlstate,
            lambda: {
                "done": lambda: queue.complete_job(
                    job, {"is": "done"}, [FollowUp(**arguments_of(each)) for each in follow_ups], logs
                ),
                "failed": lambda: queue.fail_job(job, {"code": "X"}, outcome["is_retryable"], delay, logs),
                "released": lambda: queue.release_job(job, delay or 0),
            }[outcome["status"]](),
        )
        if settled:
            self.note_settled(known, outcome, follow_ups)
            self.model.decide()
            assert settled.status == known.status

    @precondition(lambda self: self.leases)
    @rule(outcomes=st.lists(OUTCOME, min_size=1, max_size=3), max_jobs=st.integers(0, 3), types=ASKED)
    def settle_many(self, outcomes: list[dict[str, Any]], max_jobs: int, types: Sequence[str] | None) -> None:
        """By settle_jobs, or settle_and_claim if more is wanted."""
        chosen: dict[UUID, tuple[ClaimedJob, ModelJob, bool, dict[str, Any], list[Request]]] = {}
        for outcome in outcomes:
            job, known, sqlstate = self.any_lease(outcome["pick"])
            chosen[job.id] = (job, known, sqlstate is None, outcome, self.follow_ups_of(outcome, known))
        held = [each for each in chosen.values() if each[2]]
        sent = [as_outcome(job, outcome, follow_ups) for job, _, _, outcome, follow_ups in chosen.values()]
        sqlstate = self.refusal_of([(known, outcome, follow_ups) for _, known, _, outcome, follow_ups in held])
        queue = self.world.queue
        answer = self.expecting(
            sqlstate,
            lambda: (
                settled_and_claimed(queue, sent, "test", max_jobs, LEASE_SECONDS, types)
                if max_jobs
                else (queue.settle_jobs(sent), [])
            ),
        )
        if answer is None:
            return
        settled, claimed = answer
        # All of them end before the first follow-up comes.
        for _, known, _, outcome, _ in held:
            self.note_settled(known, outcome, [])
        self.note_follow_ups([follow_up for each in held for follow_up in each[4]])
        self.model.decide()
        statuses = {UUID(str(row["job_id"])): (row["is_held"], row["status"]) for row in settled}
        assert statuses == {
            id: (is_held, known.status if is_held else None) for id, (_, known, is_held, _, _) in chosen.items()
        }
        if max_jobs:
            self.note_claim(claimed, max_jobs, types)

    def refusal_of(self, ended: Sequence[tuple[ModelJob, dict[str, Any], list[Request]]]) -> str | None:
        """Whether the tenant has no room for what follows: a job that goes back takes room, one that ends has none."""
        statuses = [job.status for job, _, _ in ended]
        for job, outcome, _ in ended:
            job.status = self.model.status_after(job, outcome["status"], outcome["is_retryable"])
        is_full = self.model.is_full_for([each for _, _, follow_ups in ended for each in follow_ups])
        for (job, _, _), status in zip(ended, statuses, strict=True):
            job.status = status
        return "TWFUL" if is_full else None

    def follow_ups_of(self, outcome: dict[str, Any], job: ModelJob) -> list[Request]:
        if outcome["status"] != "done" or outcome["follow_up"] is None:
            return []
        return [self.request(job.request.tenant, outcome["follow_up"])]

    def note_settled(self, job: ModelJob, outcome: dict[str, Any], follow_ups: list[Request]) -> None:
        delay = outcome["delay"]
        if delay is None:
            delay = BACKOFF_SECONDS if outcome["status"] == "failed" else 0
        self.model.end(
            job, outcome["status"], is_retryable=outcome["is_retryable"], delay=delay, logs=outcome["has_logs"]
        )
        self.note_follow_ups(follow_ups)

    def note_follow_ups(self, follow_ups: list[Request]) -> None:
        """Their ids are not returned: new ones are those that the model does not know yet."""
        new = self.world.rows(
            "select id from jobs where tenant_id = any (%s) and id <> all (%s) order by created_at, id",
            self.tenants,
            list(self.model.jobs),
        )
        ids = iter([row["id"] for row in new])
        for follow_up in follow_ups:
            holder = self.model.holder(follow_up)
            self.model.enqueue([follow_up], [(holder.id if holder else next(ids), holder is not None)])

    # What people do

    @precondition(lambda self: self.model.jobs)
    @rule(pick=PICK, verb=st.sampled_from(["cancel", "bury", "retry", "reschedule"]), delay=DELAY)
    def change_one(self, pick: int, verb: str, delay: int) -> None:
        job, jobs = self.any_job(pick), self.world.service.jobs
        # A second cancel changes nothing.
        is_possible = job.status in CHANGES[verb].possible or (verb, job.status) == ("cancel", "cancelled")
        sqlstate = None if is_possible else "TWSTA"
        match verb:
            case "cancel":
                self.expecting(sqlstate, lambda: jobs.cancel_job(job.id))
                self.model.cancel(job)
            case "bury" if self.expecting(sqlstate, lambda: jobs.bury_job(job.id)):
                self.model.bury(job)
            case "retry" if self.expecting(
                sqlstate or self.refusal_to_requeue(job), lambda: jobs.retry_job(job.id, at(delay))
            ):
                self.model.requeue(job, self.model.now + delay)
            case "reschedule" if self.expecting(
                sqlstate or self.refusal_to_requeue(job), lambda: jobs.reschedule_job(job.id, at(delay))
            ):
                self.model.requeue(job, self.model.now + delay)
        self.model.decide()

    def refusal_to_requeue(self, job: ModelJob) -> str | None:
        return None if self.model.holder_of_dedupe_key(job.request) in (None, job) else "TWDUP"

    @rule(
        verb=st.sampled_from(["cancel", "retry", "reschedule"]),
        tenant=TENANT,
        type=st.none() | TYPE,
        lane=st.none() | LANE,
        status=st.sampled_from([None, None, None, "queued", "running", "failed", "dead", "cancelled"]),
        delay=DELAY,
        is_member=st.booleans(),
    )
    def change_many(
        self,
        verb: str,
        tenant: int,
        type: str | None,
        lane: str | None,
        status: str | None,
        delay: int,
        is_member: bool,
    ) -> None:
        """By filter: the service names a tenant, an admin of both tenants means all that is theirs."""
        arguments: dict[str, Any] = {"type": type, "lane": lane, "status": status}
        arguments |= {} if verb == "cancel" else {"run_at": at(delay)}
        arguments |= {} if is_member else {"tenant_id": self.tenants[tenant]}
        of = CHANGES[verb]
        sqlstate = "TWARG" if status is not None and status not in of.possible else None
        rows = self.expecting(
            sqlstate,
            lambda: (
                self.as_member(lambda: call_within(self.world.admin, f"{verb}_jobs", **arguments))
                if is_member
                else call_within(self.world.admin, f"{verb}_jobs", **arguments)
            ),
        )
        if rows is None:
            return
        changed = 0
        for each in of.by_default if status is None else (status,):
            matching = [
                job
                for job in self.model.jobs.values()
                if job.status == each
                and (is_member or job.request.tenant == self.tenants[tenant])
                and type in (None, job.request.type)
                and lane in (None, job.request.lane)
            ]
            # Of two with the same key the older one is retried, and the newer one rescheduled.
            for job in matching if verb == "retry" else reversed(matching):
                if verb == "cancel":
                    changed += self.model.cancel(job)
                else:
                    changed += self.model.requeue(job, self.model.now + delay)
            self.model.decide()
        assert rows == [{"changed": changed, "has_more": False}]

    @rule(
        is_paused=st.sampled_from([True, False, False]),
        what=st.sampled_from(["family", "type", "tenant_id"]),
        pick=TENANT,
    )
    def pause(self, is_paused: bool, what: str, pick: int) -> None:
        names: dict[str, Any] = {"family": "test", "type": TYPES[pick], "tenant_id": self.tenants[pick]}
        name = names[what]
        scope = "family" if what == "family" else name
        pauses = self.world.service.pauses
        if is_paused:
            pauses.pause_jobs(**{what: name})
            self.model.paused.add(scope)
        else:
            pauses.resume_jobs(**{what: name})
            self.model.paused.discard(scope)

    @rule(tenant=TENANT, lane=LANE, seconds=st.sampled_from([None, None, -1.0, LATER, inf]))
    def hold_lane(self, tenant: int, lane: str, seconds: float | None) -> None:
        """Or release it."""
        pauses = self.world.service.pauses
        if seconds is None:
            pauses.release_lane("test", self.tenants[tenant], lane)
        else:
            until = "infinity" if seconds == inf else at(seconds)
            pauses.hold_lane("test", self.tenants[tenant], lane, until)
        self.rule_of(tenant, lane).held_until = -inf if seconds is None else self.model.now + seconds

    def hold_lane_of_job(self, job: ClaimedJob, known: ModelJob, sqlstate: str | None) -> None:
        sqlstate = sqlstate or (None if job.lane else "TWARG")
        self.expecting(sqlstate, lambda: self.world.queue.hold_lane_of_job(job, LATER))
        if sqlstate is None:
            rule = self.model.lanes.setdefault(self.model.lane_of(known), Limits())
            rule.held_until = max(rule.held_until, self.model.now + LATER)
            self.has_had_limits = True

    @rule(what=st.sampled_from(["lane", "type", "tenant"]), tenant=TENANT, lane=LANE, type=TYPE, limits=LIMITS)
    def limit(self, what: str, tenant: int, lane: str, type: str, limits: tuple[int | None, ...]) -> None:
        running, per_tenant, starts = limits
        self.has_had_limits = True
        match what:
            case "lane":
                self.world.service.pauses.limit_lane("test", self.tenants[tenant], lane, running, starts)
                rule = self.rule_of(tenant, lane)
                rule.max_running, rule.starts_per_minute = running, starts
            case "type":
                self.world.run(
                    "update job_types set max_running = %s, max_running_per_tenant = %s, starts_per_minute = %s "
                    "where key = %s",
                    *(running, per_tenant, starts, type),
                )
                self.model.types[type] = Limits(running, per_tenant, starts)
            case _:
                most = running or per_tenant
                self.world.run(
                    "update tenant_settings set max_running = %s where tenant_id = %s", most, self.tenants[tenant]
                )
                self.model.tenants[self.tenants[tenant]] = Limits(most)

    @rule(tenant=TENANT, what=st.sampled_from(["limit", "no limit", "purge", "purge old ones", "delete tenant"]))
    def administer(self, tenant: int, what: str) -> None:
        match what:
            case "limit" | "no limit":
                self.limit_queued(self.tenants[tenant], 3 if what == "limit" else 100_000)
            case "purge" | "purge old ones":
                seconds = 0 if what == "purge" else LATER
                purged = self.world.service.maintenance.purge_jobs(timedelta(seconds=seconds))
                assert purged == self.model.purge(seconds)
            case _:
                self.world.run("delete from organizations where id = %s", self.tenants[tenant])
                self.model.forget_tenant(self.tenants[tenant])
                self.tenants[tenant] = self.add_tenant()

    def limit_queued(self, tenant: UUID, most: int) -> None:
        self.world.run("update tenant_settings set max_queued = %s where tenant_id = %s", most, tenant)
        self.model.max_queued[tenant] = most

    @rule(seconds=st.sampled_from([A_MOMENT, LONG]), has_cron=st.booleans())
    def wait(self, seconds: int, has_cron: bool) -> None:
        self.pass_time(seconds)
        if has_cron:
            assert self.world.service.maintenance.maintain() == self.model.reap()

    def pass_time(self, seconds: int) -> None:
        self.moving_time.pass_by(seconds)
        self.model.now += seconds

    # What is always so

    @invariant()
    def the_record_agrees_with_the_model(self) -> None:
        found = {row["id"]: row for row in self.world.rows(RECORD, self.bystander)}
        assert found == self.bystanders_jobs | {job.id: self.expected(job) for job in self.model.jobs.values()}

    @invariant()
    def the_queue_agrees_with_the_record(self) -> None:
        assert disagreements(self.world) == []

    def expected(self, job: ModelJob) -> dict[str, Any]:
        return {
            "id": job.id,
            "status": job.status,
            "attempts": job.attempts,
            "max_attempts": job.max_attempts,
            "priority": job.request.priority,
            "lane": job.request.lane,
            "lease_token": job.token,
            "idempotency_key": job.request.idempotency_key,
            "dedupe_key": job.request.dedupe_key,
            "is_cancel_requested": job.is_cancel_requested,
            "is_finished": not job.is_active,
            "is_due": self.model.is_due(job),
            "after": list(job.after) or None,
            "is_ready": job.is_ready,
            "ended_attempts": job.ended_attempts,
            "touched_at": None,
        }

    # How the rules call

    def expecting(self, sqlstate: str | None, verb: Callable[[], T]) -> T | None:
        """What the verb returns, or None if it is refused as it should be."""
        try:
            returned = verb()
        except (QueueError, psycopg.Error) as error:
            if error.sqlstate != sqlstate:
                raise
            return None
        assert sqlstate is None, f"expected {sqlstate}, but it returned {returned}"
        return returned

    def as_member(self, verb: Callable[[], T]) -> T:
        with self.world.admin.transaction():
            claims = f'{{"sub": "{self.user}", "role": "authenticated"}}'
            self.world.run("select set_config('request.jwt.claims', %s, true)", claims)
            self.world.run("set local role authenticated")
            return verb()

    def any_job(self, pick: int) -> ModelJob:
        return list(self.model.jobs.values())[pick % len(self.model.jobs)]

    def any_lease(self, pick: int) -> tuple[ClaimedJob, ModelJob, str | None]:
        """One that holds, or now and then one whose job runs under another; with TWLSE if it does not hold."""
        held = [(job, known) for job, known in self.leases if self.is_held(job, known)]
        stale = [(job, known) for job, known in self.leases if not self.is_held(job, known) and known.token]
        choice = (stale or self.leases) if pick % 5 == 0 else (held or self.leases)
        job, known = choice[pick % len(choice)]
        return job, known, None if self.is_held(job, known) else "TWLSE"

    def is_held(self, job: ClaimedJob, known: ModelJob) -> bool:
        return self.model.jobs.get(job.id) is known and known.token == job.lease_token

    def rule_of(self, tenant: int, lane: str) -> Limits:
        self.has_had_limits = True
        return self.model.lanes.setdefault((self.tenants[tenant], lane), Limits())


class Change:
    """In which status jobs can be changed, and which of them are if none is asked for."""

    def __init__(self, possible: str, by_default: str) -> None:
        self.possible, self.by_default = tuple(possible.split()), tuple(by_default.split())


CHANGES = {
    "cancel": Change("queued running", "queued running"),
    "bury": Change("queued", ""),
    "retry": Change("failed dead cancelled", "failed dead"),
    "reschedule": Change("queued failed dead cancelled", "queued"),
}


def at(seconds: float) -> datetime:
    return datetime.now(UTC) + timedelta(seconds=seconds)


def arguments_of(request: Request) -> dict[str, Any]:
    return {
        "type": request.type,
        "lane": request.lane,
        "priority": request.priority,
        "run_at": at(request.delay) if request.delay else None,
        "idempotency_key": request.idempotency_key,
        "dedupe_key": request.dedupe_key,
        "max_attempts": request.max_attempts,
        "after": list(request.after) or None,
        "after_when": request.after_when,
    }


def as_json(arguments: dict[str, Any]) -> dict[str, Any]:
    encoded = {name: value.isoformat() if isinstance(value, datetime) else value for name, value in arguments.items()}
    return encoded | {"after": [str(id) for id in arguments["after"] or ()]}


def as_outcome(job: ClaimedJob, outcome: dict[str, Any], follow_ups: list[Request]) -> dict[str, Any]:
    sent: dict[str, Any] = {"job_id": str(job.id), "lease_token": str(job.lease_token), "status": outcome["status"]}
    if outcome["has_logs"]:
        sent["logs"] = "said something"
    match outcome["status"]:
        case "done":
            sent |= {"result": {"is": "done"}, "follow_ups": [as_json(arguments_of(each)) for each in follow_ups]}
        case "failed":
            sent |= {
                "error": {"code": "X"},
                "retryable": outcome["is_retryable"],
                "retry_after_seconds": outcome["delay"],
            }
        case _:
            sent |= {"delay_seconds": outcome["delay"] or 0}
    return sent


def populated_bystander(world: World) -> UUID:
    """A tenant with jobs that nothing in an example has to do with."""
    bystander = world.tenant("bystander")
    running = world.job("stand_by", bystander, idempotency_key="a")
    world.claim(lease_seconds=3600)
    world.run("update jobs set lease_expires_at = '2999-01-01' where id = %s", running.id)
    world.service.pauses.pause_jobs(tenant_id=bystander)
    world.job("stand_by", bystander, dedupe_key="a", lane=LANES[0])
    world.job("stand_by", bystander, run_at="2999-01-01", lane=LANES[1])
    return bystander


def compare_with_the_model(world: World, max_examples: int, **more_settings: Any) -> None:
    for type_ in (*TYPES, "stand_by"):
        world.type(type_, backoff=[BACKOFF_SECONDS], lease_seconds=LEASE_SECONDS)
    bystander = populated_bystander(world)
    attributes = {
        "world": world,
        "moving_time": MovingTime(world.admin),
        "bystander": bystander,
        "bystanders_jobs": {row["id"]: row for row in world.rows(RECORD, bystander)},
    }
    run_state_machine_as_test(
        type("VerbsInWorld", (Verbs,), attributes),
        settings=settings(
            max_examples=max_examples,
            stateful_step_count=50,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
            **more_settings,
        ),
    )


def test_any_sequence_of_verbs_does_what_the_model_says(world: World) -> None:
    # The same ones each time, unless more are asked for.
    compare_with_the_model(world, EXAMPLES or FEW, derandomize=not EXAMPLES, print_blob=True)


def check_some_sequences(world: World) -> None:
    """As many as find a defect that shows often, without the time that it takes to make them short."""
    compare_with_the_model(world, FEW, derandomize=True, phases=[Phase.generate])
