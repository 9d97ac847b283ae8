-- What Prometheus can be told: counters from the totals, gauges from the tables that the queue works on.

create table tickwork.metric_kinds (
  name text primary key,
  kind text not null,
  help text not null,
  constraint kind_is_known check (kind in ('counter', 'gauge', 'histogram'))
);

comment on table tickwork.metric_kinds is 'The metrics that there are, without their prefix.';

select tickwork.guard_table('tickwork.metric_kinds', queue => 'select');

insert into tickwork.metric_kinds (name, kind, help) values
  ('jobs_enqueued_total', 'counter', 'Jobs that were enqueued.'),
  ('jobs_completed_total', 'counter', 'Jobs that ended, by status: done, failed, dead or cancelled.'),
  ('job_retries_total', 'counter', 'Attempts that did not end their job: it was queued again.'),
  ('leases_expired_total', 'counter', 'Attempts whose worker stopped renewing the lease.'),
  ('job_timeouts_total', 'counter', 'Attempts that took longer than their type allows.'),
  ('job_duration_seconds', 'histogram', 'How long attempts ran.'),
  ('job_wait_seconds', 'histogram', 'How long jobs were due before the attempt that ended them started.'),
  ('lease_renewals_total', 'counter', 'Leases that a worker has renewed.'),
  ('jobs_running', 'gauge', 'Jobs that are running.'),
  ('jobs_queued', 'gauge', 'Queued jobs by state: due, later, held (by their lane) or awaiting (other jobs).'),
  ('oldest_due_seconds', 'gauge', 'For how long the oldest job that could start has been due.'),
  ('jobs_dead_letter', 'gauge', 'Dead jobs that are kept.'),
  ('jobs_failed_kept', 'gauge', 'Failed jobs that are kept.'),
  ('leases_overdue', 'gauge', 'Running jobs whose lease has expired and was not ended yet.'),
  ('lanes_held', 'gauge', 'Lanes that are held.'),
  ('pauses', 'gauge', 'Pauses of families, types and tenants.'),
  ('schedules', 'gauge', 'Schedules that are not paused.'),
  ('schedules_late', 'gauge', 'Schedules whose next job should have been enqueued a minute ago or more.'),
  ('last_tick_timestamp_seconds', 'gauge', 'When the queue was last looked after: by a tick, a worker or a function.'),
  ('figures_lag_seconds', 'gauge', 'How old the jobs are that the counters have come to.'),
  ('alerts_open', 'gauge', 'Alerts that are open, by severity.'),
  ('table_bytes', 'gauge', 'Size of the tables of the queue, with their indexes.');

create type tickwork.sample as (
  metric text,
  suffix text,
  labels text,
  value double precision
);

comment on type tickwork.sample is 'One line of the metrics. The suffix is that of a histogram.';

create function tickwork.label(name text, value text)
returns text
language sql
immutable
return name || '="' || replace(replace(replace(value, '\', '\\'), '"', '\"'), E'\n', '\n') || '"';

comment on function tickwork.label is 'A label as Prometheus reads it; null if it has no name or value.';

create function tickwork.figures_tenant(tenant_id uuid)
returns uuid
language plpgsql
stable
as $$
declare
  own constant uuid[] := array(select tickwork.caller_tenants());
begin
  if figures_tenant.tenant_id is null and (tickwork.caller_is_service() or tickwork.caller_reads_all()) then
    return tickwork.all_tenants();
  end if;

  -- Whoever belongs to one tenant need not name it.
  if figures_tenant.tenant_id is null and cardinality(own) = 1 then
    return own[1];
  end if;

  perform tickwork.check_caller(figures_tenant.tenant_id);
  return figures_tenant.tenant_id;
end
$$;

comment on function tickwork.figures_tenant is
  'Whose figures the caller gets: those of this tenant, of the only one that the caller belongs to, or of all. Raises '
  'TWTNT, TWMEM.';

-- Of all tenants together, or of those that are named.

create function tickwork.totals_of(tenants uuid[])
returns setof tickwork.totals
language sql
stable
as $$
  select totals.*
  from unnest(coalesce(totals_of.tenants, array[tickwork.all_tenants()])) as tenant(id)
  cross join lateral (select * from tickwork.totals where totals.tenant_id = tenant.id) as totals;
$$;

create function tickwork.counter_samples(tenants uuid[], tenant_label text)
returns setof tickwork.sample
language sql
stable
as $$
  select
    metric.name, null, concat_ws(
      ',', tickwork.label('family', totals.family), tickwork.label('job_type', totals.type),
      case when metric.name = 'jobs_completed_total' then tickwork.label('status', totals.outcome) end,
      tickwork.label(counter_samples.tenant_label, totals.tenant_id::text)
    ),
    sum(totals.jobs)
  from tickwork.totals_of(counter_samples.tenants) as totals
  cross join lateral (
    select case totals.outcome
      when 'enqueued' then 'jobs_enqueued_total'
      when 'retried' then 'job_retries_total'
      when 'lease_expired' then 'leases_expired_total'
      when 'timeout' then 'job_timeouts_total'
      else 'jobs_completed_total'
    end
  ) as metric(name)
  group by metric.name, totals.family, totals.type, totals.outcome, totals.tenant_id
  union all
  select 'lease_renewals_total', null, tickwork.label('worker_id', renewals.worker_id), renewals.renewals
  from tickwork.renewals
  where counter_samples.tenants is null;
$$;

-- Every second bucket: each is twice as wide as the one before it, from 4 ms to some hours.

create function tickwork.histogram_samples(tenants uuid[], tenant_label text)
returns setof tickwork.sample
language sql
stable
as $$
  with counted as (
    select
      measured.metric, totals.family, totals.type, totals.tenant_id, measured.bucket, sum(totals.jobs) as jobs,
      sum(measured.ms) / 1000.0 as seconds
    from tickwork.totals_of(histogram_samples.tenants) as totals
    cross join lateral (
      values
        ('job_duration_seconds', totals.run_bucket, totals.run_ms),
        ('job_wait_seconds', totals.wait_bucket, totals.wait_ms)
    ) as measured(metric, bucket, ms)
    where measured.bucket is not null
    group by 1, 2, 3, 4, 5
  ),
  summed as (
    select
      counted.metric, sum(counted.jobs) as jobs, sum(counted.seconds) as seconds,
      array_agg(counted.bucket) as buckets, array_agg(counted.jobs) as counts,
      concat_ws(
        ',', tickwork.label('family', counted.family), tickwork.label('job_type', counted.type),
        tickwork.label(histogram_samples.tenant_label, counted.tenant_id::text)
      ) as labels
    from counted
    group by counted.metric, counted.family, counted.type, counted.tenant_id
  )
  select
    summed.metric, '_bucket',
    concat_ws(',', summed.labels, tickwork.label('le', round(tickwork.bucket_end(edge)::numeric / 1000, 3)::text)),
    (
      select coalesce(sum(part.jobs), 0)
      from unnest(summed.buckets, summed.counts) as part(bucket, jobs)
      where part.bucket <= edge
    )
  from summed
  cross join generate_series(4, 48, 2) as edge
  union all
  select summed.metric, whole.suffix, whole.labels, whole.value
  from summed
  cross join lateral (
    values
      ('_bucket', concat_ws(',', summed.labels, 'le="+Inf"'), summed.jobs),
      ('_sum', summed.labels, summed.seconds),
      ('_count', summed.labels, summed.jobs)
  ) as whole(suffix, labels, value);
$$;

create function tickwork.queue_samples(tenants uuid[], tenant_label text)
returns setof tickwork.sample
language sql
stable
as $$
  with jobs as (
    select
      waiting.family, waiting.type, waiting.tenant_number, 'due' as state, count(*) as jobs, min(waiting.run_at) as due
    from tickwork.waiting
    group by 1, 2, 3
    union all
    select
      parked.family, parked.type, parked.tenant_number,
      case when parked.run_at > clock_timestamp() then 'later' else 'held' end, count(*), null
    from tickwork.parked
    group by 1, 2, 3, 4
    union all
    select awaiting.family, awaiting.type, awaiting.tenant_number, 'awaiting', count(*), null
    from tickwork.awaiting
    group by 1, 2, 3
    union all
    select leases.family, leases.type, tenants.number, 'running', count(*), null
    from tickwork.leases
    join tickwork.tenants on tenants.tenant_id = leases.tenant_id
    group by 1, 2, 3
  ),
  counted as (
    select
      jobs.state, sum(jobs.jobs) as jobs, min(jobs.due) as due,
      concat_ws(
        ',', tickwork.label('family', jobs.family), tickwork.label('job_type', jobs.type),
        tickwork.label(queue_samples.tenant_label, tenants.tenant_id::text)
      ) as labels
    from jobs
    join tickwork.tenants on tenants.number = jobs.tenant_number
    where queue_samples.tenants is null
      or tenants.tenant_id = any (queue_samples.tenants)
    group by 1, 4
  )
  select 'jobs_running', null, counted.labels, counted.jobs
  from counted
  where counted.state = 'running'
  union all
  select 'jobs_queued', null, concat_ws(',', counted.labels, tickwork.label('state', counted.state)), counted.jobs
  from counted
  where counted.state <> 'running'
  union all
  select
    'oldest_due_seconds', null, counted.labels,
    greatest(extract(epoch from clock_timestamp() - counted.due), 0)
  from counted
  where counted.state = 'due';
$$;

comment on function tickwork.totals_of is 'The totals of these tenants, or of all together.';
comment on function tickwork.counter_samples is 'The counters, of these tenants or of all together.';
comment on function tickwork.histogram_samples is 'Durations and waits, of these tenants or of all together.';
comment on function tickwork.queue_samples is 'What is queued and running now.';
