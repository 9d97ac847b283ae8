-- Counts what has happened since the last time, some of it at each tick.
--
-- Jobs are found by the time at which they were created, since nothing else about them is indexed and never changes. A
-- transaction may commit jobs long after it created them: only those are counted that were created before any
-- transaction began to write that is still going on. A job that has not ended is remembered in open_jobs, and is looked
-- at again and again: the oldest each time, the others in turn.

create function tickwork.roll_up(most integer)
returns integer
language plpgsql
volatile
as $$
declare
  -- Before the snapshot that goes with it.
  now_at constant timestamptz := clock_timestamp();
  mark tickwork.rollup;
  states tickwork.job_state[];
  opened tickwork.job_state[];
  early tickwork.happening[];
begin
  select * into mark from tickwork.rollup where rollup.is_only;

  -- A transaction that sees only the past would count what others have counted.
  if not mark.is_on
    or mark.rolled_at > now_at - interval '1 second'
    or current_setting('transaction_isolation') <> 'read committed'
    or not pg_try_advisory_xact_lock(7467, 0)
  then
    return 0;
  end if;

  mark := tickwork.move_horizon(now_at);
  opened := tickwork.open_states(mark.open_to, mark.looks);
  states := tickwork.new_states(mark.safe_to, roll_up.most) || opened;

  update tickwork.rollup
  set
    -- Most of a long queue has not moved since the last time, and is not worth a look.
    looks = greatest(least(2 * cardinality(opened), roll_up.most), 2000),
    open_to = coalesce(
      (
        select open_jobs.job_id
        from tickwork.open_jobs
        where open_jobs.job_id > rollup.open_to
        order by open_jobs.job_id
        offset mark.looks - 1
        limit 1
      ),
      '00000000-0000-0000-0000-000000000000'
    )
  where rollup.is_only;

  with added as (
    delete from tickwork.early_figures
    where early_figures.number = any (array(
      select first.number from tickwork.early_figures as first order by first.number limit roll_up.most
    ))
    returning early_figures.happening
  )
  select coalesce(array_agg(added.happening), '{}') into early from added;

  if states <> '{}' or early <> '{}' then
    perform tickwork.add_figures(early || array(select tickwork.happenings(states)));
    perform tickwork.note_counted(states);
  end if;

  perform tickwork.roll_up_renewals(roll_up.most);

  -- That of the module documents, if it is there.
  if to_regproc('tickwork.roll_up_usage') is not null then
    perform tickwork.roll_up_usage(roll_up.most);
  end if;

  perform tickwork.forget_figures(roll_up.most);
  return cardinality(states) + cardinality(early);
end
$$;

create function tickwork.move_horizon(now_at timestamptz)
returns tickwork.rollup
language sql
volatile
as $$
  update tickwork.rollup
  set
    rolled_at = move_horizon.now_at,
    safe_to = case when horizon.is_reached then rollup.next_at - rollup.lag else rollup.safe_to end,
    next_at = case when horizon.is_reached then move_horizon.now_at else rollup.next_at end,
    next_xid = case when horizon.is_reached then pg_snapshot_xmax(horizon.snapshot) else rollup.next_xid end
  from (
    select taken.snapshot, pg_snapshot_xmin(taken.snapshot) >= known.next_xid as is_reached
    from (select * from tickwork.rollup where rollup.is_only) as known
    cross join (select pg_current_snapshot()) as taken(snapshot)
  ) as horizon
  where rollup.is_only
  returning rollup.*;
$$;

create function tickwork.new_states(safe_to timestamptz, most integer)
returns tickwork.job_state[]
language sql
volatile
as $$
  select coalesce(array_agg(row(
    job.id, job.tenant_id, job.family, job.type, job.status, job.created_at,
    greatest(job.run_at, job.created_at, job.ready_at), job.started_at, job.finished_at,
    job.attempts - (job.status = 'running')::integer, open.attempts, true
  )::tickwork.job_state), '{}')
  -- With the collation of the column in jobs, and of its index.
  from (select distinct family_types.type collate pg_catalog."default" from tickwork.family_types) as types(type)
  left join tickwork.counted_types on counted_types.type = types.type
  cross join lateral (
    select *
    from public.jobs
    where jobs.type = types.type
      and (jobs.created_at, jobs.id) > (
        coalesce(counted_types.to_at, '-infinity'),
        coalesce(counted_types.to_id, '00000000-0000-0000-0000-000000000000')
      )
      and jobs.created_at < new_states.safe_to
    order by jobs.type, jobs.created_at, jobs.id
    limit new_states.most
  ) as job
  left join tickwork.open_jobs as open on open.job_id = job.id and not open.is_seen;
$$;

create function tickwork.open_states(open_to uuid, most integer)
returns tickwork.job_state[]
language sql
volatile
as $$
  select coalesce(array_agg(row(
    job.id, job.tenant_id, job.family, job.type, job.status, job.created_at,
    greatest(job.run_at, job.created_at, job.ready_at), job.started_at, job.finished_at,
    job.attempts - (job.status = 'running')::integer, open.attempts, false
  )::tickwork.job_state), '{}')
  from (
    (
      select * from tickwork.open_jobs where open_jobs.is_seen order by open_jobs.job_id limit open_states.most
    )
    union
    (
      select *
      from tickwork.open_jobs
      where open_jobs.is_seen
        and open_jobs.job_id > open_states.open_to
      order by open_jobs.job_id
      limit open_states.most
    )
  ) as open
  cross join lateral (select * from public.jobs where jobs.id = open.job_id limit 1) as job
  where job.finished_at is not null
    or job.attempts - (job.status = 'running')::integer > open.attempts;
$$;

create function tickwork.note_counted(states tickwork.job_state[])
returns void
language sql
volatile
as $$
  insert into tickwork.counted_types (type, to_at, to_id)
  select distinct on (state.type) state.type, state.created_at, state.id
  from unnest(note_counted.states) as state
  where state.is_new
  order by state.type, state.created_at desc, state.id desc
  on conflict (type) do update
  set
    to_at = excluded.to_at,
    to_id = excluded.to_id;

  delete from tickwork.open_jobs
  where open_jobs.job_id = any (array(
    select state.id
    from unnest(note_counted.states) as state
    where state.finished_at is not null
      and state.counted_attempts is not null
  ));

  insert into tickwork.open_jobs (job_id, attempts, is_seen)
  select state.id, state.attempts, true
  from unnest(note_counted.states) as state
  where state.finished_at is null
  on conflict (job_id) do update
  set
    attempts = excluded.attempts,
    is_seen = true;
$$;

comment on function tickwork.roll_up is
  'Counts what has happened to jobs, at most so many new ones of each type and about as many that were open. Returns '
  'how much there was. Does nothing if another transaction is counting, or did within the last second.';
comment on function tickwork.move_horizon is 'Notes which jobs can be counted now: see safe_to.';
comment on function tickwork.new_states is 'The jobs that are not counted yet, the oldest of each type first.';
comment on function tickwork.open_states is 'Those of the open jobs that have ended, or have had another attempt.';
comment on function tickwork.note_counted is 'Remembers that these jobs were counted, and which of them are open.';
