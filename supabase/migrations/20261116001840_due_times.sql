-- What becomes of the times of a schedule: fired, late after an outage, or skipped.

create function tickwork.decide(schedule public.schedules, now_at timestamptz)
returns public.schedule_fires[]
language plpgsql
volatile
as $$
declare
  spread constant interval := tickwork.spread_of(schedule);
  last_job constant text := tickwork.state_of_jobs(schedule);
  due constant timestamptz[] := tickwork.due_times(schedule, now_at + tickwork.schedule_lead() - spread);
  times constant timestamptz[] := trim_array(due, 1);
  newest constant timestamptz := times[cardinality(times)];
  -- Whether the last job has ended by then is not known yet.
  is_too_early constant boolean := newest + spread > now_at
    and last_job <> 'ended'
    and (schedule).overlap <> 'allow';
  fires public.schedule_fires[];
begin
  if tickwork.is_failing(schedule) then
    perform tickwork.pause(schedule, null, format('Its last %s jobs failed', (schedule).pause_after_failures));
    return '{}';
  end if;

  fires := tickwork.fires_of(
    schedule, now_at, spread, last_job, case when is_too_early then trim_array(times, 1) else times end
  );

  if (schedule).overlap = 'cancel_previous'
    and exists (select from unnest(fires) as fire where fire.outcome in ('fired', 'late'))
  then
    perform tickwork.cancel_jobs_of(schedule);
  end if;

  update public.schedules
  set
    next_nominal_at = case when is_too_early then newest else due[cardinality(due)] end,
    look_at = case
      when is_too_early then newest + spread
      -- There are more: the next tick goes on.
      when due[cardinality(due)] + spread <= now_at then now_at + interval '1 second'
      else due[cardinality(due)] + spread - tickwork.schedule_lead()
    end
  where schedules.id = (schedule).id;

  return fires;
end
$$;

comment on function tickwork.decide is
  'What becomes of the times of a schedule that are due or about to be. Moves the schedule on.';

create function tickwork.due_times(schedule public.schedules, until timestamptz)
returns timestamptz[]
language plpgsql
stable
as $$
declare
  calendar constant tickwork.calendar := tickwork.parse_cron((schedule).cron_expr);
  times timestamptz[] := '{}';
  next_at timestamptz := (schedule).next_nominal_at;
begin
  -- More than a day of minutes at once would hold up whoever ticks. The rest comes with the next tick.
  while next_at <= due_times.until and cardinality(times) < 1500 loop
    times := times || next_at;
    next_at := tickwork.next_time(calendar, (schedule).timezone, next_at);

    if next_at > (schedule).ends_at then
      next_at := null;
    end if;
  end loop;

  return times || next_at;
end
$$;

comment on function tickwork.due_times is
  'The times of a schedule from its next one until a moment, and the one that follows these; null if there is none.';

create function tickwork.fires_of(
  schedule public.schedules,
  now_at timestamptz,
  spread interval,
  last_job text,
  times timestamptz[]
)
returns public.schedule_fires[]
language sql
stable
return array(
  select row(
    (schedule).id, due.nominal_at, (schedule).tenant_id, due.nominal_at + spread,
    case
      when not due.is_wanted then 'skipped_missed'
      when (schedule).overlap = 'allow' then due.outcome
      when due.wanted_after > 0 or (schedule).overlap = 'skip' and last_job <> 'ended'
        or (schedule).overlap = 'queue_one' and last_job = 'queued' then 'skipped_overlap'
      else due.outcome
    end,
    null, null, clock_timestamp()
  )::public.schedule_fires
  from (
    select
      wanted.*,
      count(*) filter (where wanted.is_wanted) over (
        order by wanted.nominal_at rows between 1 following and unbounded following
      ) as wanted_after
    from (
      select
        time as nominal_at,
        case when is_late then 'late' else 'fired' end as outcome,
        case
          when not is_late then true
          when time < now_at - make_interval(secs => (schedule).catch_up_seconds) then false
          when (schedule).missed = 'latest' then place = 1
          else (schedule).missed = 'all' and place <= 100
        end as is_wanted
      from (
        select
          time,
          -- A tick that came a little late has missed nothing.
          time + spread < now_at - interval '60 seconds' as is_late,
          row_number() over (order by time desc) as place
        from unnest(times) as time
      ) as listed
    ) as wanted
  ) as due
  order by due.nominal_at
);

comment on function tickwork.fires_of is
  'What becomes of the due times of a schedule. Where jobs must not overlap, only the newest of them starts.';

create function tickwork.jobs_of(schedule public.schedules, most integer)
returns table (id uuid, status text, decided_at timestamptz)
language sql
stable
as $$
  select last_jobs.id, last_jobs.status, last_fires.decided_at
  from (
    select schedule_fires.job_id, schedule_fires.nominal_at, schedule_fires.decided_at
    from public.schedule_fires
    where schedule_fires.schedule_id = (jobs_of.schedule).id
      and schedule_fires.job_id is not null
    order by schedule_fires.nominal_at desc
    limit jobs_of.most
  ) as last_fires
  cross join lateral (
    select jobs.id, jobs.status
    from public.jobs
    where jobs.id = last_fires.job_id
    limit 1
  ) as last_jobs
  order by last_fires.nominal_at desc;
$$;

comment on function tickwork.jobs_of is 'The last jobs of a schedule, the newest first.';

create function tickwork.state_of_jobs(schedule public.schedules)
returns text
language sql
stable
return (
  select case
    when bool_or(status = 'queued') then 'queued'
    when bool_or(status = 'running') then 'running'
    else 'ended'
  end
  from tickwork.jobs_of(schedule, 10)
);

comment on function tickwork.state_of_jobs is 'queued, running or ended: the state of the last jobs of a schedule.';

create function tickwork.is_failing(schedule public.schedules)
returns boolean
language sql
stable
return (schedule).pause_after_failures is not null and (
  select count(*) filter (where status in ('failed', 'dead')) = (schedule).pause_after_failures
  from tickwork.jobs_of(schedule, (schedule).pause_after_failures)
  where decided_at > coalesce((schedule).failures_since, '-infinity')
);

create function tickwork.cancel_jobs_of(schedule public.schedules)
returns void
language plpgsql
volatile
as $$
declare
  job public.jobs;
begin
  for job in
    select locked.*
    from tickwork.jobs_of(schedule, 10) as active
    cross join lateral (
      select *
      from public.jobs
      where jobs.id = active.id
        and jobs.status in ('queued', 'running')
      limit 1
      -- Somebody is settling or changing it at this moment: it ends without us.
      for no key update skip locked
    ) as locked
  loop
    perform tickwork.apply_change(tickwork.new_change('cancelled', null, null, null), array[job]);
  end loop;
end
$$;
