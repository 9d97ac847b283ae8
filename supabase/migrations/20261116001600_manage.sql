-- What people do to a job: cancel, retry, reschedule, bury.

create function tickwork.lock_job_for_caller(job_id uuid)
returns public.jobs
language plpgsql
volatile
as $$
declare
  job public.jobs;
begin
  select * into job
  from public.jobs
  where jobs.id = lock_job_for_caller.job_id
    and tickwork.may_act_for(jobs.tenant_id)
  for no key update;

  -- The same error for a foreign and a missing job: nobody learns which ids exist.
  if not found then
    raise exception 'job_id: there is no job %', coalesce(lock_job_for_caller.job_id::text, 'null')
      using errcode = 'TWJOB', hint = 'list_jobs shows the jobs that you may see.';
  end if;

  perform tickwork.wait_for_disk();
  return job;
end
$$;

create function tickwork.check_manager(job public.jobs)
returns void
language plpgsql
stable
as $$
begin
  if not tickwork.may_manage((check_manager.job).tenant_id) then
    raise exception 'job_id: only admins of the tenant may do that to job %', (check_manager.job).id
      using errcode = 'TWADM', hint = 'Ask an admin or owner of the tenant.';
  end if;
end
$$;

create function tickwork.raise_wrong_status(job public.jobs, verb text, statuses text)
returns void
language plpgsql
immutable
as $$
begin
  raise exception 'job % is % and cannot be %: only % jobs can',
    (raise_wrong_status.job).id, (raise_wrong_status.job).status, raise_wrong_status.verb, raise_wrong_status.statuses
    using errcode = 'TWSTA', hint = 'The state chart is in supabase/README.md.';
end
$$;


-- queued -> cancelled, dead

create function tickwork.end_queued(job public.jobs, status text, error_code text, error_message text)
returns public.jobs
language plpgsql
volatile
as $$
begin
  perform tickwork.unfile_job(end_queued.job);

  update public.jobs
  set
    status = end_queued.status,
    cancel_requested_at = case end_queued.status
      when 'cancelled' then coalesce(jobs.cancel_requested_at, clock_timestamp())
    end,
    error_code = coalesce(end_queued.error_code, jobs.error_code),
    error_message = coalesce(end_queued.error_message, jobs.error_message),
    updated_at = clock_timestamp(),
    finished_at = clock_timestamp()
  where jobs.id = (end_queued.job).id
  returning jobs.* into job;

  perform tickwork.note_unsuccessful_end(array[job.id]);
  return job;
end
$$;

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
  if job.created_by is distinct from tickwork.caller_id() or job.created_by is null then
    perform tickwork.check_manager(job);
  end if;

  case job.status
    when 'cancelled' then
      return job;
    when 'queued' then
      return tickwork.end_queued(job, 'cancelled', null, null);
    when 'running' then
      update public.jobs
      set
        cancel_requested_at = coalesce(jobs.cancel_requested_at, clock_timestamp()),
        updated_at = clock_timestamp()
      where jobs.id = job.id
      returning jobs.* into job;

      return job;
    else
      perform tickwork.raise_wrong_status(job, 'cancelled', 'queued and running');
      return job;
  end case;
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
  'queued -> cancelled; running -> running with cancel requested, and cancelled once its worker has heard of it. By '
  'whoever enqueued it, and by admins. A job that completes before that is done. A second request changes nothing. '
  'Raises TWJOB, TWADM, TWSTA.';

create function tickwork.bury_job(job_id uuid, reason text)
returns public.jobs
language plpgsql
volatile
security definer -- members may not update jobs themselves
set search_path = ''
as $$
declare
  job constant public.jobs := tickwork.lock_job_for_caller(bury_job.job_id);
begin
  perform tickwork.check_manager(job);

  if job.status <> 'queued' then
    perform tickwork.raise_wrong_status(job, 'buried', 'queued');
  end if;

  return tickwork.end_queued(
    job, 'dead', 'BURIED', coalesce(nullif(left(bury_job.reason, 8000), ''), 'Buried without a reason')
  );
end
$$;

create function public.bury_job(job_id uuid, reason text default null)
returns public.jobs
language sql
volatile
set search_path = ''
as $$
  select *
  from tickwork.bury_job(bury_job.job_id, bury_job.reason);
$$;

comment on function public.bury_job is
  'queued -> dead, with a reason: it does not run unless somebody retries or reschedules it. By admins. '
  'Raises TWJOB, TWADM, TWSTA.';


-- failed, dead, cancelled, queued -> queued

create function tickwork.requeue(job public.jobs, run_at timestamptz, max_attempts integer)
returns public.jobs
language plpgsql
volatile
as $$
declare
  job_type public.job_types;
begin
  if (requeue.job).status = 'queued' then
    perform tickwork.unfile_job(requeue.job);
  end if;

  select * into job_type
  from public.job_types
  where job_types.key = (requeue.job).type;

  update public.jobs
  set
    status = 'queued',
    family = case when jobs.status = 'queued' then jobs.family else coalesce(job_type.family, jobs.family) end,
    -- Attempts go on counting, so that each keeps its own row.
    max_attempts = case
      when requeue.max_attempts is not null then jobs.attempts + requeue.max_attempts
      when jobs.status = 'queued' then jobs.max_attempts
      else jobs.attempts + coalesce(job_type.max_attempts, 1)
    end,
    run_at = requeue.run_at,
    cancel_requested_at = null,
    progress = null,
    progress_message = null,
    updated_at = clock_timestamp(),
    finished_at = null
  where jobs.id = (requeue.job).id
  returning jobs.* into job;

  if (requeue.job).dedupe_key is not null then
    perform tickwork.take_key_again(requeue.job);
  end if;

  delete from tickwork.unsuccessful
  where unsuccessful.job_id = job.id;

  perform tickwork.file_again(array[job.id]);
  return job;
end
$$;

comment on function tickwork.requeue is
  'failed, dead, cancelled, queued -> queued, due at run_at, with max_attempts further attempts. Raises TWDUP.';

create function tickwork.take_key_again(job public.jobs)
returns void
language plpgsql
volatile
as $$
begin
  insert into tickwork.taken_keys (tenant_id, dedupe_key, job_id)
  values ((take_key_again.job).tenant_id, (take_key_again.job).dedupe_key, (take_key_again.job).id)
  on conflict do nothing;

  if not exists (
    select
    from tickwork.taken_keys
    where taken_keys.tenant_id = (take_key_again.job).tenant_id
      and taken_keys.dedupe_key = (take_key_again.job).dedupe_key
      and taken_keys.job_id = (take_key_again.job).id
  ) then
    raise exception 'job % cannot be retried: another job with the dedupe_key % is queued or running',
      (take_key_again.job).id, quote_literal((take_key_again.job).dedupe_key)
      using errcode = 'TWDUP', hint = 'Wait for the other job, or cancel it.';
  end if;
end
$$;

create function tickwork.check_further_attempts(max_attempts integer)
returns void
language plpgsql
immutable
as $$
begin
  if check_further_attempts.max_attempts not between 1 and 25 then
    raise exception 'max_attempts: % is out of range, 1 to 25 are allowed', check_further_attempts.max_attempts
      using errcode = 'TWATT', hint = 'Leave it out to take the number of the job''s type.';
  end if;
end
$$;

create function tickwork.retry_job(job_id uuid, run_at timestamptz, max_attempts integer)
returns public.jobs
language plpgsql
volatile
security definer -- members may not update jobs themselves
set search_path = ''
as $$
declare
  job constant public.jobs := tickwork.lock_job_for_caller(retry_job.job_id);
begin
  perform tickwork.check_manager(job);
  perform tickwork.check_further_attempts(retry_job.max_attempts);
  perform tickwork.check_run_at(coalesce(retry_job.run_at, clock_timestamp()));

  if job.status not in ('failed', 'dead', 'cancelled') then
    perform tickwork.raise_wrong_status(job, 'retried', 'failed, dead and cancelled');
  end if;

  return tickwork.requeue(job, coalesce(retry_job.run_at, clock_timestamp()), retry_job.max_attempts);
end
$$;

create function public.retry_job(
  job_id uuid,
  run_at timestamptz default null,
  max_attempts integer default null
)
returns public.jobs
language sql
volatile
set search_path = ''
as $$
  select *
  from tickwork.retry_job(retry_job.job_id, retry_job.run_at, retry_job.max_attempts);
$$;

comment on function public.retry_job is
  'failed, dead, cancelled -> queued, due at run_at or else at once, with max_attempts further attempts or else as '
  'many as its type gives. By admins. Raises TWJOB, TWADM, TWSTA, TWDUP, TWRUN, TWATT.';

create function tickwork.reschedule_job(job_id uuid, run_at timestamptz)
returns public.jobs
language plpgsql
volatile
security definer -- members may not update jobs themselves
set search_path = ''
as $$
declare
  job constant public.jobs := tickwork.lock_job_for_caller(reschedule_job.job_id);
begin
  perform tickwork.check_manager(job);
  perform tickwork.check_run_at(reschedule_job.run_at);

  if job.status in ('running', 'done') then
    perform tickwork.raise_wrong_status(job, 'rescheduled', 'queued, failed, dead and cancelled');
  end if;

  return tickwork.requeue(job, reschedule_job.run_at, null);
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
  'queued, failed, dead, cancelled -> queued, due at another time. By admins. '
  'Raises TWJOB, TWADM, TWSTA, TWDUP, TWRUN.';
