-- Reads: events, and where and how they were delivered.

create function public.list_events(
  tenant_id uuid default null,
  only_type text default null,
  after_event_id uuid default null,
  max_rows integer default 50
)
returns setof public.events
language sql
stable
set search_path = ''
as $$
  select events.*
  from public.events
  where (list_events.tenant_id is null or events.tenant_id = list_events.tenant_id)
    and (list_events.only_type is null or events.type = list_events.only_type)
    and (
      list_events.after_event_id is null
      or (events.occurred_at, events.id) < (
        select last.occurred_at, last.id from public.events as last where last.id = list_events.after_event_id
      )
    )
  order by events.occurred_at desc, events.id desc
  limit greatest(least(list_events.max_rows, 1000), 0);
$$;

comment on function public.list_events is
  'Reads events, the newest first. For the next page, pass the last id of this one as after_event_id. At most 1000 at '
  'a time.';

create function public.list_webhook_endpoints(tenant_id uuid default null)
returns setof public.webhook_endpoints
language sql
stable
set search_path = ''
as $$
  select *
  from public.webhook_endpoints
  where list_webhook_endpoints.tenant_id is null
    or webhook_endpoints.tenant_id = list_webhook_endpoints.tenant_id
  order by webhook_endpoints.created_at, webhook_endpoints.id;
$$;

comment on function public.list_webhook_endpoints is
  'Reads the endpoints that events are posted to, the oldest first.';

create function public.list_webhook_deliveries(
  tenant_id uuid default null,
  webhook_endpoint_id uuid default null,
  delivery_status text default null,
  after_delivery_id uuid default null,
  max_rows integer default 50
)
returns setof public.webhook_deliveries
language sql
stable
set search_path = ''
as $$
  select webhook_deliveries.*
  from public.webhook_deliveries
  where (
      list_webhook_deliveries.tenant_id is null
      or webhook_deliveries.tenant_id = list_webhook_deliveries.tenant_id
    )
    and (
      list_webhook_deliveries.webhook_endpoint_id is null
      or webhook_deliveries.webhook_endpoint_id = list_webhook_deliveries.webhook_endpoint_id
    )
    and (
      list_webhook_deliveries.delivery_status is null
      or webhook_deliveries.status = list_webhook_deliveries.delivery_status
    )
    and (
      list_webhook_deliveries.after_delivery_id is null
      or (webhook_deliveries.created_at, webhook_deliveries.id) < (
        select last.created_at, last.id
        from public.webhook_deliveries as last
        where last.id = list_webhook_deliveries.after_delivery_id
      )
    )
  order by webhook_deliveries.created_at desc, webhook_deliveries.id desc
  limit greatest(least(list_webhook_deliveries.max_rows, 1000), 0);
$$;

comment on function public.list_webhook_deliveries is
  'Reads deliveries, the newest first. For the next page, pass the last id of this one as after_delivery_id. At most '
  '1000 at a time.';

select tickwork.open_verbs('authenticated, service_role', array[
  'list_events', 'list_webhook_endpoints', 'list_webhook_deliveries'
]);
