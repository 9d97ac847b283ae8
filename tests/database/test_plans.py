"""The cost of a claim: bounded and by index, whatever lies in the table. Plans, not timings."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.conftest import TEMPLATE, cloned
from tests.world import World
from tickwork_local.postgres import Server

MILLION = 1_000_000

# As superuser and without the triggers: a million rows in seconds. Due times are spread out, as equal ones would be
# deduplicated in the index and make it look smaller than it is.
FILL = """
    insert into jobs (tenant_id, type, family, status, priority, run_at, max_attempts, finished_at)
    select %(tenant)s, 'fill_table', %(family)s, %(status)s, %(priority)s,
      now() + %(sign)s * n * interval '1 second', 4, case when %(status)s = 'done' then now() end
    from generate_series(1, %(rows)s) as n
"""


@pytest.fixture(scope="module")
def full(server: Server) -> Iterator[World]:
    """A million due jobs in one family; a million future ones of high priority before one due job in another."""
    with cloned(server, TEMPLATE) as name, World(server.url(name), server.url(name)) as world:
        tenant = world.tenant()
        world.type("fill_table", "unused")
        world.run("alter table jobs disable trigger user")
        world.run("alter table jobs disable trigger all")
        fill(world, tenant, family="due", sign=-1)
        fill(world, tenant, family="future", sign=1, priority=50)
        fill(world, tenant, family="future", sign=-1, rows=1)
        fill(world, tenant, family="finished", sign=-1, status="done", rows=100_000)
        fill(world, tenant, family="finished", sign=-1, rows=1)
        world.run("alter table jobs enable trigger all")
        yield world


def fill(world: World, tenant: Any, *, family: str, sign: int, rows: int = MILLION, **columns: Any) -> None:
    values = {"tenant": tenant, "family": family, "sign": sign, "rows": rows, "priority": 0, "status": "queued"}
    world.admin.execute(FILL, {**values, **columns})


def plans_of(world: World, statement: str, parameters: dict[str, Any]) -> list[dict[str, Any]]:
    """The plan of every statement that ran inside, with what each node really did."""
    connection = world.connect()
    plans: list[dict[str, Any]] = []
    connection.add_notice_handler(lambda notice: plans.append(parsed(str(notice.message_primary))))
    for setting in (
        "load 'auto_explain'",
        "set auto_explain.log_min_duration = 0",
        "set auto_explain.log_analyze = on",
        "set auto_explain.log_buffers = on",
        "set auto_explain.log_nested_statements = on",
        "set auto_explain.log_format = json",
        "set client_min_messages = log",
    ):
        connection.execute(setting)
    plans.clear()
    assert connection.execute(statement, parameters).fetchall() != []
    return [plan for plan in plans if plan]


def parsed(message: str) -> dict[str, Any]:
    _, is_plan, text = message.partition("plan:\n")
    return dict(json.loads(text)) if is_plan else {}


def nodes_of(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("Plans", []):
        yield from nodes_of(child)


def jobs_scans(world: World, statement: str, parameters: dict[str, Any] | None = None) -> list[dict[str, Any]]:
    nodes = [node for plan in plans_of(world, statement, parameters or {}) for node in nodes_of(plan["Plan"])]
    return [node for node in nodes if node.get("Relation Name") == "jobs" and "Scan" in node["Node Type"]]


def touched_rows(scans: list[dict[str, Any]]) -> float:
    rows = [(node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"] for node in scans]
    return float(sum(rows))


def touched_pages(scans: list[dict[str, Any]]) -> int:
    # Entries that an index steps over are no rows, but the pages they are on get read.
    return sum(node["Shared Hit Blocks"] + node["Shared Read Blocks"] for node in scans)


def set_statistics(world: World, statistics: str) -> None:
    if statistics == "fresh":
        world.run("analyze jobs")
    elif statistics == "of the empty table":
        world.run("update pg_class set reltuples = 0, relpages = 0 where relname = 'jobs'")
        world.run("delete from pg_statistic where starelid = 'jobs'::regclass")


def release_all(world: World) -> None:
    world.run(
        "update jobs set status = 'queued', lease_token = null, lease_expires_at = null, attempts = 0 "
        "where status = 'running'"
    )
    world.run("vacuum jobs")


@pytest.mark.parametrize("family", ["due", "future", "finished"])
@pytest.mark.parametrize("statistics", ["none", "fresh", "of the empty table"])
def test_a_claim_touches_a_handful_of_rows_through_an_index(full: World, family: str, statistics: str) -> None:  # C2
    set_statistics(full, statistics)

    scans = jobs_scans(full, f"select id from claim_next_job('{family}', 'w')")
    release_all(full)

    assert len(scans) >= 4, "reap, next priority, due and update each look at jobs"
    assert {node["Node Type"] for node in scans} <= {"Index Scan", "Index Only Scan"}
    assert touched_rows(scans) <= 10
    assert touched_pages(scans) <= 60


def test_a_batch_touches_in_proportion_to_its_size(full: World) -> None:
    scans = jobs_scans(full, "select id from claim_jobs('due', 'w', 100)")

    assert {node["Node Type"] for node in scans} <= {"Index Scan", "Index Only Scan"}
    assert touched_rows(scans) <= 310
    assert touched_pages(scans) <= 1500


def test_many_priorities_of_the_future_are_stepped_over_one_by_one(full: World) -> None:
    tenant = full.value("select id from organizations")
    full.run("alter table jobs disable trigger user")
    for priority in range(1, 101):
        fill(full, tenant, family="levels", sign=1, rows=50, priority=priority)
    fill(full, tenant, family="levels", sign=-1, rows=1)
    full.run("alter table jobs enable trigger user")

    scans = jobs_scans(full, "select id from claim_next_job('levels', 'w')")

    # One row to find each of 101 priorities, and the job itself.
    assert touched_rows(scans) <= 110
    assert touched_pages(scans) <= 1500


VERBS = {
    "heartbeat": "select heartbeat_job(%(id)s, %(token)s, 0.5)",
    "hold": "select hold_job(%(id)s, %(token)s)",
    "release": "select release_job(%(id)s, %(token)s, 10)",
    "fail": "select fail_job(%(id)s, %(token)s, '{}')",
    "complete": "select complete_job(%(id)s, %(token)s)",
    "complete with a follow-up": 'select complete_job(%(id)s, %(token)s, null, \'[{"type": "fill_table"}]\')',
    "settle many": "select settle_jobs(jsonb_build_array(jsonb_build_object("
    "'job_id', %(id)s::uuid, 'lease_token', %(token)s::uuid, 'status', 'done')))",
    "cancel": "select cancel_job(%(id)s)",
    "enqueue": "select enqueue_job(%(tenant)s, 'fill_table', idempotency_key => 'i', dedupe_key => 'd')",
    "enqueue many": "select enqueue_jobs(jsonb_build_array(jsonb_build_object("
    "'tenant_id', %(tenant)s::uuid, 'type', 'fill_table')))",
}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("statistics", ["fresh", "of the empty table"])
def test_every_verb_finds_its_job_by_key(full: World, verb: str, statistics: str) -> None:  # C2
    running = full.queue.claim_jobs("due", 1000)
    set_statistics(full, statistics)
    job = running[500]

    parameters = {"id": job.id, "token": job.lease_token, "tenant": job.tenant_id}
    scans = jobs_scans(full, VERBS[verb], parameters)
    release_all(full)

    assert len(scans) >= 1
    assert {node["Node Type"] for node in scans} <= {"Index Scan", "Index Only Scan"}
    assert touched_rows(scans) <= 10
    assert touched_pages(scans) <= 100


def test_no_verb_is_left_to_the_statistics(world: World) -> None:
    settings = {
        str(row["verb"]): {setting.partition("=")[0] for setting in row["proconfig"]}
        for row in world.rows(
            "select oid::regproc as verb, proconfig from pg_proc "
            "where pronamespace = 'tickwork'::regnamespace and prosecdef and provolatile = 'v'"
        )
    }

    assert len(settings) >= 13
    for verb, names in settings.items():
        assert {"enable_seqscan", "enable_hashjoin", "plan_cache_mode", "jit"} <= names, verb


def test_the_check_can_fail(full: World) -> None:
    """The textbook claim walks through the whole future, and is seen doing it."""
    scans = jobs_scans(
        full,
        "select id from jobs where family = 'future' and status = 'queued' and run_at <= clock_timestamp() "
        "order by priority desc, run_at limit 1",
    )

    assert touched_rows(scans) > MILLION
    assert touched_pages(scans) > 1500
