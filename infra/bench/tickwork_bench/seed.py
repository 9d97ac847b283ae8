"""Tables of any size, and a copy of them with the claim and the index of a textbook."""

from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

import psycopg

from tickwork_bench.contenders.tickwork import FAMILY, LEASE_SECONDS, TYPE, prepare, tenants_in
from tickwork_bench.measure import batches

# Due times are spread out: equal ones would be deduplicated in an index, and make it look smaller than it is.
# Of several tenants the first one owns three quarters.
ROWS = """
    select
      n,
      case
        when cardinality(%(tenants)s::uuid[]) = 1 or n %% 4 > 0 then (%(tenants)s::uuid[])[1]
        else (%(tenants)s::uuid[])[2 + n / 4 %% (cardinality(%(tenants)s::uuid[]) - 1)]
      end as tenant_id,
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

# The plain claim keeps its leases in the row, wherever tickwork keeps them.
PLAIN_COPY = """
    create schema plain;
    create table plain.jobs (like public.jobs including defaults including constraints) with (fillfactor = 70);
    insert into plain.jobs
    select *
    from public.jobs;
    alter table plain.jobs
      add primary key (id),
      add column if not exists attempts integer not null default 0,
      add column if not exists lease_token uuid,
      add column if not exists lease_seconds integer,
      add column if not exists lease_expires_at timestamptz,
      add column if not exists worker_id text,
      add column if not exists started_at timestamptz,
      add column if not exists updated_at timestamptz;
    create index jobs_due on plain.jobs (family, priority desc, run_at) where status = 'queued';
"""

CLAIM = "select * from public.claim_next_job(%(family)s, %(worker)s, %(lease)s)"
PLAIN_CLAIM = """
    with next_job as (
      select id
      from plain.jobs
      where family = %(family)s
        and status = 'queued'
        and run_at <= now()
      order by priority desc, run_at
      limit 1
      for update skip locked
    )
    update plain.jobs
    set
      status = 'running',
      attempts = attempts + 1,
      lease_token = gen_random_uuid(),
      lease_seconds = %(lease)s,
      lease_expires_at = now() + make_interval(secs => %(lease)s),
      worker_id = %(worker)s,
      started_at = now(),
      updated_at = now()
    from next_job
    where jobs.id = next_job.id
    returning jobs.*
"""
SETTLE = """
    select count(*)
    from public.settle_jobs((
      select jsonb_agg(jsonb_build_object('job_id', held.id, 'lease_token', held.token, 'status', 'done'))
      from unnest(%(ids)s::uuid[], %(tokens)s::uuid[]) as held(id, token)
    ))
"""
PLAIN_SETTLE = """
    update plain.jobs
    set status = 'done', lease_token = null, lease_expires_at = null, finished_at = now()
    where id = any(%(ids)s)
"""
CLAIM_VALUES = {"family": FAMILY, "worker": "bench", "lease": LEASE_SECONDS}


@dataclass(frozen=True)
class Jobs:
    rows: int
    status: Literal["queued", "done"] = "queued"
    priority: int = 0
    due: Literal["past", "future"] = "past"


def fill(url: str, kinds: list[Jobs], tenants: int = 1) -> None:
    """The same jobs in tickwork's tables and in the plain one."""
    prepare(url, tenants)
    ids = tenants_in(url)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("update public.tenant_settings set max_queued = 2000000000")
        for jobs in kinds:
            insert(connection, jobs, ids)
        connection.execute(PLAIN_COPY)
        connection.execute("vacuum analyze")


def insert(connection: psycopg.Connection, jobs: Jobs, tenants: list[UUID]) -> None:
    if jobs.status == "done":
        # A finished job wakes nobody: what triggers would do for it is left out.
        connection.execute("set session_replication_role = replica")
        connection.execute(DONE, values_of(jobs, tenants, range(jobs.rows)))
        connection.execute("reset session_replication_role")
        return
    for batch in batches(jobs.rows, JOBS_IN_A_CALL):
        connection.execute(QUEUED, values_of(jobs, tenants, batch))


def values_of(jobs: Jobs, tenants: list[UUID], rows: range) -> dict[str, Any]:
    return {
        "tenants": tenants,
        "type": TYPE,
        "family": FAMILY,
        "priority": jobs.priority,
        "due": jobs.due,
        "first": rows[0] + 1,
        "last": rows[-1] + 1,
    }
