"""Queues of any size."""

from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

import psycopg

from tickwork_bench.contenders.tickwork import FAMILY, TYPE, prepare, tenants_in
from tickwork_bench.measure import batches

# Due times are spread out: equal ones would be deduplicated in an index, and make it look smaller than it is.
ROWS = """
    select
      n,
      (%(owners)s::uuid[])[1 + n %% cardinality(%(owners)s::uuid[])] as tenant_id,
      now() + case %(due)s when 'future' then n else -n end * interval '1 second' as run_at
    from generate_series(%(first)s::integer, %(last)s::integer) as n
"""
QUEUED = f"""
    select count(*)
    from public.enqueue_jobs((
      select jsonb_agg(jsonb_build_object(
        'tenant_id', tenant_id,
        'type', %(type)s::text,
        'priority', %(priority)s::integer,
        'run_at', run_at,
        'payload', jsonb_build_object('number', n)
      ) order by n)
      from ({ROWS}) as wanted
    ))
"""
# No verb finishes a million jobs in a minute.
DONE = f"""
    insert into public.jobs (tenant_id, type, family, status, priority, payload, run_at, max_attempts, finished_at)
    select
      tenant_id, %(type)s, %(family)s, 'done', %(priority)s, jsonb_build_object('number', n), run_at, 4, now()
    from ({ROWS}) as wanted
"""
JOBS_IN_A_CALL = 5_000


@dataclass(frozen=True)
class Jobs:
    rows: int
    status: Literal["queued", "done"] = "queued"
    priority: int = 0
    due: Literal["past", "future"] = "past"


def fill(url: str, kinds: list[Jobs], tenants: int = 1, *, has_large: bool = False) -> None:
    """In turn for one tenant after the other. A large one owns three quarters of the jobs."""
    prepare(url, tenants)
    owners = tenants_in(url)
    if has_large:
        large, *others = owners
        owners = [owner for other in others for owner in (large, large, large, other)]
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("update public.tenant_settings set max_queued = 2000000000")
        for jobs in kinds:
            insert(connection, jobs, owners)
        connection.execute("vacuum analyze")


def insert(connection: psycopg.Connection, jobs: Jobs, owners: list[UUID]) -> None:
    if jobs.status == "done":
        # A finished job wakes nobody: what triggers would do for it is left out.
        connection.execute("set session_replication_role = replica")
        connection.execute(DONE, values_of(jobs, owners, range(jobs.rows)))
        connection.execute("reset session_replication_role")
        return
    for batch in batches(jobs.rows, JOBS_IN_A_CALL):
        connection.execute(QUEUED, values_of(jobs, owners, batch))


def values_of(jobs: Jobs, owners: list[UUID], rows: range) -> dict[str, Any]:
    return {
        "owners": owners,
        "type": TYPE,
        "family": FAMILY,
        "priority": jobs.priority,
        "due": jobs.due,
        "first": rows[0] + 1,
        "last": rows[-1] + 1,
    }
