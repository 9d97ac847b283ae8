"""Any sequence of verbs: the table always agrees with a model of the state chart."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from tests.conftest import TEMPLATE, cloned
from tests.world import World
from tickwork.errors import LeaseLost, WrongStatus
from tickwork.jobs.rows import Job
from tickwork_local.postgres import Server

PICK = st.integers(0, 1_000_000)
EXPLORING = settings(
    max_examples=40,
    stateful_step_count=40,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)


@dataclass
class Model:
    """What a job should look like, and every lease on it that was ever given out."""

    number: int
    max_attempts: int
    status: str = "queued"
    attempts: int = 0
    rows: int = 0
    is_asked: bool = False
    is_expired: bool = False
    is_due: bool = True
    leases: list[Job] = field(default_factory=list)

    def end_attempt(self, status: str) -> None:
        self.rows += 1
        self.status = "cancelled" if self.is_asked and status != "done" else status

    def status_after_failure(self) -> str:
        return "dead" if self.attempts >= self.max_attempts else "queued"

    def expire(self) -> None:
        self.end_attempt(self.status_after_failure())


class Verbs(RuleBasedStateMachine):
    world: World

    def __init__(self) -> None:
        super().__init__()
        self.world.run("delete from jobs")
        self.models: dict[UUID, Model] = {}

    @rule(max_attempts=st.integers(1, 3))
    def enqueue(self, max_attempts: int) -> None:
        job = self.world.job(max_attempts=max_attempts)
        self.models[job.id] = Model(len(self.models), max_attempts)

    @rule()
    def claim(self) -> None:
        self._reap()
        due = [id for id, model in self.models.items() if model.status == "queued" and model.is_due]
        job = self.world.queue.claim_next_job("test")
        assert (job is None) == (not due)
        if job:
            model = self.models[job.id]
            assert job.id in due
            model.status, model.attempts, model.is_expired = "running", model.attempts + 1, False
            model.leases.append(job)

    @rule(pick=PICK)
    def heartbeat(self, pick: int) -> None:
        if lease := self._lease(pick):
            job, model, is_held = lease
            if self._is_refused(is_held, lambda: self.world.queue.heartbeat_job(job)) is False:
                model.is_expired = False

    @rule(pick=PICK)
    def complete(self, pick: int) -> None:
        if lease := self._lease(pick):
            job, model, is_held = lease
            if self._is_refused(is_held, lambda: self.world.queue.complete_job(job)) is False:
                model.end_attempt("done")

    @rule(pick=PICK, is_retryable=st.booleans(), is_due=st.booleans())
    def fail(self, pick: int, is_retryable: bool, is_due: bool) -> None:
        if lease := self._lease(pick):
            job, model, is_held = lease
            wait = 0 if is_due else 3600
            if not self._is_refused(is_held, lambda: self.world.queue.fail_job(job, {}, is_retryable, wait)):
                model.end_attempt(model.status_after_failure() if is_retryable else "failed")
                model.is_due = is_due

    @rule(pick=PICK)
    def release(self, pick: int) -> None:
        if lease := self._lease(pick):
            job, model, is_held = lease
            if not self._is_refused(is_held, lambda: self.world.queue.release_job(job)):
                if model.is_asked:
                    model.end_attempt("queued")
                else:
                    model.status, model.attempts = "queued", model.attempts - 1

    @rule(pick=PICK)
    def cancel(self, pick: int) -> None:
        if chosen := self._job(pick):
            id, model = chosen
            if model.status in ("done", "failed", "dead"):
                with pytest.raises(WrongStatus):
                    self.world.service.jobs.cancel_job(id)
                return
            self.world.service.jobs.cancel_job(id)
            model.is_asked = True
            model.status = "cancelled" if model.status == "queued" else model.status

    @rule(pick=PICK)
    def retry(self, pick: int) -> None:
        if chosen := self._job(pick):
            id, model = chosen
            if model.status not in ("failed", "dead", "cancelled"):
                with pytest.raises(WrongStatus):
                    self.world.service.jobs.retry_job(id)
                return
            self.world.service.jobs.retry_job(id)
            model.status, model.is_asked, model.is_due = "queued", False, True
            model.max_attempts = model.attempts + 4

    @rule(pick=PICK, is_due=st.booleans())
    def reschedule(self, pick: int, is_due: bool) -> None:
        if chosen := self._job(pick):
            id, model = chosen
            time = datetime.now(UTC) + timedelta(hours=-1 if is_due else 1)
            if model.status in ("running", "done"):
                with pytest.raises(WrongStatus):
                    self.world.service.jobs.reschedule_job(id, time)
                return
            self.world.service.jobs.reschedule_job(id, time)
            if model.status != "queued":
                model.max_attempts = model.attempts + 4
            model.status, model.is_asked, model.is_due = "queued", False, is_due

    @rule(pick=PICK)
    def bury(self, pick: int) -> None:
        if chosen := self._job(pick):
            id, model = chosen
            if model.status != "queued":
                with pytest.raises(WrongStatus):
                    self.world.service.jobs.bury_job(id)
                return
            self.world.service.jobs.bury_job(id)
            model.status = "dead"

    @rule(pick=PICK)
    def expire(self, pick: int) -> None:
        running = [model for model in self.models.values() if model.status == "running"]
        if running:
            model = running[pick % len(running)]
            self.world.expire(model.leases[-1])
            model.is_expired = True

    @rule()
    def reap(self) -> None:
        expected = self._reap()
        assert self.world.service.maintenance.reap_expired_leases() == expected

    @invariant()
    def the_table_agrees_with_the_model(self) -> None:
        rows = self.world.rows(
            "select id, status, attempts, max_attempts, cancel_requested_at is not null as is_asked, "
            "(select count(*) from job_attempts where job_id = jobs.id and status <> 'running') as rows from jobs"
        )
        assert {row.pop("id"): row for row in rows} == {
            id: {
                "status": model.status,
                "attempts": model.attempts,
                "max_attempts": model.max_attempts,
                "is_asked": model.is_asked,
                "rows": model.rows,
            }
            for id, model in self.models.items()
        }

    @invariant()
    def what_the_queue_goes_by_agrees_with_the_record(self) -> None:
        filed = self.world.rows(
            "select job_id from tickwork.waiting union all select job_id from tickwork.parked order by job_id"
        )
        queued = self.world.rows("select id as job_id from jobs where status = 'queued' order by id")
        assert filed == queued
        leased = self.world.rows("select job_id, token from tickwork.leases order by job_id")
        running = self.world.rows(
            "select id as job_id, lease_token as token from jobs where status = 'running' order by id"
        )
        assert leased == running
        noted = self.world.rows("select job_id, status from tickwork.unsuccessful order by job_id")
        unsuccessful = self.world.rows(
            "select id as job_id, status from jobs where status in ('failed', 'dead', 'cancelled') order by id"
        )
        assert noted == unsuccessful

    def _reap(self) -> int:
        expired = [model for model in self.models.values() if model.status == "running" and model.is_expired]
        for model in expired:
            model.expire()
        return len(expired)

    def _job(self, pick: int) -> tuple[UUID, Model] | None:
        return list(self.models.items())[pick % len(self.models)] if self.models else None

    def _lease(self, pick: int) -> tuple[Job, Model, bool] | None:
        """Any lease ever given out, and whether it still holds."""
        leases = [(job, model) for model in self.models.values() for job in model.leases]
        if not leases:
            return None
        job, model = leases[pick % len(leases)]
        return job, model, model.status == "running" and model.leases[-1] is job

    def _is_refused(self, is_held: bool, verb: Any) -> bool:
        if is_held:
            verb()
            return False
        with pytest.raises(LeaseLost):
            verb()
        return True


@pytest.fixture
def world_of_verbs(server: Server) -> Iterator[type[Verbs]]:
    with cloned(server, TEMPLATE) as name, World(server.url(name), server.url(name)) as world:
        world.type()
        world.tenant()
        yield type("VerbsInWorld", (Verbs,), {"world": world})


def test_any_sequence_of_verbs_follows_the_chart(world_of_verbs: type[Verbs]) -> None:
    run_state_machine_as_test(
        world_of_verbs,
        settings=EXPLORING,
    )
