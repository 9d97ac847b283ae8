-- The webhook deliveries of the period
select
  webhook_deliveries.id as delivery_id, events.type as event_type,
  -- Its path may hold a token.
  substring(webhook_endpoints.url from '^https?://[^/?#]+') as endpoint, webhook_deliveries.status,
  webhook_deliveries.attempts, webhook_deliveries.http_status, webhook_deliveries.latency_ms,
  webhook_deliveries.error_code, webhook_deliveries.created_at, webhook_deliveries.delivered_at
from public.webhook_deliveries
join public.webhook_endpoints
  on webhook_endpoints.tenant_id = webhook_deliveries.tenant_id
  and webhook_endpoints.id = webhook_deliveries.webhook_endpoint_id
join public.events
  on events.tenant_id = webhook_deliveries.tenant_id
  and events.id = webhook_deliveries.event_id
where webhook_deliveries.created_at >= %(begins_at)s
  and webhook_deliveries.created_at < %(ends_at)s
order by webhook_deliveries.created_at
