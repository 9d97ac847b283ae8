"""Lists of jobs: what each filter finds, page by page, and that it goes by an index however many jobs are done."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any
from uuid import UUID

import pytest

from tests.world import World
from tests.world.plans import Node, nodes_of
from tickwork.errors import InvalidRequest
from tickwork.jobs.rows import Job
from tickwork.testing.database import TEMPLATE, cloned
from tickwork_local.postgres import Server

JOBS = 100_000
# One job a second since then; each runs for a minute.
START = datetime.fromisoformat("2026-01-01T00:00Z")

FILL = """
insert into jobs (
  tenant_id, type, family, lane, status, priority, max_attempts, attempts, idempotency_key, dedupe_key, correlation_id,
  source, error_code, created_at, finished_at, lease_expires_at, worker_id, started_at
)
select
  tenants.ids[1 + n %% 20],
  case when n %% 10 = 0 then 'thank_person' else 'greet_person' end,
  case when n %% 10 = 0 then 'other' else 'test' end,
  case when n %% 7 = 0 then 'lane ' || n %% 50 end,
  made.status,
  0,
  4,
  1,
  case when n %% 3 = 0 then 'order-' || to_char(n, 'FM000000') end,
  case when n %% 11 = 0 then 'sync-' || to_char(n, 'FM000000') end,
  case when n %% 5 = 0 then 'trace-' || to_char(n, 'FM000000') end,
  case when n %% 100 = 0 then 'schedule' else 'manual' end,
  case when made.status in ('failed', 'dead') then (array['BUSY', 'TIMEOUT', 'BROKEN'])[1 + n %% 3] end,
  %(start)s + n * interval '1 second',
  case when made.status not in ('queued', 'running') then %(start)s + (n + 60) * interval '1 second' end,
  case when made.status = 'running' then timestamptz '2999-01-01' end,
  'w',
  %(start)s + n * interval '1 second'
from generate_series(1, %(jobs)s) as n
cross join (select array_agg(id order by name) as ids from organizations) as tenants
cross join lateral (
  select case
    when n %% 200 = 1 then 'failed'
    when n %% 200 = 2 then 'dead'
    when n %% 200 = 3 then 'cancelled'
    when n %% 1000 = 4 then 'queued'
    when n %% 1000 = 5 then 'running'
    else 'done'
  end
) as made(status)
"""


@pytest.fixture(scope="module")
def full(server: Server) -> Iterator[World]:
    with cloned(server, TEMPLATE) as name, World(server.url(name), server.url(name)) as world:
        world.type("greet_person")
        world.type("thank_person", family="other")
        world.run(
            "insert into organizations (name) select 'tenant ' || to_char(n, 'FM00') from generate_series(1, 20) n"
        )
        world.run("set session_replication_role = replica")
        world.admin.execute(FILL, {"start": START, "jobs": JOBS})
        world.run("reset session_replication_role")
        world.service.maintenance.rebuild_queue()
        world.run("vacuum analyze")
        yield world


def tenant(world: World, number: int = 5) -> UUID:
    found: UUID = world.value("select id from organizations where name = %s", f"tenant {number:02}")
    return found


def after(seconds: int) -> datetime:
    return START + timedelta(seconds=seconds)


# Each finds something among the hundred thousand; tenant is filled in where it is True.
FILTERS: dict[str, dict[str, Any]] = {
    "nothing": {},
    "tenant": {"tenant_id": True},
    "family": {"family": "other"},
    "type": {"type": "thank_person"},
    "tenant and type": {"tenant_id": True, "type": "greet_person"},
    "queued": {"status": "queued"},
    "queued of a tenant": {"status": "queued", "tenant_id": True},
    "running": {"status": "running"},
    "running of a type": {"status": "running", "type": "greet_person"},
    "done": {"status": "done"},
    "done of a tenant": {"status": "done", "tenant_id": True},
    "failed": {"status": "failed"},
    "dead of a tenant": {"status": "dead", "tenant_id": 3},
    "cancelled of a type": {"status": "cancelled", "type": "greet_person"},
    "error": {"error_code": "BROKEN"},
    "error of a tenant": {"error_code": "TIMEOUT", "tenant_id": 2},
    "dead with an error": {"status": "dead", "error_code": "BUSY"},
    "failed in a range": {"status": "failed", "finished_after": after(500), "finished_before": after(5_000)},
    "failed lately": {"status": "failed", "finished_after": after(99_000)},
    "lane": {"lane": "lane 7"},
    "lane of a tenant": {"lane": "lane 7", "tenant_id": 8},
    "source": {"source": "schedule"},
    "source of a tenant": {"source": "schedule", "tenant_id": 1},
    "created": {"created_after": after(1_000), "created_before": after(1_200)},
    "created of a tenant": {"created_after": after(1_000), "created_before": after(2_000), "tenant_id": True},
    "finished": {"finished_after": after(1_000), "finished_before": after(1_200)},
    "done in a range": {"status": "done", "finished_before": after(3_000)},
    "idempotency key": {"key_starts_with": "order-00012"},
    "dedupe key": {"key_starts_with": "sync-0001"},
    "correlation id of a tenant": {"key_starts_with": "trace-01", "tenant_id": 6},
    "key of dead jobs": {"key_starts_with": "order-", "status": "dead"},
}


def given(world: World, name: str) -> dict[str, Any]:
    chosen = dict(FILTERS[name])
    if "tenant_id" in chosen:
        chosen["tenant_id"] = tenant(world) if chosen["tenant_id"] is True else tenant(world, chosen["tenant_id"])
    return chosen


@pytest.mark.parametrize("oldest_first", [False, True])
@pytest.mark.parametrize("name", FILTERS)
def test_a_filter_finds_what_it_says_page_by_page(full: World, name: str, oldest_first: bool) -> None:
    chosen = given(full, name)
    expected = by_hand(full, chosen, oldest_first)

    first = full.service.jobs.list_jobs(**chosen, oldest_first=oldest_first, max_jobs=3)
    second = full.service.jobs.list_jobs(**chosen, oldest_first=oldest_first, max_jobs=4, after_id=first[-1].id)

    assert [job.id for job in first + second] == expected[:7]
    assert expected != []


def by_hand(world: World, chosen: dict[str, Any], oldest_first: bool) -> list[UUID]:
    conditions = {
        "created_after": "created_at >= %(created_after)s",
        "created_before": "created_at < %(created_before)s",
        "finished_after": "finished_at >= %(finished_after)s",
        "finished_before": "finished_at < %(finished_before)s",
        "key_starts_with": "(starts_with(idempotency_key, %(key_starts_with)s) "
        "or starts_with(dedupe_key, %(key_starts_with)s) or starts_with(correlation_id, %(key_starts_with)s))",
    }
    where = " and ".join(["true", *(conditions.get(each, f"{each} = %({each})s") for each in chosen)])
    direction = "asc" if oldest_first else "desc"
    query = f"select id from jobs where {where} order by created_at {direction}, id {direction} limit 7"
    return [row["id"] for row in world.service.database.rows(query, chosen)]


@pytest.mark.parametrize("oldest_first", [False, True])
@pytest.mark.parametrize("name", FILTERS)
def test_a_filter_goes_by_an_index(full: World, name: str, oldest_first: bool) -> None:
    nodes = nodes_of_list(full, {**given(full, name), "oldest_first": oldest_first})

    of_jobs = [node for node in nodes if node.get("Relation Name") == "jobs"]
    assert of_jobs != []
    assert {node["Node Type"] for node in of_jobs} <= {"Index Scan", "Index Only Scan", "Bitmap Heap Scan"}
    # The page, and what each tenant, type and status could have had on it; keys and ranges are read in full.
    most = 12_000 if name == "key of dead jobs" else 4_500
    assert max(rows_of(node) for node in nodes) <= most
    assert max([0, *(rows_of(node["Plans"][0]) for node in nodes if node["Node Type"] == "Sort")]) <= 4_500


@pytest.mark.parametrize(
    "name", ["failed lately", "created", "lane of a tenant", "queued of a tenant", "error of a tenant"]
)
def test_a_narrow_filter_reads_little(full: World, name: str) -> None:
    nodes = nodes_of_list(full, given(full, name))

    assert max(rows_of(node) for node in nodes if "Relation Name" in node) <= 700


def test_the_oldest_of_the_queued_jobs_are_looked_up_once_and_together(full: World) -> None:
    nodes = nodes_of_list(full, {"status": "queued", "oldest_first": True})

    (read,) = [node for node in nodes if "ANY" in node.get("Index Cond", "") and node.get("Index Name") == "jobs_pkey"]
    assert read["Actual Loops"] == 1
    assert read["Actual Rows"] == full.value("select count(*) from jobs where status = 'queued'")


def test_the_check_of_plans_can_fail(full: World) -> None:
    nodes = nodes_of(full, "select payload from jobs order by updated_at desc limit 50", {})

    assert "Seq Scan" in {node["Node Type"] for node in nodes}
    assert max(rows_of(node) for node in nodes) > 0.99 * JOBS


def nodes_of_list(world: World, arguments: dict[str, Any]) -> list[Node]:
    marks = ", ".join(f"{each} => %({each})s" for each in arguments)
    return nodes_of(world, f"select * from list_jobs({marks})", arguments)


def rows_of(node: Node) -> float:
    removed = node.get("Rows Removed by Filter", 0) + node.get("Rows Removed by Index Recheck", 0)
    return float((node["Actual Rows"] + removed) * node["Actual Loops"])


CHANGING = """
    status run_at attempts max_attempts priority lease_expires_at lease_seconds timeout_seconds worker_id
    progress progress_message cancel_requested_at result error_code error_message updated_at started_at finished_at
"""


def test_no_index_of_jobs_names_a_column_that_changes(world: World) -> None:
    """An update of such a column would have to write every index anew, and leave a dead entry in each."""
    indexed = {
        row["attname"]
        for row in world.rows(
            "select attname from pg_depend join pg_index on indexrelid = objid and indrelid = 'jobs'::regclass "
            "join pg_attribute on attrelid = refobjid and attnum = refobjsubid "
            "where classid = 'pg_class'::regclass and refobjid = 'jobs'::regclass"
        )
    }

    assert {"tenant_id", "type", "lane", "source", "dedupe_key", "correlation_id", "created_at"} <= indexed
    assert indexed & set(CHANGING.split()) == set()


def test_what_is_queued_is_found_when_very_many_are(world: World) -> None:
    tenant = world.tenant()
    type = world.type()
    jobs = [{"tenant_id": str(tenant), "type": type} for _ in range(10_000)]
    parked = world.job(run_at="2999-01-01")
    world.service.jobs.enqueue_jobs(jobs)
    newest = [world.job() for _ in range(2)]

    found = world.service.jobs.list_jobs(status="queued", max_jobs=2)
    oldest = world.service.jobs.list_jobs(status="queued", max_jobs=1, oldest_first=True)

    assert [job.id for job in found] == [job.id for job in reversed(newest)]
    assert [job.id for job in oldest] == [parked.id]


def test_a_job_that_is_retried_leaves_the_list_of_dead_ones(world: World) -> None:
    job = world.running_job(max_attempts=1)
    world.queue.fail_job(job, {"code": "BUSY"})

    before = [world.service.jobs.list_jobs(status="dead"), world.service.jobs.list_jobs(error_code="BUSY")]
    world.service.jobs.retry_job(job.id)
    after = [world.service.jobs.list_jobs(status="dead"), world.service.jobs.list_jobs(error_code="BUSY")]

    assert [[each.id for each in found] for found in before] == [[job.id], [job.id]]
    assert after == [[], []]
    assert [each.id for each in world.service.jobs.list_jobs(status="queued", error_code="BUSY")] == [job.id]


@pytest.mark.parametrize("status", [None, "queued", "running", "done", "dead"])
def test_a_member_lists_only_what_his_tenants_have(world: World, status: str | None) -> None:
    own, foreign = world.tenant("own"), world.tenant("foreign")
    world.type()
    mine = one_of_each(world, own)
    one_of_each(world, foreign)
    member = world.member_of(own)

    def listed(**arguments: Any) -> set[UUID]:
        marks = ", ".join(f"{each} => %({each})s" for each in arguments)
        return {row["id"] for row in member.execute(f"select * from list_jobs({marks})", arguments)}

    expected = {job.id for job in mine if status in (None, job.status)}
    assert listed(status=status) == listed(status=status, tenant_id=own) == expected
    assert listed(status=status, key_starts_with="k") == expected
    assert listed(status=status, tenant_id=foreign) == set()
    assert listed(status=status, tenant_id=foreign, key_starts_with="k") == set()
    assert listed(error_code="BUSY") == {job.id for job in mine if job.status == "dead"}


def one_of_each(world: World, tenant: UUID) -> list[Job]:
    jobs = []
    for status in ("done", "dead", "running", "queued"):
        run_at = "2999-01-01" if status == "queued" else None
        job = world.job(tenant=tenant, correlation_id=f"k-{status}", max_attempts=1, run_at=run_at)
        match status:
            case "done":
                world.queue.complete_job(world.claim())
            case "dead":
                world.queue.fail_job(world.claim(), {"code": "BUSY"})
            case "running":
                world.claim()
        jobs.append(world.reload(job))
    assert [job.status for job in jobs] == ["done", "dead", "running", "queued"]
    return jobs


def test_a_page_after_a_foreign_job_is_refused(world: World) -> None:
    world.job(tenant=world.tenant("foreign"))
    foreign = world.job()
    member = world.member_of(world.tenant("own"))

    with pytest.raises(Exception, match="after_id: there is no job"):
        member.execute("select list_jobs(after_id => %s)", [foreign.id])


def test_an_unknown_status_is_refused(world: World) -> None:
    with pytest.raises(InvalidRequest, match="status: there is no status 'finished'"):
        world.service.jobs.list_jobs(status="finished")


def test_ranges_include_their_start_and_not_their_end(world: World) -> None:
    jobs = [world.job() for _ in range(3)]
    starts = [job.created_at for job in jobs]

    found = [
        [job.id for job in world.service.jobs.list_jobs(created_after=start, created_before=end)]
        for start, end in pairwise(starts)
    ]

    assert found == [[jobs[0].id], [jobs[1].id]]


def test_characters_that_mean_something_to_patterns_mean_nothing_in_a_key(world: World) -> None:
    job = world.job(correlation_id="100%_\\x")
    world.job(correlation_id="1000")
    world.job(correlation_id="\U0010ffff!")

    assert [each.id for each in world.service.jobs.list_jobs(key_starts_with="100%_\\")] == [job.id]
    assert len(world.service.jobs.list_jobs(key_starts_with="\U0010ffff")) == 1
    assert len(world.service.jobs.list_jobs(key_starts_with="")) == 3


def test_a_job_with_several_such_keys_is_listed_once(world: World) -> None:
    job = world.job(idempotency_key="a1", dedupe_key="a2", correlation_id="a3")

    assert [each.id for each in world.service.jobs.list_jobs(key_starts_with="a")] == [job.id]
