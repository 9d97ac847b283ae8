-- What people can do to a job.

create function tickwork.change_job(
  verb text,
  job_id uuid,
  run_at timestamptz default null,
  max_attempts integer default null,
  reason text default null
)
returns public.jobs
language plpgsql
volatile
security definer -- members may not update jobs directly
set search_path = ''
as $$
declare
  change constant tickwork.change := tickwork.new_change(
    change_job.verb, change_job.run_at, change_job.max_attempts, change_job.reason
  );
  job public.jobs;
  before jsonb;
begin
  perform tickwork.wait_for_disk();

  select * into job
  from public.jobs
  where jobs.id = change_job.job_id
    and tickwork.may_act_for(jobs.tenant_id)
  for no key update;

  -- The same error for a foreign job as for a missing one, so that nobody learns which ids exist.
  if not found then
    perform tickwork.raise_no_job(change_job.job_id);
  end if;

  if not tickwork.may_change(job, change.verb) then
    raise exception 'job_id: only admins of the tenant may do that to job %', job.id
      using errcode = 'TWADM', hint = 'Ask an admin or owner of the tenant.';
  end if;

  if job.status = change.verb then
    return job;
  end if;

  if job.status <> all (change.statuses) then
    raise exception 'job % is % and cannot be %, only % jobs can', job.id, job.status, change.verb,
      regexp_replace(array_to_string(change.statuses, ', '), ', (\w+)$', ' and \1')
      using errcode = 'TWSTA', hint = 'The state chart is in supabase/README.md.';
  end if;

  if tickwork.jobs_with_keys(array[job]) = '{}' then
    raise exception 'job % cannot be %: another job with the dedupe_key % is queued or running',
      job.id, change.verb, quote_literal(job.dedupe_key)
      using errcode = 'TWDUP', hint = 'Wait for the other job to end, or cancel it.';
  end if;

  before := tickwork.audited_part(job);
  perform tickwork.apply_change(change, array[job]);

  select * into job
  from public.jobs
  where jobs.id = job.id;

  perform tickwork.note_audit(
    'jobs.' || change.verb, job.tenant_id, 'jobs ' || job.id, before, tickwork.audited_part(job),
    detail => change_job.reason
  );
  return job;
end
$$;

create function tickwork.audited_part(job public.jobs)
returns jsonb
language sql
immutable
return jsonb_build_object(
  'status', (job).status, 'run_at', (job).run_at, 'max_attempts', (job).max_attempts,
  'cancel_requested_at', (job).cancel_requested_at
);

comment on function tickwork.audited_part is 'What people can change of a job.';

create function tickwork.raise_no_job(job_id uuid)
returns void
language plpgsql
immutable
as $$
begin
  raise exception 'job_id: there is no job %', coalesce(raise_no_job.job_id::text, 'null')
    using errcode = 'TWJOB', hint = 'list_jobs shows the jobs that you may see.';
end
$$;

create function tickwork.may_change(job public.jobs, verb text)
returns boolean
language sql
stable
as $$
  select tickwork.may_manage((may_change.job).tenant_id)
    or may_change.verb = 'cancelled' and coalesce((may_change.job).created_by = tickwork.caller_id(), false);
$$;

comment on function tickwork.may_change is
  'Whether the caller may manage the jobs of that tenant. The user who enqueued a job may cancel it, too.';

create function public.cancel_job(job_id uuid)
returns public.jobs
language sql
volatile
return tickwork.change_job('cancelled', job_id);

comment on function public.cancel_job is
  'queued -> cancelled; running -> running with cancel requested, and cancelled once its worker notices. A job that '
  'completes before that is done. May be called by the user who enqueued the job and by admins. A second request '
  'changes nothing. Raises TWJOB, TWADM, TWSTA.';

create function public.bury_job(job_id uuid, reason text default null)
returns public.jobs
language sql
volatile
return tickwork.change_job('buried', job_id, reason => reason);

comment on function public.bury_job is
  'queued -> dead, with a reason: the job does not run unless somebody retries or reschedules it. For admins. Raises '
  'TWJOB, TWADM, TWSTA.';

create function public.retry_job(
  job_id uuid,
  run_at timestamptz default null,
  max_attempts integer default null
)
returns public.jobs
language sql
volatile
return tickwork.change_job('retried', job_id, run_at, max_attempts);

comment on function public.retry_job is
  'failed, dead, cancelled -> queued, due at run_at or else at once, unless it was scheduled for later: then it keeps '
  'its time. With max_attempts further attempts, or else as many as its type allows. Stored steps are kept: it '
  'continues after them. For admins. Raises TWJOB, TWADM, TWSTA, TWDUP, TWRUN, TWATT.';

create function public.reschedule_job(job_id uuid, run_at timestamptz)
returns public.jobs
language sql
volatile
return tickwork.change_job('rescheduled', job_id, run_at);

comment on function public.reschedule_job is
  'queued, failed, dead, cancelled -> queued, due at another time. For admins. Raises TWJOB, TWADM, TWSTA, TWDUP, '
  'TWRUN.';
