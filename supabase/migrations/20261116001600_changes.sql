-- What people can do to jobs: cancel, bury, retry, reschedule. One job is a batch of one, and all jobs of a batch have
-- the same status.

create type tickwork.change as (
  verb text,
  statuses text[],
  default_statuses text[],
  run_at timestamptz,
  step interval,
  max_attempts integer,
  reason text,
  keeps_later boolean
);

comment on type tickwork.change is 'What to do to jobs, and which statuses it applies to.';
comment on column tickwork.change.default_statuses is
  'The statuses that it applies to when many jobs are changed and no status is given.';
comment on column tickwork.change.step is 'By how much each of many jobs is due later than the one before it.';
comment on column tickwork.change.keeps_later is
  'Whether a job that is scheduled for later than run_at keeps its time.';

create function tickwork.new_change(verb text, run_at timestamptz, max_attempts integer, reason text)
returns tickwork.change
language plpgsql
volatile
as $$
declare
  change tickwork.change;
begin
  select
    known.verb, known.statuses::text[], known.default_statuses::text[],
    coalesce(new_change.run_at, case known.verb when 'retried' then clock_timestamp() end), known.step,
    new_change.max_attempts, coalesce(nullif(left(new_change.reason, 8000), ''), 'Buried without a reason'),
    known.verb = 'retried' and new_change.run_at is null
  into strict change
  from (
    values
      ('cancelled', '{queued, running}', '{queued, running}', interval '0'),
      ('buried', '{queued}', '{queued}', interval '0'),
      -- They run in the order in which they were created.
      ('retried', '{failed, dead, cancelled}', '{failed, dead}', interval '1 microsecond'),
      ('rescheduled', '{queued, failed, dead, cancelled}', '{queued}', interval '0')
  ) as known(verb, statuses, default_statuses, step)
  where known.verb = new_change.verb;

  if new_change.max_attempts not between 1 and 25 then
    raise exception 'max_attempts: % is out of range, it must be 1 to 25', new_change.max_attempts
      using errcode = 'TWATT', hint = 'Leave it out to use that of the job''s type.';
  end if;

  if change.verb in ('retried', 'rescheduled') then
    perform tickwork.check_run_at(change.run_at);
  end if;

  return change;
end
$$;

comment on function tickwork.new_change is 'The change described by these values. Raises TWRUN, TWATT.';

create function tickwork.apply_change(change tickwork.change, jobs public.jobs[])
returns integer
language plpgsql
volatile
as $$
declare
  ids constant uuid[] := array(select job.id from unnest(apply_change.jobs) as job);
  changed integer;
begin
  case
    when (change).verb in ('retried', 'rescheduled') then
      return tickwork.requeue(change, apply_change.jobs);
    when (change).verb = 'buried' then
      perform tickwork.end_queued(apply_change.jobs, 'dead', 'BURIED', (change).reason);
    when (apply_change.jobs[1]).status = 'queued' then
      perform tickwork.end_queued(apply_change.jobs, 'cancelled', null, null);
    else
      update public.jobs
      set
        cancel_requested_at = clock_timestamp(),
        updated_at = clock_timestamp()
      where jobs.id = any (ids)
        and jobs.cancel_requested_at is null;

      get diagnostics changed = row_count;
      return changed;
  end case;

  return cardinality(ids);
end
$$;

comment on function tickwork.apply_change is
  'Changes jobs that the caller has locked and whose status allows it. Returns how many were changed.';


-- queued -> cancelled, dead

create function tickwork.end_queued(jobs public.jobs[], status text, error_code text, error_message text)
returns void
language plpgsql
volatile
as $$
declare
  ids constant uuid[] := array(select job.id from unnest(end_queued.jobs) as job);
begin
  perform tickwork.unfile_jobs(array(select tickwork.filed(job) from unnest(end_queued.jobs) as job));

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
  where jobs.id = any (ids);

  perform tickwork.note_unsuccessful_end(ids);
end
$$;

comment on function tickwork.end_queued is 'queued -> cancelled, dead. For jobs that the caller has locked.';


-- failed, dead, cancelled, queued -> queued

create function tickwork.requeue(change tickwork.change, jobs public.jobs[])
returns integer
language plpgsql
volatile
as $$
declare
  -- Otherwise jobs that are already changed would be found and changed again and again.
  changing constant public.jobs[] := tickwork.jobs_with_keys(array(
    select requeue.jobs[job.ordinality]
    from unnest(requeue.jobs) with ordinality as job
    where job.status <> 'queued' or job.run_at <> (change).run_at
    order by job.ordinality
  ));
  ids constant uuid[] := array(select job.id from unnest(changing) as job);
begin
  if (changing[1]).status = 'queued' then
    perform tickwork.unfile_jobs(array(select tickwork.filed(job) from unnest(changing) as job));
  else
    perform tickwork.count_early(array(select tickwork.state_of(job) from unnest(changing) as job), false);
  end if;

  update public.jobs
  set
    status = 'queued',
    family = coalesce(job_types.family, job.family),
    -- Attempts keep counting up, so that each one keeps its own row.
    max_attempts = case
      when (change).max_attempts is not null then job.attempts + (change).max_attempts
      when job.status = 'queued' then job.max_attempts
      else job.attempts + coalesce(job_types.max_attempts, 1)
    end,
    run_at = greatest(
      (change).run_at + (change).step * (job.ordinality - 1),
      case when (change).keeps_later then job.run_at end
    ),
    cancel_requested_at = null,
    progress = null,
    progress_message = null,
    updated_at = clock_timestamp(),
    finished_at = null
  from unnest(changing) with ordinality as job
  left join public.job_types on job_types.key = job.type and job.status <> 'queued'
  where jobs.id = any (array[job.id]);

  delete from tickwork.unsuccessful
  where unsuccessful.job_id = any (ids);

  perform tickwork.wait_again(array(
    select job.id from unnest(changing) as job where job.status <> 'queued' and job.after is not null
  ));
  perform tickwork.file_again(ids);
  return cardinality(ids);
end
$$;

comment on function tickwork.requeue is
  'failed, dead, cancelled, queued -> queued. For jobs that the caller has locked. A job whose dedupe_key is taken, or '
  'which is already due at exactly that time, is left out. Returns how many were changed.';

create function tickwork.jobs_with_keys(jobs public.jobs[])
returns public.jobs[]
language plpgsql
volatile
as $$
begin
  insert into tickwork.taken_keys (tenant_id, dedupe_key, job_id)
  select job.tenant_id, job.dedupe_key, job.id
  from unnest(jobs_with_keys.jobs) with ordinality as job
  where job.dedupe_key is not null
  order by job.tenant_id, job.dedupe_key, job.ordinality
  on conflict do nothing;

  return array(
    select jobs_with_keys.jobs[job.ordinality]
    from unnest(jobs_with_keys.jobs) with ordinality as job
    where job.dedupe_key is null
      or job.id = (
        select taken_keys.job_id
        from tickwork.taken_keys
        where taken_keys.tenant_id = job.tenant_id
          and taken_keys.dedupe_key = job.dedupe_key
      )
    order by job.ordinality
  );
end
$$;

comment on function tickwork.jobs_with_keys is
  'Takes the dedupe keys of jobs that are to be queued again. Returns the jobs whose key no other job holds.';


-- Out of waiting, parked and awaiting

create function tickwork.unfile_jobs(jobs tickwork.filed_job[])
returns void
language plpgsql
volatile
as $$
declare
  left_over uuid[] := tickwork.unfile_awaiting(array(select job.id from unnest(unfile_jobs.jobs) as job));
  removed uuid[];
  source record;
begin
  -- If somebody is moving a job right now, this waits for them and then finds it in the other table.
  for source in
    select *
    from generate_series(1, 3) as round
    cross join (
      values
        (1, 'waiting', 'family, tenant_number, type, priority, run_at'),
        (2, 'parked', 'family, tenant_number, wake_at'),
        (3, 'parked', 'family, tenant_number, lane, priority, run_at')
    ) as listed(number, name, key)
    order by round, listed.number
  loop
    exit when left_over = '{}';

    -- Many jobs may be due at the same time: each time is looked up once, and the ids are then compared by hash.
    execute format(
      $delete$
        with removed as (
          delete from tickwork.%1$I
          where %1$I.ctid = any (array(
            select found.ctid
            from (
              select distinct %2$s
              from (
                select job.*, job.run_at as wake_at, tenants.number as tenant_number
                from unnest($1) as job
                join tickwork.tenants on tenants.tenant_id = job.tenant_id
              ) as job
            ) as place
            join tickwork.%1$I as found using (%2$s)
            where found.job_id = any ($2)
          ))
          returning %1$I.job_id
        )
        select array(select removed.job_id from removed)
      $delete$,
      source.name, source.key
    )
    into removed
    using unfile_jobs.jobs, left_over;

    if removed <> '{}' then
      left_over := array(select unnest(left_over) except select unnest(removed));
    end if;
  end loop;

  -- Only a few jobs of a lane with a rule are in waiting: others take the places that are now free.
  perform tickwork.fill_lane(lane.family, lane.number, lane.name)
  from (
    select distinct job.family, tenants.number, job.lane as name
    from unnest(unfile_jobs.jobs) as job
    join tickwork.tenants on tenants.tenant_id = job.tenant_id
    where tickwork.has_lane_rule(job.tenant_id, job.family, job.lane)
    order by 1, 2, 3
  ) as lane;
end
$$;

comment on function tickwork.unfile_jobs is
  'Removes queued jobs from waiting, parked and awaiting. The caller has locked them, so that no claim takes one '
  'meanwhile.';
