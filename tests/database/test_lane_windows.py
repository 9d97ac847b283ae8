"""Lanes with rules: a settle that leaves one without jobs, beside an enqueue."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests.world import World
from tests.world.waiting import until

WAITING = "select count(*) from pg_locks where locktype = 'advisory' and not granted"


def test_a_follow_up_and_a_batch_for_a_lane_whose_hold_is_over_do_not_deadlock(world: World) -> None:
    tenant, type = world.tenant(), world.type()
    job = world.running_job(lane="lane")
    world.run("select hold_lane('test', %s, 'lane', clock_timestamp() + interval '1 hour')", tenant)
    world.run("update tickwork.lane_rules set held_until = clock_timestamp()")
    settling, enqueuing = world.connect(), world.connect()
    follow_ups = [{"type": type, "idempotency_key": key} for key in "ab"]

    with ThreadPoolExecutor() as pool, enqueuing.transaction():
        enqueue(enqueuing, [{"tenant_id": str(tenant), **each} for each in follow_ups])
        # If it removed the lane's rule, it would hold a lock of the tenant's lanes while it waits for the batch.
        query = "select complete_job(%s, %s, follow_ups => %s)"
        settled = pool.submit(settling.execute, query, [job.id, job.lease_token, json.dumps(follow_ups)])
        until(lambda: world.value(WAITING))
        enqueue(enqueuing, [{"tenant_id": str(tenant), "type": type, "lane": "lane"}])
    settled.result()


def enqueue(connection: Any, jobs: list[dict[str, str]]) -> None:
    connection.execute("select count(*) from enqueue_jobs(%s)", [json.dumps(jobs)])
