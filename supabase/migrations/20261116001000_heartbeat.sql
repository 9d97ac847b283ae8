-- running -> running

create function tickwork.heartbeat_jobs(heartbeats jsonb)
returns table (job_id uuid, is_held boolean, cancel_requested boolean)
language plpgsql
volatile
security definer -- the worker may not update leases directly
set search_path = ''
as $$
begin
  perform tickwork.check_objects(
    'heartbeats', heartbeat_jobs.heartbeats, array['job_id', 'lease_token', 'progress', 'message']
  );

  if exists (
    select
    from jsonb_array_elements(heartbeat_jobs.heartbeats) as beat
    where (beat ->> 'progress')::double precision not between 0 and 1
  ) then
    raise exception 'progress: must be between 0 and 1'
      using errcode = 'TWARG', hint = 'Divide the amount of work done by the total amount.';
  end if;

  perform tickwork.skip_disk();

  return query
  with beats as (
    select *
    from jsonb_to_recordset(heartbeat_jobs.heartbeats)
      as beat(job_id uuid, lease_token uuid, progress double precision, message text)
  ),
  -- It waits for nobody: in a batch, one locked row would cost all the others their leases. A lease that is locked is
  -- being settled, and is not reaped meanwhile.
  unlocked as (
    select lease.job_id
    from beats
    cross join lateral (
      select leases.job_id
      from tickwork.leases
      where leases.job_id = beats.job_id
        and leases.token = beats.lease_token
      for no key update skip locked
    ) as lease
  ),
  extended as (
    update tickwork.leases
    set expires_at = clock_timestamp() + make_interval(secs => leases.lease_seconds)
    where leases.job_id = any (array(select unlocked.job_id from unlocked))
    returning leases.job_id, leases.token, leases.expires_at
  ),
  -- If somebody has locked the record, the next heartbeat notes it.
  writable as (
    select jobs.id
    from public.jobs
    where jobs.id = any (array(select extended.job_id from extended))
    for no key update skip locked
  ),
  noted as (
    update public.jobs
    set
      lease_expires_at = extended.expires_at,
      progress = coalesce(beats.progress, jobs.progress),
      progress_message = coalesce(left(case
        when jobs.is_redacted then tickwork.without(beats.message, tickwork.hidden_values(jobs.id))
        else beats.message
      end, 500), jobs.progress_message),
      updated_at = clock_timestamp()
    from extended
    join beats on beats.job_id = extended.job_id and beats.lease_token = extended.token
    where jobs.id = extended.job_id
      -- Both conditions are needed: whichever side the planner starts from, it uses the key.
      and jobs.id = any (array(select writable.id from writable))
    returning jobs.worker_id
  ),
  counted as (
    insert into tickwork.early_renewals (worker_id, renewals)
    select noted.worker_id, count(*)
    from noted
    where noted.worker_id is not null
    group by noted.worker_id
  )
  select beats.job_id, held.cancel_requested is not null, coalesce(held.cancel_requested, false)
  from beats
  left join lateral (
    select jobs.cancel_requested_at is not null as cancel_requested
    from tickwork.leases
    join public.jobs on jobs.id = leases.job_id
    where leases.job_id = beats.job_id
      and leases.token = beats.lease_token
    limit 1
  ) as held on true;
end
$$;

create function public.heartbeat_jobs(heartbeats jsonb)
returns table (job_id uuid, is_held boolean, cancel_requested boolean)
language sql
volatile
begin atomic
  select *
  from tickwork.heartbeat_jobs(heartbeats);
end;

create function tickwork.heartbeat_job(job_id uuid, lease_token uuid, progress double precision, message text)
returns boolean
language plpgsql
volatile
security definer -- the worker may not update leases directly
set search_path = ''
as $$
declare
  beat record;
begin
  select * into beat
  from tickwork.heartbeat_jobs(jsonb_build_array(jsonb_build_object(
    'job_id', heartbeat_job.job_id, 'lease_token', heartbeat_job.lease_token,
    'progress', heartbeat_job.progress, 'message', heartbeat_job.message
  )));

  if not beat.is_held then
    perform tickwork.raise_lease_lost(heartbeat_job.job_id);
  end if;

  return beat.cancel_requested;
end
$$;

create function public.heartbeat_job(
  job_id uuid,
  lease_token uuid,
  progress double precision default null,
  message text default null
)
returns boolean
language sql
volatile
return tickwork.heartbeat_job(job_id, lease_token, progress, message);

comment on function public.heartbeat_job is
  'running -> running. Extends the lease by its original length, records the progress (0 to 1) and returns whether '
  'cancel was requested. Raises TWLSE, TWARG.';

comment on function public.heartbeat_jobs is
  'running -> running. Like heartbeat_job, for an array of {job_id, lease_token, progress, message}. A lost lease does '
  'not raise: is_held is false. Waits for no lock: a job that is being settled or edited at this moment is still held, '
  'and the next heartbeat extends it. Raises TWARG.';
