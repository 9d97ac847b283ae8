-- Percentiles and rates over any window, for people and for charts. Whole days are read as such where the window is
-- long, then whole hours, and what is left at both ends by the minute, as long as there are minutes.

create function tickwork.types_of(type text)
returns text[]
language sql
stable
return case
  when type is not null then array[type]
  else array(select distinct family_types.type from tickwork.family_types)
end;

create function tickwork.figures_between(tenant_id uuid, type text, since timestamptz, until timestamptz)
returns setof tickwork.totals
language plpgsql
stable
-- A tenant has a small part of the figures, all tenants together have most of them.
set plan_cache_mode = force_custom_plan
as $$
declare
  own_types constant text[] := tickwork.types_of(figures_between.type);
  is_long constant boolean := figures_between.until - figures_between.since > interval '14 days';
  first_day constant timestamptz := date_trunc('day', figures_between.since, 'UTC');
  end_of_days constant timestamptz := case
    when is_long then date_trunc('day', figures_between.until, 'UTC')
    else first_day
  end;
  first_minute constant timestamptz := case
    when is_long then end_of_days
    else date_trunc('minute', figures_between.since, 'UTC')
  end;
  has_minutes constant boolean := first_minute > clock_timestamp() - interval '8 days';
  first_hour constant timestamptz := date_trunc(
    'hour', first_minute + case when has_minutes then interval '59 minutes' else '0' end, 'UTC'
  );
  end_of_hours constant timestamptz := greatest(date_trunc('hour', figures_between.until, 'UTC'), first_hour);
begin
  return query
  select
    figures_between.tenant_id, figures.family, figures.type, figures.outcome, figures.wait_bucket, figures.run_bucket,
    sum(figures.jobs)::bigint, sum(figures.wait_ms)::bigint, sum(figures.run_ms)::bigint
  from (
    select days.*
    from tickwork.days
    where days.tenant_id = figures_between.tenant_id
      and days.type = any (own_types)
      and days.at >= first_day
      and days.at < end_of_days
    union all
    select hours.*
    from tickwork.hours
    where hours.tenant_id = figures_between.tenant_id
      and hours.type = any (own_types)
      and hours.at >= first_hour
      and hours.at < end_of_hours
    union all
    select minutes.*
    from tickwork.minutes
    where minutes.tenant_id = figures_between.tenant_id
      and minutes.type = any (own_types)
      and minutes.at >= first_minute
      and minutes.at < least(first_hour, figures_between.until)
    union all
    select minutes.*
    from tickwork.minutes
    where minutes.tenant_id = figures_between.tenant_id
      and minutes.type = any (own_types)
      and minutes.at >= end_of_hours
      and minutes.at < figures_between.until
  ) as figures
  group by 2, 3, 4, 5, 6;
end
$$;

create function tickwork.percentile(buckets smallint[], jobs bigint[], fraction double precision)
returns double precision
language sql
immutable
as $$
  select (part.start + (part.stop - part.start) * (percentile.fraction * part.total - part.before) / part.jobs) / 1000
  from (
    select
      counted.jobs, sum(counted.jobs) over () as total,
      sum(counted.jobs) over (order by counted.bucket) - counted.jobs as before,
      case when counted.bucket > 0 then tickwork.bucket_end(counted.bucket - 1) else 0 end as start,
      tickwork.bucket_end(counted.bucket) as stop
    from (
      select given.bucket, sum(given.jobs) as jobs
      from unnest(percentile.buckets, percentile.jobs) as given(bucket, jobs)
      where given.bucket is not null
      group by given.bucket
    ) as counted
  ) as part
  where part.before + part.jobs >= percentile.fraction * part.total
  order by part.before
  limit 1;
$$;

comment on function tickwork.figures_between is 
  'The figures of a tenant in a window: by the hour and by the minute, and by the day if it has more than 14 days.';
comment on function tickwork.percentile is
  'The duration in seconds that this part of the jobs did not exceed. Inside a bucket they are taken as evenly spread, '
  'so it is off by less than its width, 41 %.';

create function tickwork.latency(tenant_id uuid, type text, since timestamptz, until timestamptz)
returns table (
  family text,
  type text,
  jobs bigint,
  wait_p50 double precision,
  wait_p95 double precision,
  wait_p99 double precision,
  run_p50 double precision,
  run_p95 double precision,
  run_p99 double precision,
  average_wait double precision,
  average_run double precision
)
language sql
stable
security definer -- figures of all tenants have no tenant that could read them
set search_path = ''
set jit = off
as $$
  with spread as materialized (
    select
      figures.family, figures.type, sum(figures.jobs)::bigint as jobs,
      array_agg(figures.wait_bucket) as waits, array_agg(figures.run_bucket) as runs,
      array_agg(figures.jobs) as counts, sum(figures.wait_ms) as wait_ms, sum(figures.run_ms) as run_ms
    from tickwork.figures_between(
      tickwork.figures_tenant(latency.tenant_id), latency.type, latency.since, latency.until
    ) as figures
    -- Those that ended without a run have no duration.
    where figures.outcome in ('done', 'failed', 'dead', 'cancelled')
      and figures.run_bucket is not null
    group by figures.family, figures.type
  )
  select
    spread.family, spread.type, spread.jobs,
    tickwork.percentile(spread.waits, spread.counts, 0.5), tickwork.percentile(spread.waits, spread.counts, 0.95),
    tickwork.percentile(spread.waits, spread.counts, 0.99), tickwork.percentile(spread.runs, spread.counts, 0.5),
    tickwork.percentile(spread.runs, spread.counts, 0.95), tickwork.percentile(spread.runs, spread.counts, 0.99),
    spread.wait_ms / 1000.0 / spread.jobs, spread.run_ms / 1000.0 / spread.jobs
  from spread
  order by spread.family, spread.type;
$$;

create function public.latency(
  tenant_id uuid default null,
  type text default null,
  since timestamptz default now() - interval '1 hour',
  until timestamptz default now()
)
returns table (
  family text,
  type text,
  jobs bigint,
  wait_p50 double precision,
  wait_p95 double precision,
  wait_p99 double precision,
  run_p50 double precision,
  run_p95 double precision,
  run_p99 double precision,
  average_wait double precision,
  average_run double precision
)
language sql
stable
begin atomic
  select *
  from tickwork.latency(tenant_id, type, since, until);
end;

comment on function public.latency is
  'Reads how long jobs that ended in a window had waited and run, in seconds, for each type: percentiles, which '
  'are usually within 20 % and never off by more than 41 %, and exact averages. Of one tenant or, for platform admins '
  'and the service, of all. The window is taken by the minute, by the hour if it began more than 8 days ago, and from '
  'the beginning of a day (in UTC) if it has more than 14 days. '
  'Raises TWTNT, TWMEM.';

create function tickwork.figures_in_steps(
  tenant_id uuid,
  type text,
  since timestamptz,
  until timestamptz,
  step interval
)
returns table (at timestamptz, outcome text, wait_bucket smallint, run_bucket smallint, jobs bigint)
language plpgsql
stable
-- A tenant has a small part of the figures, all tenants together have most of them.
set plan_cache_mode = force_custom_plan
as $$
declare
  own_types constant text[] := tickwork.types_of(figures_in_steps.type);
  width constant interval := greatest(figures_in_steps.step, case
    when figures_in_steps.since < clock_timestamp() - interval '8 days' then interval '1 hour'
    else interval '1 minute'
  end);
begin
  return query
  select
    date_bin(width, figures.at, timestamptz '2001-01-01 00:00Z'), figures.outcome, figures.wait_bucket,
    figures.run_bucket, sum(figures.jobs)::bigint
  from (
    select minutes.at, minutes.outcome, minutes.wait_bucket, minutes.run_bucket, minutes.jobs
    from tickwork.minutes
    where width < interval '1 hour'
      and minutes.tenant_id = figures_in_steps.tenant_id
      and minutes.type = any (own_types)
      and minutes.at >= figures_in_steps.since
      and minutes.at < figures_in_steps.until
    union all
    select hours.at, hours.outcome, hours.wait_bucket, hours.run_bucket, hours.jobs
    from tickwork.hours
    where width >= interval '1 hour'
      and width < interval '1 day'
      and hours.tenant_id = figures_in_steps.tenant_id
      and hours.type = any (own_types)
      and hours.at >= figures_in_steps.since
      and hours.at < figures_in_steps.until
    union all
    select days.at, days.outcome, days.wait_bucket, days.run_bucket, days.jobs
    from tickwork.days
    where width >= interval '1 day'
      and days.tenant_id = figures_in_steps.tenant_id
      and days.type = any (own_types)
      and days.at >= figures_in_steps.since
      and days.at < figures_in_steps.until
  ) as figures
  group by 1, 2, 3, 4;
end
$$;

comment on function tickwork.figures_in_steps is
  'The figures of a tenant in each step of a window: by the minute, by the hour or, where steps are as long as that, '
  'by the day. A window that began more than 8 days ago has no minutes.';

create function tickwork.throughput(
  tenant_id uuid,
  type text,
  since timestamptz,
  until timestamptz,
  step interval
)
returns table (at timestamptz, outcome text, jobs bigint)
language sql
stable
security definer -- figures of all tenants have no tenant that could read them
set search_path = ''
set jit = off
as $$
  select figures.at, figures.outcome, sum(figures.jobs)::bigint
  from tickwork.figures_in_steps(
    tickwork.figures_tenant(throughput.tenant_id), throughput.type, throughput.since, throughput.until, throughput.step
  ) as figures
  group by 1, 2
  order by 1, 2;
$$;

create function public.throughput(
  tenant_id uuid default null,
  type text default null,
  since timestamptz default now() - interval '1 hour',
  until timestamptz default now(),
  step interval default '1 minute'
)
returns table (at timestamptz, outcome text, jobs bigint)
language sql
stable
begin atomic
  select *
  from tickwork.throughput(tenant_id, type, since, until, step);
end;

comment on function public.throughput is
  'Reads how many jobs were enqueued, ended or were retried in each step of a window, for charts. Steps without any '
  'have no row. A window that began more than 8 days ago has steps of an hour or more. Of one tenant or, for platform '
  'admins and the service, of all. Raises TWTNT, TWMEM.';
