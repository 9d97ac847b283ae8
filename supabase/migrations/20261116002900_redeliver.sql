-- Deliveries that are repeated or made as a test: failed, delivered -> pending.

create function tickwork.redeliver_webhook(webhook_delivery_id uuid)
returns public.webhook_deliveries
language plpgsql
volatile
security definer -- members may not write deliveries directly
set search_path = ''
as $$
declare
  delivery public.webhook_deliveries;
begin
  select * into delivery
  from public.webhook_deliveries
  where webhook_deliveries.id = redeliver_webhook.webhook_delivery_id
    and tickwork.may_act_for(webhook_deliveries.tenant_id);

  if not found then
    perform tickwork.raise_no_delivery(redeliver_webhook.webhook_delivery_id);
  end if;

  perform tickwork.lock_endpoint_for_caller(delivery.webhook_endpoint_id);

  if not exists (select from tickwork.redeliver(array[delivery.id])) then
    raise exception 'delivery % is still pending', delivery.id
      using errcode = 'TWSTA', hint = 'Wait for its next attempt.';
  end if;

  select * into delivery
  from public.webhook_deliveries
  where webhook_deliveries.id = delivery.id;

  return delivery;
end
$$;

create function public.redeliver_webhook(webhook_delivery_id uuid)
returns public.webhook_deliveries
language sql
volatile
return tickwork.redeliver_webhook(webhook_delivery_id);

comment on function public.redeliver_webhook is
  '-> queued. Repeats a delivery that was delivered or has failed, under the same ids. For admins. Raises '
  'TWDLV, TWSTA, TWADM.';

create function tickwork.redeliver_webhooks(webhook_endpoint_id uuid, since timestamptz, only_failed boolean)
returns integer
language plpgsql
volatile
security definer -- members may not write deliveries directly
set search_path = ''
as $$
declare
  endpoint constant public.webhook_endpoints := tickwork.lock_endpoint_for_caller(
    redeliver_webhooks.webhook_endpoint_id
  );
begin
  perform tickwork.check_run_at(redeliver_webhooks.since);

  return (
    select count(*)
    from tickwork.redeliver(array(
      select webhook_deliveries.id
      from public.webhook_deliveries
      where webhook_deliveries.tenant_id = endpoint.tenant_id
        and webhook_deliveries.webhook_endpoint_id = endpoint.id
        and webhook_deliveries.created_at >= redeliver_webhooks.since
        and webhook_deliveries.status <> 'pending'
        and (webhook_deliveries.status = 'failed' or redeliver_webhooks.only_failed is not true)
      order by webhook_deliveries.created_at
      limit 10000
    ))
  );
end
$$;

create function public.redeliver_webhooks(
  webhook_endpoint_id uuid,
  since timestamptz,
  only_failed boolean default true
)
returns integer
language sql
volatile
return tickwork.redeliver_webhooks(webhook_endpoint_id, since, only_failed);

comment on function public.redeliver_webhooks is
  '-> queued. Repeats the failed deliveries of an endpoint since a time or, with only_failed => false, the delivered '
  'ones too; at most 10,000. Returns how many. For admins. Raises TWEND, TWSTA, TWRUN, TWADM.';

create function tickwork.redeliver(delivery_ids uuid[])
returns setof uuid
language plpgsql
volatile
as $$
declare
  again uuid[];
begin
  with put_back as (
    update public.webhook_deliveries
    set
      status = 'pending',
      job_id = gen_random_uuid(),
      delivered_at = null,
      error_code = null,
      error_message = null
    where webhook_deliveries.id = any (redeliver.delivery_ids)
      and webhook_deliveries.status <> 'pending'
    returning webhook_deliveries.id
  )
  select array_agg(put_back.id)
  into again
  from put_back;

  perform tickwork.enqueue_deliveries(again);

  return query
  select *
  from unnest(again);
end
$$;

create function tickwork.lock_endpoint_for_caller(webhook_endpoint_id uuid)
returns public.webhook_endpoints
language plpgsql
volatile
as $$
declare
  endpoint constant public.webhook_endpoints := tickwork.endpoint_to_manage(
    lock_endpoint_for_caller.webhook_endpoint_id
  );
begin
  if endpoint.status <> 'active' then
    raise exception 'endpoint % is disabled', endpoint.id
      using errcode = 'TWSTA', hint = 'Enable it first.';
  end if;

  return endpoint;
end
$$;

create function tickwork.test_webhook(webhook_endpoint_id uuid)
returns public.webhook_deliveries
language plpgsql
volatile
security definer -- members may not write events directly
set search_path = ''
as $$
declare
  endpoint constant public.webhook_endpoints := tickwork.lock_endpoint_for_caller(test_webhook.webhook_endpoint_id);
  delivery public.webhook_deliveries;
begin
  with event as (
    insert into public.events (tenant_id, type, aggregate, payload)
    values (
      endpoint.tenant_id, 'webhook_endpoint.test', 'webhook_endpoint:' || endpoint.id,
      jsonb_build_object('webhook_endpoint_id', endpoint.id)
    )
    returning events.id
  )
  insert into public.webhook_deliveries (tenant_id, webhook_endpoint_id, event_id)
  select endpoint.tenant_id, endpoint.id, event.id
  from event
  returning webhook_deliveries.* into delivery;

  perform tickwork.enqueue_deliveries(array[delivery.id]);
  return delivery;
end
$$;

create function public.test_webhook(webhook_endpoint_id uuid)
returns public.webhook_deliveries
language sql
volatile
return tickwork.test_webhook(webhook_endpoint_id);

comment on function public.test_webhook is
  '-> queued. Sends the event webhook_endpoint.test to one endpoint, whatever its filters, and returns the delivery. '
  'For admins. Raises TWEND, TWSTA, TWADM.';

select tickwork.open_verbs('authenticated, service_role', array[
  'redeliver_webhook', 'redeliver_webhooks', 'test_webhook'
]);
