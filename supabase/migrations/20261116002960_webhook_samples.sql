-- What Prometheus is told about webhooks.

insert into tickwork.metric_kinds (name, kind, help) values
  ('webhook_deliveries_total', 'counter', 'Deliveries that ended, by status: delivered or failed.'),
  ('webhook_deliveries_pending', 'gauge', 'Deliveries that have not ended.'),
  ('webhook_endpoints', 'gauge', 'Endpoints by state: closed (they respond), open, half_open (breaker) or disabled.');

create function tickwork.webhook_samples(tenants uuid[], tenant_label text)
returns setof tickwork.sample
language sql
stable
as $$
  select
    'webhook_deliveries_total', null,
    concat_ws(
      ',', tickwork.label('status', case totals.outcome when 'done' then 'delivered' else 'failed' end),
      tickwork.label(webhook_samples.tenant_label, totals.tenant_id::text)
    ),
    sum(totals.jobs)
  from tickwork.totals_of(webhook_samples.tenants) as totals
  where totals.type = 'deliver_webhook'
    and totals.outcome in ('done', 'failed', 'dead')
  group by 3
  union all
  select
    'webhook_deliveries_pending', null, tickwork.label(webhook_samples.tenant_label, tenants.tenant_id::text), count(*)
  from (
    select waiting.type, waiting.tenant_number from tickwork.waiting
    union all
    select parked.type, parked.tenant_number from tickwork.parked
    union all
    select awaiting.type, awaiting.tenant_number from tickwork.awaiting
    union all
    select leases.type, leasing.number
    from tickwork.leases
    join tickwork.tenants as leasing on leasing.tenant_id = leases.tenant_id
  ) as pending
  join tickwork.tenants on tenants.number = pending.tenant_number
  where pending.type = 'deliver_webhook'
    and (webhook_samples.tenants is null or tenants.tenant_id = any (webhook_samples.tenants))
  group by 3
  union all
  select
    'webhook_endpoints', null,
    concat_ws(
      ',',
      tickwork.label(
        'state',
        case when webhook_endpoints.status = 'active' then webhook_endpoints.breaker else webhook_endpoints.status end
      ),
      tickwork.label(webhook_samples.tenant_label, webhook_endpoints.tenant_id::text)
    ),
    count(*)
  from public.webhook_endpoints
  where webhook_samples.tenants is null
    or webhook_endpoints.tenant_id = any (webhook_samples.tenants)
  group by 3;
$$;

comment on function tickwork.webhook_samples is 'Deliveries and endpoints, of these tenants or of all together.';
