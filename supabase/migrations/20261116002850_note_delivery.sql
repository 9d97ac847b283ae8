-- How an attempt to deliver went.

create function tickwork.note_delivery(
  webhook_delivery_id uuid,
  verdict text,
  http_status integer,
  response_headers jsonb,
  response_body text,
  latency_ms integer,
  error_code text,
  error_message text,
  retry_after_seconds double precision
)
returns void
language plpgsql
volatile
security definer -- the worker may not write deliveries, endpoints and lane rules directly
set search_path = ''
as $$
declare
  endpoint public.webhook_endpoints;
begin
  if (note_delivery.verdict in ('delivered', 'down', 'throttled', 'refused', 'gone')) is not true then
    raise exception 'verdict: must be delivered, down, throttled, refused or gone'
      using errcode = 'TWARG', hint = 'docs/design/webhook-delivery.md explains each of them.';
  end if;

  -- The endpoint before the delivery: deleting an endpoint locks them in this order.
  select webhook_endpoints.* into endpoint
  from public.webhook_endpoints
  where webhook_endpoints.id = (
    select webhook_deliveries.webhook_endpoint_id
    from public.webhook_deliveries
    where webhook_deliveries.id = note_delivery.webhook_delivery_id
      and webhook_deliveries.tenant_id = tickwork.held_tenant()
      and webhook_deliveries.job_id = nullif(current_setting('tickwork.job_id', true), '')::uuid
  )
  for no key update;

  if not found then
    perform tickwork.raise_no_delivery(note_delivery.webhook_delivery_id);
  end if;

  update public.webhook_deliveries
  set
    status = case note_delivery.verdict
      when 'delivered' then 'delivered'
      when 'down' then 'pending'
      when 'throttled' then 'pending'
      else 'failed'
    end,
    attempts = webhook_deliveries.attempts + 1,
    http_status = note_delivery.http_status,
    response_headers = note_delivery.response_headers,
    response_body = left(note_delivery.response_body, 4096),
    latency_ms = note_delivery.latency_ms,
    error_code = left(note_delivery.error_code, 100),
    error_message = left(note_delivery.error_message, 1000),
    attempted_at = clock_timestamp(),
    delivered_at = case note_delivery.verdict when 'delivered' then clock_timestamp() end
  where webhook_deliveries.id = note_delivery.webhook_delivery_id;

  -- An endpoint that was disabled in the meantime is no longer judged.
  if endpoint.status = 'active' then
    perform tickwork.judge_endpoint(
      endpoint,
      note_delivery.verdict,
      tickwork.check_delay('retry_after_seconds', note_delivery.retry_after_seconds),
      coalesce(left(note_delivery.error_message, 300), '')
    );
  end if;
end
$$;

create function public.note_delivery(
  webhook_delivery_id uuid,
  verdict text,
  http_status integer default null,
  response_headers jsonb default null,
  response_body text default null,
  latency_ms integer default null,
  error_code text default null,
  error_message text default null,
  retry_after_seconds double precision default null
)
returns void
language sql
volatile
return tickwork.note_delivery(
  webhook_delivery_id, verdict, http_status, response_headers, response_body, latency_ms, error_code, error_message,
  retry_after_seconds
);

comment on function public.note_delivery is
  'running -> running. Records how an attempt to deliver went: delivered, down, throttled, refused or gone. Called by '
  'the delivery''s own job, inside a transaction that called hold_job. Decides what follows for the endpoint. Raises '
  'TWDLV, TWARG.';

create function tickwork.raise_no_delivery(webhook_delivery_id uuid)
returns void
language plpgsql
immutable
as $$
begin
  raise exception 'webhook_delivery_id: there is no delivery %', coalesce(webhook_delivery_id::text, 'null')
    using errcode = 'TWDLV', hint = 'webhook_deliveries shows the deliveries that you may see.';
end
$$;

select tickwork.open_verbs('tickwork_worker', array['note_delivery']);
