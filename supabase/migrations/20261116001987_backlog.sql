-- The queue by type and by tenant, for a page that is read every few seconds: done jobs are counted by the figures, and
-- everything else is in small tables.

create function tickwork.queue_by_type(tenant_id uuid)
returns table (
  family text,
  type text,
  queued bigint,
  due bigint,
  running bigint,
  done bigint,
  failed bigint,
  dead bigint,
  cancelled bigint,
  oldest_due_at timestamptz
)
language sql
stable
security definer -- counts in tables that nobody may read, and only what the caller may see
set search_path = ''
set jit = off
as $$
  with seen as materialized (
    select resolved.tenant_ids
    from tickwork.resolve_filter(
      tickwork.new_filter(queue_by_type.tenant_id, null, null, null, null, null, null, null)
    ) as resolved
  ),
  counted as (
    select others.*
    from seen
    cross join lateral tickwork.count_others(seen.tenant_ids) as others
    union all
    select totals.family, totals.type, totals.outcome, totals.jobs, 0, null
    from seen
    cross join lateral tickwork.totals_of(seen.tenant_ids) as totals
    where totals.outcome = 'done'
  )
  select
    counted.family,
    counted.type,
    coalesce(sum(counted.jobs) filter (where counted.status = 'queued'), 0)::bigint,
    coalesce(sum(counted.due), 0)::bigint,
    coalesce(sum(counted.jobs) filter (where counted.status = 'running'), 0)::bigint,
    coalesce(sum(counted.jobs) filter (where counted.status = 'done'), 0)::bigint,
    coalesce(sum(counted.jobs) filter (where counted.status = 'failed'), 0)::bigint,
    coalesce(sum(counted.jobs) filter (where counted.status = 'dead'), 0)::bigint,
    coalesce(sum(counted.jobs) filter (where counted.status = 'cancelled'), 0)::bigint,
    min(counted.oldest_due_at)
  from counted
  group by counted.family, counted.type
  order by counted.family, counted.type;
$$;

create function public.queue_by_type(tenant_id uuid default null)
returns table (
  family text,
  type text,
  queued bigint,
  due bigint,
  running bigint,
  done bigint,
  failed bigint,
  dead bigint,
  cancelled bigint,
  oldest_due_at timestamptz
)
language sql
stable
begin atomic
  select *
  from tickwork.queue_by_type(tenant_id);
end;

comment on function public.queue_by_type is
  'Reads what queue_summary reads, however many jobs are kept: done are those that the figures have counted so far, '
  'including those that were deleted since.';

create function tickwork.queue_by_tenant(max_tenants integer)
returns table (
  tenant_id uuid,
  name text,
  queued bigint,
  due bigint,
  running bigint,
  oldest_due_at timestamptz
)
language sql
stable
security definer -- counts in tables that nobody may read, and only what the caller may see
set search_path = ''
set jit = off
as $$
  with filed as (
    select waiting.tenant_number, count(*) as queued, count(*) as due, 0 as running, min(waiting.run_at) as oldest
    from tickwork.waiting
    group by 1
    union all
    select
      parked.tenant_number, count(*), count(*) filter (where parked.run_at <= now()), 0,
      min(parked.run_at) filter (where parked.run_at <= now())
    from tickwork.parked
    group by 1
    union all
    select awaiting.tenant_number, count(*), 0, 0, null
    from tickwork.awaiting
    group by 1
    union all
    select tenants.number, 0, 0, count(*), null
    from tickwork.leases
    join tickwork.tenants on tenants.tenant_id = leases.tenant_id
    group by 1
  ),
  summed as (
    select
      tenants.tenant_id, sum(filed.queued)::bigint as queued, sum(filed.due)::bigint as due,
      sum(filed.running)::bigint as running, min(filed.oldest) as oldest
    from filed
    join tickwork.tenants on tenants.number = filed.tenant_number
    where (select tickwork.may_act_for(null))
      or tenants.tenant_id in (select tickwork.caller_tenants())
    group by 1
    order by due desc, queued desc, running desc, tenants.tenant_id
    limit greatest(least(queue_by_tenant.max_tenants, 1000), 0)
  )
  select summed.tenant_id, organizations.name, summed.queued, summed.due, summed.running, summed.oldest
  from summed
  join tickwork.organizations on organizations.id = summed.tenant_id
  order by summed.due desc, summed.queued desc, summed.running desc, summed.tenant_id;
$$;

create function public.queue_by_tenant(max_tenants integer default 20)
returns table (
  tenant_id uuid,
  name text,
  queued bigint,
  due bigint,
  running bigint,
  oldest_due_at timestamptz
)
language sql
stable
begin atomic
  select *
  from tickwork.queue_by_tenant(max_tenants);
end;

comment on function public.queue_by_tenant is
  'Reads which of the tenants that the caller may see have queued or running jobs, those with the most due jobs first. '
  'At most 1000.';

select tickwork.open_verbs('authenticated, service_role', array['percentiles', 'queue_by_type', 'queue_by_tenant']);
