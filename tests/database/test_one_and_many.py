"""
The short way to claim one job and the short way to settle one do what the general ways do.

Each queue is worked off twice, in transactions that are rolled back: what is read and written must be the same.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, LiteralString
from uuid import UUID

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from psycopg.types.json import Jsonb

from tests.world import World

FEW = 150
MAYBE = st.booleans()
RESULTS = st.sampled_from([None, {"pages": 3}, {"login": {"token": "s3cret"}}, "text", {"iban": "DE1"}])
# Of whom some have no jobs.
TENANTS = 4
TABLES: dict[LiteralString, LiteralString] = {
    "jobs": "select to_jsonb(jobs) as row from jobs order by id",
    "leases": "select to_jsonb(leases) as row from tickwork.leases order by job_id",
    "waiting": "select to_jsonb(waiting) as row from tickwork.waiting order by job_id",
    "attempts": "select to_jsonb(attempts) as row from tickwork.attempts order by job_id, number",
    "taken keys": "select to_jsonb(taken_keys) as row from tickwork.taken_keys order by job_id",
    "redacted values": "select to_jsonb(redacted_values) as row from tickwork.redacted_values order by job_id",
}
# Only whether there is one counts.
TIMES = {"updated_at", "started_at", "finished_at", "run_at", "ready_at", "lease_expires_at", "expires_at"}
TOKENS = {"lease_token", "token"}


@dataclass(frozen=True)
class QueuedJob:
    tenant: int
    priority: int
    minutes_ago: int
    lane: str | None
    dedupe_key: bool
    notify: bool
    payload: dict[str, str]


@dataclass(frozen=True)
class Turn:
    """Where the last claim stopped: at which tenant, with what left of its turn, after how many starts."""

    tenant: int
    starts_left: int
    starts: int


JOB = st.builds(
    QueuedJob,
    tenant=st.sampled_from([0, 1, 1, 1, 2, 2, 3]),
    priority=st.integers(0, 2),
    minutes_ago=st.sampled_from([-60, 1, 2, 3]),
    lane=st.sampled_from([None, None, None, None, "a"]),
    dedupe_key=st.sampled_from([False, False, True]),
    notify=MAYBE,
    payload=st.sampled_from([{}, {"n": "1"}, {"iban": "DE1"}]),
)
# Short ones and long ones alike.
JOBS = st.integers(1, 14).flatmap(lambda jobs: st.lists(JOB, min_size=jobs, max_size=jobs))
WEIGHTS = st.lists(st.integers(1, 3), min_size=TENANTS, max_size=TENANTS)
PAUSED = st.sampled_from([None, None, None, *range(TENANTS)])
REDACTED = st.sampled_from([[], [], ["payload.iban", "result.iban"]])
# One start in ten goes to a lower priority: which ones is for tickwork.low_starts to say.
LOW = [starts for starts in range(65536) if (starts + 17) * 40503 % 65536 < 6554]
TURN = st.builds(
    Turn,
    # It may be before the first one.
    tenant=st.integers(-1, TENANTS - 1),
    starts_left=st.integers(0, 3),
    starts=st.one_of(st.integers(0, 65535), st.sampled_from(LOW)),
)


class Queue:
    """Some tenants, and two types of one family; nobody has jobs of the second."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.tenants = [world.tenant(str(number)) for number in range(TENANTS)]
        self.numbers = [
            world.value("select number from tickwork.tenants where tenant_id = %s", tenant) for tenant in self.tenants
        ]
        world.type("t", lease_seconds=30, timeout_seconds=77)
        world.type("u")

    @contextmanager
    def filled(
        self, jobs: Sequence[QueuedJob], weights: Sequence[int], paused: int | None, redacted: list[str]
    ) -> Iterator[None]:
        """With these jobs, until it is left."""
        with self.world.admin.transaction(force_rollback=True):
            self.world.run("update job_types set redacted = %s where key = 't'", redacted)
            for tenant, weight in zip(self.tenants, weights, strict=True):
                self.world.run("update tenant_settings set weight = %s where tenant_id = %s", weight, tenant)
            self.world.run("select count(*) from enqueue_jobs(%s)", Jsonb([*map(self.request, jobs, range(len(jobs)))]))
            if paused is not None:
                self.world.run("select pause_jobs(tenant_id => %s)", self.tenants[paused])
            yield

    def request(self, job: QueuedJob, number: int) -> dict[str, Any]:
        run_at = self.world.value("select now() - make_interval(mins => %s)", job.minutes_ago)
        return {
            "tenant_id": str(self.tenants[job.tenant]),
            "type": "t",
            "priority": job.priority,
            "run_at": run_at.isoformat(),
            "lane": job.lane,
            "dedupe_key": str(number) if job.dedupe_key else None,
            "notify": job.notify,
            "payload": job.payload,
        }

    def tables(self) -> dict[str, list[dict[str, Any]]]:
        return {name: [told(row["row"]) for row in self.world.rows(query)] for name, query in TABLES.items()}

    def set_turn(self, turn: Turn) -> None:
        # Nothing rolls a sequence back.
        self.world.run(
            "select setval(turn, tickwork.packed(%s, %s, %s)) from tickwork.family_types where type = 't'",
            *(self.numbers[turn.tenant] if turn.tenant >= 0 else 0, turn.starts_left, turn.starts),
        )

    def whose_turn(self) -> tuple[list[int], int, int]:
        """The tenants with jobs in the order of their turns, what is left of the first one's, and all starts so far."""
        value = self.world.value("select tickwork.read_turn('test')")
        last, starts_left = value >> 23, value >> 16 & 127
        start = last - (starts_left > 0)
        rows = self.world.rows("select distinct tenant_number as number from tickwork.waiting where type = 't'")
        order = sorted((row["number"] for row in rows), key=lambda number: (number <= start, number))
        return order, starts_left if order[:1] == [last] else 0, value & 65535

    def claim_all(self, turn: Turn, types: Sequence[str]) -> list[Any]:
        """What each claim returns and whose turn is next, until there is nothing more, and what the tables say then."""
        told_all: list[Any] = []
        with self.world.admin.transaction(force_rollback=True):
            self.set_turn(turn)
            rows: list[dict[str, Any]] = [{}]
            while rows:
                rows = self.world.rows("select * from claim_next_job('test', 'w', types => %s)", list(types))
                told_all += [[told(row) for row in rows], self.whose_turn()]
            return [*told_all, self.tables()]

    def settle(self, job: UUID, token: UUID, result: Any, endings: Any) -> list[Any]:
        with self.world.admin.transaction(force_rollback=True):
            rows = self.world.rows(
                "select * from settle_and_claim(array[%s], array[%s], array[%s]::jsonb[], %s, null, null, 0)",
                *(job, token, Jsonb(result) if result is not None else None, endings),
            )
            return [rows, self.tables()]


def told(row: dict[str, Any]) -> dict[str, Any]:
    """Without what may differ from one time to the next."""
    return {
        name: value is not None if name in TIMES | TOKENS else value for name, value in row.items() if name != "wait_ms"
    }


def for_some(compare: Callable[..., None], **more_settings: Any) -> Callable[..., None]:
    return settings(
        max_examples=FEW,
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        **more_settings,
    )(compare)


def compare_claims(world: World, **more_settings: Any) -> None:
    queue = Queue(world)

    @given(JOBS, WEIGHTS, PAUSED, REDACTED, TURN)
    def compare(jobs: list[QueuedJob], weights: list[int], paused: int | None, redacted: list[str], turn: Turn) -> None:
        with queue.filled(jobs, weights, paused, redacted):
            assert queue.claim_all(turn, ["t"]) == queue.claim_all(turn, ["t", "u"])

    for_some(compare, **more_settings)()


def compare_settlements(world: World, **more_settings: Any) -> None:
    queue = Queue(world)

    @given(JOBS, RESULTS, REDACTED, MAYBE, st.sampled_from([True, True, False]))
    def compare(jobs: list[QueuedJob], result: Any, redacted: list[str], is_awaited: bool, is_held: bool) -> None:
        with queue.filled(jobs, [1] * TENANTS, None, redacted):
            world.run("update jobs set progress = 0.5, error_code = 'E', error_message = 'e'")
            claimed = world.rows("select * from claim_jobs('test', 'w', 100)")
            for job in claimed[:1]:
                if is_awaited:
                    world.run("select enqueue_job(%s, 't', after => %s)", job["tenant_id"], [job["id"]])
                token = job["lease_token"] if is_held else queue.tenants[0]

                one = queue.settle(job["id"], token, result, None)
                many = queue.settle(job["id"], token, result, "[null]")

                assert one == many

    for_some(compare, **more_settings)()


def test_one_job_is_claimed_as_many_are(world: World) -> None:
    compare_claims(world)


def test_one_job_is_settled_as_many_are(world: World) -> None:
    compare_settlements(world)


def check_some_claims(world: World) -> None:
    """Without the time that it takes to make an example short."""
    compare_claims(world, phases=[Phase.generate])


def check_some_settlements(world: World) -> None:
    compare_settlements(world, phases=[Phase.generate])
