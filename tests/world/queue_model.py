"""
The queue as it should be: what every verb does, in plain Python, for a test to compare the database with.

The model knows neither hot tables nor turns: only which jobs there are, what keeps each from starting, and what becomes
of it. Its time is virtual; `drift` says how much real time has passed besides, which only start rates can notice.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import floor, inf
from typing import Literal
from uuid import UUID

ENDED = ("done", "failed", "dead", "cancelled")
# Longer than all short steps of an example together, shorter than a long one.
BACKOFF_SECONDS, LEASE_SECONDS = 600, 600
TYPE_ATTEMPTS = 4

Ending = Literal["done", "failed", "released", "lease_expired"]


@dataclass(frozen=True)
class Request:
    """What somebody asks to have enqueued."""

    tenant: UUID
    type: str
    lane: str | None = None
    priority: int = 0
    delay: float = 0
    idempotency_key: str | None = None
    dedupe_key: str | None = None
    max_attempts: int = TYPE_ATTEMPTS
    after: tuple[UUID, ...] = ()
    after_when: str = "all_done"


@dataclass
class ModelJob:
    id: UUID
    request: Request
    due_at: float
    max_attempts: int
    status: str = "queued"
    attempts: int = 0
    ended_attempts: list[str] = field(default_factory=list)
    is_cancel_requested: bool = False
    token: UUID | None = None
    expires_at: float = inf
    finished_at: float = inf
    after: tuple[UUID, ...] = ()
    is_ready: bool = False
    is_queued_again: bool = False

    @property
    def waits(self) -> bool:
        return self.status == "queued" and self.after != () and not self.is_ready

    @property
    def is_active(self) -> bool:
        return self.status in ("queued", "running")


@dataclass
class Limits:
    """Of a type, a tenant or a lane, as far as each has them; None is no limit."""

    max_running: int | None = None
    max_running_per_tenant: int | None = None
    starts_per_minute: int | None = None
    held_until: float = -inf


@dataclass
class Bucket:
    tokens: float
    filled_at: float


class QueueModel:
    def __init__(self) -> None:
        self.now = 0.0
        self.drift = 0.0
        self.jobs: dict[UUID, ModelJob] = {}
        self.paused: set[object] = set()
        self.types: dict[str, Limits] = {}
        self.tenants: dict[UUID, Limits] = {}
        self.lanes: dict[tuple[UUID, str], Limits] = {}
        self.max_queued: dict[UUID, int] = {}
        self.buckets: dict[tuple[UUID, str], Bucket] = {}

    # -> queued

    def holder(self, request: Request) -> ModelJob | None:
        """The job that has one of the keys already."""
        of_tenant = [job for job in self.jobs.values() if job.request.tenant == request.tenant]
        for job in of_tenant:
            same = (job.request.type, job.request.idempotency_key) == (request.type, request.idempotency_key)
            if request.idempotency_key is not None and same:
                return job
        return self.holder_of_dedupe_key(request)

    def holder_of_dedupe_key(self, request: Request) -> ModelJob | None:
        for job in self.jobs.values():
            same = (job.request.tenant, job.request.dedupe_key) == (request.tenant, request.dedupe_key)
            if request.dedupe_key is not None and same and job.is_active:
                return job
        return None

    def enqueue(self, requests: Sequence[Request], receipts: Sequence[tuple[UUID, bool]]) -> None:
        for request, (id, was_there) in zip(requests, receipts, strict=True):
            holder = self.holder(request)
            assert was_there == (holder is not None), f"{request} was there: {was_there}, but {holder}"
            if holder is None:
                due_at = self.now + request.delay
                self.jobs[id] = ModelJob(id, request, due_at, request.max_attempts, after=request.after)
        for request, (id, was_there) in zip(requests, receipts, strict=True):
            # Where its keys lead to two jobs of a batch, either is right.
            known = (self.holder(request), self.holder_of_dedupe_key(request))
            assert not was_there or self.jobs[id] in known, f"{request} returned job {id}, but has keys of {known}"

    def is_full_for(self, requests: Iterable[Request]) -> bool:
        """Whether a tenant would have more jobs queued than it may have."""
        trial = QueueModel()
        trial.jobs = dict(self.jobs)
        for number, request in enumerate(requests):
            if trial.holder(request) is None:
                id = UUID(int=number)
                trial.jobs[id] = ModelJob(id, request, 0, 1)
        return any(trial.queued(tenant) > max(most, self.queued(tenant)) for tenant, most in self.max_queued.items())

    def queued(self, tenant: UUID) -> int:
        return sum(job.status == "queued" and job.request.tenant == tenant for job in self.jobs.values())

    # queued -> running

    def claimable(self, types: Iterable[str] | None) -> list[ModelJob]:
        """Those that a claim has to find."""
        wanted = None if types is None else set(types)
        return [job for job in self.jobs.values() if self.must_start(job, wanted)]

    def start(self, id: UUID, token: UUID, types: Iterable[str] | None) -> ModelJob:
        job = self.jobs[id]
        problem = self.obstacle(job, None if types is None else set(types), self.drift)
        assert problem is None, f"{job} was started although {problem}"
        job.status, job.attempts = "running", job.attempts + 1
        job.token, job.expires_at = token, self.now + LEASE_SECONDS
        for bucket, rate in self.rates_of(job):
            self.buckets[bucket] = Bucket(self.tokens(bucket, rate, 0) - 1, self.now)
        return job

    def must_start(self, job: ModelJob, types: set[str] | None) -> bool:
        if self.obstacle(job, types, 0):
            return False
        rule = self.lanes.get(self.lane_of(job))
        if job.request.lane is None or rule is None or (rule.max_running or rule.starts_per_minute) is None:
            return True
        # Of a lane with limits only as many jobs as may start stand where a claim finds them. Which ones those are
        # matters if something else keeps some of them from starting.
        lane = [each for each in self.jobs.values() if self.is_due(each) and self.lane_of(each) == self.lane_of(job)]
        return all(self.obstacle(each, types, 0) is None for each in lane if not each.waits)

    def obstacle(self, job: ModelJob, types: set[str] | None, drift: float) -> str | None:
        """What keeps the job from starting, if so much more time has passed."""
        return next(self.obstacles(job, types, drift), None)

    def obstacles(self, job: ModelJob, types: set[str] | None, drift: float) -> Iterator[str]:
        request = job.request
        if not self.is_due(job):
            yield "it is not queued or not due"
        if job.waits:
            yield "it waits for others"
        if types is not None and request.type not in types:
            yield "its type is not asked for"
        if self.paused & {"family", request.type, request.tenant}:
            yield "it is paused"
        of_type = self.types.get(request.type, Limits())
        of_tenant = self.tenants.get(request.tenant, Limits())
        in_lane = self.lanes.get(self.lane_of(job), Limits())
        if in_lane.held_until > self.now:
            yield "its lane is held"
        for most, running in (
            (of_type.max_running, self.running(type=request.type)),
            (of_type.max_running_per_tenant, self.running(type=request.type, tenant=request.tenant)),
            (of_tenant.max_running, self.running(tenant=request.tenant)),
            (in_lane.max_running, self.running(tenant=request.tenant, lane=request.lane)),
        ):
            if most is not None and running >= most:
                yield f"{running} of {most} are running"
        for bucket, rate in self.rates_of(job):
            # So near to a whole number that rounding decides, both are right.
            if floor(self.tokens(bucket, rate, drift) + (1e-6 if drift else -1e-6)) < 1:
                yield f"no start of {bucket} is left"

    def is_due(self, job: ModelJob) -> bool:
        return job.status == "queued" and job.due_at <= self.now

    def running(self, type: str | None = None, tenant: UUID | None = None, lane: str | None = None) -> int:
        return sum(
            job.status == "running"
            and type in (None, job.request.type)
            and tenant in (None, job.request.tenant)
            and lane in (None, job.request.lane)
            for job in self.jobs.values()
        )

    def rates_of(self, job: ModelJob) -> Iterator[tuple[tuple[UUID, str], int]]:
        of_type = self.types.get(job.request.type, Limits()).starts_per_minute
        in_lane = self.lanes.get(self.lane_of(job), Limits()).starts_per_minute
        if of_type is not None:
            yield (job.request.tenant, f"type {job.request.type}"), of_type
        if in_lane is not None:
            yield (job.request.tenant, f"lane {job.request.lane}"), in_lane

    def tokens(self, bucket: tuple[UUID, str], rate: int, drift: float) -> float:
        """How many starts are left, at least, or at most if the real time that has passed counts too."""
        found = self.buckets.get(bucket, Bucket(rate, self.now))
        return min(rate, found.tokens + (self.now - found.filled_at + drift) * rate / 60)

    def lane_of(self, job: ModelJob) -> tuple[UUID, str]:
        return job.request.tenant, job.request.lane or ""

    # running -> done, queued, failed, dead, cancelled

    def end(
        self, job: ModelJob, ending: Ending, *, is_retryable: bool = True, delay: float = 0, logs: bool = False
    ) -> None:
        job.token, job.expires_at = None, inf
        job.status = self.status_after(job, ending, is_retryable)
        if ending == "released" and job.status == "queued":
            job.attempts -= 1
        elif ending != "done" or logs:
            job.ended_attempts.append("cancelled" if job.status == "cancelled" else ending)
        if job.status == "queued":
            job.due_at = self.now + delay if delay else job.due_at
        else:
            job.finished_at = self.now

    def status_after(self, job: ModelJob, ending: Ending, is_retryable: bool) -> str:
        if ending == "done":
            return "done"
        if job.is_cancel_requested:
            return "cancelled"
        if ending == "released":
            return "queued"
        if not is_retryable:
            return "failed"
        return "dead" if job.attempts >= job.max_attempts else "queued"

    def reap(self) -> int:
        expired = [job for job in self.jobs.values() if job.expires_at < self.now]
        for job in expired:
            self.end(job, "lease_expired")
        self.decide()
        return len(expired)

    # queued -> queued, cancelled, for those that wait for others

    def decide(self) -> None:
        """Until nothing follows from anything any more."""
        self.wait_again()
        while waiting := [job for job in self.jobs.values() if job.waits and self.verdict(job)]:
            for job in waiting:
                if self.verdict(job) == "cancel":
                    self.cancel(job)
                else:
                    job.is_ready, job.due_at = True, max(job.due_at, self.now)

    def verdict(self, job: ModelJob) -> str | None:
        if job.request.after_when == "all_done" and any(self.end_of(id) not in (None, "done") for id in job.after):
            return "cancel"
        ended = [self.end_of(id) is not None for id in job.after]
        return "start" if (any(ended) if job.request.after_when == "any_ended" else all(ended)) else None

    def end_of(self, id: UUID) -> str | None:
        """How it ended; nobody knows of one that was purged."""
        job = self.jobs.get(id)
        return "done" if job is None else None if job.is_active else job.status

    def wait_again(self) -> None:
        """Those that were queued again, and only for what has not ended."""
        for job in [job for job in self.jobs.values() if job.is_queued_again]:
            ended = [self.end_of(id) is not None for id in job.after]
            is_ready = any(ended) if job.request.after_when == "any_ended" else all(ended)
            job.is_queued_again, job.is_ready = False, bool(job.after) and is_ready
            if not is_ready:
                job.after = tuple(id for id in job.after if self.end_of(id) is None)

    # What people do

    def cancel(self, job: ModelJob) -> bool:
        """Whether that changed anything."""
        if job.status == "running" and not job.is_cancel_requested:
            job.is_cancel_requested = True
            return True
        if job.status == "queued":
            job.status, job.is_cancel_requested, job.finished_at = "cancelled", True, self.now
            return True
        return False

    def bury(self, job: ModelJob) -> None:
        job.status, job.is_cancel_requested, job.finished_at = "dead", False, self.now

    def requeue(self, job: ModelJob, due_at: float) -> bool:
        """Whether it was possible: another job may have its key."""
        if self.holder_of_dedupe_key(job.request) not in (None, job):
            return False
        if job.status != "queued":
            job.max_attempts = job.attempts + TYPE_ATTEMPTS
            job.is_queued_again = True
        job.status, job.due_at, job.is_cancel_requested, job.finished_at = "queued", due_at, False, inf
        return True

    def purge(self, older_than: float) -> int:
        old = [job for job in self.jobs.values() if job.finished_at <= self.now - older_than]
        for job in old:
            del self.jobs[job.id]
        return len(old)

    def forget_tenant(self, tenant: UUID) -> None:
        self.jobs = {id: job for id, job in self.jobs.items() if job.request.tenant != tenant}
        self.lanes = {lane: limits for lane, limits in self.lanes.items() if lane[0] != tenant}
        self.buckets = {bucket: each for bucket, each in self.buckets.items() if bucket[0] != tenant}
        self.tenants.pop(tenant, None)
        self.max_queued.pop(tenant, None)
        self.paused.discard(tenant)
