-- Three numbers for a dashboard.

create function tickwork.queue_widgets(tenant_id uuid)
returns table (jobs_in_queue bigint, dead_in_24_hours bigint, average_processing_seconds double precision)
language sql
stable
security definer -- counts in tables that nobody may read, and only what the caller may see
set search_path = ''
set jit = off
as $$
  select
    (
      select count(*)
      from (
        select waiting.tenant_number from tickwork.waiting
        union all
        select parked.tenant_number from tickwork.parked
        union all
        select awaiting.tenant_number from tickwork.awaiting
      ) as queued
      where tenant.id = tickwork.all_tenants()
        or queued.tenant_number = (select tenants.number from tickwork.tenants where tenants.tenant_id = tenant.id)
    ),
    (
      select count(*)
      from tickwork.unsuccessful
      where unsuccessful.status = 'dead'
        and unsuccessful.created_at > now() - interval '24 hours'
        and (tenant.id = tickwork.all_tenants() or unsuccessful.tenant_id = tenant.id)
    ),
    (
      select sum(totals.run_ms)::double precision / 1000 / sum(totals.jobs)
      from tickwork.totals
      where totals.tenant_id = tenant.id
        and totals.outcome = 'done'
        and totals.run_bucket is not null
    )
  from tickwork.figures_tenant(queue_widgets.tenant_id) as tenant(id);
$$;

create function public.queue_widgets(tenant_id uuid default null)
returns table (jobs_in_queue bigint, dead_in_24_hours bigint, average_processing_seconds double precision)
language sql
stable
begin atomic
  select *
  from tickwork.queue_widgets(tenant_id);
end;

comment on function public.queue_widgets is
  'Reads how many jobs are queued, how many of those that were created within 24 hours are dead, and how long done '
  'jobs have run on average, including those that were deleted since. Of one tenant or, for platform admins and the '
  'service, of all. Raises TWTNT, TWMEM.';

select tickwork.open_verbs('authenticated, service_role', array['latency', 'throughput', 'queue_widgets']);
