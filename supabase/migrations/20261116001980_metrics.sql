-- The metrics in the text format of Prometheus.

create function tickwork.upkeep_samples(tenants uuid[], tenant_label text)
returns setof tickwork.sample
language sql
stable
as $$
  with ended as (
    select
      unsuccessful.status, tickwork.label(upkeep_samples.tenant_label, unsuccessful.tenant_id::text) as labels,
      count(*) as jobs
    from tickwork.unsuccessful
    where unsuccessful.status in ('dead', 'failed')
      and (upkeep_samples.tenants is null or unsuccessful.tenant_id = any (upkeep_samples.tenants))
    group by 1, 2
  ),
  planned as (
    select
      tickwork.label(upkeep_samples.tenant_label, schedules.tenant_id::text) as labels, count(*) as schedules,
      count(*) filter (where schedules.look_at < clock_timestamp() - interval '1 minute') as late
    from public.schedules
    where schedules.paused_at is null
      and (upkeep_samples.tenants is null or schedules.tenant_id = any (upkeep_samples.tenants))
    group by 1
  )
  select
    case ended.status when 'dead' then 'jobs_dead_letter' else 'jobs_failed_kept' end, null, ended.labels, ended.jobs
  from ended
  union all
  select counted.metric, null, planned.labels, counted.schedules
  from planned
  cross join lateral (
    values ('schedules', planned.schedules), ('schedules_late', planned.late)
  ) as counted(metric, schedules)
  union all
  select 'lanes_held', null, tickwork.label(upkeep_samples.tenant_label, lane_rules.tenant_id::text), count(*)
  from tickwork.lane_rules
  where lane_rules.held_until > clock_timestamp()
    and (upkeep_samples.tenants is null or lane_rules.tenant_id = any (upkeep_samples.tenants))
  group by 3;
$$;

create function tickwork.platform_samples()
returns setof tickwork.sample
language sql
stable
as $$
  select 'leases_overdue', null, '', count(*)
  from tickwork.leases
  where leases.expires_at < clock_timestamp()
  union all
  select 'pauses', null, '', count(*)
  from tickwork.pauses
  union all
  select 'last_tick_timestamp_seconds', null, '', extract(epoch from tickwork.last_tick())
  where tickwork.last_tick() > '-infinity'
  union all
  select 'figures_lag_seconds', null, '', extract(epoch from clock_timestamp() - rollup.safe_to)
  from tickwork.rollup
  where rollup.safe_to > '-infinity'
  union all
  select 'alerts_open', null, tickwork.label('severity', alerts.severity), count(*)
  from public.alerts
  where alerts.closed_at is null
  group by 3
  union all
  select 'table_bytes', null, tickwork.label('table', counted.name), pg_total_relation_size(counted.name::regclass)
  from unnest(array['public.jobs', 'tickwork.waiting', 'tickwork.parked', 'tickwork.leases']) as counted(name);
$$;

-- Modules add their own, if they are installed.

create function tickwork.module_samples(tenants uuid[], tenant_label text)
returns setof tickwork.sample
language plpgsql
stable
as $$
begin
  if to_regproc('tickwork.webhook_samples') is not null then
    return query
    select * from tickwork.webhook_samples(module_samples.tenants, module_samples.tenant_label);
  end if;

  if to_regproc('tickwork.extraction_samples') is not null then
    return query
    select * from tickwork.extraction_samples(module_samples.tenants, module_samples.tenant_label);
  end if;
end
$$;

create function tickwork.metrics(tenant_id uuid, prefix text, tenant_label text, max_tenants integer)
returns text
language plpgsql
stable
security definer -- reads tables that nobody may read, and returns only what the caller may see
set search_path = ''
-- Compiling statements of this size takes longer than executing them.
set jit = off
as $$
declare
  tenant constant uuid := tickwork.figures_tenant(metrics.tenant_id);
  tenants uuid[] := array[tenant];
  samples tickwork.sample[];
begin
  if (metrics.prefix ~ '^([a-zA-Z_:][a-zA-Z0-9_:]*)?$' and coalesce(metrics.tenant_label, '_') ~ '^[a-zA-Z_]\w*$')
    is not true
  then
    raise exception 'prefix, tenant_label: must be letters, digits and underscores'
      using errcode = 'TWARG', hint = 'Such as the prefix bpc_ and the label tenant_id.';
  end if;

  if tenant = tickwork.all_tenants() then
    tenants := case when metrics.tenant_label is not null then tickwork.busiest_tenants(metrics.max_tenants) end;
  end if;

  samples := array(select tickwork.counter_samples(tenants, metrics.tenant_label))
    || array(select tickwork.histogram_samples(tenants, metrics.tenant_label))
    || array(select tickwork.queue_samples(tenants, metrics.tenant_label))
    || array(select tickwork.upkeep_samples(tenants, metrics.tenant_label))
    || array(select tickwork.module_samples(tenants, metrics.tenant_label));

  if tenant = tickwork.all_tenants() then
    samples := samples || array(select tickwork.platform_samples());
  end if;

  return tickwork.prometheus_text(metrics.prefix, samples);
end
$$;

create function tickwork.busiest_tenants(most integer)
returns uuid[]
language sql
stable
as $$
  select coalesce(array_agg(busiest.tenant_id), '{}')
  from (
    select totals.tenant_id
    from tickwork.totals
    where totals.tenant_id <> tickwork.all_tenants()
      and totals.outcome = 'enqueued'
    group by totals.tenant_id
    order by sum(totals.jobs) desc, totals.tenant_id
    limit greatest(busiest_tenants.most, 0)
  ) as busiest;
$$;

create function tickwork.prometheus_text(prefix text, samples tickwork.sample[])
returns text
language sql
stable
as $$
  select string_agg(
    format(
      E'# HELP %1$s%2$s %3$s\n# TYPE %1$s%2$s %4$s\n%5$s',
      prometheus_text.prefix, metric_kinds.name, metric_kinds.help, metric_kinds.kind, lines.text
    ),
    '' order by metric_kinds.name
  )
  from tickwork.metric_kinds
  left join (
    select
      sample.metric,
      string_agg(
        prometheus_text.prefix || sample.metric || coalesce(sample.suffix, '')
          || coalesce('{' || nullif(sample.labels, '') || '}', '') || ' ' || sample.value || E'\n',
        '' order by sample.place
      ) as text
    from unnest(prometheus_text.samples) with ordinality as sample(metric, suffix, labels, value, place)
    group by sample.metric
  ) as lines on lines.metric = metric_kinds.name;
$$;

create function public.metrics(
  tenant_id uuid default null,
  prefix text default 'tickwork_',
  tenant_label text default null,
  max_tenants integer default 100
)
returns text
language sql
stable
set search_path = ''
return tickwork.metrics(tenant_id, prefix, tenant_label, max_tenants);

comment on function tickwork.upkeep_samples is 'What is kept, scheduled and held, of these tenants or of all together.';
comment on function tickwork.platform_samples is 'What concerns no tenant.';
comment on function tickwork.busiest_tenants is 'The tenants that have enqueued the most jobs.';
comment on function tickwork.prometheus_text is
  'The samples as text, each metric with what it means, even without any.';
comment on function tickwork.metrics is 'Reads the metrics, of one tenant or of all. Raises TWTNT, TWMEM.';
comment on function public.metrics is
  'Reads metrics in the text format of Prometheus: of one tenant or, for platform admins and the service, of all '
  'tenants together. With a tenant_label, such as tenant_id, it is those of each of the max_tenants tenants that have '
  'enqueued the most jobs. Counters never fall, and are some seconds behind. Raises TWTNT, TWMEM, TWARG.';

select tickwork.open_verbs('authenticated, service_role', array['metrics']);
