"""Filters of jobs with any values: the jobs that match and that the caller may see, or a refusal by name."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz import quick
from tests.fuzz.json_texts import TEXTS
from tests.fuzz.refusals import translating
from tests.world import World
from tickwork.database.call import call_within
from tickwork.database.connection import Connection
from tickwork.errors import InvalidRequest, NoSuchJob, NotAllowed

HOSTILE = ["", "%", "_", "'", "\\", "'; drop table jobs; --", "$1", "{}", "\x01", "ä", "\U0010ffff", "\0"]
KEYS = ["a", "ab", "a%", "a_", "a\\", "A", "ä", "\U0010fffe", "x'"]
TYPES, FAMILIES, LANES = ["greet_person", "greet_all"], ["test", "other"], ["a", "connector:1", "%"]
STATUSES = ["queued", "running", "done", "failed", "dead", "cancelled"]
TIMES = ["infinity", "-infinity", "now", "1970-01-01", "4714-11-25 BC", "294276-12-30", "soon", ""]
WHEN = st.sampled_from(TIMES) | st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30), timezones=st.just(UTC)).map(str)


def texts(*known: str) -> st.SearchStrategy[str | None]:
    return st.none() | st.sampled_from(known) | st.sampled_from(HOSTILE) | TEXTS


CHOSEN: dict[str, st.SearchStrategy[Any]] = {
    "family": texts(*FAMILIES),
    "type": texts(*TYPES),
    "status": st.sampled_from(STATUSES) | texts(*STATUSES),
    "lane": texts(*LANES),
    "error_code": texts("BUSY", "CANCELLED"),
    "created_after": WHEN,
    "created_before": WHEN,
}
LISTED: dict[str, st.SearchStrategy[Any]] = {
    "source": texts("manual", "schedule"),
    "key_starts_with": texts(*KEYS),
    "finished_after": WHEN,
    "finished_before": WHEN,
    "oldest_first": st.none() | st.booleans(),
}


@dataclass(frozen=True)
class Scene:
    """Two tenants with the same jobs, and a member of the first."""

    tenants: tuple[UUID, UUID]
    member: Connection
    service: Connection


@pytest.fixture(scope="module")
def scene(world: World) -> Scene:
    for type, family in zip(TYPES, FAMILIES, strict=True):
        world.type(type, family, max_attempts=1)
    tenants = world.tenant(), world.tenant("umbrella")
    for tenant in tenants:
        for number, key in enumerate(KEYS):
            options = {"lane": LANES[number % 3], "correlation_id": KEYS[-1 - number]}
            world.job(TYPES[number % 2], tenant, idempotency_key=key, dedupe_key=f"{key}{number}", **options)
        world.service.jobs.cancel_jobs(tenant_id=tenant, max_jobs=2)
    for _ in range(3):
        world.queue.fail_job(world.claim("test"), {"code": "BUSY", "message": "later"})
        world.queue.complete_job(world.claim("other"))
    world.claim("other")
    member = world.member_of(tenants[0], role="admin")
    service = world.connect("service_role")
    for connection in (member, service):
        connection.execute("set statement_timeout = '60s'")
    return Scene(tenants, member, service)


def someone(scene: Scene) -> st.SearchStrategy[Any]:
    return st.none() | st.sampled_from([*map(str, scene.tenants), str(uuid4()), "acme"])


@quick
@given(st.data(), st.fixed_dictionaries({}, optional={**CHOSEN, **LISTED}), st.integers(-5, 2**31 - 1), st.booleans())
def test_a_list_has_the_jobs_that_match(
    world: World, scene: Scene, data: st.DataObject, chosen: dict[str, Any], max_jobs: int, is_member: bool
) -> None:
    chosen["tenant_id"] = data.draw(someone(scene))
    caller = scene.member if is_member else scene.service

    with suppress(InvalidRequest, NoSuchJob), translating():
        rows = call_within(caller, "list_jobs", max_jobs=max_jobs, **chosen)
        seen = scene.tenants[:1] if is_member else scene.tenants
        everything = world.rows("select * from jobs where tenant_id = any(%s)", list(seen))
        expected = {row["id"] for row in everything if matches(world, row, chosen)}
        assert {row["id"] for row in rows} <= expected
        assert len(rows) == min(len(expected), max(max_jobs, 0), 1000)


@quick
@given(st.data(), st.fixed_dictionaries({}, optional=CHOSEN), st.integers(-5, 20), st.booleans())
def test_a_change_concerns_the_jobs_that_match(
    world: World, scene: Scene, data: st.DataObject, chosen: dict[str, Any], max_jobs: int, is_member: bool
) -> None:
    chosen["tenant_id"] = data.draw(someone(scene))
    verb = data.draw(st.sampled_from(["cancel_jobs", "retry_jobs"]))
    caller = scene.member if is_member else scene.service
    statuses = ("queued", "running") if verb == "cancel_jobs" else ("failed", "dead")

    with suppress(InvalidRequest, NotAllowed), translating(), caller.transaction(force_rollback=True):
        (row,) = call_within(caller, verb, max_jobs=max_jobs, **chosen)
        seen = scene.tenants[:1] if is_member else scene.tenants
        everything = world.rows("select * from jobs where tenant_id = any(%s)", list(seen))
        wanted = [chosen["status"]] if chosen.get("status") else statuses
        matching = [job for job in everything if job["status"] in wanted and matches(world, job, chosen)]
        assert row["changed"] == min(len(matching), max_jobs)
        assert row["has_more"] is (len(matching) > max_jobs)


def matches(world: World, job: Mapping[str, Any], chosen: Mapping[str, Any]) -> bool:
    """What the words of the filters say."""
    same = all(
        chosen.get(name) is None or str(job[name]) == chosen[name]
        for name in ("tenant_id", "family", "type", "status", "lane", "error_code", "source")
    )
    # A tenant's id may be written in other ways; such a one is not made up here.
    start = chosen.get("key_starts_with")
    keys = [job[name] or "" for name in ("idempotency_key", "dedupe_key", "correlation_id")]
    return same and (not start or any(key.startswith(start) for key in keys)) and is_in_time(world, job, chosen)


def is_in_time(world: World, job: Mapping[str, Any], chosen: Mapping[str, Any]) -> bool:
    """Times are compared by the database, which alone knows the infinite ones."""
    ranges = [(name, bound, chosen.get(f"{name}_{bound}")) for name in ("created", "finished") for bound in BOUNDS]
    return all(
        time is None
        or world.value(
            f"select coalesce(%s::timestamptz {BOUNDS[bound]} %s::timestamptz, false)",
            job[f"{name}_at"],
            time,
        )
        for name, bound, time in ranges
    )


BOUNDS = {"after": ">=", "before": "<"}
