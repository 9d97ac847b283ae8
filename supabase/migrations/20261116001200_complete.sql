-- The three ways in which a worker ends an attempt: complete, fail, release.

create function tickwork.complete_job(job_id uuid, lease_token uuid, result jsonb, follow_ups jsonb, logs text)
returns public.jobs
language plpgsql
volatile
security definer -- the worker may not update jobs itself
set search_path = ''
as $$
declare
  job public.jobs;
begin
  perform tickwork.check_size('result', complete_job.result::text, 262144);

  if tickwork.settle_done(
    array[complete_job.job_id], array[complete_job.lease_token], array[complete_job.result],
    array[right(complete_job.logs, 8000)]
  ) is null then
    perform tickwork.raise_lease_lost(complete_job.job_id);
  end if;

  select * into job
  from public.jobs
  where jobs.id = complete_job.job_id;

  if complete_job.follow_ups is not null then
    perform tickwork.insert_jobs(tickwork.requests_from(
      complete_job.follow_ups, job.tenant_id, 'system', job.id::text, job.correlation_id
    ));
  end if;

  perform tickwork.note_settled(array[job.id]);
  return job;
end
$$;

create function public.complete_job(
  job_id uuid,
  lease_token uuid,
  result jsonb default null,
  follow_ups jsonb default null,
  logs text default null
)
returns public.jobs
language sql
volatile
set search_path = ''
as $$
  select *
  from tickwork.complete_job(
    complete_job.job_id,
    complete_job.lease_token,
    complete_job.result,
    complete_job.follow_ups,
    complete_job.logs
  );
$$;

comment on function public.complete_job is
  'running -> done. Stores the result and enqueues the follow-ups, for the job''s own tenant, in the same transaction. '
  'Durable when it returns. Raises TWLSE, TWBIG, TWARG and what enqueue_job raises of a follow-up.';


create function tickwork.error_code(error jsonb)
returns text
language sql
immutable
return left(coalesce(error ->> 'code', 'FAILED'), 100);

create function tickwork.error_message(error jsonb)
returns text
language sql
immutable
-- Of an object only what is called its message: the rest was not written for people to read.
return left(case jsonb_typeof(error) when 'object' then error ->> 'message' else error #>> '{}' end, 8000);

create function tickwork.fail_job(
  job_id uuid,
  lease_token uuid,
  error jsonb,
  retryable boolean,
  retry_after_seconds double precision,
  logs text
)
returns public.jobs
language plpgsql
volatile
security definer -- the worker may not update jobs itself
set search_path = ''
as $$
begin
  return tickwork.settle_one(row(
    fail_job.job_id,
    fail_job.lease_token,
    'failed',
    null,
    tickwork.error_code(fail_job.error),
    tickwork.error_message(fail_job.error),
    coalesce(fail_job.retryable, true),
    tickwork.check_delay('retry_after_seconds', fail_job.retry_after_seconds),
    right(fail_job.logs, 8000)
  )::tickwork.outcome);
end
$$;

create function public.fail_job(
  job_id uuid,
  lease_token uuid,
  error jsonb,
  retryable boolean default true,
  retry_after_seconds double precision default null,
  logs text default null
)
returns public.jobs
language sql
volatile
set search_path = ''
as $$
  select *
  from tickwork.fail_job(
    fail_job.job_id,
    fail_job.lease_token,
    fail_job.error,
    fail_job.retryable,
    fail_job.retry_after_seconds,
    fail_job.logs
  );
$$;

comment on function public.fail_job is
  'running -> queued, failed, dead or cancelled. error is {code, message}. A retryable one goes back to queued, after '
  'retry_after_seconds or else by the backoff of the type, or is dead when the attempts are spent; another one is '
  'failed; where cancel was asked for it is cancelled. Durable when it returns. Raises TWLSE, TWARG.';


create function tickwork.release_job(job_id uuid, lease_token uuid, delay_seconds double precision)
returns public.jobs
language plpgsql
volatile
security definer -- the worker may not update jobs itself
set search_path = ''
as $$
begin
  return tickwork.settle_one(row(
    release_job.job_id,
    release_job.lease_token,
    'released',
    null,
    null,
    null,
    true,
    coalesce(tickwork.check_delay('delay_seconds', release_job.delay_seconds), 0),
    null
  )::tickwork.outcome);
end
$$;

create function public.release_job(job_id uuid, lease_token uuid, delay_seconds double precision default 0)
returns public.jobs
language sql
volatile
set search_path = ''
as $$
  select *
  from tickwork.release_job(release_job.job_id, release_job.lease_token, release_job.delay_seconds);
$$;

comment on function public.release_job is
  'running -> queued, or cancelled where cancel was asked for. Gives the job back without spending the attempt: '
  'the worker shuts down, or the job is not to run yet. Raises TWLSE, TWARG.';

alter function tickwork.complete_job owner to tickwork_owner;
alter function tickwork.fail_job owner to tickwork_owner;
alter function tickwork.release_job owner to tickwork_owner;

revoke execute on function
  tickwork.error_code,
  tickwork.error_message,
  tickwork.complete_job,
  tickwork.fail_job,
  tickwork.release_job,
  public.complete_job,
  public.fail_job,
  public.release_job
from public, anon, authenticated, service_role;

grant execute on function tickwork.error_code, tickwork.error_message to tickwork_owner;

grant execute on function
  public.complete_job,
  public.fail_job,
  public.release_job,
  tickwork.complete_job,
  tickwork.fail_job,
  tickwork.release_job
to tickwork_worker, service_role;
