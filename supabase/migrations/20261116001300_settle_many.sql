-- running -> done, queued, failed, dead or cancelled, many at once

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

alter function tickwork.settle_jobs owner to tickwork_owner;

revoke execute on function
  tickwork.settle_jobs,
  tickwork.check_outcomes,
  public.settle_jobs
from public, anon, authenticated, service_role;

grant execute on function tickwork.check_outcomes to tickwork_owner;
grant execute on function public.settle_jobs, tickwork.settle_jobs to tickwork_worker, service_role;
