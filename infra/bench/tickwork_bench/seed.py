"""Tables of any size, filled by hand, and a copy of them with the claim and the index of a textbook."""

from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

import psycopg

from tickwork_bench.contenders.tickwork import FAMILY, TYPE, prepare, tenants_in

# Due times are spread out: equal ones would be deduplicated in an index, and make it look smaller than it is.
# Of several tenants the first one owns three quarters.
FILL = """
    insert into public.jobs (tenant_id, type, family, status, priority, payload, run_at, max_attempts, finished_at)
    select
      case
        when cardinality(%(tenants)s::uuid[]) = 1 or n %% 4 > 0 then (%(tenants)s::uuid[])[1]
        else (%(tenants)s::uuid[])[2 + n / 4 %% (cardinality(%(tenants)s::uuid[]) - 1)]
      end,
      %(type)s,
      %(family)s,
      %(status)s,
      %(priority)s,
      jsonb_build_object('number', n),
      now() + case %(due)s when 'future' then n else -n end * interval '1 second',
      4,
      case when %(status)s = 'done' then now() end
    from generate_series(1, %(rows)s) as n
"""

PLAIN_COPY = """
    create schema plain;
    create table plain.jobs (like public.jobs including defaults including constraints) with (fillfactor = 70);
    insert into plain.jobs
    select *
    from public.jobs;
    alter table plain.jobs add primary key (id);
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
      select jsonb_agg(jsonb_build_object('job_id', running.id, 'lease_token', running.lease_token, 'status', 'done'))
      from (
        select id, lease_token
        from public.jobs
        where status = 'running'
        limit 500
      ) as running
    ))
"""
PLAIN_SETTLE = """
    update plain.jobs
    set status = 'done', lease_token = null, lease_expires_at = null, finished_at = now()
    where status = 'running'
"""
# Long enough for no claimed job to come back while others are measured.
CLAIM_VALUES = {"family": FAMILY, "worker": "bench", "lease": 3600}


@dataclass(frozen=True)
class Jobs:
    rows: int
    status: Literal["queued", "done"] = "queued"
    priority: int = 0
    due: Literal["past", "future"] = "past"


def fill(url: str, kinds: list[Jobs], tenants: int = 1) -> None:
    """The same jobs in tickwork's table and in the plain one."""
    prepare(url, tenants)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("alter table public.jobs disable trigger all")
        for jobs in kinds:
            connection.execute(FILL, values_of(jobs, tenants_in(url)))
        connection.execute("alter table public.jobs enable trigger all")
        # Heals what the triggers would have kept.
        connection.execute("select public.reap_expired_leases()")
        connection.execute(PLAIN_COPY)
        connection.execute("vacuum analyze")


def settle_all(url: str) -> None:
    """So that no claim meets more running jobs than those before it."""
    with psycopg.connect(url, autocommit=True) as connection:
        while connection.execute("select from public.jobs where status = 'running' limit 1").fetchone() is not None:
            connection.execute(SETTLE)
        connection.execute(PLAIN_SETTLE)


def values_of(jobs: Jobs, tenants: list[UUID]) -> dict[str, Any]:
    return {"tenants": tenants, "type": TYPE, "family": FAMILY, **vars(jobs)}
