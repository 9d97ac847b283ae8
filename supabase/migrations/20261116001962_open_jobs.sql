-- What has been counted, and what not yet. Claim, settle and enqueue note nothing for it: a job is counted when the
-- rollup comes across it, once as enqueued and once when it has ended. What is deleted or queued again before that is
-- counted at that moment.

create table tickwork.rollup (
  is_only boolean primary key default true,
  is_on boolean not null default true,
  lag interval not null default '5 seconds',
  rolled_at timestamptz not null default '-infinity',
  safe_to timestamptz not null default '-infinity',
  next_at timestamptz not null default '-infinity',
  next_xid xid8 not null default '0',
  looks integer not null default 2000,
  open_to uuid not null default '00000000-0000-0000-0000-000000000000',
  constraint there_is_only_one check (is_only)
)
with (fillfactor = 50);

comment on table tickwork.rollup is 'How far the rollup has come.';
comment on column tickwork.rollup.is_on is 'Without it, figures stand still, and catch up later.';
comment on column tickwork.rollup.lag is
  'So long after they were enqueued, jobs are counted: those that have ended by then are read once.';
comment on column tickwork.rollup.safe_to is
  'Whoever enqueued a job before this time has committed it or never will.';
comment on column tickwork.rollup.next_at is
  'Transactions from next_xid on have enqueued nothing before this time. It is safe once all earlier ones have ended.';
comment on column tickwork.rollup.looks is
  'How many of the oldest open jobs, and how many in turn, are looked at next time: more where many have ended.';
comment on column tickwork.rollup.open_to is 'Where the round through open_jobs goes on.';

create table tickwork.counted_types (
  type text primary key,
  to_at timestamptz not null,
  to_id uuid not null
)
with (fillfactor = 50);

comment on table tickwork.counted_types is 'Up to which job, by created_at and id, the jobs of a type were counted.';

create table tickwork.open_jobs (
  job_id uuid primary key,
  attempts integer not null,
  is_seen boolean not null
);

create index open_jobs_to_see on tickwork.open_jobs (job_id, attempts) where not is_seen;

comment on table tickwork.open_jobs is
  'Jobs that were counted as enqueued and had not ended by then, with how many of their attempts were counted.';
comment on column tickwork.open_jobs.is_seen is 'False if it was queued again before it was counted as enqueued.';

create table tickwork.early_figures (
  number bigint generated always as identity primary key,
  happening tickwork.happening not null
);

comment on table tickwork.early_figures is
  'What happened to jobs that were deleted or queued again before they were counted. The next rollup adds it.';

insert into tickwork.rollup default values;

select tickwork.guard_table(inner_table)
from unnest(array[
  'tickwork.rollup', 'tickwork.counted_types', 'tickwork.open_jobs', 'tickwork.early_figures'
]::regclass[]) as inner_table;

create type tickwork.job_state as (
  id uuid,
  tenant_id uuid,
  family text,
  type text,
  status text,
  created_at timestamptz,
  due_at timestamptz,
  started_at timestamptz,
  finished_at timestamptz,
  attempts integer,
  counted_attempts integer,
  is_new boolean
);

comment on type tickwork.job_state is
  'What the figures need of a job. attempts are those that have ended; counted_attempts is null if it is not in '
  'open_jobs; is_new if it is to be counted as enqueued.';

create function tickwork.state_of(job public.jobs)
returns tickwork.job_state
language sql
immutable
return row(
  (job).id, (job).tenant_id, (job).family, (job).type, (job).status, (job).created_at,
  greatest((job).run_at, (job).created_at, (job).ready_at), (job).started_at, (job).finished_at,
  (job).attempts - ((job).status = 'running')::integer, null, false
)::tickwork.job_state;

create function tickwork.ms_between(earlier timestamptz, later timestamptz)
returns double precision
language sql
immutable
return case
  when later > earlier then extract(epoch from later - earlier)::double precision * 1000
  when later <= earlier then 0
end;

create function tickwork.happenings(states tickwork.job_state[])
returns setof tickwork.happening
language sql
volatile
as $$
  select state.created_at, state.tenant_id, state.family, state.type, 'enqueued', null, null
  from unnest(happenings.states) as state
  where state.is_new
  union all
  select
    state.finished_at, state.tenant_id, state.family, state.type, 'done',
    tickwork.ms_between(state.due_at, state.started_at), tickwork.ms_between(state.started_at, state.finished_at)
  from unnest(happenings.states) as state
  where state.status = 'done'
  union all
  select
    state.finished_at, state.tenant_id, state.family, state.type, state.status,
    tickwork.ms_between(state.due_at, last.started_at), tickwork.ms_between(last.started_at, last.finished_at)
  from unnest(happenings.states) as state
  -- None if it ended while it was queued.
  left join lateral (
    select *
    from tickwork.attempts
    where attempts.job_id = state.id
      and attempts.number = state.attempts
      and attempts.finished_at = state.finished_at
    limit 1
  ) as last on true
  where state.status in ('failed', 'dead', 'cancelled')
  union all
  select
    attempt.finished_at, state.tenant_id, state.family, state.type, counted.outcome, null,
    case counted.outcome when 'retried' then tickwork.ms_between(attempt.started_at, attempt.finished_at) end
  from unnest(happenings.states) as state
  cross join lateral (
    select *
    from tickwork.attempts
    where attempts.job_id = state.id
      and attempts.number > coalesce(state.counted_attempts, 0)
      and attempts.number <= state.attempts
      and attempts.status <> 'done'
    offset 0
  ) as attempt
  cross join lateral (
    select attempt.status
    where attempt.status in ('lease_expired', 'timeout')
    union all
    select 'retried'
    where (attempt.number, attempt.finished_at) is distinct from (state.attempts, state.finished_at)
  ) as counted(outcome)
  where state.attempts > coalesce(state.counted_attempts, 0)
    -- The only attempt of most jobs.
    and (state.status <> 'done' or state.attempts > 1);
$$;

comment on function tickwork.happenings is
  'What is to be counted of these jobs: that they were enqueued, if they are new; how they ended, if they did; and '
  'those of their attempts that are not counted yet.';

create function tickwork.count_early(states tickwork.job_state[], are_gone boolean)
returns void
language plpgsql
volatile
as $$
declare
  uncounted tickwork.job_state[];
begin
  -- Most of what is purged was counted long ago, and stays so.
  if count_early.are_gone and not exists (
    select
    from unnest(count_early.states) as state
    where not tickwork.is_seen(state.type, state.created_at, state.id)
      or exists (select from tickwork.open_jobs where open_jobs.job_id = state.id)
  ) then
    return;
  end if;

  -- Keeps the rollup away until the end of the transaction, and nobody else.
  perform pg_advisory_xact_lock_shared(7467, 0);

  select array_agg(row(
    state.id, settings.tenant_id, state.family, state.type, state.status, state.created_at, state.due_at,
    state.started_at, state.finished_at, state.attempts, open.attempts,
    count_early.are_gone and not seen.is_seen
  )::tickwork.job_state)
  into uncounted
  from unnest(count_early.states) as state
  cross join lateral (select tickwork.is_seen(state.type, state.created_at, state.id)) as seen(is_seen)
  left join lateral (select * from tickwork.open_jobs where open_jobs.job_id = state.id limit 1) as open on true
  -- None if the tenant is being deleted: then they count for all tenants together only.
  left join public.tenant_settings as settings on settings.tenant_id = state.tenant_id
  where not seen.is_seen or open.job_id is not null;

  insert into tickwork.early_figures (happening)
  select happenings
  from tickwork.happenings(uncounted);

  if count_early.are_gone then
    delete from tickwork.open_jobs
    where open_jobs.job_id = any (array(select state.id from unnest(count_early.states) as state));
  else
    insert into tickwork.open_jobs (job_id, attempts, is_seen)
    select state.id, state.attempts, tickwork.is_seen(state.type, state.created_at, state.id)
    from unnest(count_early.states) as state
    on conflict (job_id) do update
    set attempts = excluded.attempts;
  end if;
end
$$;

create function tickwork.is_seen(type text, created_at timestamptz, id uuid)
returns boolean
language plpgsql
volatile
as $$
begin
  return exists (
    select
    from tickwork.counted_types
    where counted_types.type = is_seen.type
      and (is_seen.created_at, is_seen.id) <= (counted_types.to_at, counted_types.to_id)
  );
end
$$;

comment on function tickwork.count_early is
  'Counts jobs that are being deleted, or queued again after they ended, unless they are counted already. Must be '
  'called with the rows as they were.';
comment on function tickwork.is_seen is 'Whether the job was counted as enqueued.';
