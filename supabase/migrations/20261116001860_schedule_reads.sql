-- Reads: the schedules with their last and next times, and what a cron expression would do.

create function tickwork.preview_schedule(cron_expr text, timezone text, after timestamptz, times integer)
returns table (nominal_at timestamptz, local_time text, note text)
language plpgsql
stable
security definer -- the functions of the calendar are not open to everybody
set search_path = ''
as $$
declare
  calendar constant tickwork.calendar := tickwork.parse_cron(preview_schedule.cron_expr);
  next_at timestamptz := coalesce(preview_schedule.after, clock_timestamp());
begin
  perform tickwork.check_timezone(preview_schedule.timezone);

  if coalesce(preview_schedule.times, 0) not between 1 and 100 then
    raise exception 'times: must be 1 to 100'
      using errcode = 'TWARG', hint = 'Pass the last time as after to read on.';
  end if;

  for place in 1 .. preview_schedule.times loop
    next_at := tickwork.next_time(calendar, preview_schedule.timezone, next_at);
    exit when next_at is null;

    return query
    select
      next_at,
      to_char(next_at at time zone preview_schedule.timezone, 'Dy DD Mon YYYY HH24:MI'),
      tickwork.note_on_time(calendar, preview_schedule.timezone, next_at);
  end loop;
end
$$;

create function public.preview_schedule(
  cron_expr text,
  timezone text default 'UTC',
  after timestamptz default null,
  times integer default 5
)
returns table (nominal_at timestamptz, local_time text, note text)
language sql
stable
begin atomic
  select *
  from tickwork.preview_schedule(cron_expr, timezone, after, times);
end;

comment on function public.preview_schedule is
  'Reads when a cron expression fires next in a time zone, up to 100 times, with a note where the clock changes. '
  'Raises TWCAL, TWARG.';

create function public.list_schedules(tenant_id uuid default null)
returns table (
  id uuid,
  tenant_id uuid,
  label text,
  type text,
  cron_expr text,
  timezone text,
  is_enabled boolean,
  pause_note text,
  next_run_at timestamptz,
  last_nominal_at timestamptz,
  last_outcome text,
  last_job_id uuid,
  last_job_status text
)
language sql
stable
set search_path = ''
as $$
  select
    schedules.id, schedules.tenant_id, schedules.label, schedules.type, schedules.cron_expr, schedules.timezone,
    schedules.paused_at is null, schedules.pause_note,
    case when schedules.paused_at is null then schedules.next_nominal_at + tickwork.spread_of(schedules) end,
    last_fire.nominal_at, last_fire.outcome, last_fire.job_id,
    (select jobs.status from public.jobs where jobs.id = last_fire.job_id)
  from public.schedules
  left join lateral (
    select *
    from public.schedule_fires
    where schedule_fires.schedule_id = schedules.id
    order by schedule_fires.nominal_at desc
    limit 1
  ) as last_fire on true
  where list_schedules.tenant_id is null
    or schedules.tenant_id = list_schedules.tenant_id
  order by schedules.tenant_id, schedules.label;
$$;

comment on function public.list_schedules is
  'Reads the schedules that the caller may see, each with its next time and what became of the last one.';

create function public.get_schedule(schedule_id uuid)
returns public.schedules
language plpgsql
stable
set search_path = ''
as $$
declare
  schedule public.schedules;
begin
  select * into schedule
  from public.schedules
  where schedules.id = get_schedule.schedule_id;

  if not found then
    raise exception 'schedule_id: there is no schedule %', coalesce(get_schedule.schedule_id::text, 'null')
      using errcode = 'TWTRG', hint = 'list_schedules shows the schedules that you may see.';
  end if;

  return schedule;
end
$$;

comment on function public.get_schedule is
  'Reads a schedule with all its fields. Raises TWTRG.';

create function public.list_schedule_fires(
  schedule_id uuid,
  nominal_before timestamptz default null,
  max_rows integer default 50
)
returns table (
  nominal_at timestamptz,
  run_at timestamptz,
  outcome text,
  error text,
  decided_at timestamptz,
  job_id uuid,
  job_status text
)
language sql
stable
set search_path = ''
as $$
  select
    schedule_fires.nominal_at, schedule_fires.run_at, schedule_fires.outcome, schedule_fires.error,
    schedule_fires.decided_at, schedule_fires.job_id,
    (select jobs.status from public.jobs where jobs.id = schedule_fires.job_id)
  from public.schedule_fires
  where schedule_fires.schedule_id = list_schedule_fires.schedule_id
    and schedule_fires.nominal_at < coalesce(list_schedule_fires.nominal_before, 'infinity')
  order by schedule_fires.nominal_at desc
  limit greatest(least(list_schedule_fires.max_rows, 1000), 0);
$$;

comment on function public.list_schedule_fires is
  'Reads what became of the times of a schedule, the newest first. For the next page, pass the last nominal_at as '
  'nominal_before. At most 1000 at a time.';
