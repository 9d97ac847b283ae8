-- What is wrong with the queue, in the opinion of rules that can be changed. A rule measures one number; if that is
-- above its threshold for long enough, an alert opens, and once it is back at closes_at for as long, it closes.

create table public.alert_rules (
  key text primary key,
  description text not null,
  threshold double precision not null,
  closes_at double precision not null,
  for_seconds integer not null,
  severity text not null,
  is_on boolean not null default true,
  value double precision,
  checked_at timestamptz,
  turned_at timestamptz,
  constraint it_closes_at_the_threshold_or_below check (closes_at <= threshold),
  constraint for_seconds_are_up_to_a_day check (for_seconds between 0 and 86400),
  constraint severity_is_known check (severity in ('warning', 'critical'))
);

comment on table public.alert_rules is 'When the queue alerts. Each has a function tickwork.measure_<key>.';
comment on column public.alert_rules.threshold is 'The alert opens when the value is above it for for_seconds.';
comment on column public.alert_rules.closes_at is
  'The alert closes when the value is at this or below for for_seconds; in between, nothing changes.';
comment on column public.alert_rules.value is 'What was measured last, at checked_at.';
comment on column public.alert_rules.turned_at is
  'Since when the value has been above the threshold or, while an alert is open, at closes_at or below.';

create table public.alerts (
  id uuid primary key default gen_random_uuid(),
  rule text not null references public.alert_rules (key) on delete cascade,
  severity text not null,
  message text not null,
  opened_at timestamptz not null default clock_timestamp(),
  closed_at timestamptz,
  value double precision not null,
  worst double precision not null
);

create unique index alerts_are_open_once on public.alerts (rule) where closed_at is null;
create index alerts_by_time on public.alerts (opened_at, id);

comment on table public.alerts is 'The alerts of the platform. Closed ones are kept for 400 days.';
comment on column public.alerts.value is 'The value that opened it.';

create table tickwork.platform_tenant (
  is_only boolean primary key default true,
  tenant_id uuid not null references public.tenant_settings (tenant_id) on delete cascade,
  constraint there_is_only_one check (is_only)
);

comment on table tickwork.platform_tenant is
  'The tenant that hears of alerts, as events. Without one they are only rows.';

select tickwork.guard_table(platform_table, service => 'select')
from unnest(array['public.alert_rules', 'public.alerts']::regclass[]) as platform_table;

select tickwork.guard_table('tickwork.platform_tenant');

insert into public.alert_rules (key, threshold, closes_at, for_seconds, severity, description) values
  ('queue_size', 100, 80, 60, 'warning', 'queued jobs, counted up to 100,000'),
  ('dead_in_an_hour', 10, 5, 0, 'critical', 'jobs that died within the last hour'),
  ('standstill_seconds', 300, 0, 0, 'critical', 'seconds for which nothing has run although something is due'),
  ('oldest_due_seconds', 900, 300, 60, 'warning', 'seconds for which the oldest job that could start has been due'),
  ('failure_ratio', 0.25, 0.15, 120, 'warning', 'part of the attempts of the last 15 minutes that failed, if 20 ended'),
  ('leases_overdue', 0, 0, 120, 'warning', 'running jobs whose lease has expired and was not ended'),
  ('schedules_late', 0, 0, 120, 'critical', 'schedules whose next job should have been enqueued'),
  ('tick_missing_seconds', 180, 60, 0, 'critical', 'seconds since the last tick of cron, if cron is installed'),
  ('endpoints_down', 0, 0, 300, 'warning', 'webhook endpoints that do not respond'),
  ('queue_megabytes', 1024, 768, 600, 'warning', 'size of the tables that a claim reads, in MB');

-- Each is cheap whatever the size of the queue.

create function tickwork.measure_queue_size()
returns double precision
language sql
stable
return (
  select count(*)
  from (
    (select from tickwork.waiting limit 100000)
    union all
    (select from tickwork.parked limit 100000)
    union all
    (select from tickwork.awaiting limit 100000)
    limit 100000
  ) as queued
);

create function tickwork.ended_since(since timestamptz, outcomes text[])
returns bigint
language sql
stable
return (
  select coalesce(sum(minutes.jobs), 0)
  from (select distinct family_types.type from tickwork.family_types) as types
  join tickwork.minutes on minutes.type = types.type
    and minutes.tenant_id = tickwork.all_tenants()
    and minutes.at > ended_since.since
    and minutes.outcome = any (ended_since.outcomes)
);

create function tickwork.measure_dead_in_an_hour()
returns double precision
language sql
stable
return tickwork.ended_since(clock_timestamp() - interval '1 hour', '{dead}');

create function tickwork.measure_failure_ratio()
returns double precision
language sql
stable
return (
  select case when done + failed >= 20 then failed::double precision / (done + failed) else 0 end
  from (
    select
      tickwork.ended_since(clock_timestamp() - interval '15 minutes', '{done}') as done,
      tickwork.ended_since(clock_timestamp() - interval '15 minutes', '{failed, dead, retried}') as failed
  ) as ended
);

create function tickwork.oldest_due_at()
returns timestamptz
language sql
stable
return (
  select min(oldest.run_at)
  from (
    select waiting.run_at
    from tickwork.waiting
    join tickwork.family_types on family_types.family = waiting.family
      and family_types.type = waiting.type
      and not family_types.is_paused
    join tickwork.tenants on tenants.number = waiting.tenant_number
      and not tenants.is_paused
    limit 100000
  ) as oldest
);

create function tickwork.measure_oldest_due_seconds()
returns double precision
language sql
stable
return coalesce(extract(epoch from clock_timestamp() - tickwork.oldest_due_at()), 0);

create function tickwork.measure_standstill_seconds()
returns double precision
language sql
stable
return case
  when exists (select from tickwork.leases where leases.expires_at > clock_timestamp()) then 0
  else coalesce((
    select extract(epoch from clock_timestamp() - greatest(oldest.due_at, (
      select minutes.at + interval '1 minute'
      from tickwork.minutes
      -- Not the time on the clock, which differs from row to row, so that no index could be used.
      where minutes.at > now() - interval '1 hour'
        and minutes.tenant_id = tickwork.all_tenants()
        and minutes.outcome <> 'enqueued'
      order by minutes.at desc
      limit 1
    )))
    from (select tickwork.oldest_due_at() offset 0) as oldest(due_at)
    -- Without anything due there is no standstill.
    where oldest.due_at is not null
  ), 0)
end;

create function tickwork.measure_leases_overdue()
returns double precision
language sql
stable
return (select count(*) from tickwork.leases where leases.expires_at < clock_timestamp() - interval '1 minute');

create function tickwork.measure_schedules_late()
returns double precision
language sql
stable
return (
  select count(*)
  from public.schedules
  where schedules.paused_at is null
    and schedules.look_at < clock_timestamp() - interval '1 minute'
);

create function tickwork.measure_tick_missing_seconds()
returns double precision
language sql
stable
return case
  when exists (select from tickwork.functions)
    then coalesce(extract(epoch from clock_timestamp() - (select max(ticks.ticked_at) from tickwork.ticks)), 0)
  else 0
end;

create function tickwork.measure_endpoints_down()
returns double precision
language plpgsql
stable
as $$
begin
  if to_regclass('public.webhook_endpoints') is null then
    return 0;
  end if;

  return (select count(*) from public.webhook_endpoints where webhook_endpoints.breaker <> 'closed');
end
$$;

create function tickwork.measure_queue_megabytes()
returns double precision
language sql
stable
return (
  select sum(pg_total_relation_size(hot_table)) / 1048576
  from unnest(array[
    'tickwork.waiting', 'tickwork.parked', 'tickwork.leases', 'tickwork.alarms'
  ]::regclass[]) as hot_table
);

comment on function tickwork.ended_since is 'How many jobs and attempts had one of these outcomes since then.';
comment on function tickwork.oldest_due_at is 'Since when the oldest job that could start has been due.';
