-- queued -> running: how jobs are started, once it is known where

create function tickwork.start_jobs(
  tenant_ids uuid[],
  line_ids bigint[],
  rooms integer[],
  due_by timestamptz,
  worker_id text,
  lease_seconds integer,
  timeout_seconds integer
)
returns public.jobs[]
language plpgsql
volatile
set search_path = ''
as $$
declare
  started public.jobs[];
begin
  with started_jobs as (
    update public.jobs
    set
      status = 'running',
      attempts = jobs.attempts + 1,
      lease_token = gen_random_uuid(),
      lease_seconds = start_jobs.lease_seconds,
      lease_expires_at = clock_timestamp() + make_interval(secs => start_jobs.lease_seconds),
      timeout_seconds = start_jobs.timeout_seconds,
      worker_id = start_jobs.worker_id,
      progress = null,
      progress_message = null,
      started_at = clock_timestamp(),
      updated_at = clock_timestamp()
    where jobs.ctid = any (array(
      select due_job.ctid
      from unnest(start_jobs.tenant_ids, start_jobs.line_ids, start_jobs.rooms) as line(tenant_id, id, room)
      cross join lateral (
        select due.ctid
        from public.jobs as due
        where due.tenant_id = line.tenant_id
          and tickwork.line_id(due.family, due.type, due.priority, due.tenant_id, due.lane) = line.id
          and due.status = 'queued'
          and due.run_at <= start_jobs.due_by
          and due.attempts < due.max_attempts
        -- By the whole key of the index: below row-level security the planner does not see that the rest is fixed.
        order by
          due.tenant_id,
          tickwork.line_id(due.family, due.type, due.priority, due.tenant_id, due.lane),
          due.run_at
        limit line.room
        for no key update skip locked
      ) as due_job
    ))
    -- As a row of its own type: what is aggregated as a mere record would be written and read as text.
    returning jobs as job
  )
  select array_agg(started_jobs.job)
  into started
  from started_jobs;

  return started;
end
$$;

comment on function tickwork.start_jobs is
  'queued -> running. Starts the oldest jobs of each line that are due by then, as many as there is room for. '
  'Answers null if there are none.';

create function tickwork.start_job(
  spot tickwork.spot,
  due_by timestamptz,
  worker_id text,
  lease_seconds integer
)
returns public.jobs
language plpgsql
volatile
set search_path = ''
as $$
declare
  job public.jobs;
begin
  update public.jobs
  set
    status = 'running',
    attempts = jobs.attempts + 1,
    lease_token = gen_random_uuid(),
    lease_seconds = coalesce(start_job.lease_seconds, spot.lease_seconds),
    lease_expires_at = clock_timestamp() + make_interval(secs => coalesce(start_job.lease_seconds, spot.lease_seconds)),
    timeout_seconds = spot.timeout_seconds,
    worker_id = start_job.worker_id,
    progress = null,
    progress_message = null,
    started_at = clock_timestamp(),
    updated_at = clock_timestamp()
  where jobs.ctid = any (array(
    select due.ctid
    from public.jobs as due
    where due.tenant_id = spot.tenant_id
      and tickwork.line_id(due.family, due.type, due.priority, due.tenant_id, due.lane) = spot.line_id
      and due.status = 'queued'
      and due.run_at <= start_job.due_by
      and due.attempts < due.max_attempts
    order by
      due.tenant_id,
      tickwork.line_id(due.family, due.type, due.priority, due.tenant_id, due.lane),
      due.run_at
    limit 1
    for no key update skip locked
  ))
  returning jobs.* into job;

  return job;
end
$$;

comment on function tickwork.start_job is
  'queued -> running. As start_jobs, for one job of one line, in two thirds of the time.';

revoke execute on function
  tickwork.start_jobs,
  tickwork.start_job
from public, anon, authenticated, service_role;

grant execute on function
  tickwork.start_jobs,
  tickwork.start_job
to tickwork_owner;
