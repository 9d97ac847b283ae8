"""The cost of a claim: bounded and by index, whatever lies in the tables. Plans, not timings."""

from collections.abc import Iterator
from typing import Any, LiteralString
from uuid import UUID, uuid4

import pytest

from tests.world import World
from tests.world.plans import Node, nodes_of
from tests.world.waiting import until
from tickwork.database.connection import Database
from tickwork.queue import Queue
from tickwork.testing.database import TEMPLATE, cloned
from tickwork_local.postgres import Server

# A thousand times as many as a claim may touch.
MANY = 200_000
TENANTS = 500

HOT: LiteralString = (
    "tickwork.waiting, tickwork.parked, tickwork.alarms, tickwork.leases, tickwork.taken_keys, tickwork.blocked, "
    "tickwork.lane_rules, tickwork.family_types, tickwork.tenants"
)
TABLES: LiteralString = f"jobs, tickwork.unsuccessful, {HOT}"
STATISTICS = ["none", "fresh", "of the empty tables", "of a drained table", "of a moment when nothing waited"]
# There are never more rows in these than types, hooks, pauses, tenants, or lanes with a rule.
SMALL = {"event_purge", "family_types", "hooks", "job_types", "maintenance", "pauses"}

# As superuser, without the triggers and with ids in order: very many rows in seconds. Due times are spread out, as
# equal ones would be deduplicated in the index and make it look smaller than it is.
FILL = """
    insert into jobs (
      id, tenant_id, type, family, status, priority, lane, run_at, max_attempts, created_at, finished_at
    )
    select (%(prefix)s || lpad(to_hex(n), 8, '0'))::uuid, %(tenant)s, 'fill_table',
      %(family)s, %(status)s, %(priority)s, case when %(has_lanes)s then n end,
      now() + %(sign)s * (interval '1 day' + n * interval '1 second'), 4,
      now(), case when %(status)s = 'done' then now() end
    from generate_series(1, %(rows)s) as n
"""
# Three of four jobs are one tenant's, and the others are shared by all.
FILL_CROWD = """
    insert into jobs (tenant_id, type, family, priority, run_at, max_attempts)
    select tenants.ids[case n %% 4 when 0 then 1 + n / 4 %% cardinality(tenants.ids) else 1 end],
      'fill_table', 'crowd', 0, now() - n * interval '1 second', 4
    from (select array_agg(id order by name) from organizations) as tenants(ids),
      generate_series(1, 100000) as n
"""
# What rebuild_queue does, row by row, in one go.
FILE = [
    "select tickwork.add_family_type(family, type) from (select distinct family, type from jobs) as kinds",
    "insert into tickwork.waiting (family, type, tenant_number, priority, run_at, job_id, lane) "
    "select family, type, number, priority, run_at, id, lane from jobs join tickwork.tenants using (tenant_id) "
    "where status = 'queued' and run_at <= now()",
]
# What sleeps is looked at where it is parked, never in the record.
PARK = """
    insert into tickwork.parked (family, type, tenant_number, priority, run_at, wake_at, job_id)
    select 'future', 'fill_table', number, 50, at, at, gen_random_uuid()
    from tickwork.tenants, generate_series(1, %s) as n, lateral (select now() + n * interval '1 minute') as due(at)
"""
# Such as the server itself, when it analyzes other tables: what its snapshot can see is not removed.
NOBODY_LOOKS = """
    select not exists (
      select from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and num_nonnulls(backend_xid, backend_xmin) > 0
    )
"""
INDEXES = """
    select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition
    from pg_index
    where indrelid in ('jobs'::regclass, 'tickwork.waiting'::regclass, 'tickwork.parked'::regclass)
      and not indisprimary
"""


@pytest.fixture(scope="module")
def full(server: Server) -> Iterator[World]:
    """Very many due jobs in one family; as many future ones of high priority beside one due job in another."""
    with cloned(server, TEMPLATE) as name, World(server.url(name), server.url(name)) as world:
        tenant = world.tenant()
        world.run("update tenant_settings set max_queued = 1000000000")
        world.type("fill_table", "due")
        for family in ("future", "finished", "levels"):
            world.type(f"fill_{family}", family)
        world.run("alter table jobs disable trigger all")
        indexes = world.rows(INDEXES)
        for index in indexes:
            world.admin.execute(f"drop index {index['name']}")
        fill(world, tenant, family="due", sign=-1)
        fill(world, tenant, family="future", sign=-1, rows=1)
        fill(world, tenant, family="finished", sign=-1, status="done", rows=100_000)
        fill(world, tenant, family="finished", sign=-1, rows=1)
        for priority in range(1, 101):
            fill(world, tenant, family="levels", sign=-1, rows=50, priority=priority, has_lanes=True)
        file_by_hand(world)
        world.run(PARK, MANY)
        world.run(
            "insert into tickwork.alarms (family, tenant_number, wake_at) "
            "select 'future', number, now() + interval '1 minute' from tickwork.tenants"
        )
        for index in indexes:
            world.admin.execute(index["definition"])
        world.run("alter table jobs enable trigger all")
        keep_from_vacuum(world)
        # Counts what is queued, once for many.
        world.run("select enqueue_job(%s, 'fill_table', run_at => 'tomorrow')", tenant)
        vacuum(world, TABLES)
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
            file_by_hand(world)
        yield name


@pytest.fixture
def crowd(server: Server, crowded: str) -> Iterator[World]:
    """500 tenants with jobs due, one of whom has three quarters of them."""
    with cloned(server, crowded) as name, World(server.url(name), server.url(name)) as world:
        assert world.value("select count(distinct tenant_number) from tickwork.waiting") == TENANTS
        yield world


def fill(world: World, tenant: UUID, *, family: str, sign: int, rows: int = MANY, **columns: Any) -> None:
    values = {"tenant": tenant, "family": family, "sign": sign, "rows": rows, "prefix": uuid4().hex[:24]}
    defaults = {"priority": 0, "status": "queued", "has_lanes": False}
    world.admin.execute(FILL, {**defaults, **values, **columns})


def file_by_hand(world: World) -> None:
    for statement in FILE:
        world.admin.execute(statement)


def keep_from_vacuum(world: World) -> None:
    """It would renew the statistics."""
    for table in TABLES.split(", "):
        world.admin.execute(f"alter table {table} set (autovacuum_enabled = off)")


def vacuum(world: World, tables: LiteralString) -> None:
    """Leave nothing dead, neither in the tables nor in their indexes, whoever has just looked at them."""
    until(lambda: world.value(NOBODY_LOOKS))
    world.run(f"vacuum (index_cleanup on) {tables}")


def release_all(world: World) -> None:
    """Back to where they were."""
    jobs = world.rows("select job_id, token as lease_token, 'released' as status from tickwork.leases")
    assert isinstance(world.service.database, Database)
    Queue(world.service.database, "operator").settle_jobs(
        [{name: str(value) for name, value in job.items()} for job in jobs]
    )


def reap_at(world: World, time: str) -> None:
    """Let the next claim look for expired leases, as one does every second, or let none."""
    world.run("update tickwork.family_types set reaped_at = %s, purged_at = %s, asked_at = 'infinity'", time, time)


def scans_of(world: World, statement: str, parameters: dict[str, Any] | None = None) -> list[Node]:
    """Every scan of a table by the statement or by one inside, with what it really did."""
    nodes = nodes_of(world, statement, parameters or {})
    return [node for node in nodes if "Relation Name" in node and "Scan" in node["Node Type"]]


def of(scans: list[Node], *tables: str) -> list[Node]:
    return [node for node in scans if node["Relation Name"] in tables]


def touched_rows(scans: list[Node]) -> float:
    rows = [(node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"] for node in scans]
    return float(sum(rows))


def touched_pages(scans: list[Node]) -> int:
    # Entries that an index steps over are no rows, but the pages they are on get read.
    return sum(node["Shared Hit Blocks"] + node["Shared Read Blocks"] for node in scans)


def assert_a_handful(scans: list[Node], pages: int = 90, jobs: int = 10, others: int = 30) -> None:
    of_jobs = of(scans, "jobs")
    of_others = [node for node in scans if node not in of_jobs and node["Relation Name"] not in SMALL]
    assert scans != []
    assert_by_index(scans)
    assert touched_rows(of_jobs) <= jobs
    assert touched_pages(of_jobs) <= pages
    assert touched_rows(of_others) <= others, by_table(of_others)
    assert touched_pages(of_others) <= pages


def by_table(scans: list[Node]) -> dict[str, float]:
    return {table: touched_rows(of(scans, table)) for table in {node["Relation Name"] for node in scans}}


def assert_by_index(scans: list[Node]) -> None:
    kinds = {(node["Node Type"], node["Relation Name"]) for node in scans if node["Relation Name"] not in SMALL}
    assert {kind for kind, _ in kinds} <= {"Index Scan", "Index Only Scan", "Tid Scan"}, kinds


def set_statistics(world: World, statistics: str) -> None:
    if world.value("select obj_description('tickwork'::regnamespace, 'pg_namespace')") == statistics:
        return
    # To gather them takes seconds.
    world.admin.execute(f"comment on schema tickwork is '{statistics}'")
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
        case "of tables without rows":
            # Vacuumed, but their pages were not given back: whatever comes, the planner expects no row in it.
            forget_statistics(world, rows=0, pages=3000)
        case "of a moment when nothing waited":
            # Unlike jobs they all go, time and again; a vacuum that sees none of them, but their pages, says so.
            world.run(f"analyze {TABLES}")
            for table in ("waiting", "parked", "leases"):
                forget_statistics(world, rows=0, pages=1, table=table)


def forget_statistics(world: World, rows: int, pages: int, table: str = "%") -> None:
    chosen: LiteralString = "relkind = 'r' and relnamespace in ('public'::regnamespace, 'tickwork'::regnamespace)"
    chosen = f"{chosen} and relname like %s"
    world.run(f"update pg_class set reltuples = %s, relpages = %s where {chosen}", rows, pages, table)
    world.run(f"delete from pg_statistic using pg_class where pg_class.oid = starelid and {chosen}", table)


@pytest.mark.parametrize("family", ["due", "future", "finished", "levels"])
@pytest.mark.parametrize("statistics", STATISTICS, scope="module")
def test_a_claim_touches_a_handful_of_rows_through_an_index(full: World, family: str, statistics: str) -> None:
    set_statistics(full, statistics)
    reap_at(full, "-infinity")

    reaping = scans_of(full, f"select id from claim_next_job('{family}', 'w')")
    release_all(full)
    reap_at(full, "infinity")
    scans = scans_of(full, f"select id from claim_next_job('{family}', 'w')")
    release_all(full)

    assert len(of(scans, "jobs")) >= 2, "to find the job and to update it"
    assert len(of(reaping, "leases")) >= 1, "and before that to look for expired leases"
    # Where there are a hundred priorities, one start in ten looks for the lower ones, at eight pages each.
    others, pages = (140, 1000) if family == "levels" else (30, 90)
    assert_a_handful(scans, others=others, pages=pages)
    # A portion of the finished ones is looked at, to see which were kept long enough.
    assert_a_handful(reaping, jobs=410, pages=1000, others=others)


@pytest.mark.parametrize("statistics", STATISTICS)
def test_a_claim_among_500_tenants_touches_a_handful_of_rows(crowd: World, statistics: str) -> None:
    set_statistics(crowd, statistics)
    reap_at(crowd, "infinity")

    scans = scans_of(crowd, "select id from claim_next_job('crowd', 'w')")

    assert_a_handful(scans)


@pytest.mark.parametrize("statistics", STATISTICS, scope="module")
def test_an_alarm_wakes_a_portion_and_passes_what_sleeps(full: World, statistics: str) -> None:
    full.run(
        "update tickwork.parked set wake_at = now() - interval '1 hour' where ctid = any (array("
        "select ctid from tickwork.parked where family = 'future' order by tenant_number, wake_at limit 150))"
    )
    full.run("update tickwork.alarms set wake_at = now() where family = 'future'")
    set_statistics(full, statistics)
    reap_at(full, "infinity")

    scans = scans_of(full, "select id from claim_next_job('future', 'w')")
    still_due = full.value("select count(*) from tickwork.parked where family = 'future' and wake_at < now()")
    full.run("delete from tickwork.waiting where family = 'future' and priority = 50")
    full.run("delete from tickwork.parked where family = 'future' and wake_at < now()")
    full.run("update tickwork.alarms set wake_at = now() + interval '1 hour' where family = 'future'")
    release_all(full)

    assert still_due == 50
    assert_by_index(scans)
    assert touched_rows(of(scans, "parked")) <= 310
    assert touched_rows(of(scans, "alarms")) <= 10
    assert touched_rows(of(scans, "jobs")) <= 200


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
        "update tenant_settings set max_running = 1 from organizations where id = tenant_id and name <> 'tenant 001'",
        "select from claim_jobs('crowd', 'w', 1000)",
    ],
    "held lanes": [
        "insert into job_types (key, family) values ('fill_lane', 'crowd')",
        "select enqueue_job(id, 'fill_lane', lane => n::text, priority => 9) "
        "from organizations, generate_series(1, 300) as n where name = 'tenant 001'",
        "select hold_lane('crowd', id, n::text, 'infinity') "
        "from organizations, generate_series(1, 300) as n where name = 'tenant 001'",
    ],
    "full lanes": [
        "insert into job_types (key, family) values ('fill_lane', 'crowd')",
        "select limit_lane('crowd', id, n::text, 1) "
        "from organizations, generate_series(1, 100) as n where name = 'tenant 001'",
        "select enqueue_job(id, 'fill_lane', lane => (n %% 100 + 1)::text, priority => 9) "
        "from organizations, generate_series(1, 1000) as n where name = 'tenant 001'",
    ],
}


@pytest.mark.parametrize("obstacle", OBSTACLES)
def test_what_must_not_start_costs_a_claim_nothing(crowd: World, obstacle: str) -> None:
    for statement in OBSTACLES[obstacle]:
        crowd.admin.execute(statement.replace("%%", "%"))
    # These find out what is at its limit; that is looked at again in a while, but not while the test runs.
    while [job.type for job in crowd.queue.claim_jobs("crowd", 20)].count("fill_table") < 20:
        pass
    crowd.run("update tickwork.blocked set until = until + interval '1 hour'")
    crowd.run("update tickwork.family_types set full_until = 'infinity' where full_until > now()")
    crowd.run("update tickwork.alarms set wake_at = wake_at + interval '1 hour'")
    vacuum(crowd, TABLES)
    reap_at(crowd, "infinity")

    scans = scans_of(crowd, "select id from claim_next_job('crowd', 'w')")

    # A tenant that is paused or at its limit with every type is one step, from one tenant to the next.
    others = {"paused tenants", "tenants at their limit"}
    assert_by_index(scans)
    assert touched_rows(of(scans, "jobs")) <= 10
    assert touched_rows(of(scans, "waiting")) <= (TENANTS + 30 if obstacle in others else 30)
    assert touched_rows(of(scans, "parked", "leases", "lane_rules")) <= 30


def test_a_batch_touches_in_proportion_to_its_size(full: World) -> None:
    reap_at(full, "infinity")

    scans = scans_of(full, "select id from claim_jobs('due', 'w', 100)")
    release_all(full)

    assert_by_index(scans)
    assert touched_rows(of(scans, "jobs")) <= 310
    assert touched_pages(of(scans, "jobs")) <= 1500
    assert touched_rows(of(scans, "waiting")) <= 410


def test_a_batch_of_many_tenants_touches_in_proportion_to_its_size(crowd: World) -> None:
    reap_at(crowd, "infinity")

    scans = scans_of(crowd, "select id from claim_jobs('crowd', 'w', 100)")

    assert crowd.value("select count(distinct tenant_id) from jobs where status = 'running'") == 100
    assert_by_index(scans)
    assert touched_rows(of(scans, "jobs")) <= 410
    assert touched_rows(of(scans, "waiting", "tenants")) <= 1500


def test_what_runs_is_read_by_one_claim_of_a_second(full: World) -> None:
    full.queue.claim_jobs("due", 1000)
    reap_at(full, "-infinity")

    reaping = scans_of(full, "select id from claim_next_job('due', 'w')")
    is_read_again = full.value(
        "select bool_or(reaped_at = '-infinity') from tickwork.family_types where family = 'due'"
    )
    vacuum(full, "tickwork.waiting")
    reap_at(full, "infinity")
    usual = scans_of(full, "select id from claim_next_job('due', 'w')")
    release_all(full)
    vacuum(full, "jobs, tickwork.waiting, tickwork.leases")

    assert touched_rows(of(reaping, "leases")) >= 1000
    assert not is_read_again
    assert_a_handful(usual)


VERBS = {
    "heartbeat": "select heartbeat_job(%(id)s, %(token)s, 0.5)",
    "hold": "select hold_job(%(id)s, %(token)s)",
    "release": "select release_job(%(id)s, %(token)s, 10)",
    "fail": "select fail_job(%(id)s, %(token)s, '{}')",
    "complete": "select complete_job(%(id)s, %(token)s)",
    "complete with a follow-up": 'select complete_job(%(id)s, %(token)s, null, \'[{"type": "fill_table"}]\')',
    "settle many": "select settle_jobs(jsonb_build_array(jsonb_build_object("
    "'job_id', %(id)s::uuid, 'lease_token', %(token)s::uuid, 'status', 'done')))",
    "settle and claim": "select settle_and_claim(array[%(id)s::uuid], array[%(token)s::uuid], null, null, 'due', 'w')",
    "cancel": "select cancel_job(%(id)s)",
    "cancel a queued one": "select cancel_job(%(queued)s)",
    "bury": "select bury_job(%(queued)s)",
    "retry": "select retry_job(%(ended)s)",
    "reschedule": "select reschedule_job(%(queued)s, 'now')",
    "enqueue": "select enqueue_job(%(tenant)s, 'fill_table', idempotency_key => 'i', dedupe_key => 'd')",
    "enqueue for later": "select enqueue_job(%(tenant)s, 'fill_table', run_at => 'tomorrow', lane => 'l')",
    "enqueue many": "select enqueue_jobs(jsonb_build_array(jsonb_build_object("
    "'tenant_id', %(tenant)s::uuid, 'type', 'fill_table')))",
    "hold a lane": "select hold_lane('due', %(tenant)s, 'l', 'infinity')",
    "release a lane": "select release_lane('due', %(tenant)s, 'l')",
    "limit a lane": "select limit_lane('due', %(tenant)s, 'l', 3)",
    "purge": "select purge_jobs('1 day')",
}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("statistics", STATISTICS[1:4], scope="module")
def test_every_verb_finds_its_job_by_key(full: World, verb: str, statistics: str) -> None:
    job = full.queue.claim_jobs("due", 10)[5]
    # Of many that are due at the very same moment each one would have to be looked at.
    tomorrow = full.value("select clock_timestamp() + interval '1 day'")
    queued, ended = (full.service.jobs.enqueue_job(job.tenant_id, "fill_table", run_at=tomorrow) for _ in range(2))
    full.service.jobs.cancel_job(ended.id)
    set_statistics(full, statistics)
    reap_at(full, "infinity")

    parameters = {"id": job.id, "token": job.lease_token, "tenant": job.tenant_id}
    scans = scans_of(full, VERBS[verb], {**parameters, "ended": ended.id, "queued": queued.id})
    full.run("delete from tickwork.lane_rules")
    release_all(full)

    assert_a_handful(scans, pages=200, jobs=20)


@pytest.mark.parametrize("verb", ["release", "fail", "complete", "settle many", "settle and claim", "retry"])
def test_no_verb_of_a_worker_reads_the_jobs_of_others_where_none_are_expected(full: World, verb: str) -> None:
    job = full.queue.claim_jobs("due", 1)[0]
    ended = full.service.jobs.enqueue_job(job.tenant_id, "fill_table")
    full.service.jobs.cancel_job(ended.id)
    set_statistics(full, "of tables without rows")
    reap_at(full, "infinity")

    scans = scans_of(full, VERBS[verb], {"id": job.id, "token": job.lease_token, "ended": ended.id})
    release_all(full)

    assert_by_index(scans)
    # An index of others may be read instead of the key, but no row.
    assert touched_rows(of(scans, "jobs", "waiting", "leases")) <= 50


def test_the_tick_reads_what_runs_and_portions_of_the_rest(full: World) -> None:
    # What is measured for alerts, once a minute, is counted up to a bound of its own.
    full.service.maintenance.maintain()
    full.queue.claim_jobs("due", 10)
    reap_at(full, "-infinity")

    scans = scans_of(full, "select maintain()")
    release_all(full)

    assert_by_index(of(scans, "jobs", "waiting", "parked", "alarms", "tenants"))
    # And the first waiting job of each tenant, to see where they begin.
    assert touched_rows(of(scans, "waiting", "parked", "alarms")) <= 30 + 100
    # Two hundred of each type in each family are looked at, and a portion is counted, as soon as it can be.
    assert touched_rows(of(scans, "jobs")) <= 3000 + 20_000


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
    """The textbook claim walks through all that is due, the textbook turn past everybody, and are seen doing it."""
    claim = scans_of(
        full,
        "select id from jobs where family = 'due' and status = 'queued' and run_at <= clock_timestamp() "
        "order by priority desc, run_at limit 1",
    )
    turn = scans_of(
        crowd, "select max(tenant_number) from tickwork.waiting where type = 'fill_table' group by tenant_number"
    )

    assert touched_rows(claim) >= MANY
    assert touched_pages(claim) > 1500
    assert touched_rows(turn) >= TENANTS
