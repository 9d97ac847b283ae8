"""What the queue costs: rewrites that touch no index, few functions for a claim, nothing twice."""

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.world import World
from tests.world.crowd import enqueue
from tests.world.plans import nodes_of
from tickwork.database.connection import Connection


@pytest.mark.parametrize("batch_size", [1, 10, 100])
def test_hardly_any_rewrite_of_a_job_touches_an_index(world: World, batch_size: int) -> None:
    tenant, _ = world.tenant(), world.type()
    for _ in range(20):
        enqueue(world, tenant, 100)
    worker = world.connect()

    while claimed := claim(worker, batch_size):
        worker.execute("select from settle_jobs(%s)", [Jsonb([{**job, "status": "done"} for job in claimed])])
    worker.execute("select pg_stat_force_next_flush()")
    worker.execute("select 1")

    updates = world.row("select n_tup_upd, n_tup_hot_upd from pg_stat_user_tables where relname = 'jobs'")
    assert world.value("select count(*) from jobs where status = 'done'") == 2000
    assert updates["n_tup_upd"] == 4000
    assert updates["n_tup_hot_upd"] >= 0.95 * updates["n_tup_upd"]


def claim(worker: Connection, jobs: int) -> list[dict[str, str]]:
    rows = worker.execute("select id, lease_token from claim_jobs('test', 'w', %s)", [jobs]).fetchall()
    return [{"job_id": str(row["id"]), "lease_token": str(row["lease_token"])} for row in rows]


def functions_called(world: World, statement: str) -> set[str]:
    """Functions of the queue's own. Those that become part of a statement are not called."""
    with psycopg.connect(world.url) as connection:
        connection.execute("set track_functions = 'all'")
        connection.commit()
        assert len(connection.execute(statement.encode()).fetchall()) > 0
        rows = connection.execute("select funcname from pg_stat_xact_user_functions where schemaname = 'tickwork'")
        return {str(name) for (name,) in rows}


def test_a_claim_of_a_plain_job_calls_few_functions(world: World) -> None:
    for _ in range(2):
        world.job()
    # There is nothing else to do: somebody has just looked for expired leases and noted who asks.
    world.run("update tickwork.family_types set reaped_at = clock_timestamp(), asked_at = clock_timestamp()")

    one = functions_called(world, "select id from claim_next_job('test', 'w', types => '{greet_person}')")
    many = functions_called(world, "select id from claim_jobs('test', 'w', 10)")

    assert "settle_and_claim" in one
    assert {"settle_and_claim", "claim", "pick_targets"} <= many
    assert len(one) <= 5, one
    assert len(many) <= 20, many


def test_what_families_know_of_ended_jobs_is_looked_up_once_for_all_of_them(world: World) -> None:
    tenant, _ = world.tenant(), world.type()
    enqueue(world, tenant, 50)
    failed = [{**job, "status": "failed", "retryable": False} for job in claim(world.connect(), 50)]

    nodes = nodes_of(world, "select * from settle_jobs(%(outcomes)s)", {"outcomes": Jsonb(failed)})

    of_families = [node for node in nodes if node.get("Relation Name") in ("extractions", "webhook_deliveries")]
    assert len(of_families) > 0
    assert {node["Actual Loops"] for node in of_families} <= {0, 1}
