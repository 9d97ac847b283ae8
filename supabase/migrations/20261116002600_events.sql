-- What happened, and who was told.

create table public.events (
  id uuid primary key default gen_random_uuid(),
  tenant_id uuid not null references public.tenant_settings (tenant_id) on delete cascade,
  type text not null,
  aggregate text,
  payload jsonb not null default '{}',
  occurred_at timestamptz not null default clock_timestamp()
);

comment on table public.events is 'What happened, for tenants to read and for webhooks to deliver.';
comment on column public.events.type is 'For example job.done or document.extracted.';
comment on column public.events.aggregate is
  'What it happened to, for example document:<id>. Webhooks send what is before the first colon as aggregate_type, and '
  'the rest as aggregate_id.';

create index events_of_a_tenant on public.events (tenant_id, occurred_at, id);
create index events_by_age on public.events (occurred_at);
-- For foreign keys that include the tenant, because foreign keys bypass row-level security.
create unique index events_of_their_tenant on public.events (tenant_id, id);

create table public.webhook_deliveries (
  id uuid primary key default gen_random_uuid(),
  tenant_id uuid not null,
  webhook_endpoint_id uuid not null,
  event_id uuid not null,
  job_id uuid default gen_random_uuid(),
  status text not null default 'pending',
  attempts integer not null default 0,
  http_status integer,
  response_headers jsonb,
  response_body text,
  latency_ms integer,
  error_code text,
  error_message text,
  created_at timestamptz not null default clock_timestamp(),
  attempted_at timestamptz,
  delivered_at timestamptz,
  constraint endpoint_is_the_tenants_own foreign key (tenant_id, webhook_endpoint_id)
    references public.webhook_endpoints (tenant_id, id) on delete cascade,
  constraint event_is_the_tenants_own foreign key (tenant_id, event_id)
    references public.events (tenant_id, id) on delete cascade,
  constraint status_is_known check (status in ('pending', 'delivered', 'failed')),
  constraint delivered_has_a_time check ((status = 'delivered') = (delivered_at is not null))
);

comment on table public.webhook_deliveries is 'Each event for each endpoint that wants it, and how the delivery went.';
comment on column public.webhook_deliveries.job_id is
  'The job that delivers it, and the only one that may; null while the tenant''s queue is full.';
comment on column public.webhook_deliveries.response_body is 'The first 4 kB of the response of the endpoint.';

create unique index webhook_deliveries_of_an_event
on public.webhook_deliveries (tenant_id, event_id, webhook_endpoint_id);
create index webhook_deliveries_of_an_endpoint
on public.webhook_deliveries (tenant_id, webhook_endpoint_id, created_at, id);
create index webhook_deliveries_by_job on public.webhook_deliveries (job_id);
create index webhook_deliveries_without_a_job on public.webhook_deliveries (tenant_id, created_at)
where job_id is null and status = 'pending';

select tickwork.guard_table('public.events', members => 'select', worker => 'select', service => 'select');
select tickwork.guard_table('public.webhook_deliveries', members => 'select', worker => 'select', service => 'select');
