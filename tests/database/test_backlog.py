"""The queue by type and by tenant, as the overview of the console reads it, and finding a tenant."""

from typing import Any
from uuid import UUID

import psycopg
import pytest

from tests.database.test_figures import end_as, roll_up
from tests.world import World
from tests.world.plans import nodes_of

STATUSES = ("done", "failed", "dead", "cancelled")


def by_type(connection: psycopg.Connection[Any], tenant: UUID | None = None) -> dict[str, dict[str, Any]]:
    rows = connection.execute("select * from queue_by_type(tenant_id => %s)", [tenant]).fetchall()
    return {row["type"]: row for row in rows}


def test_it_counts_what_the_summary_counts_and_done_jobs_stay_counted(world: World) -> None:
    for status in STATUSES:
        end_as(world, world.running_job(max_attempts=1), status)
    world.running_job()
    due = world.job()
    roll_up(world)

    (summary,) = world.service.jobs.queue_summary()
    assert world.service.metrics.queue_by_type() == [summary]
    assert (summary["queued"], summary["running"], summary["done"], summary["oldest_due_at"]) == (1, 1, 1, due.run_at)
    world.run("delete from jobs where status = 'done'")
    assert by_type(world.admin)["greet_person"]["done"] == 1


def test_members_count_their_own_tenants_only(world: World) -> None:
    own, second, foreign = (world.tenant(name) for name in ("own", "second", "foreign"))
    tenants = (own, second, second, foreign, foreign, foreign)
    for tenant in tenants:
        end_as(world, world.running_job(tenant=tenant), "done")
    for tenant in tenants:
        world.job(tenant=tenant)
    roll_up(world)
    one, two = world.member_of(own), world.member_of(own, second)

    def counts(connection: psycopg.Connection[Any], tenant: UUID | None = None) -> tuple[int, int]:
        row = by_type(connection, tenant).get("greet_person", {"queued": 0, "done": 0})
        return row["queued"], row["done"]

    assert counts(one) == (1, 1)
    assert counts(two) == (3, 3)
    assert counts(two, second) == (2, 2)
    assert counts(one, foreign) == (0, 0)
    assert counts(world.admin) == (6, 6)


def test_tenants_with_the_most_due_jobs_come_first(world: World) -> None:
    few, many, idle, busy = (world.tenant(name) for name in ("few", "many", "idle", "busy"))
    world.running_job(tenant=busy)
    world.job(tenant=few)
    for _ in range(3):
        world.job(tenant=many)
    later = world.job(tenant=few, run_at="2100-01-01T00:00:00Z")
    member = world.member_of(few, idle)

    rows = world.service.metrics.queue_by_tenant()

    assert [(row["name"], row["queued"], row["due"], row["running"]) for row in rows] == [
        ("many", 3, 3, 0),
        ("few", 2, 1, 0),
        ("busy", 0, 0, 1),
    ]
    assert rows[1]["oldest_due_at"] < later.run_at
    assert [row["name"] for row in world.service.metrics.queue_by_tenant(1)] == ["many"]
    assert [row["name"] for row in member.execute("select * from queue_by_tenant()").fetchall()] == ["few"]


@pytest.mark.parametrize("words", ["Birch", "birch", "bir", "BIRCH & CO"])
def test_a_tenant_is_found_by_part_of_its_name(world: World, words: str) -> None:
    birch = world.tenant("Birch & Co")
    world.tenant("acme")

    assert [row["tenant_id"] for row in world.service.members.find_tenants(words)] == [birch]


def test_a_tenant_is_found_by_its_id_and_the_exact_name_comes_first(world: World) -> None:
    longer, acme = world.tenant("about acme"), world.tenant("acme")
    member = world.member_of(longer)

    assert [row["tenant_id"] for row in world.service.members.find_tenants(str(acme).upper())] == [acme]
    assert [row["tenant_id"] for row in world.service.members.find_tenants("acme")] == [acme, longer]
    assert [row["name"] for row in member.execute("select * from find_tenants('acme')").fetchall()] == ["about acme"]
    assert member.execute("select * from find_tenants(%s)", [str(acme)]).fetchall() == []


def test_done_jobs_are_not_read_however_many_there_are(world: World) -> None:
    end_as(world, world.running_job(), "done")
    world.job()
    roll_up(world)

    nodes = nodes_of(world, "select * from queue_by_type()", {})

    assert {node["Relation Name"] for node in nodes if "Relation Name" in node} >= {"totals", "waiting"}
    assert "jobs" not in {node.get("Relation Name") for node in nodes}


def test_each_filter_of_the_audit_log_is_read_by_an_index(world: World) -> None:
    tenant = world.tenant()
    world.run(
        "insert into audit_log (tenant_id, actor_kind, actor_id, action, target) "
        "select %s, 'user', gen_random_uuid(), 'action ' || n, 'target ' || n from generate_series(1, 20000) as n",
        tenant,
    )
    world.run("insert into audit_log (actor_kind, action) values ('nobody', 'refused x')")
    world.run("analyze audit_log")
    actor = world.value("select actor_id from audit_log where action = 'action 7'")

    for filter in ({"action": "action 7"}, {"target": "target 7"}, {"actor_id": actor}):
        (name,) = filter
        nodes = nodes_of(world, f"select * from list_audit({name} => %({name})s)", filter)
        (read,) = [node for node in nodes if node.get("Relation Name") == "audit_log"]
        assert read["Actual Rows"] + read.get("Rows Removed by Filter", 0) < 10, filter


# A row a minute, and in each half hour the ids the other way round.
ROWS_A_MINUTE = """
    insert into audit_log (at, actor_kind, action)
    select timestamptz '2026-01-01 00:00Z' + interval '1 minute' * (n / 30 * 30 + 29 - n %% 30), 'user', 'action ' || n
    from generate_series(0, 19979) as n
    order by n
"""


@pytest.mark.parametrize(
    ("after", "before", "found"),
    [
        ("2025-01-01 00:00Z", "2026-01-08 00:00Z", 100),
        ("2026-01-07 00:00Z", "2026-01-08 00:00Z", 100),
        ("2026-01-03 01:15Z", "2026-01-03 02:15Z", 60),
        ("2026-01-14 20:50Z", "2030-01-01 00:00Z", 10),
        ("2025-01-01 00:00Z", "2026-01-01 00:00Z", 0),
    ],
)
def test_the_audit_log_of_a_time_is_read_without_the_rest(world: World, after: str, before: str, found: int) -> None:
    world.run("delete from audit_log")
    world.run(ROWS_A_MINUTE)
    world.run("analyze audit_log")
    expected = world.rows(
        "select id from audit_log where at >= %s and at < %s order by id desc limit 100", after, before
    )

    rows = world.service.audit.list_audit(created_after=after, created_before=before)
    statement = "select count(*) from list_audit(created_after => %(after)s, created_before => %(before)s)"
    nodes = nodes_of(world, statement, {"after": after, "before": before})

    assert [row["id"] for row in rows] == [row["id"] for row in expected]
    assert len(rows) == found
    read = [node for node in nodes if node.get("Relation Name") == "audit_log"]
    assert sum(node["Actual Rows"] + node.get("Rows Removed by Filter", 0) for node in read) <= 300
