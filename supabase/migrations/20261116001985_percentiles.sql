-- Percentiles for charts: those of all types together, step by step.

create function tickwork.percentiles(
  tenant_id uuid,
  type text,
  since timestamptz,
  until timestamptz,
  step interval
)
returns table (
  at timestamptz,
  jobs bigint,
  wait_p50 double precision,
  wait_p95 double precision,
  wait_p99 double precision,
  run_p50 double precision,
  run_p95 double precision,
  run_p99 double precision
)
language plpgsql
stable
security definer -- figures of all tenants have no tenant that could read them
set search_path = ''
set jit = off
as $$
declare
  tenant constant uuid := tickwork.figures_tenant(percentiles.tenant_id);
begin
  return query
  with figures as (
    select figures.at, figures.outcome, figures.wait_bucket, figures.run_bucket, figures.jobs
    from tickwork.figures_in_steps(
      tenant, percentiles.type, percentiles.since, percentiles.until, percentiles.step
    ) as figures
    where percentiles.step is not null
    union all
    select percentiles.since, figures.outcome, figures.wait_bucket, figures.run_bucket, figures.jobs
    from tickwork.figures_between(tenant, percentiles.type, percentiles.since, percentiles.until) as figures
    where percentiles.step is null
  ),
  counted as (
    select figures.at, figures.wait_bucket, figures.run_bucket, sum(figures.jobs)::bigint as jobs
    from figures
    -- Those that ended without a run have no duration.
    where figures.outcome in ('done', 'failed', 'dead', 'cancelled')
      and figures.run_bucket is not null
    group by 1, 2, 3
  ),
  spread as materialized (
    select
      counted.at, sum(counted.jobs)::bigint as jobs, array_agg(counted.wait_bucket) as waits,
      array_agg(counted.run_bucket) as runs, array_agg(counted.jobs) as counts
    from counted
    group by counted.at
  )
  select
    spread.at, spread.jobs,
    tickwork.percentile(spread.waits, spread.counts, 0.5), tickwork.percentile(spread.waits, spread.counts, 0.95),
    tickwork.percentile(spread.waits, spread.counts, 0.99), tickwork.percentile(spread.runs, spread.counts, 0.5),
    tickwork.percentile(spread.runs, spread.counts, 0.95), tickwork.percentile(spread.runs, spread.counts, 0.99)
  from spread
  order by spread.at;
end
$$;

create function public.percentiles(
  tenant_id uuid default null,
  type text default null,
  since timestamptz default now() - interval '1 hour',
  until timestamptz default now(),
  step interval default null
)
returns table (
  at timestamptz,
  jobs bigint,
  wait_p50 double precision,
  wait_p95 double precision,
  wait_p99 double precision,
  run_p50 double precision,
  run_p95 double precision,
  run_p99 double precision
)
language sql
stable
begin atomic
  select *
  from tickwork.percentiles(tenant_id, type, since, until, step);
end;

comment on function public.percentiles is
  'Reads how long jobs of one type or of all types together had waited and run, in seconds, in each step of a window, '
  'for charts; without a step in the whole window. Steps without any job have no row. Windows, steps and accuracy are '
  'those of latency and throughput. Of one tenant or, for platform admins and the service, of all. Raises TWTNT, '
  'TWMEM.';
