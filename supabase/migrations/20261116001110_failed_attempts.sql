-- running -> queued, failed, dead or cancelled, and what the end of an attempt leaves behind

create function tickwork.note_outcomes(outcomes tickwork.outcome[], ids uuid[])
returns boolean
language plpgsql
volatile
as $$
declare
  now_at constant timestamptz := clock_timestamp();
  undone uuid[];
  are_awaited boolean;
begin
  with changed as (
    update public.jobs
    set
      status = following.status,
      run_at = case
        when outcome.delay_seconds = 0 or following.status <> 'queued' then jobs.run_at
          -- A job that is due again at once goes to the head of the queue, before those that were enqueued with it.
          - interval '1 microsecond' * (following.status = 'queued')::integer
        else now_at + make_interval(secs => coalesce(
          outcome.delay_seconds, tickwork.backoff_seconds(jobs.type, jobs.attempts)
        ))
      end,
      -- Releasing a job does not count as an attempt.
      attempts = jobs.attempts - (outcome.status = 'released' and following.status = 'queued')::integer,
      result = null,
      error_code = case outcome.status when 'released' then jobs.error_code else outcome.error_code end,
      error_message = case outcome.status when 'released' then jobs.error_message else outcome.error_message end,
      lease_expires_at = null,
      updated_at = now_at,
      -- The same as that of the attempt, by which one sees that this attempt ended the job.
      finished_at = case when following.status <> 'queued' then now_at end
    from unnest(note_outcomes.outcomes) as outcome
    cross join lateral (
      select case
        when ended.cancel_requested_at is not null then 'cancelled'
        when outcome.status = 'released' then 'queued'
        when not outcome.is_retryable then 'failed'
        when ended.attempts >= ended.max_attempts then 'dead'
        else 'queued'
      end
      from public.jobs as ended
      where ended.id = outcome.job_id
      limit 1
    ) as following(status)
    where jobs.id = outcome.job_id
      -- Both conditions are needed: whichever side the planner starts from, it uses the key.
      and jobs.id = any (note_outcomes.ids)
      and outcome.job_id = any (note_outcomes.ids)
      and outcome.status <> 'done'
    returning jobs.id, jobs.is_awaited
  )
  select array_agg(changed.id), coalesce(bool_or(changed.is_awaited), false)
  into undone, are_awaited
  from changed;

  if undone is not null then
    perform tickwork.note_unsuccessful(undone);
    perform tickwork.file_again(undone);
  end if;

  perform tickwork.write_attempts(note_outcomes.outcomes, note_outcomes.ids);
  return are_awaited;
end
$$;

comment on function tickwork.note_outcomes is
  'running -> queued, failed, dead or cancelled. What follows for jobs whose leases have been ended, and that are not '
  'simply done. Returns whether others wait for one of those that are not done.';

create function tickwork.backoff_seconds(type text, attempt integer)
returns double precision
language sql
volatile
as $$
  select (0.8 + 0.4 * random()) * coalesce((
    -- Rounded, because a number may be too small for a double precision.
    select case jsonb_typeof(backoff)
      when 'array' then
        round((backoff ->> least(backoff_seconds.attempt, jsonb_array_length(backoff)) - 1)::numeric, 3)
      else
        least(
          round((backoff ->> 'cap')::numeric, 3),
          round((backoff ->> 'base')::numeric, 3)
            * (backoff ->> 'factor')::double precision ^ (backoff_seconds.attempt - 1)
        )
    end
    from public.job_types
    where job_types.key = backoff_seconds.type
    -- The type was deleted.
  ), 60);
$$;

comment on function tickwork.backoff_seconds is
  'The delay after the given attempt, within 20 % of the type''s backoff.';

-- A successful attempt is in the job's own row: it gets a row here only if it logged something or ran a command.

create function tickwork.write_attempts(outcomes tickwork.outcome[], ids uuid[])
returns void
language sql
volatile
as $$
  -- What only the operator may read of attempts that failed.
  insert into tickwork.exceptions (job_id, number, tenant_id, exception)
  select jobs.id, jobs.attempts, jobs.tenant_id, outcome.exception
  from unnest(write_attempts.outcomes) as outcome
  cross join lateral (select * from public.jobs where jobs.id = outcome.job_id limit 1) as jobs
  where outcome.job_id = any (write_attempts.ids)
    and outcome.exception is not null
  on conflict do nothing;

  insert into tickwork.attempts (
    job_id, number, tenant_id, worker_id, started_at, finished_at, status, error_code, error_message, error,
    pid, exit_code, stdout_tail, stderr_tail, logs
  )
  select
    jobs.id, jobs.attempts, jobs.tenant_id,
    -- Somebody may have set the job to running by hand.
    coalesce(jobs.worker_id, ''), coalesce(jobs.started_at, jobs.updated_at), jobs.updated_at,
    case
      when jobs.status = 'cancelled' then 'cancelled'
      when outcome.error_code = 'TIMEOUT' then 'timeout'
      else outcome.status
    end,
    outcome.error_code, outcome.error_message, outcome.error, outcome.pid, outcome.exit_code,
    outcome.stdout_tail, outcome.stderr_tail, outcome.logs
  from unnest(write_attempts.outcomes) as outcome
  cross join lateral (select * from public.jobs where jobs.id = outcome.job_id limit 1) as jobs
  where outcome.job_id = any (write_attempts.ids)
    and (outcome.status <> 'done' or outcome.logs is not null or outcome.exit_code is not null)
    and not (outcome.status = 'released' and jobs.status = 'queued')
  -- Somebody may have lowered attempts by hand: that must not stop the reaping of leases.
  on conflict do nothing;
$$;

create function tickwork.note_unsuccessful(ids uuid[])
returns void
language sql
volatile
as $$
  insert into tickwork.unsuccessful (job_id, tenant_id, family, type, status, error_code, created_at, finished_at)
  select
    jobs.id, jobs.tenant_id, jobs.family, jobs.type, jobs.status, jobs.error_code, jobs.created_at, jobs.finished_at
  from unnest(note_unsuccessful.ids) as ended(id)
  cross join lateral (select * from public.jobs where jobs.id = ended.id limit 1) as jobs
  where jobs.status in ('failed', 'dead', 'cancelled')
  on conflict do nothing;
$$;

create function tickwork.file_again(ids uuid[])
returns void
language plpgsql
volatile
as $$
declare
  queued uuid[];
  not_ready uuid[];
begin
  select
    array_agg(jobs.id) filter (where jobs.after is null or jobs.ready_at is not null),
    array_agg(jobs.id) filter (where jobs.after is not null and jobs.ready_at is null)
  into queued, not_ready
  from unnest(file_again.ids) as returned(id)
  cross join lateral (select * from public.jobs where jobs.id = returned.id limit 1) as jobs
  where jobs.status = 'queued';

  if not_ready is not null then
    perform tickwork.check_awaited(tickwork.file_awaiting(not_ready));
  end if;

  if queued is null then
    return;
  end if;

  perform tickwork.file_jobs(queued);
  perform tickwork.note_arrived_earlier(queued);

  perform pg_notify('tickwork', due.family)
  from (
    select distinct jobs.family
    from unnest(queued) as returned(id)
    cross join lateral (select * from public.jobs where jobs.id = returned.id limit 1) as jobs
    where jobs.run_at <= clock_timestamp()
  ) as due;
end
$$;

comment on function tickwork.file_again is 'Files those of the jobs that are queued, and announces those that are due.';

create function tickwork.free_what_was_held(ids uuid[])
returns void
language plpgsql
volatile
as $$
declare
  ended constant public.jobs[] := array(
    select found.job
    from unnest(free_what_was_held.ids) as ended(id)
    cross join lateral (select jobs as job from public.jobs where jobs.id = ended.id limit 1) as found
  );
begin
  perform tickwork.give_keys_back(free_what_was_held.ids);

  perform tickwork.unblock(job.tenant_id, job.type)
  from (
    select distinct job.tenant_id, job.type
    from unnest(ended) as job
  ) as job;

  perform tickwork.fill_lane(lane.family, tenants.number, lane.name)
  from (
    select distinct job.family, job.tenant_id, job.lane
    from unnest(ended) as job
    where job.lane is not null
    order by job.tenant_id, job.family, job.lane
  ) as lane(family, tenant_id, name)
  join tickwork.tenants on tenants.tenant_id = lane.tenant_id;
end
$$;

comment on function tickwork.free_what_was_held is
  'Frees what the jobs occupied while they ran: dedupe keys, room at a limit, room in a lane.';

create function tickwork.give_keys_back(ids uuid[])
returns void
language sql
volatile
as $$
  delete from tickwork.taken_keys
  using unnest(give_keys_back.ids) as ended(id)
  cross join lateral (select * from public.jobs where jobs.id = ended.id limit 1) as jobs
  where taken_keys.tenant_id = jobs.tenant_id
    and taken_keys.dedupe_key = jobs.dedupe_key
    and taken_keys.job_id = jobs.id
    and jobs.status not in ('queued', 'running');
$$;
