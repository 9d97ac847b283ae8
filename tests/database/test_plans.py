"""The cost of a claim: bounded and by index, whatever lies in the tables. Plans, not timings."""

import json
from collections.abc import Iterator
from typing import Any, LiteralString
from uuid import UUID, uuid4

import pytest

from tests.conftest import TEMPLATE, cloned
from tests.world import World
from tickwork_local.postgres import Server

MILLION = 1_000_000
TENANTS = 500
Node = dict[str, Any]

TABLES: LiteralString = "jobs, tickwork.turns, tickwork.lines, tickwork.wakes, tickwork.served_types"
STATISTICS = ["none", "fresh", "of the empty tables", "of a drained table", "of a moment without wakes"]

# As superuser, without the triggers and with ids in order: a million rows in seconds. Due times are spread out, as
# equal ones would be deduplicated in the index and make it look smaller than it is.
FILL = """
    insert into jobs (id, tenant_id, type, family, status, priority, lane, run_at, max_attempts, finished_at)
    select (%(prefix)s || lpad(to_hex(n), 8, '0'))::uuid, %(tenant)s, 'fill_table',
      %(family)s, %(status)s, %(priority)s, case when %(has_lanes)s then n end,
      now() + %(sign)s * (interval '1 day' + n * interval '1 second'), 4, case when %(status)s = 'done' then now() end
    from generate_series(1, %(rows)s) as n
"""
INDEXES = """
    select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition
    from pg_index where indrelid = 'jobs'::regclass and not indisprimary
"""
# Three of four jobs are one tenant's, and the others are shared by all.
FILL_CROWD = """
    insert into jobs (tenant_id, type, family, run_at, max_attempts)
    select tenants.ids[case n %% 4 when 0 then 1 + n / 4 %% cardinality(tenants.ids) else 1 end],
      'fill_table', 'crowd', now() - n * interval '1 second', 4
    from (select array_agg(id order by name) from organizations) as tenants(ids),
      generate_series(1, 100000) as n
"""


@pytest.fixture(scope="module")
def full(server: Server) -> Iterator[World]:
    """A million due jobs in one family; a million future ones of high priority before one due job in another."""
    with cloned(server, TEMPLATE) as name, World(server.url(name), server.url(name)) as world:
        tenant = world.tenant()
        world.run("update organizations set max_queued = 1000000000")
        world.type("fill_table", "due")
        world.run("alter table jobs disable trigger all")
        indexes = world.rows(INDEXES)
        for index in indexes:
            world.admin.execute(f"drop index {index['name']}")
        fill(world, tenant, family="due", sign=-1)
        fill(world, tenant, family="future", sign=1, priority=50)
        fill(world, tenant, family="future", sign=-1, rows=1)
        fill(world, tenant, family="finished", sign=-1, status="done", rows=100_000)
        fill(world, tenant, family="finished", sign=-1, rows=1)
        # Each of them waits in a line of its own.
        for priority in range(1, 101):
            fill(world, tenant, family="levels", sign=1, rows=50, priority=priority, has_lanes=True)
        fill(world, tenant, family="levels", sign=-1, rows=1)
        for index in indexes:
            world.admin.execute(index["definition"])
        world.run("alter table jobs enable trigger all")
        open_lines(world, "due", "future", "finished", "levels")
        # Counts what is queued, once for many.
        world.run("select enqueue_job(%s, 'fill_table', run_at => 'tomorrow')", tenant)
        yield world


@pytest.fixture(scope="module")
def crowded(server: Server) -> Iterator[str]:
    with cloned(server, TEMPLATE) as name:
        with World(server.url(name), server.url(name)) as world:
            world.type("fill_table", "crowd")
            world.run(
                "insert into organizations (name) select 'tenant ' || to_char(n, 'FM000') "
                "from generate_series(1, %s) as n",
                TENANTS,
            )
            world.run("alter table jobs disable trigger all")
            world.run(FILL_CROWD)
            world.run("alter table jobs enable trigger all")
            open_lines(world, "crowd")
        yield name


@pytest.fixture
def crowd(server: Server, crowded: str) -> Iterator[World]:
    """500 tenants with jobs due, one of whom has three quarters of them."""
    with cloned(server, crowded) as name, World(server.url(name), server.url(name)) as world:
        assert world.value("select count(*) from tickwork.turns where is_open") == TENANTS
        yield world


def fill(world: World, tenant: UUID, *, family: str, sign: int, rows: int = MILLION, **columns: Any) -> None:
    values = {"tenant": tenant, "family": family, "sign": sign, "rows": rows, "prefix": uuid4().hex[:24]}
    defaults = {"priority": 0, "status": "queued", "has_lanes": False}
    world.admin.execute(FILL, {**defaults, **values, **columns})


def open_lines(world: World, *families: str) -> None:
    """What the triggers would have said is found by the reaper, and made use of by the next claim."""
    world.service.reap_expired_leases()
    for family in families:
        world.claim(family)
    release_all(world)


def release_all(world: World) -> None:
    world.run("alter table jobs disable trigger user")
    world.run(
        "update jobs set status = 'queued', lease_token = null, lease_expires_at = null, attempts = 0 "
        "where status = 'running'"
    )
    world.run("alter table jobs enable trigger user")
    world.run(f"vacuum {TABLES}")


def reap_at(world: World, time: str) -> None:
    """Let the next claim look for expired leases, as one does every second, or let none."""
    world.run("update tickwork.served_types set reap_at = %s", time)


def scans_of(world: World, statement: str, parameters: dict[str, Any] | None = None) -> list[Node]:
    """Every scan of a table by the statement or by one inside, with what it really did."""
    plans = plans_of(world, statement, parameters or {})
    nodes = [node for plan in plans for node in nodes_of(plan["Plan"])]
    return [node for node in nodes if "Relation Name" in node and "Scan" in node["Node Type"]]


def plans_of(world: World, statement: str, parameters: dict[str, Any]) -> list[Node]:
    connection = world.connect()
    plans: list[Node] = []
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


def parsed(message: str) -> Node:
    _, is_plan, text = message.partition("plan:\n")
    return dict(json.loads(text)) if is_plan else {}


def nodes_of(plan: Node) -> Iterator[Node]:
    yield plan
    for child in plan.get("Plans", []):
        yield from nodes_of(child)


def split(scans: list[Node]) -> tuple[list[Node], list[Node]]:
    """Those of jobs, and those of turns, lines and all the other tables."""
    of_jobs = [node for node in scans if node["Relation Name"] == "jobs"]
    return of_jobs, [node for node in scans if node not in of_jobs]


def touched_rows(scans: list[Node]) -> float:
    rows = [(node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"] for node in scans]
    return float(sum(rows))


def touched_pages(scans: list[Node]) -> int:
    # Entries that an index steps over are no rows, but the pages they are on get read.
    return sum(node["Shared Hit Blocks"] + node["Shared Read Blocks"] for node in scans)


def assert_a_handful(scans: list[Node], pages: int = 60) -> None:
    of_jobs, of_others = split(scans)
    assert scans != []
    assert_by_index(scans)
    assert touched_rows(of_jobs) <= 10
    assert touched_pages(of_jobs) <= pages
    assert touched_rows(of_others) <= 30
    assert touched_pages(of_others) <= pages


def assert_by_index(scans: list[Node]) -> None:
    # There are never more of these than types.
    kinds = {node["Node Type"] for node in scans if node["Relation Name"] != "served_types"}
    assert kinds <= {"Index Scan", "Index Only Scan", "Tid Scan"}


def set_statistics(world: World, statistics: str) -> None:
    match statistics:
        case "none":
            forget_statistics(world, rows=-1, pages=0)
        case "fresh":
            world.run(f"analyze {TABLES}")
        case "of the empty tables":
            forget_statistics(world, rows=0, pages=0)
        case "of a drained table":
            # Purged but for a few rows, vacuumed, and flooded before the next analyze.
            forget_statistics(world, rows=3, pages=3000)
        case "of a moment without wakes":
            # Unlike jobs they all go, time and again; a vacuum that sees none of them, but their pages, says so.
            world.run(f"analyze {TABLES}")
            forget_statistics(world, rows=0, pages=1, table="wakes")


def forget_statistics(world: World, rows: int, pages: int, table: str = "%") -> None:
    chosen: LiteralString = "relkind = 'r' and relnamespace in ('public'::regnamespace, 'tickwork'::regnamespace)"
    chosen = f"{chosen} and relname like %s"
    world.run(f"update pg_class set reltuples = %s, relpages = %s where {chosen}", rows, pages, table)
    world.run(f"delete from pg_statistic using pg_class where pg_class.oid = starelid and {chosen}", table)


@pytest.mark.parametrize("family", ["due", "future", "finished", "levels"])
@pytest.mark.parametrize("statistics", STATISTICS)
def test_a_claim_touches_a_handful_of_rows_through_an_index(full: World, family: str, statistics: str) -> None:  # C2
    set_statistics(full, statistics)
    reap_at(full, "-infinity")

    reaping = scans_of(full, f"select id from claim_next_job('{family}', 'w')")
    release_all(full)
    set_statistics(full, statistics)
    reap_at(full, "infinity")
    scans = scans_of(full, f"select id from claim_next_job('{family}', 'w')")
    release_all(full)

    assert len(split(scans)[0]) >= 2, "to find the job and to update it"
    assert len(split(reaping)[0]) >= 4, "and before that to look for expired leases and spent jobs"
    assert_a_handful(scans)
    assert_a_handful(reaping)


@pytest.mark.parametrize("statistics", STATISTICS)
def test_a_claim_opens_what_is_woken_and_passes_what_sleeps(full: World, statistics: str) -> None:
    full.queue.release_job(full.claim("levels"))
    set_statistics(full, statistics)
    reap_at(full, "infinity")

    scans = scans_of(full, "select id from claim_next_job('levels', 'w')")
    release_all(full)

    assert full.value("select count(*) from tickwork.wakes where family = 'levels'") == 5000
    assert_by_index(scans)
    assert touched_rows(split(scans)[0]) <= 10
    assert touched_rows(split(scans)[1]) <= 50


@pytest.mark.parametrize("statistics", STATISTICS)
def test_a_claim_among_500_tenants_touches_a_handful_of_rows(crowd: World, statistics: str) -> None:
    set_statistics(crowd, statistics)
    reap_at(crowd, "infinity")

    scans = scans_of(crowd, "select id from claim_next_job('crowd', 'w')")

    assert_a_handful(scans)


# Due jobs of high priority that must not start, and what is to be claimed behind them.
OBSTACLES: dict[str, list[LiteralString]] = {
    "paused tenants": ["select pause_jobs(tenant_id => id) from organizations where name <> 'tenant 001'"],
    "a paused type": [
        "insert into job_types (key, family) values ('fill_up', 'crowd')",
        "select enqueue_job(id, 'fill_up', priority => 9) from organizations",
        "select pause_jobs(type => 'fill_up')",
    ],
    "a full type": [
        "insert into job_types (key, family, max_running) values ('fill_up', 'crowd', 1)",
        "select enqueue_job(id, 'fill_up', priority => 9) from organizations",
    ],
    "tenants at their limit": [
        "update organizations set max_running = 1 where name <> 'tenant 001'",
        "select from claim_jobs('crowd', 'w', 1000)",
        # Each is looked at again in a while: not while the test runs.
        "update tickwork.wakes set wake_at = wake_at + interval '1 hour'",
    ],
    "held lanes": [
        "insert into job_types (key, family) values ('fill_lane', 'crowd')",
        "select enqueue_job(id, 'fill_lane', lane => n::text, priority => 9) "
        "from organizations, generate_series(1, 300) as n where name = 'tenant 001'",
        "select hold_lane('crowd', id, n::text, 'infinity') "
        "from organizations, generate_series(1, 300) as n where name = 'tenant 001'",
    ],
}


@pytest.mark.parametrize("obstacle", OBSTACLES)
def test_what_must_not_start_costs_a_claim_nothing(crowd: World, obstacle: str) -> None:
    for statement in OBSTACLES[obstacle]:
        crowd.run(statement)
    # These find out, and close what they meet.
    while crowd.claim("crowd").type != "fill_table":
        pass
    crowd.run(f"vacuum {TABLES}")
    reap_at(crowd, "infinity")

    scans = scans_of(crowd, "select id from claim_next_job('crowd', 'w')")

    assert_a_handful(scans)


def test_a_batch_touches_in_proportion_to_its_size(full: World) -> None:
    scans = scans_of(full, "select id from claim_jobs('due', 'w', 100)")
    release_all(full)

    of_jobs, of_others = split(scans)
    assert_by_index(scans)
    assert touched_rows(of_jobs) <= 310
    assert touched_pages(of_jobs) <= 1500
    assert touched_rows(of_others) <= 100


def test_a_batch_of_many_tenants_touches_in_proportion_to_its_size(crowd: World) -> None:
    reap_at(crowd, "infinity")

    scans = scans_of(crowd, "select id from claim_jobs('crowd', 'w', 100)")

    of_jobs, of_others = split(scans)
    assert crowd.value("select count(distinct tenant_id) from jobs where status = 'running'") == 100
    assert_by_index(scans)
    assert touched_rows(of_jobs) <= 410
    assert touched_rows(of_others) <= 1500


def test_what_runs_is_read_by_one_claim_of_a_second(full: World) -> None:
    jobs = full.queue.claim_jobs("due", 1000)
    reap_at(full, "-infinity")

    reaping = scans_of(full, "select id from claim_next_job('due', 'w')")
    is_read_again = full.value("select reap_at = '-infinity' from tickwork.served_types where family = 'due'")
    reap_at(full, "infinity")
    usual = scans_of(full, "select id from claim_next_job('due', 'w')")
    full.queue.release_job(jobs[0])
    woken = scans_of(full, "select id from claim_next_job('due', 'w')")
    release_all(full)

    assert touched_rows(split(reaping)[0]) > 1000
    assert not is_read_again
    assert_a_handful(usual)
    assert touched_rows(split(woken)[0]) <= 10


VERBS = {
    "heartbeat": "select heartbeat_job(%(id)s, %(token)s, 0.5)",
    "hold": "select hold_job(%(id)s, %(token)s)",
    "release": "select release_job(%(id)s, %(token)s, 10)",
    "fail": "select fail_job(%(id)s, %(token)s, '{}')",
    "complete": "select complete_job(%(id)s, %(token)s)",
    "complete with a follow-up": 'select complete_job(%(id)s, %(token)s, null, \'[{"type": "fill_table"}]\')',
    "settle many": "select settle_jobs(jsonb_build_array(jsonb_build_object("
    "'job_id', %(id)s::uuid, 'lease_token', %(token)s::uuid, 'status', 'done')))",
    "settle and claim": "select settle_and_claim(jsonb_build_array(jsonb_build_object("
    "'job_id', %(id)s::uuid, 'lease_token', %(token)s::uuid, 'status', 'done')), 'due', 'w')",
    "cancel": "select cancel_job(%(id)s)",
    "retry": "select retry_job(%(ended)s)",
    "reschedule": "select reschedule_job(%(queued)s, 'now')",
    "enqueue": "select enqueue_job(%(tenant)s, 'fill_table', idempotency_key => 'i', dedupe_key => 'd')",
    "enqueue many": "select enqueue_jobs(jsonb_build_array(jsonb_build_object("
    "'tenant_id', %(tenant)s::uuid, 'type', 'fill_table')))",
}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("statistics", STATISTICS[1:4])
def test_every_verb_finds_its_job_by_key(full: World, verb: str, statistics: str) -> None:  # C2
    job = full.queue.claim_jobs("due", 1000)[500]
    # The next claim steps over all that this one took, and marks the index so that no later one does.
    full.claim("due")
    queued, ended = (full.service.enqueue_job(job.tenant_id, "fill_table", run_at="tomorrow") for _ in range(2))
    full.service.cancel_job(ended.id)
    set_statistics(full, statistics)
    reap_at(full, "infinity")

    parameters = {"id": job.id, "token": job.lease_token, "tenant": job.tenant_id}
    scans = scans_of(full, VERBS[verb], {**parameters, "ended": ended.id, "queued": queued.id})
    release_all(full)

    # Of a thousand jobs claimed and given back, time and again, the index keeps traces until its next vacuum; they
    # are counted twice where one scan is below another.
    assert_a_handful(scans, pages=1000)


def test_no_verb_is_left_to_the_statistics(world: World) -> None:
    settings = {
        str(row["verb"]): {setting.partition("=")[0] for setting in row["proconfig"]}
        for row in world.rows(
            "select oid::regproc as verb, proconfig from pg_proc "
            "where pronamespace = 'tickwork'::regnamespace and prosecdef and provolatile = 'v'"
        )
    }

    assert len(settings) >= 25
    for verb, names in settings.items():
        assert {"enable_seqscan", "enable_hashjoin", "plan_cache_mode", "jit"} <= names, verb


def test_the_check_can_fail(full: World, crowd: World) -> None:
    """The textbook claim walks through the whole future, the textbook turn past everybody, and are seen doing it."""
    claim = scans_of(
        full,
        "select id from jobs where family = 'future' and status = 'queued' and run_at <= clock_timestamp() "
        "order by priority desc, run_at limit 1",
    )
    turn = scans_of(crowd, "select id from tickwork.turns where type = 'fill_table' order by served_at limit 1")

    assert touched_rows(claim) > MILLION
    assert touched_pages(claim) > 1500
    assert touched_rows(turn) >= TENANTS
