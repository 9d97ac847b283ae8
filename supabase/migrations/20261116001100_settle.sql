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

create function tickwork.backoff_seconds(type text, attempt integer)
returns double precision
language plpgsql
volatile
set search_path = ''
as $$
declare
  backoff jsonb;
begin
  select job_types.backoff into backoff
  from public.job_types
  where job_types.key = backoff_seconds.type;

  return (0.8 + 0.4 * random()) * case jsonb_typeof(backoff)
    when 'array' then
      (backoff ->> least(backoff_seconds.attempt, jsonb_array_length(backoff)) - 1)::double precision
    when 'object' then
      least(
        (backoff ->> 'cap')::double precision,
        (backoff ->> 'base')::double precision
          * (backoff ->> 'factor')::double precision ^ (backoff_seconds.attempt - 1)
      )
    -- The type is gone.
    else 60
  end;
end
$$;

comment on function tickwork.backoff_seconds is
  'The delay after the given attempt, within 20 % of what the type''s backoff says.';

create function tickwork.status_after(
  ending text,
  is_retryable boolean,
  is_cancelled boolean,
  attempts integer,
  max_attempts integer
)
returns text
language sql
immutable
return case
  when is_cancelled then 'cancelled'
  when ending = 'released' then 'queued'
  when not is_retryable then 'failed'
  when attempts >= max_attempts then 'dead'
  else 'queued'
end;

comment on function tickwork.status_after is 'The status that follows running, if it is not done.';

-- Every way out of `running`, in two places. Fenced: an outcome under another token changes nothing, and only running
-- jobs have a token.

create function tickwork.settle_done(ids uuid[], tokens uuid[], results jsonb[], logs text[])
returns uuid[]
language plpgsql
volatile
set search_path = ''
as $$
declare
  settled uuid[];
begin
  if current_setting('synchronous_commit') = 'off' then
    perform tickwork.wait_for_disk();
  end if;

  with settled_jobs as (
    update public.jobs
    set
      status = 'done',
      result = settle_done.results[array_position(settle_done.ids, jobs.id)],
      progress = 1,
      error_code = null,
      error_message = null,
      lease_token = null,
      lease_expires_at = null,
      updated_at = clock_timestamp(),
      finished_at = clock_timestamp()
    -- The index finds them in the order of their ids, so that two batches of the same jobs wait in one direction only.
    where jobs.id = any (settle_done.ids)
      and jobs.lease_token = settle_done.tokens[array_position(settle_done.ids, jobs.id)]
    returning jobs.id
  )
  select array_agg(settled_jobs.id)
  into settled
  from settled_jobs;

  if cardinality(array_remove(settle_done.logs, null)) > 0 then
    insert into tickwork.attempts (job_id, number, tenant_id, worker_id, started_at, finished_at, status, logs)
    select
      jobs.id, jobs.attempts, jobs.tenant_id, jobs.worker_id, jobs.started_at, jobs.finished_at, jobs.status,
      settle_done.logs[array_position(settle_done.ids, jobs.id)]
    from public.jobs
    where jobs.id = any (settled)
      and settle_done.logs[array_position(settle_done.ids, jobs.id)] is not null
    -- The count was set back by hand.
    on conflict do nothing;
  end if;

  return settled;
end
$$;

comment on function tickwork.settle_done is
  'running -> done. Answers the jobs that were held under the tokens given. Only what they logged is worth a row among '
  'the attempts: all the rest is in their own.';

create function tickwork.settle_undone(endings tickwork.outcome[])
returns table (job_id uuid, status text)
language plpgsql
volatile
set search_path = ''
as $$
begin
  perform tickwork.wait_for_disk();

  return query
  with settled as (
    update public.jobs
    set
      status = tickwork.status_after(
        outcome.status, outcome.is_retryable, jobs.cancel_requested_at is not null, jobs.attempts, jobs.max_attempts
      ),
      -- To give a job back is no attempt.
      attempts = jobs.attempts
        - (outcome.status = 'released' and jobs.cancel_requested_at is null)::integer,
      -- A job that is due again at once keeps its place at the head of the queue.
      run_at = case
        when outcome.delay_seconds = 0 then jobs.run_at
        when tickwork.status_after(
          outcome.status, outcome.is_retryable, jobs.cancel_requested_at is not null, jobs.attempts, jobs.max_attempts
        ) = 'queued' then clock_timestamp() + make_interval(secs => coalesce(
          outcome.delay_seconds,
          tickwork.backoff_seconds(jobs.type, jobs.attempts)
        ))
        else jobs.run_at
      end,
      result = null,
      error_code = case outcome.status when 'released' then jobs.error_code else outcome.error_code end,
      error_message = case outcome.status when 'released' then jobs.error_message else outcome.error_message end,
      lease_token = null,
      lease_expires_at = null,
      updated_at = clock_timestamp(),
      finished_at = case
        when tickwork.status_after(
          outcome.status, outcome.is_retryable, jobs.cancel_requested_at is not null, jobs.attempts, jobs.max_attempts
        ) <> 'queued' then clock_timestamp()
      end
    from (select * from unnest(settle_undone.endings) as given order by given.job_id) as outcome
    where jobs.id = outcome.job_id
      -- Said twice: whichever side the planner starts from, it goes by the key.
      and jobs.id = any (array(select given.job_id from unnest(settle_undone.endings) as given))
      and jobs.lease_token = outcome.lease_token
      and outcome.status <> 'done'
    returning jobs as job, outcome as ended_by
  ),
  recorded as (
    insert into tickwork.attempts (
      job_id, number, tenant_id, worker_id, started_at, finished_at, status, error_code, error_message, logs
    )
    select
      (settled.job).id,
      (settled.job).attempts,
      (settled.job).tenant_id,
      (settled.job).worker_id,
      (settled.job).started_at,
      (settled.job).updated_at,
      case (settled.job).status when 'cancelled' then 'cancelled' else (settled.ended_by).status end,
      (settled.ended_by).error_code,
      (settled.ended_by).error_message,
      (settled.ended_by).logs
    from settled
    where not ((settled.ended_by).status = 'released' and (settled.job).status = 'queued')
    -- The count was set back by hand: that must not wedge the reaper.
    on conflict do nothing
  ),
  woken as (
    insert into tickwork.wakes (family, type, priority, tenant_id, lane, wake_at)
    select
      (settled.job).family, (settled.job).type, (settled.job).priority, (settled.job).tenant_id, (settled.job).lane,
      (settled.job).run_at
    from settled
    where (settled.job).status = 'queued'
  )
  select (settled.job).id, (settled.job).status
  from settled;

  perform tickwork.end_extractions(array(select ended.job_id from unnest(settle_undone.endings) as ended));
  perform tickwork.end_deliveries(array(select ended.job_id from unnest(settle_undone.endings) as ended));

  perform pg_notify('tickwork', due.family)
  from (
    select distinct jobs.family
    from unnest(settle_undone.endings) as outcome
    cross join lateral (select * from public.jobs where jobs.id = outcome.job_id limit 1) as jobs
    where jobs.status = 'queued'
      and jobs.run_at <= clock_timestamp()
  ) as due;
end
$$;

comment on function tickwork.settle_undone is
  'running -> queued, failed, dead or cancelled. Answers the jobs that were held under the tokens given.';

create function tickwork.open_gates(ids uuid[])
returns void
language plpgsql
volatile
set search_path = ''
as $$
begin
  insert into tickwork.wakes (family, type, priority, tenant_id, lane, is_for_line, wake_at)
  select turns.family, turns.type, turns.priority, turns.tenant_id, null, false, clock_timestamp()
  from unnest(open_gates.ids) as settled(id)
  cross join lateral (select * from public.jobs where jobs.id = settled.id limit 1) as jobs
  cross join lateral (
    values
      (tickwork.tenant_scope(jobs.tenant_id)),
      (tickwork.tenant_type_scope(jobs.tenant_id, jobs.type))
  ) as counted_by(scope)
  join tickwork.turns on turns.gate = counted_by.scope
  union
  select turns.family, turns.type, turns.priority, turns.tenant_id, lines.lane, true, clock_timestamp()
  from unnest(open_gates.ids) as settled(id)
  cross join lateral (select * from public.jobs where jobs.id = settled.id limit 1) as jobs
  join tickwork.lines on lines.gate = tickwork.lane_scope(jobs.family, jobs.tenant_id, jobs.lane)
  join tickwork.turns on turns.id = lines.turn_id;

  with full_types as (
    select served_types.family, served_types.type
    from tickwork.served_types
    where served_types.full_until > clock_timestamp()
      and exists (
        select
        from unnest(open_gates.ids) as settled(id)
        cross join lateral (select * from public.jobs where jobs.id = settled.id limit 1) as jobs
        where jobs.type = served_types.type
      )
    for no key update of served_types skip locked
  )
  update tickwork.served_types
  set full_until = '-infinity'
  from full_types
  where served_types.family = full_types.family
    and served_types.type = full_types.type;
end
$$;

comment on function tickwork.open_gates is
  'Wakes whatever is closed by a limit that has counted these jobs.';

create function tickwork.note_settled(ids uuid[])
returns void
language plpgsql
volatile
set search_path = ''
as $$
declare
  is_heard boolean;
  is_gated boolean;
begin
  select
    exists (
      select
      from public.webhook_endpoints
      where webhook_endpoints.hears_of_jobs
        and webhook_endpoints.status = 'active'
    ),
    exists (select from tickwork.turns where turns.gate is not null)
      or exists (select from tickwork.lines where lines.gate is not null)
      or exists (select from tickwork.served_types where served_types.full_until > now())
  into is_heard, is_gated;

  if is_gated then
    perform tickwork.open_gates(note_settled.ids);
  end if;

  if is_heard then
    perform tickwork.emit_job_events(note_settled.ids);
  end if;
end
$$;

comment on function tickwork.note_settled is
  'Lets limits and listeners know of jobs that are no longer running. Said last: whoever emits holds what an enqueue '
  'may have to wait for.';

create function tickwork.settle_one(outcome tickwork.outcome)
returns public.jobs
language plpgsql
volatile
set search_path = ''
as $$
declare
  job public.jobs;
begin
  perform
  from tickwork.settle_undone(array[settle_one.outcome]);

  if not found then
    perform tickwork.raise_lease_lost((settle_one.outcome).job_id);
  end if;

  perform tickwork.note_settled(array[(settle_one.outcome).job_id]);

  select * into job
  from public.jobs
  where jobs.id = (settle_one.outcome).job_id;

  return job;
end
$$;

comment on function tickwork.settle_one is
  'running -> queued, failed, dead or cancelled. As settle_undone, for one job, whose row it answers. Raises TWLSE.';

revoke execute on function
  tickwork.backoff_seconds,
  tickwork.status_after,
  tickwork.open_gates,
  tickwork.note_settled,
  tickwork.settle_done,
  tickwork.settle_undone,
  tickwork.settle_one
from public, anon, authenticated, service_role;

grant execute on function
  tickwork.backoff_seconds,
  tickwork.status_after,
  tickwork.open_gates,
  tickwork.note_settled,
  tickwork.settle_done,
  tickwork.settle_undone,
  tickwork.settle_one
to tickwork_owner;
