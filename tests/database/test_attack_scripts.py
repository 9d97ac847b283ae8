"""Whatever a member of one tenant does, the only job of another one starts soon, and no claim reads much for it."""

from dataclasses import dataclass
from typing import LiteralString
from uuid import UUID

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.world import World
from tests.world.metered import MAX_PAGES, MeteredWorker
from tickwork.database.connection import Connection
from tickwork.testing.database import TEMPLATE, cloned
from tickwork_local.postgres import Server

# One would do if tenants took turns and nothing else. Some claims may tidy up and come back with nothing.
MAX_CLAIMS = 5
TYPES = ["greet_person", "wave_hand", "shake_hands"]
# With the braces and the key, as long as a payload may be.
MAX_TEXT_LENGTH = 65_536 - len('{"text": ""}')

MANY = st.sampled_from([1, 50, 1_000, 1_000])
# Now, in a moment and much later.
SECONDS_AHEAD = st.sampled_from([0, 0, 0.005, 0.05, 7_200])


@dataclass(frozen=True)
class Insert:
    jobs: int
    type: str
    lanes: int
    priority: int
    seconds_ahead: float
    has_keys: bool

    def perform(self, world: World, member: Connection, tenant: UUID) -> None:
        member.execute(
            "insert into jobs (tenant_id, type, lane, priority, run_at, idempotency_key, dedupe_key) "
            "select %(tenant)s, %(type)s, 'lane ' || nullif(n %% (%(lanes)s + 1), 0), %(priority)s, "
            "clock_timestamp() + make_interval(secs => %(seconds_ahead)s), "
            "case when %(has_keys)s then gen_random_uuid() end, case when %(has_keys)s then gen_random_uuid() end "
            "from generate_series(1, %(jobs)s) as n",
            {**vars(self), "tenant": tenant},
        )


@dataclass(frozen=True)
class Enqueue:
    """The same key time and again, and payloads as long as they may be."""

    jobs: int
    type: str
    is_long: bool

    def perform(self, world: World, member: Connection, tenant: UUID) -> None:
        member.execute(
            "select count(enqueue_job(%s, %s, jsonb_build_object('text', repeat('x', %s)), dedupe_key => 'the same')) "
            "from generate_series(1, %s)",
            [tenant, self.type, MAX_TEXT_LENGTH if self.is_long else 0, self.jobs],
        )


@dataclass(frozen=True)
class Steer:
    """What a member may do to jobs that are there: cancel, put off, bring back."""

    jobs: int
    verb: str
    status: str

    def perform(self, world: World, member: Connection, tenant: UUID) -> None:
        member.execute(
            f"select count({self.verb}) from unnest(array(select id from jobs "
            "where status = %s and dedupe_key is null order by id limit %s)) as id",
            [self.status, self.jobs],
        )


@dataclass(frozen=True)
class Serve:
    """A worker comes meanwhile: half of what it starts is done, and the rest is released."""

    jobs: int

    def perform(self, world: World, member: Connection, tenant: UUID) -> None:
        jobs = world.queue.claim_jobs("test", self.jobs)
        statuses = ["done", "released"] * len(jobs)
        world.queue.settle_jobs(
            [
                {"job_id": str(job.id), "lease_token": str(job.lease_token), "status": status}
                for job, status in zip(jobs, statuses, strict=False)
            ]
        )


VERBS: list[tuple[LiteralString, LiteralString]] = [
    ("cancel_job(id)", "queued"),
    ("retry_job(id)", "cancelled"),
    ("reschedule_job(id, clock_timestamp())", "queued"),
    ("reschedule_job(id, clock_timestamp() + interval '10 milliseconds')", "queued"),
    ("reschedule_job(id, clock_timestamp() + interval '2 hours')", "queued"),
]
INSERTS = st.builds(
    Insert,
    jobs=MANY,
    type=st.sampled_from(TYPES),
    lanes=st.sampled_from([0, 1, 20, 1_000, 1_000]),
    priority=st.sampled_from([0, 1, 50, 100]),
    seconds_ahead=SECONDS_AHEAD,
    has_keys=st.booleans(),
)
ENQUEUES = st.builds(Enqueue, jobs=st.sampled_from([1, 30]), type=st.sampled_from(TYPES), is_long=st.booleans())
STEERS = st.builds(lambda jobs, verb: Steer(jobs, *verb), MANY, st.sampled_from(VERBS))
SERVES = st.builds(Serve, jobs=MANY)
SCRIPTS = st.lists(st.one_of(INSERTS, INSERTS, STEERS, ENQUEUES, SERVES), min_size=4, max_size=8)


def test_no_script_of_a_member_stops_another_tenant(server: Server) -> None:
    @settings(
        max_examples=30,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
        # A shorter script is seldom worth the minutes that the search for it takes.
        phases=[Phase.generate],
    )
    @given(script=SCRIPTS, type=st.sampled_from(TYPES))
    def check(script: list[Insert | Enqueue | Steer | Serve], type: str) -> None:
        with cloned(server, TEMPLATE) as name, World(server.url(name), server.url(name)) as world:
            check_script(world, script, type)

    check()


def check_script(world: World, script: list[Insert | Enqueue | Steer | Serve], type: str) -> None:
    for key in TYPES:
        world.type(key)
    attacker, victim = world.tenant("attacker"), world.tenant("victim")
    member, worker = world.member_of(attacker, role="admin"), MeteredWorker(world)
    for action in script:
        action.perform(world, member, attacker)
    job = world.job(type, victim)

    claimed = [worker.claim() for _ in range(MAX_CLAIMS)]

    assert job.id in {each.id for each in claimed if each}
    assert max(worker.pages) <= MAX_PAGES
