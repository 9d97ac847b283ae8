"""One job and many take two ways into the queue. Whatever is asked for, both store the same or refuse it alike."""

from typing import Any
from uuid import UUID

import psycopg
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from psycopg.types.json import Jsonb

from tests.world import World

TYPES = ("greet_person", "wave_hand", "check_person", "hide_person", "retired", "unknown")
TRACE = "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01"
PAYLOADS = [
    {},
    {"name": "Ada"},
    {"name": 1},
    {"password": "a secret of Ada's"},
    {"iban": "DE02120300000000202051"},
    {"artifact_ref": {"id": "x"}},
    {"deep": [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]},
    {"long": "x" * 65_536},
    [1],
    "text",
    None,
]
KEYS = st.sampled_from([None, "", "a", "x" * 201])
REQUESTS = st.fixed_dictionaries(
    {"type": st.sampled_from(TYPES[:2] * 4 + TYPES[2:])},
    optional={
        "payload": st.sampled_from(PAYLOADS),
        "priority": st.sampled_from([None, -1, 0, 100, 101]),
        "run_at": st.sampled_from([None, "2020-01-01T00:00Z", "2099-01-01T00:00Z", "infinity", "20000-01-01T00:00Z"]),
        "idempotency_key": KEYS,
        "dedupe_key": KEYS,
        "lane": KEYS,
        "max_attempts": st.sampled_from([None, 0, 1, 25, 26]),
        "correlation_id": KEYS,
        "notify": st.sampled_from([None, True, False]),
        "traceparent": st.sampled_from([None, TRACE, "none"]),
        "is_after": st.sampled_from(["queued", "done", "failed", "nothing"]),
        "after_when": st.sampled_from([None, "all_done", "any_ended", "never"]),
    },
)
# Parameters with their types: a batch gets them as JSON.
CASTS = {"payload": "jsonb", "run_at": "timestamptz", "after": "uuid[]"}
PASSING = "{id, job_id, run_at, wake_at, ready_at, created_at, updated_at, finished_at}"
STORED = f"""
    select to_jsonb(jobs) - '{PASSING}'::text[], jobs.run_at = jobs.created_at or jobs.run_at > clock_timestamp(),
      to_jsonb(waiting) - '{PASSING}'::text[], to_jsonb(parked) - '{PASSING}'::text[],
      to_jsonb(awaiting) - '{PASSING}'::text[], to_jsonb(taken_keys) - '{PASSING}'::text[],
      to_jsonb(redacted_values) - '{PASSING}'::text[],
      (select sum(allowances.jobs_left) from tickwork.allowances)
    from jobs
    left join tickwork.waiting on waiting.job_id = jobs.id
    left join tickwork.parked on parked.job_id = jobs.id
    left join tickwork.awaiting on awaiting.job_id = jobs.id
    left join tickwork.taken_keys on taken_keys.job_id = jobs.id
    left join tickwork.redacted_values on redacted_values.job_id = jobs.id
    where jobs.id <> all (%s)
"""


def prepare(world: World) -> tuple[UUID, dict[str, UUID]]:
    """A tenant, and jobs that others can wait for."""
    tenant = world.tenant()
    for type in TYPES[:2]:
        world.type(type, priority=3)
    world.type("check_person", payload_schema={"properties": {"name": {"type": "string"}}})
    world.type("hide_person", redacted="{payload.iban}")
    world.type("retired", is_active=False)
    done, failed, queued = (world.service.jobs.enqueue_job(tenant, "greet_person").id for _ in range(3))
    world.queue.complete_job(world.claim())
    world.queue.fail_job(world.claim(), {"code": "X"}, False)
    return tenant, {"queued": queued, "done": done, "failed": failed, "nothing": UUID(int=0)}


def outcome(world: World, statement: str, values: Any, known: list[UUID]) -> Any:
    """What the call returns and stores, or how it is refused. Nothing of it stays."""
    with world.admin.transaction(force_rollback=True):
        try:
            row = world.admin.execute(statement, values).fetchone()
        except psycopg.Error as refusal:
            return refusal.sqlstate, refusal.diag.message_primary, refusal.diag.message_hint
        stored = world.admin.execute(STORED.encode(), [known]).fetchall()
        return row and row["deduplicated"], row and row["status"], [tuple(each.values()) for each in stored]


def check_requests(world: World, most: int = 150) -> None:
    tenant, jobs = prepare(world)

    # The same ones each time, and first those in which one thing is unusual.
    @settings(
        max_examples=most, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck)
    )
    @example({"type": "greet_person", "is_after": "queued"})
    @example({"type": "greet_person", "run_at": "2099-01-01T00:00Z"})
    @example({"type": "greet_person", "lane": "a"})
    @example({"type": "greet_person", "dedupe_key": "a"})
    @given(REQUESTS)
    def check(request: dict[str, Any]) -> None:
        awaited = request.pop("is_after", None)
        job = {"tenant_id": str(tenant), **request, **({"after": [str(jobs[awaited])]} if awaited else {})}
        names = ", ".join(f"{name} => %({name})s::{CASTS.get(name, '')}".removesuffix("::") for name in job)
        values = {**job, **({"payload": Jsonb(job["payload"])} if job.get("payload") is not None else {})}

        one = outcome(world, f"select * from enqueue_job({names})", values, list(jobs.values()))
        many = outcome(world, "select * from enqueue_jobs(%s)", [Jsonb([job])], list(jobs.values()))

        assert one == many

    check()


def test_one_job_and_many_are_stored_or_refused_alike(world: World) -> None:
    check_requests(world)


@pytest.mark.parametrize("payload", [{"name": "Ada"}, {"password": "a secret of Ada's"}])
def test_the_usual_job_takes_the_short_way_and_others_do_not(world: World, payload: dict[str, str]) -> None:
    tenant = world.tenant()
    world.type("greet_person")

    with psycopg.connect(world.url) as connection:
        connection.execute("set track_functions = 'all'")
        connection.commit()
        connection.execute("select from enqueue_job(%s, 'greet_person', %s)", [tenant, Jsonb(payload)])
        rows = connection.execute("select funcname from pg_stat_xact_user_functions where schemaname = 'tickwork'")
        called = {name for (name,) in rows}

    assert ("insert_jobs" in called) == ("password" in payload)
