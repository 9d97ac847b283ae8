"""Any sequence of verbs and edits: the hot tables agree with the record, and whatever could run does run in the end."""

from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from tests.world import World
from tests.world.agreement import disagreements
from tests.world.crowd import let_time_pass
from tickwork.errors import QueueError
from tickwork.jobs.rows import ClaimedJob
from tickwork.testing.database import TEMPLATE, cloned
from tickwork_local.postgres import Server

TYPES = ("greet_person", "wave_hand")
PICK = st.integers(0, 1000)
TYPE = st.sampled_from(TYPES)
LANE = st.sampled_from(["connector:1", "connector:2"])
MAYBE_LANE = st.sampled_from([None, "connector:1", "connector:2"])
LIMIT = st.sampled_from([None, 1, 2])
# All of them make sense for a job in some status and none in another.
EDITS = [
    "run_at = clock_timestamp()",
    "run_at = clock_timestamp() + interval '1 hour'",
    "attempts = max_attempts",
    "attempts = 0",
    "priority = 100 - priority",
    "lane = 'connector:1'",
    "lane = null",
    "dedupe_key = null",
    "type = 'wave_hand'",
    "status = 'queued', finished_at = null, lease_expires_at = null",
    "status = 'done', finished_at = clock_timestamp(), lease_expires_at = null",
    "status = 'failed', finished_at = clock_timestamp(), lease_expires_at = null",
    "status = 'running', finished_at = null, lease_seconds = 60, "
    "lease_expires_at = clock_timestamp() + interval '1 minute'",
    "lease_expires_at = clock_timestamp() - interval '1 second'",
]
# What a failed example has left behind is not to disturb the next one.
HOT_TABLES = (
    "public.jobs",
    "tickwork.waiting",
    "tickwork.parked",
    "tickwork.alarms",
    "tickwork.leases",
    "tickwork.taken_keys",
    "tickwork.unsuccessful",
    "tickwork.blocked",
    "tickwork.lane_rules",
    "tickwork.buckets",
    "tickwork.pauses",
)


class VerbsAndEdits(RuleBasedStateMachine):
    world: World
    tenants: list[UUID]

    def __init__(self) -> None:
        super().__init__()
        self.leases: list[ClaimedJob] = []
        for table in HOT_TABLES:
            self.world.admin.execute(f"delete from {table}")
        for statement in (
            "select tickwork.follow_pauses()",
            "update job_types set max_running = null, max_running_per_tenant = null, starts_per_minute = null "
            "where family = 'test'",
            "update tenant_settings set max_running = null",
        ):
            self.world.admin.execute(statement)

    @rule(
        tenant=st.integers(0, 1),
        type=TYPE,
        lane=MAYBE_LANE,
        key=st.sampled_from([None, "a", "b"]),
        is_later=st.booleans(),
        priority=st.sampled_from([0, 9]),
        jobs=st.sampled_from([1, 1, 3]),
    )
    def enqueue(
        self, tenant: int, type: str, lane: str | None, key: str | None, is_later: bool, priority: int, jobs: int
    ) -> None:
        job = {"tenant_id": str(self.tenants[tenant]), "type": type, "lane": lane, "dedupe_key": key}
        more = {"run_at": "2099-01-01T00:00Z" if is_later else None, "priority": priority, "max_attempts": 2}
        self.world.service.jobs.enqueue_jobs([job | more] * jobs)

    @rule(jobs=st.integers(1, 3), types=st.sampled_from([None, TYPES[:1]]))
    def claim(self, jobs: int, types: tuple[str, ...] | None) -> None:
        self.leases += self.world.queue.claim_jobs("test", jobs, types=types)

    @rule(pick=PICK, delay=st.sampled_from([0, 3600]), verb=st.sampled_from(["complete", "retry", "fail", "release"]))
    def settle(self, pick: int, delay: int, verb: str) -> None:
        if not self.leases:
            return
        job = self.leases.pop(pick % len(self.leases))
        try:
            match verb:
                case "complete":
                    self.world.queue.complete_job(job)
                case "retry" | "fail":
                    self.world.queue.fail_job(job, {"code": "X"}, verb == "retry", delay)
                case "release":
                    self.world.queue.release_job(job, delay)
        except QueueError:
            pass

    @rule(pick=PICK, verb=st.sampled_from(["cancel_job", "retry_job", "bury_job"]))
    def manage(self, pick: int, verb: str) -> None:
        if job := self._any_job(pick):
            with suppress(QueueError):
                getattr(self.world.service.jobs, verb)(job)

    @rule(pick=PICK, run_at=st.sampled_from(["now", "2099-01-01"]))
    def reschedule(self, pick: int, run_at: str) -> None:
        if job := self._any_job(pick):
            with suppress(QueueError):
                self.world.service.jobs.reschedule_job(job, run_at)

    @rule(tenant=st.integers(0, 1), lane=LANE, until=st.sampled_from(["2020-01-01", "2099-01-01", "infinity"]))
    def hold_lane(self, tenant: int, lane: str, until: str) -> None:
        self.world.service.pauses.hold_lane("test", self.tenants[tenant], lane, until)

    @rule(tenant=st.integers(0, 1), lane=LANE)
    def release_lane(self, tenant: int, lane: str) -> None:
        self.world.service.pauses.release_lane("test", self.tenants[tenant], lane)

    @rule(tenant=st.integers(0, 1), lane=LANE, running=LIMIT, starts=LIMIT)
    def limit_lane(self, tenant: int, lane: str, running: int | None, starts: int | None) -> None:
        self.world.service.pauses.limit_lane("test", self.tenants[tenant], lane, running, starts)

    @rule(tenant=st.integers(0, 1), lane=LANE, verb=st.sampled_from(["hasten_lane", "cancel_lane"]))
    def whole_lane(self, tenant: int, lane: str, verb: str) -> None:
        errors = ", 'X', 'the endpoint is gone'" if verb == "cancel_lane" else ""
        # As families call it, from functions of the queue's own.
        with self.world.admin.transaction():
            self.world.run("set local role tickwork_owner")
            self.world.admin.execute(f"select tickwork.{verb}('test', %s, %s{errors})", [self.tenants[tenant], lane])

    @rule(type=TYPE, running=LIMIT, per_tenant=LIMIT, starts=LIMIT)
    def limit_type(self, type: str, running: int | None, per_tenant: int | None, starts: int | None) -> None:
        self.world.run(
            "update job_types set max_running = %s, max_running_per_tenant = %s, starts_per_minute = %s where key = %s",
            *(running, per_tenant, starts, type),
        )

    @rule(tenant=st.integers(0, 1), running=LIMIT)
    def limit_tenant(self, tenant: int, running: int | None) -> None:
        self.world.run(
            "update tenant_settings set max_running = %s where tenant_id = %s", running, self.tenants[tenant]
        )

    @rule(is_paused=st.booleans(), what=st.sampled_from(["family", "type", "tenant_id"]))
    def pause(self, is_paused: bool, what: str) -> None:
        names: dict[str, Any] = {"family": "test", "type": TYPES[1], "tenant_id": self.tenants[1]}
        if is_paused:
            self.world.service.pauses.pause_jobs(**{what: names[what]})
        else:
            self.world.service.pauses.resume_jobs(**{what: names[what]})

    @rule(pick=PICK, edit=st.sampled_from(EDITS))
    def edit(self, pick: int, edit: str) -> None:
        if job := self._any_job(pick):
            with suppress(psycopg.errors.CheckViolation, psycopg.errors.UniqueViolation):
                self.world.admin.execute(f"update jobs set {edit} where id = %s", [job])

    @rule(pick=PICK)
    def delete(self, pick: int) -> None:
        if job := self._any_job(pick):
            self.world.run("delete from jobs where id = %s", job)

    @rule()
    def reap(self) -> None:
        self.world.service.maintenance.maintain()

    @rule()
    def purge(self) -> None:
        self.world.service.maintenance.purge_jobs(timedelta(0))

    @rule()
    def rebuild(self) -> None:
        self.world.service.maintenance.rebuild_queue()

    @invariant()
    def record_and_queue_agree(self) -> None:
        assert disagreements(self.world) == []

    def teardown(self) -> None:
        if not self.has_failed():
            self._drain()
            left = self.world.rows(
                "select jobs.id from jobs left join tickwork.lane_rules using (tenant_id, family, lane) "
                "where status in ('queued', 'running') and coalesce(held_until, '-infinity') < 'infinity' "
                "and not exists (select from tickwork.pauses where scope in "
                "('family ' || family, 'type ' || type, 'tenant ' || tenant_id))"
            )
            assert left == []

    def has_failed(self) -> bool:
        return disagreements(self.world) != []

    def _any_job(self, pick: int) -> UUID | None:
        rows = self.world.rows("select id from jobs order by created_at, id")
        return rows[pick % len(rows)]["id"] if rows else None

    def _drain(self) -> None:
        """Work until two days bring nothing more. The longest rule is one start in a minute."""
        world = self.world
        world.run("update jobs set lease_expires_at = clock_timestamp() - interval '1 second' where status = 'running'")
        idle = 0
        while idle < 2:
            idle += 1
            while jobs := world.queue.claim_jobs("test", 10):
                idle = 0
                world.queue.settle_jobs(
                    [{"job_id": str(job.id), "lease_token": str(job.lease_token), "status": "done"} for job in jobs]
                )
            # To the year 2100.
            let_time_pass(world, 75 * 366 * 86400)


@pytest.fixture
def machine(server: Server) -> Iterator[type[VerbsAndEdits]]:
    with cloned(server, TEMPLATE) as name, World(server.url(name), server.url(name)) as world:
        for type_ in TYPES:
            world.type(type_)
        tenants = [world.tenant(), world.tenant("other")]
        yield type("VerbsAndEditsInWorld", (VerbsAndEdits,), {"world": world, "tenants": tenants})


def test_record_and_queue_agree_whatever_happens(machine: type[VerbsAndEdits]) -> None:
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=50,
            stateful_step_count=40,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
