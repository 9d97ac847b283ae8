-- running -> done, queued, failed, dead or cancelled

create type tickwork.outcome as (
  job_id uuid,
  lease_token uuid,
  status text,
  result jsonb,
  error_code text,
  error_message text,
  is_retryable boolean,
  delay_seconds double precision,
  logs text
);

comment on type tickwork.outcome is
  'How an attempt ended: done, failed, lease_expired or released. delay_seconds is how long to wait before the next '
  'attempt; null leaves that to the backoff of the type.';

create function tickwork.backoff_seconds(backoff jsonb, attempt integer)
returns double precision
language sql
volatile
set search_path = ''
as $$
  select (0.8 + 0.4 * random()) * case jsonb_typeof(backoff_seconds.backoff)
    when 'array' then
      (backoff_seconds.backoff ->> least(
        backoff_seconds.attempt,
        jsonb_array_length(backoff_seconds.backoff)
      ) - 1)::double precision
    else
      least(
        (backoff_seconds.backoff ->> 'cap')::double precision,
        (backoff_seconds.backoff ->> 'base')::double precision
          * (backoff_seconds.backoff ->> 'factor')::double precision ^ (backoff_seconds.attempt - 1)
      )
  end;
$$;

comment on function tickwork.backoff_seconds is
  'The delay after the given attempt, within 20 % of what the type''s backoff says.';

-- Every way out of `running`, in one place. Fenced: an outcome under another token changes nothing, and only running
-- jobs have a token.

create function tickwork.settle(outcomes tickwork.outcome[])
returns setof public.jobs
language plpgsql
volatile
set search_path = ''
as $$
begin
  perform tickwork.wait_for_disk();

  return query
  with held as (
    select
      outcome.*,
      case
        when outcome.status = 'done' then 'done'
        when job.cancel_requested_at is not null then 'cancelled'
        when outcome.status = 'released' then 'queued'
        when not outcome.is_retryable then 'failed'
        when job.attempts >= job.max_attempts then 'dead'
        else 'queued'
      end as next_status,
      outcome.status = 'released' and job.cancel_requested_at is null as is_given_back,
      coalesce(
        outcome.delay_seconds,
        tickwork.backoff_seconds(coalesce(job_types.backoff, '[60]'), job.attempts)
      ) as wait_seconds
    -- One after the other in this order, so that two batches of the same jobs wait in one direction only.
    from (select * from unnest(settle.outcomes) as given order by given.job_id) as outcome
    cross join lateral (
      select jobs.type, jobs.attempts, jobs.max_attempts, jobs.cancel_requested_at
      from public.jobs
      where jobs.id = outcome.job_id
        and jobs.lease_token = outcome.lease_token
      for no key update
    ) as job
    left join public.job_types on job_types.key = job.type
  ),
  settled as (
    update public.jobs
    set
      status = held.next_status,
      attempts = jobs.attempts - held.is_given_back::integer,
      -- A job that is due again at once keeps its place at the head of the queue.
      run_at = case
        when held.next_status = 'queued' and held.wait_seconds > 0
          then clock_timestamp() + make_interval(secs => held.wait_seconds)
        else jobs.run_at
      end,
      result = case held.next_status when 'done' then held.result end,
      progress = case held.next_status when 'done' then 1 else jobs.progress end,
      error_code = case when held.is_given_back then jobs.error_code else held.error_code end,
      error_message = case when held.is_given_back then jobs.error_message else held.error_message end,
      lease_token = null,
      lease_expires_at = null,
      updated_at = clock_timestamp(),
      finished_at = case when held.next_status <> 'queued' then clock_timestamp() end
    from held
    where jobs.id = held.job_id
    returning jobs.*
  ),
  recorded as (
    insert into public.job_attempts (
      job_id, number, tenant_id, worker_id, started_at, finished_at, status, error_code, error_message, logs
    )
    select
      settled.id,
      settled.attempts,
      settled.tenant_id,
      settled.worker_id,
      settled.started_at,
      settled.updated_at,
      case settled.status when 'cancelled' then 'cancelled' else held.status end,
      held.error_code,
      held.error_message,
      held.logs
    from settled
    join held on held.job_id = settled.id
    -- To give a job back is no attempt.
    where not held.is_given_back
    -- The count was set back by hand: that must not wedge the reaper.
    on conflict do nothing
  )
  select *
  from settled;
end
$$;

comment on function tickwork.settle is
  'running -> done, queued, failed, dead or cancelled. Answers the jobs that were held under the tokens given.';

create function tickwork.settle_one(outcome tickwork.outcome)
returns public.jobs
language plpgsql
volatile
set search_path = ''
as $$
declare
  job public.jobs;
begin
  select * into job
  from tickwork.settle(array[settle_one.outcome]);

  if not found then
    perform tickwork.raise_lease_lost((settle_one.outcome).job_id);
  end if;

  if job.status = 'queued' and job.run_at <= clock_timestamp() then
    perform pg_notify('tickwork', job.family);
  end if;

  return job;
end
$$;

comment on function tickwork.settle_one is
  'running -> done, queued, failed, dead or cancelled. As settle, for one job. Raises TWLSE.';


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

  job := tickwork.settle_one(row(
    complete_job.job_id, complete_job.lease_token, 'done', complete_job.result,
    null, null, null, null, right(complete_job.logs, 8000)
  )::tickwork.outcome);

  if complete_job.follow_ups is not null then
    perform tickwork.insert_jobs(tickwork.requests_from(
      complete_job.follow_ups, job.tenant_id, 'system', job.id::text, job.correlation_id
    ));
  end if;

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
    left(coalesce(fail_job.error ->> 'code', 'FAILED'), 100),
    left(coalesce(fail_job.error ->> 'message', fail_job.error #>> '{}'), 8000),
    coalesce(fail_job.retryable, true),
    tickwork.check_delay('retry_after_seconds', fail_job.retry_after_seconds),
    right(fail_job.logs, 8000)
  )::tickwork.outcome);
end
$$;

create function tickwork.check_delay(field text, seconds double precision)
returns double precision
language plpgsql
immutable
set search_path = ''
as $$
begin
  if check_delay.seconds not between 0 and 2592000 then
    raise exception '%: % is out of range, 0 to 2592000 (30 days) are allowed', check_delay.field, check_delay.seconds
      using errcode = 'TWARG', hint = 'Leave it out to follow the backoff of the job''s type.';
  end if;

  return check_delay.seconds;
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


create function tickwork.settle_jobs(outcomes jsonb)
returns table (job_id uuid, is_held boolean, status text)
language plpgsql
volatile
security definer -- the worker may not update jobs itself
set search_path = ''
as $$
declare
  parsed tickwork.outcome[];
  settled public.jobs[];
  requests tickwork.job_request[];
begin
  perform tickwork.check_outcomes(settle_jobs.outcomes);

  select array_agg(row(
    outcome.job_id,
    outcome.lease_token,
    outcome.status,
    outcome.result,
    case outcome.status when 'failed' then left(coalesce(outcome.error ->> 'code', 'FAILED'), 100) end,
    case outcome.status
      when 'failed' then left(coalesce(outcome.error ->> 'message', outcome.error #>> '{}'), 8000)
    end,
    coalesce(outcome.retryable, true),
    case outcome.status
      when 'released' then coalesce(outcome.delay_seconds, 0)
      else outcome.retry_after_seconds
    end,
    right(outcome.logs, 8000)
  )::tickwork.outcome)
  into parsed
  from jsonb_to_recordset(settle_jobs.outcomes) as outcome(
    job_id uuid, lease_token uuid, status text, result jsonb, error jsonb, retryable boolean,
    retry_after_seconds double precision, delay_seconds double precision, logs text
  );

  select array_agg(job)
  into settled
  from tickwork.settle(parsed) as job;

  -- All in one insert, which knows how to order them.
  select array_agg(request)
  into requests
  from unnest(settled) as job
  join jsonb_to_recordset(settle_jobs.outcomes) as outcome(job_id uuid, follow_ups jsonb) on outcome.job_id = job.id
  cross join unnest(tickwork.requests_from(
    outcome.follow_ups, job.tenant_id, 'system', job.id::text, job.correlation_id
  )) as request
  where job.status = 'done'
    and jsonb_typeof(outcome.follow_ups) = 'array';

  perform tickwork.insert_jobs(requests);

  perform pg_notify('tickwork', again.family)
  from (
    select distinct job.family
    from unnest(settled) as job
    where job.status = 'queued'
      and job.run_at <= clock_timestamp()
  ) as again;

  return query
  select outcome.job_id, job.id is not null, job.status
  from unnest(parsed) as outcome
  left join unnest(settled) as job on job.id = outcome.job_id;
end
$$;

create function tickwork.check_outcomes(outcomes jsonb)
returns void
language plpgsql
immutable
set search_path = ''
as $$
declare
  wrong text;
begin
  perform tickwork.check_objects('outcomes', check_outcomes.outcomes, array[
    'job_id', 'lease_token', 'status', 'result', 'error', 'retryable', 'retry_after_seconds', 'delay_seconds',
    'follow_ups', 'logs'
  ]);

  select case
    when outcome -> 'status' is null or outcome -> 'status' not in ('"done"', '"failed"', '"released"') then
      'status must be done, failed or released'
    when coalesce(jsonb_typeof(outcome -> 'follow_ups'), 'null') not in ('array', 'null') then
      'follow_ups must be an array of objects'
    -- One of the two would go by the token of the other.
    when count(*) over (partition by (outcome ->> 'job_id')::uuid) > 1 then
      'a job is given twice'
  end as reason
  into wrong
  from jsonb_array_elements(check_outcomes.outcomes) as outcome
  order by reason
  limit 1;

  if wrong is not null then
    raise exception 'outcomes: %', wrong
      using errcode = 'TWARG', hint = 'For one job: [{"job_id": ..., "lease_token": ..., "status": "done"}].';
  end if;

  perform
    tickwork.check_size('result', outcome ->> 'result', 262144),
    tickwork.check_delay('retry_after_seconds', (outcome ->> 'retry_after_seconds')::double precision),
    tickwork.check_delay('delay_seconds', (outcome ->> 'delay_seconds')::double precision)
  from jsonb_array_elements(check_outcomes.outcomes) as outcome;
end
$$;

create function public.settle_jobs(outcomes jsonb)
returns table (job_id uuid, is_held boolean, status text)
language sql
volatile
set search_path = ''
as $$
  select *
  from tickwork.settle_jobs(settle_jobs.outcomes);
$$;

comment on function public.settle_jobs is
  'running -> done, queued, failed, dead or cancelled. Completes, fails and releases many jobs in one statement: an '
  'array of {job_id, lease_token, status: done | failed | released} with the parameters of complete_job, fail_job or '
  'release_job. A lost lease raises nothing: is_held says so. Durable when it returns. Raises TWARG, TWBIG.';

alter function tickwork.complete_job owner to tickwork_owner;
alter function tickwork.fail_job owner to tickwork_owner;
alter function tickwork.release_job owner to tickwork_owner;
alter function tickwork.settle_jobs owner to tickwork_owner;

revoke execute on function
  tickwork.backoff_seconds,
  tickwork.settle,
  tickwork.settle_one,
  tickwork.check_delay,
  tickwork.check_outcomes,
  tickwork.complete_job,
  tickwork.fail_job,
  tickwork.release_job,
  tickwork.settle_jobs,
  public.complete_job,
  public.fail_job,
  public.release_job,
  public.settle_jobs
from public, anon, authenticated, service_role;

grant execute on function
  tickwork.backoff_seconds,
  tickwork.settle,
  tickwork.settle_one,
  tickwork.check_delay,
  tickwork.check_outcomes
to tickwork_owner;

grant execute on function
  public.complete_job,
  public.fail_job,
  public.release_job,
  public.settle_jobs,
  tickwork.complete_job,
  tickwork.fail_job,
  tickwork.release_job,
  tickwork.settle_jobs
to tickwork_worker, service_role;
