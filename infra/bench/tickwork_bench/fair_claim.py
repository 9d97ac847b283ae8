"""What turns cost: a claim next to one under the same fence that takes no turns, in CPU time of the server.

Many tenants, of which one owns three quarters of the jobs. The plain claim works on the same tables, in a database of
its own whose index of `waiting` has no tenants in it: the most urgent and oldest job first, whoever owns it. It leaves
the same behind: no row in `waiting`, a running job, and a lease with a token, under which our verb settles it.

It does nothing else. So what is compared is not only turns: the plain claim checks no arguments, knows no pauses,
limits, lanes, priorities of types and redacted values, keeps no start for less urgent jobs, looks for no alarms and
expired leases, steps over what others have just removed, and is one statement, not a function.

Both are claims alone, one at a time by one client; what they claim is settled between two slices.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any
from uuid import uuid4

from tickwork_bench.claims import WORKER, Claims, Connection, as_a_worker, connected
from tickwork_bench.contenders.tickwork import FAMILY, LEASE_SECONDS, TYPE
from tickwork_bench.measure import Bench, Measurement, Result, Target, interleaved, median_figure
from tickwork_bench.place import place_without_disk
from tickwork_bench.seed import Jobs, fill

FAIR, PLAIN = "tickwork", "same fence, no turns"
MAX_RATIO = 1.3
WARM_UPS = 2

PLAIN_ORDER = """
    drop index tickwork.waiting_in_order;
    create index waiting_in_plain_order on tickwork.waiting (family, type, priority desc, run_at);
"""
PLAIN_CLAIM = """
    with next_job as (
      select waiting.ctid as place, waiting.job_id
      from tickwork.waiting
      where waiting.family = $1
        and waiting.type = $2
      order by waiting.priority desc, waiting.run_at
      limit 1
      for update skip locked
    ),
    taken as (
      delete from tickwork.waiting
      where waiting.ctid = (select next_job.place from next_job)
    ),
    started as (
      update public.jobs
      set
        status = 'running',
        attempts = jobs.attempts + 1,
        lease_seconds = $4,
        lease_expires_at = now() + make_interval(secs => $4),
        worker_id = $3,
        progress = null,
        progress_message = null,
        started_at = now(),
        updated_at = now()
      where jobs.id = (select next_job.job_id from next_job)
        and jobs.status = 'queued'
      returning jobs.*
    ),
    leased as (
      insert into tickwork.leases (job_id, token, family, type, tenant_id, lane, lease_seconds, expires_at, is_watched)
      select
        started.id, $5, started.family, started.type, started.tenant_id, started.lane, started.lease_seconds,
        started.lease_expires_at, false
      from started
    )
    select
      started.id, started.tenant_id, started.type, started.lane, started.payload, started.attempts,
      started.max_attempts, $5::uuid as lease_token, started.lease_seconds, started.timeout_seconds,
      started.correlation_id, started.traceparent
    from started
"""


def run(bench: Bench) -> Result:
    rounds = WARM_UPS + bench.size(20, 6)
    with place_without_disk(bench.folder) as place, ExitStack() as running:
        urls = {name: running.enter_context(place.database()) for name in (FAIR, PLAIN)}
        for name, url in urls.items():
            bench.say(f"filling the queue: {name}")
            fill(url, [Jobs(bench.size(400_000, 40_000))], bench.size(500, 100), has_large=True)
        claims = {FAIR: as_a_worker(urls[FAIR], 1), PLAIN: plain_claims(urls[PLAIN])}
        samples = interleaved(bench, {name: each.microseconds for name, each in claims.items()}, rounds)
    return Result(
        [median_figure(name, each[WARM_UPS:], "µs", PLAIN) for name, each in samples.items()],
        [Target(FAIR, [PLAIN], at_most=MAX_RATIO)],
    )


def plain_claims(url: str) -> Claims:
    connection = connected(url)
    connection.execute(PLAIN_ORDER)
    connection.execute("vacuum analyze tickwork.waiting")
    # As our functions do: for anybody else, a trigger takes the update for an edit by hand.
    connection.execute("set role tickwork_owner")
    # As tickwork's claim does by itself.
    connection.execute("set synchronous_commit = off")
    connection.execute("set plan_cache_mode = force_generic_plan")
    return Claims(connection, partial(claim_in_plain_order, connection))


def claim_in_plain_order(connection: Connection) -> Sequence[Any]:
    values = [FAMILY, TYPE, WORKER, LEASE_SECONDS, uuid4()]
    return connection.execute(PLAIN_CLAIM, values, prepare=True).fetchall()


FAIR_CLAIM = Measurement(
    "fair_claim", "server CPU time of a claim, next to one under the same fence and without turns", run
)
