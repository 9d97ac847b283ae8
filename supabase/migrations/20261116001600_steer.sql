-- What people do to jobs: cancel, retry, reschedule.

create function tickwork.lock_job_for_caller(job_id uuid)
returns public.jobs
language plpgsql
volatile
set search_path = ''
as $$
declare
  job public.jobs;
begin
  select * into job
  from public.jobs
  where jobs.id = lock_job_for_caller.job_id
    and (
      tickwork.caller_is_service()
      or tickwork.caller_is_platform_admin()
      or jobs.tenant_id in (select tickwork.caller_tenants())
    )
  for no key update;

  -- The same answer for a foreign and a missing job: ids are nobody else's business.
  if not found then
    raise exception 'job_id: there is no job %', coalesce(lock_job_for_caller.job_id::text, 'null')
      using errcode = 'TWJOB', hint = 'list_jobs shows the jobs that you may see.';
  end if;

  perform tickwork.wait_for_disk();
  return job;
end
$$;

create function tickwork.raise_wrong_status(job public.jobs, verb text, statuses text)
returns void
language plpgsql
immutable
set search_path = ''
as $$
begin
  raise exception 'job % is % and cannot be %: only % jobs can',
    (raise_wrong_status.job).id, (raise_wrong_status.job).status, raise_wrong_status.verb, raise_wrong_status.statuses
    using errcode = 'TWSTA', hint = 'The state chart is in supabase/README.md.';
end
$$;


-- queued -> cancelled; running -> running, with cancel asked for

create function tickwork.cancel_job(job_id uuid)
returns public.jobs
language plpgsql
volatile
security definer -- members may not update jobs themselves
set search_path = ''
as $$
declare
  job public.jobs := tickwork.lock_job_for_caller(cancel_job.job_id);
begin
  case job.status
    when 'cancelled' then
      return job;
    when 'queued', 'running' then
      update public.jobs
      set
        cancel_requested_at = coalesce(jobs.cancel_requested_at, clock_timestamp()),
        status = case jobs.status when 'queued' then 'cancelled' else jobs.status end,
        finished_at = case jobs.status when 'queued' then clock_timestamp() end,
        updated_at = clock_timestamp()
      where jobs.id = job.id
      returning jobs.* into job;

      perform tickwork.end_extractions(array[job.id]);
      perform tickwork.end_deliveries(array[job.id]);
      perform tickwork.emit_job_events(array[job.id]);
    else
      perform tickwork.raise_wrong_status(job, 'cancelled', 'queued and running');
  end case;

  return job;
end
$$;

create function public.cancel_job(job_id uuid)
returns public.jobs
language sql
volatile
set search_path = ''
as $$
  select *
  from tickwork.cancel_job(cancel_job.job_id);
$$;

comment on function public.cancel_job is
  'queued -> cancelled; running -> running with cancel asked for, and cancelled once its worker has heard of it. '
  'A job that completes before that is done. Asking twice changes nothing. Raises TWJOB, TWSTA.';


-- failed, dead, cancelled -> queued

create function tickwork.retry_job(job_id uuid)
returns public.jobs
language plpgsql
volatile
security definer -- members may not update jobs themselves
set search_path = ''
as $$
declare
  job public.jobs := tickwork.lock_job_for_caller(retry_job.job_id);
  job_type public.job_types;
begin
  if job.status not in ('failed', 'dead', 'cancelled') then
    perform tickwork.raise_wrong_status(job, 'retried', 'failed, dead and cancelled');
  end if;

  select * into job_type
  from public.job_types
  where job_types.key = job.type;

  -- The attempts go on counting, so that each keeps its own row.
  update public.jobs
  set
    status = 'queued',
    family = coalesce(job_type.family, jobs.family),
    max_attempts = jobs.attempts + coalesce(job_type.max_attempts, 1),
    run_at = clock_timestamp(),
    cancel_requested_at = null,
    progress = null,
    progress_message = null,
    updated_at = clock_timestamp(),
    finished_at = null
  where jobs.id = job.id
  returning jobs.* into job;

  perform tickwork.wake_line(row(
    job.family, job.type, job.priority, job.tenant_id, job.lane, job.run_at, 1
  )::tickwork.place);

  perform pg_notify('tickwork', job.family);
  return job;
exception
  when unique_violation then
    raise exception 'job % cannot be retried: another job with the dedupe_key % is queued or running',
      job.id, quote_literal(job.dedupe_key)
      using errcode = 'TWDUP', hint = 'Wait for the other job, or cancel it.';
end
$$;

create function public.retry_job(job_id uuid)
returns public.jobs
language sql
volatile
set search_path = ''
as $$
  select *
  from tickwork.retry_job(retry_job.job_id);
$$;

comment on function public.retry_job is
  'failed, dead, cancelled -> queued, due at once, with as many further attempts as its type gives. '
  'Raises TWJOB, TWSTA, TWDUP.';


-- queued -> queued

create function tickwork.reschedule_job(job_id uuid, run_at timestamptz)
returns public.jobs
language plpgsql
volatile
security definer -- members may not update jobs themselves
set search_path = ''
as $$
declare
  job public.jobs := tickwork.lock_job_for_caller(reschedule_job.job_id);
begin
  if job.status <> 'queued' then
    perform tickwork.raise_wrong_status(job, 'rescheduled', 'queued');
  end if;

  perform tickwork.check_run_at(reschedule_job.run_at);

  update public.jobs
  set
    run_at = reschedule_job.run_at,
    updated_at = clock_timestamp()
  where jobs.id = job.id
  returning jobs.* into job;

  perform tickwork.wake_line(row(
    job.family, job.type, job.priority, job.tenant_id, job.lane, job.run_at, 1
  )::tickwork.place);

  if job.run_at <= clock_timestamp() then
    perform pg_notify('tickwork', job.family);
  end if;

  return job;
end
$$;

create function public.reschedule_job(job_id uuid, run_at timestamptz)
returns public.jobs
language sql
volatile
set search_path = ''
as $$
  select *
  from tickwork.reschedule_job(reschedule_job.job_id, reschedule_job.run_at);
$$;

comment on function public.reschedule_job is
  'queued -> queued, due at another time. Raises TWJOB, TWSTA, TWRUN.';

alter function tickwork.cancel_job owner to tickwork_owner;
alter function tickwork.retry_job owner to tickwork_owner;
alter function tickwork.reschedule_job owner to tickwork_owner;

revoke execute on function
  tickwork.lock_job_for_caller,
  tickwork.raise_wrong_status,
  tickwork.cancel_job,
  tickwork.retry_job,
  tickwork.reschedule_job,
  public.cancel_job,
  public.retry_job,
  public.reschedule_job
from public, anon, authenticated, service_role;

grant execute on function tickwork.lock_job_for_caller, tickwork.raise_wrong_status to tickwork_owner;

grant execute on function
  public.cancel_job,
  public.retry_job,
  public.reschedule_job,
  tickwork.cancel_job,
  tickwork.retry_job,
  tickwork.reschedule_job
to authenticated, service_role;
