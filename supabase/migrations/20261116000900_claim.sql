-- queued -> running

-- What a worker needs to know about a job; and, in a row of its own before the others, what became of the jobs that it
-- has settled in the same call, unless all of them are done.

create type tickwork.worked_job as (
  statuses text[],
  id uuid,
  tenant_id uuid,
  type text,
  lane text,
  payload jsonb,
  attempts integer,
  max_attempts integer,
  lease_token uuid,
  lease_seconds integer,
  timeout_seconds integer,
  correlation_id text,
  trace text,
  wait_ms bigint
);

comment on type tickwork.worked_job is
  'trace is the traceparent of the job, or its trace_link after the word link: one column, because each takes almost a '
  'hundredth of the time of a claim. wait_ms is how long it has been due.';

-- The same for those who claim and settle in separate calls.

create type tickwork.claimed_job as (
  id uuid,
  tenant_id uuid,
  type text,
  family text,
  lane text,
  payload jsonb,
  attempts integer,
  max_attempts integer,
  lease_token uuid,
  lease_seconds integer,
  timeout_seconds integer,
  worker_id text,
  correlation_id text,
  trace text,
  wait_ms bigint
);

create function tickwork.waited_ms(run_at timestamptz, ready_at timestamptz, started_at timestamptz)
returns bigint
language sql
immutable
return date_part('epoch', started_at - greatest(run_at, ready_at)) * 1000;

-- How far a claim has got, and which jobs it is about to start: where their rows are, in waiting and in jobs. Types of
-- the same priority form a class; each class may start so many jobs.

create type tickwork.picked_jobs as (
  places tid[],
  records tid[],
  is_limited boolean,
  types text[],
  lease_seconds integer[],
  timeouts integer[],
  family text,
  own_tenant uuid,
  sequence regclass,
  front timestamptz,
  turn bigint,
  priorities integer[],
  classes integer[],
  class_starts integer,
  has_low_starts boolean,
  passed bigint[],
  has_locks boolean
);

comment on type tickwork.picked_jobs is
  'passed are tenants that had fewer jobs of the class than their turn allowed. has_locks is whether the claim may '
  'hold locks on limits, and so must not wait for another one.';

-- Types with the highest priority first, for the tenants whose turn it is, and for each tenant the most urgent and
-- oldest jobs; or only jobs of own_tenant, which take nobody's turn.

create function tickwork.claim(
  family text, worker_id text, max_jobs integer, lease_seconds integer, types text[], own_tenant uuid, token uuid
)
returns setof tickwork.worked_job
language plpgsql
volatile
as $$
declare
  wanted integer := claim.max_jobs;
  picked tickwork.picked_jobs := tickwork.prepare_picking(
    claim.family, claim.types, claim.lease_seconds, claim.max_jobs, claim.own_tenant
  );
  now_at timestamptz;
  started integer;
begin
  loop
    picked := tickwork.pick(picked, wanted);
    exit when picked.records is null;

    -- After the limits have been locked.
    now_at := clock_timestamp();

    return query
    with taken as (
      delete from tickwork.waiting
      where waiting.ctid = any (picked.places)
    ),
    started_jobs as (
      update public.jobs
      set
        status = 'running',
        attempts = jobs.attempts + 1,
        lease_seconds = picked.lease_seconds[array_position(picked.types, jobs.type)],
        lease_expires_at = now_at
          + make_interval(secs => picked.lease_seconds[array_position(picked.types, jobs.type)]),
        timeout_seconds = picked.timeouts[array_position(picked.types, jobs.type)],
        worker_id = claim.worker_id,
        progress = null,
        progress_message = null,
        started_at = now_at,
        updated_at = now_at
      where jobs.ctid = any (picked.records)
      returning
        jobs.id, jobs.tenant_id, jobs.type, jobs.lane,
        case when jobs.is_redacted then tickwork.whole_payload(jobs.id, jobs.payload) else jobs.payload end as payload,
        jobs.attempts, jobs.max_attempts, jobs.lease_seconds, jobs.timeout_seconds, jobs.correlation_id,
        coalesce(jobs.traceparent, 'link ' || jobs.trace_link) as trace,
        tickwork.waited_ms(jobs.run_at, jobs.ready_at, now_at) as wait_ms, jobs.lease_expires_at,
        jobs.lane is not null or jobs.dedupe_key is not null or jobs.notify or jobs.is_redacted as is_watched
    ),
    leased as (
      insert into tickwork.leases (job_id, token, family, type, tenant_id, lane, lease_seconds, expires_at, is_watched)
      select
        job.id, claim.token, claim.family, job.type, job.tenant_id, job.lane, job.lease_seconds, job.lease_expires_at,
        picked.is_limited or job.is_watched
      from started_jobs as job
    )
    select
      null::text[], job.id, job.tenant_id, job.type, job.lane, job.payload, job.attempts, job.max_attempts, claim.token,
      job.lease_seconds, job.timeout_seconds, job.correlation_id, job.trace, job.wait_ms
    from started_jobs as job;

    get diagnostics started = row_count;
    wanted := wanted - started;
    exit when wanted = 0;
  end loop;
end
$$;

comment on function tickwork.claim is
  'queued -> running. Starts up to max_jobs jobs, each under a lease. They share the token: whoever settles a job '
  'names both.';
