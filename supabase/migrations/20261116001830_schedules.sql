-- Jobs that start by the calendar: what is to start when, and what became of each time.

create table public.schedules (
  id uuid primary key default gen_random_uuid(),
  tenant_id uuid not null references public.tenant_settings (tenant_id) on delete cascade,
  label text not null,
  type text not null,
  cron_expr text not null,
  timezone text not null,
  payload_template jsonb not null default '{}',
  overlap text not null default 'skip',
  missed text not null default 'latest',
  catch_up_seconds integer not null default 3600,
  spread_seconds integer not null default 0,
  starts_at timestamptz,
  ends_at timestamptz,
  priority integer,
  lane text,
  pause_after_failures integer,
  paused_at timestamptz,
  paused_by uuid,
  pause_note text,
  failures_since timestamptz,
  created_by uuid,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  next_nominal_at timestamptz,
  look_at timestamptz,
  constraint label_is_unique unique (tenant_id, label),
  constraint label_has_1_to_200_characters check (char_length(label) between 1 and 200),
  constraint overlap_is_known check (overlap in ('skip', 'allow', 'queue_one', 'cancel_previous')),
  constraint missed_is_known check (missed in ('skip', 'latest', 'all')),
  constraint catch_up_is_up_to_a_day check (catch_up_seconds between 0 and 86400),
  constraint spread_is_up_to_a_day check (spread_seconds between 0 and 86400),
  constraint ends_after_it_starts check (ends_at > starts_at),
  constraint failures_are_1_to_10 check (pause_after_failures between 1 and 10)
);

create index schedules_to_look_at on public.schedules (look_at) where paused_at is null;

comment on table public.schedules is
  'What starts by the calendar, in the time zone of the schedule. The tick enqueues each job shortly before its time.';
comment on column public.schedules.label is 'For people. No two schedules of a tenant have the same one.';
comment on column public.schedules.payload_template is
  'The payload. Placeholders: {{scheduled_for}}, {{previous}}, {{schedule_id}}, {{label}}, {{tenant_id}} and '
  '{{timezone}}.';
comment on column public.schedules.overlap is
  'What happens if the last job has not ended: skip this time, allow both, queue_one (one may wait behind the one that '
  'runs), cancel_previous.';
comment on column public.schedules.missed is
  'What happens to times that passed while nothing ticked: skip them, start the latest, or start all (up to 100), as '
  'far as they are no older than catch_up_seconds.';
comment on column public.schedules.spread_seconds is
  'Jobs start up to this much after their nominal time, always the same for one schedule, so that many schedules of '
  'the same minute do not start at once.';
comment on column public.schedules.pause_after_failures is
  'Pauses the schedule once so many of its jobs in a row have failed.';
comment on column public.schedules.failures_since is 'Failures before it was last resumed no longer count.';
comment on column public.schedules.paused_at is 'Since when it is paused; null if it is not.';
comment on column public.schedules.next_nominal_at is
  'The time of the calendar that comes next, before spreading; null if there is none.';
comment on column public.schedules.look_at is 'When the tick has to look at it.';

create table public.schedule_fires (
  schedule_id uuid not null references public.schedules (id) on delete cascade,
  nominal_at timestamptz not null,
  tenant_id uuid not null references public.tenant_settings (tenant_id) on delete cascade,
  run_at timestamptz not null,
  outcome text not null,
  job_id uuid,
  error text,
  decided_at timestamptz not null default clock_timestamp(),
  -- However many look at a schedule, and whatever their clocks say, each time is decided once.
  primary key (schedule_id, nominal_at),
  constraint outcome_is_known check (
    outcome in ('fired', 'late', 'manual', 'backfilled', 'skipped_overlap', 'skipped_missed', 'refused')
  )
);

create index schedule_fires_by_age on public.schedule_fires (decided_at);
create index schedule_fires_of_a_tenant on public.schedule_fires (tenant_id, decided_at);

comment on table public.schedule_fires is
  'Every time of a schedule and what became of it: fired, late (after an outage), manual, backfilled, skipped_overlap, '
  'skipped_missed, or refused with the error. Kept for 90 days.';
comment on column public.schedule_fires.nominal_at is 'The time of the calendar.';
comment on column public.schedule_fires.run_at is 'When the job may start: the nominal time and the spread.';

select tickwork.guard_table('public.schedules', members => 'select', service => 'select');
select tickwork.guard_table('public.schedule_fires', members => 'select', service => 'select');

-- The tick looks this far ahead: a job is in the queue before its time, and starts when a worker claims it.

create function tickwork.schedule_lead()
returns interval
language sql
immutable
return interval '30 seconds';

create function tickwork.spread_of(schedule public.schedules)
returns interval
language sql
immutable
return make_interval(
  secs => mod(hashtextextended((schedule).id::text, 0) & 2147483647, (schedule).spread_seconds + 1)::integer
);

comment on function tickwork.spread_of is
  'How long after its nominal time a schedule starts its jobs: between 0 and spread_seconds, always the same.';

create function tickwork.next_nominal(schedule public.schedules, after timestamptz)
returns timestamptz
language sql
stable
return (
  select next_at
  from tickwork.next_time(
    tickwork.parse_cron((schedule).cron_expr), (schedule).timezone,
    greatest(after, (schedule).starts_at - interval '1 microsecond')
  ) as next_at
  where next_at <= coalesce((schedule).ends_at, 'infinity')
);

comment on function tickwork.next_nominal is 'The next time of a schedule after a moment, within its start and end.';

create function tickwork.check_schedule(schedule public.schedules)
returns void
language plpgsql
stable
as $$
declare
  job_type public.job_types;
  wrong constant text := case
    when (schedule).overlap in ('skip', 'allow', 'queue_one', 'cancel_previous') is not true then
      'overlap: must be skip, allow, queue_one or cancel_previous'
    when (schedule).missed in ('skip', 'latest', 'all') is not true then 'missed: must be skip, latest or all'
    when (schedule).catch_up_seconds between 0 and 86400 is not true then 'catch_up_seconds: must be 0 to 86400'
    when (schedule).spread_seconds between 0 and 86400 is not true then 'spread_seconds: must be 0 to 86400'
    when (schedule).ends_at <= (schedule).starts_at then 'ends_at: must be after starts_at'
    when (schedule).pause_after_failures not between 1 and 10 then 'pause_after_failures: must be 1 to 10'
  end;
begin
  if wrong is not null then
    raise exception '%', wrong
      using errcode = 'TWARG', hint = 'docs/guide/schedules.md says what each of them does.';
  end if;

  if coalesce((schedule).label, '') = '' or char_length((schedule).label) > 200 then
    raise exception 'label: must have 1 to 200 characters'
      using errcode = 'TWARG', hint = 'Such as Nightly provider sync.';
  end if;

  perform tickwork.check_timezone((schedule).timezone);
  perform tickwork.check_template(
    (schedule).payload_template, array['scheduled_for', 'previous', 'schedule_id', 'label', 'tenant_id', 'timezone']
  );

  if tickwork.next_time(tickwork.parse_cron((schedule).cron_expr), (schedule).timezone, clock_timestamp()) is null then
    raise exception 'cron_expr: % does not fire within nine years', quote_literal((schedule).cron_expr)
      using errcode = 'TWCAL', hint = 'Is there such a day in that month?';
  end if;

  select * into job_type
  from public.job_types
  where job_types.key = (schedule).type;

  perform tickwork.check_template_secrets((schedule).payload_template, job_type);
  perform tickwork.check_job(
    tickwork.new_job(
      (schedule).tenant_id, (schedule).type, tickwork.schedule_payload(schedule, clock_timestamp()),
      (schedule).priority, lane => (schedule).lane
    ),
    job_type
  );
end
$$;

comment on function tickwork.check_schedule is
  'Returns if everything in a schedule can be used, its payload included. Raises TWARG, TWCAL, TWTPL, TWBIG, TWTYP, '
  'TWPAY, TWPRI, TWKEY.';

create function tickwork.schedule_payload(schedule public.schedules, nominal_at timestamptz)
returns jsonb
language sql
stable
return case
  when strpos((schedule).payload_template::text, '{{') = 0 then (schedule).payload_template
  else tickwork.render((schedule).payload_template, jsonb_build_object(
    'scheduled_for', nominal_at,
    'previous', (
      select max(schedule_fires.nominal_at)
      from public.schedule_fires
      where schedule_fires.schedule_id = (schedule).id
        and schedule_fires.nominal_at < schedule_payload.nominal_at
    ),
    'schedule_id', (schedule).id,
    'label', (schedule).label,
    'tenant_id', (schedule).tenant_id,
    'timezone', (schedule).timezone
  ))
end;

comment on function tickwork.schedule_payload is 'The payload of the job of a time. Raises TWTPL.';
