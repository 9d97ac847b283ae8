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

revoke execute on function
  tickwork.backoff_seconds,
  tickwork.settle,
  tickwork.settle_one
from public, anon, authenticated, service_role;

grant execute on function
  tickwork.backoff_seconds,
  tickwork.settle,
  tickwork.settle_one
to tickwork_owner;
