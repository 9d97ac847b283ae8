-- What happened, and whom it was told: an event and its deliveries are committed together, or not at all.

create table public.events (
  id uuid primary key default gen_random_uuid(),
  tenant_id uuid not null references public.organizations (id) on delete cascade,
  type text not null,
  aggregate text,
  payload jsonb not null default '{}',
  occurred_at timestamptz not null default clock_timestamp()
);

comment on table public.events is 'What happened, for a tenant to read and for webhooks to tell.';
comment on column public.events.type is 'Such as job.done or document.extracted.';
comment on column public.events.aggregate is 'What it happened to, such as document:<id>.';

create index events_of_a_tenant on public.events (tenant_id, occurred_at, id);
create index events_by_age on public.events (occurred_at);
-- For foreign keys that name the tenant as well: they look past row-level security.
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

comment on table public.webhook_deliveries is 'Each event for each endpoint that wants it, and what came of it.';
comment on column public.webhook_deliveries.job_id is
  'The job that delivers it, and the only one that may; null while the tenant''s queue is full.';
comment on column public.webhook_deliveries.response_body is 'The first 4 kB of what the endpoint answered.';

create unique index webhook_deliveries_of_an_event
on public.webhook_deliveries (tenant_id, event_id, webhook_endpoint_id);
create index webhook_deliveries_of_an_endpoint
on public.webhook_deliveries (tenant_id, webhook_endpoint_id, created_at, id);
create index webhook_deliveries_by_job on public.webhook_deliveries (job_id);
create index webhook_deliveries_without_a_job on public.webhook_deliveries (tenant_id, created_at)
where job_id is null and status = 'pending';

do $$
declare
  own_table text;
begin
  foreach own_table in array array['events', 'webhook_deliveries']
  loop
    execute format('alter table public.%I enable row level security', own_table);
    execute format('alter table public.%I force row level security', own_table);
    execute format(
      'create policy members_see_their_%1$s on public.%1$I for select to authenticated '
      'using (tenant_id in (select tickwork.caller_tenants()) or (select tickwork.caller_is_platform_admin()))',
      own_table
    );
    execute format(
      'create policy the_worker_reads_%1$s on public.%1$I for select to tickwork_worker '
      'using (tenant_id = (select tickwork.held_tenant()))',
      own_table
    );
    execute format(
      'create policy the_queue_keeps_%1$s on public.%1$I for all to tickwork_owner using (true) with check (true)',
      own_table
    );
    execute format('revoke all on public.%I from public, anon, authenticated, service_role', own_table);
    execute format('grant select on public.%I to authenticated, service_role, tickwork_worker', own_table);
    execute format('grant select, insert, update, delete on public.%I to tickwork_owner', own_table);
  end loop;
end
$$;

create function tickwork.emit_event(tenant_id uuid, type text, aggregate text, payload jsonb)
returns uuid
language plpgsql
volatile
set search_path = ''
as $$
declare
  event public.events;
  delivery_ids uuid[];
begin
  perform tickwork.check_event(emit_event.type, emit_event.aggregate, emit_event.payload);

  insert into public.events (tenant_id, type, aggregate, payload)
  values (emit_event.tenant_id, emit_event.type, emit_event.aggregate, coalesce(emit_event.payload, '{}'))
  returning events.* into event;

  with made as (
    insert into public.webhook_deliveries (tenant_id, webhook_endpoint_id, event_id)
    select webhook_endpoints.tenant_id, webhook_endpoints.id, event.id
    from public.webhook_endpoints
    where webhook_endpoints.tenant_id = event.tenant_id
      and webhook_endpoints.status = 'active'
      and tickwork.hears(webhook_endpoints.event_types, event.type)
    returning webhook_deliveries.id
  )
  select array_agg(made.id)
  into delivery_ids
  from made;

  if delivery_ids is not null then
    perform tickwork.enqueue_deliveries(delivery_ids);
  end if;

  return event.id;
end
$$;

comment on function tickwork.emit_event is
  '-> queued. For other functions of the queue: stores the event and enqueues a delivery for each endpoint that wants '
  'it, in the caller''s transaction. Raises TWARG, TWPAY, TWBIG, never TWFUL.';

create function tickwork.check_event(type text, aggregate text, payload jsonb)
returns void
language plpgsql
stable
set search_path = ''
as $$
begin
  if (length(check_event.type) <= 100 and check_event.type ~ '^[a-zA-Z0-9_]+(\.[a-zA-Z0-9_]+)*$') is not true then
    raise exception 'type: must be words with dots between, not %', quote_nullable(left(check_event.type, 100))
      using errcode = 'TWARG', hint = 'Such as invoice.paid, of at most 100 characters.';
  end if;

  perform tickwork.check_key('aggregate', check_event.aggregate);
  perform tickwork.check_payload(coalesce(check_event.payload, '{}'), null);
end
$$;

create function tickwork.enqueue_deliveries(delivery_ids uuid[])
returns void
language plpgsql
volatile
set search_path = ''
as $$
begin
  perform tickwork.insert_jobs(array(
    select row(
      webhook_deliveries.job_id,
      webhook_deliveries.tenant_id,
      'deliver_webhook',
      jsonb_build_object('webhook_delivery_id', webhook_deliveries.id),
      0,
      null,
      null,
      null,
      tickwork.endpoint_lane(webhook_deliveries.webhook_endpoint_id),
      null,
      null,
      'event',
      webhook_deliveries.event_id::text
    )::tickwork.job_request
    from unnest(enqueue_deliveries.delivery_ids) as delivery(id)
    join public.webhook_deliveries on webhook_deliveries.id = delivery.id
  ));
exception
  -- What happened has happened, and is not undone because too much waits: enqueue_late_deliveries tries again.
  when sqlstate 'TWFUL' or sqlstate 'TWTYP' then
    update public.webhook_deliveries
    set job_id = null
    where webhook_deliveries.id = any (enqueue_deliveries.delivery_ids);
end
$$;

create function tickwork.endpoint_lane(webhook_endpoint_id uuid)
returns text
language sql
immutable
return 'endpoint:' || webhook_endpoint_id::text;

create function tickwork.enqueue_late_deliveries()
returns void
language plpgsql
volatile
set search_path = ''
as $$
declare
  late_tenant uuid;
begin
  -- From one tenant to the next, however many each has: one whose queue stays full must not keep the others waiting.
  loop
    select webhook_deliveries.tenant_id into late_tenant
    from public.webhook_deliveries
    where webhook_deliveries.job_id is null
      and webhook_deliveries.status = 'pending'
      and webhook_deliveries.tenant_id > coalesce(late_tenant, '00000000-0000-0000-0000-000000000000')
    order by webhook_deliveries.tenant_id
    limit 1;

    exit when not found;
    perform tickwork.enqueue_late_deliveries_of(late_tenant);
  end loop;
end
$$;

create function tickwork.enqueue_late_deliveries_of(tenant_id uuid)
returns void
language plpgsql
volatile
set search_path = ''
as $$
declare
  most integer;
  queued integer;
  delivery_ids uuid[];
begin
  select organizations.max_queued into most
  from public.organizations
  where organizations.id = enqueue_late_deliveries_of.tenant_id;

  select count(*) into queued
  from (
    select
    from public.jobs
    where jobs.tenant_id = enqueue_late_deliveries_of.tenant_id
      and jobs.status = 'queued'
    limit most
  ) as counted;

  with late as (
    select webhook_deliveries.id
    from public.webhook_deliveries
    where webhook_deliveries.tenant_id = enqueue_late_deliveries_of.tenant_id
      and webhook_deliveries.job_id is null
      and webhook_deliveries.status = 'pending'
    order by webhook_deliveries.tenant_id, webhook_deliveries.created_at
    limit least(most - queued, 1000)
    for no key update skip locked
  ),
  numbered as (
    update public.webhook_deliveries
    set job_id = gen_random_uuid()
    from late
    where webhook_deliveries.id = late.id
    returning webhook_deliveries.id
  )
  select array_agg(numbered.id)
  into delivery_ids
  from numbered;

  if delivery_ids is not null then
    perform tickwork.enqueue_deliveries(delivery_ids);
  end if;
end
$$;

comment on function tickwork.enqueue_late_deliveries is
  '-> queued. Enqueues deliveries for which there was no room when their event happened. Called by every tick.';

create function tickwork.end_deliveries(job_ids uuid[])
returns void
language plpgsql
volatile
set search_path = ''
as $$
begin
  update public.webhook_deliveries
  set
    status = 'failed',
    error_code = coalesce(webhook_deliveries.error_code, jobs.error_code, upper(jobs.status)),
    error_message = coalesce(webhook_deliveries.error_message, jobs.error_message)
  from public.jobs
  where webhook_deliveries.job_id = any (end_deliveries.job_ids)
    and webhook_deliveries.status = 'pending'
    and jobs.id = any (end_deliveries.job_ids)
    and jobs.id = webhook_deliveries.job_id
    and jobs.status in ('failed', 'dead', 'cancelled');
end
$$;

comment on function tickwork.end_deliveries is
  'A delivery whose job has ended without success has failed, whether or not its handler could say so.';


-- Who may say that something happened: the application's backend, and a worker for the tenant whose job it holds.

create function tickwork.emit_event_as_service(tenant_id uuid, type text, aggregate text, payload jsonb)
returns uuid
language plpgsql
volatile
security definer -- nobody may write events itself
set search_path = ''
as $$
begin
  perform tickwork.check_caller(emit_event_as_service.tenant_id);
  perform tickwork.wait_for_disk();

  return tickwork.emit_event(
    emit_event_as_service.tenant_id,
    emit_event_as_service.type,
    emit_event_as_service.aggregate,
    emit_event_as_service.payload
  );
end
$$;

create function public.emit_event(tenant_id uuid, type text, aggregate text default null, payload jsonb default '{}')
returns uuid
language sql
volatile
set search_path = ''
as $$
  select tickwork.emit_event_as_service(
    emit_event.tenant_id, emit_event.type, emit_event.aggregate, emit_event.payload
  );
$$;

comment on function public.emit_event is
  '-> queued. Says that something happened: stores the event and enqueues deliver_webhook for each endpoint of the '
  'tenant that wants it, in the caller''s transaction. Answers the event''s id. Raises TWTNT, TWARG, TWPAY, TWBIG.';

create function tickwork.emit_held_event(type text, aggregate text, payload jsonb)
returns uuid
language plpgsql
volatile
security definer -- nobody may write events itself
set search_path = ''
as $$
declare
  tenant_id constant uuid := tickwork.held_tenant();
begin
  if tenant_id is null then
    raise exception 'no job is held in this transaction'
      using errcode = 'TWLSE', hint = 'Call hold_job first.';
  end if;

  return tickwork.emit_event(tenant_id, emit_held_event.type, emit_held_event.aggregate, emit_held_event.payload);
end
$$;

create function public.emit_held_event(type text, aggregate text default null, payload jsonb default '{}')
returns uuid
language sql
volatile
set search_path = ''
as $$
  select tickwork.emit_held_event(emit_held_event.type, emit_held_event.aggregate, emit_held_event.payload);
$$;

comment on function public.emit_held_event is
  '-> queued. As emit_event, for the tenant of the job held by hold_job in this transaction: what a handler writes '
  'with its completion. Raises TWLSE, TWARG, TWPAY, TWBIG.';

alter function tickwork.emit_event_as_service owner to tickwork_owner;
alter function tickwork.emit_held_event owner to tickwork_owner;

revoke execute on function
  tickwork.emit_event,
  tickwork.check_event,
  tickwork.enqueue_deliveries,
  tickwork.endpoint_lane,
  tickwork.enqueue_late_deliveries,
  tickwork.enqueue_late_deliveries_of,
  tickwork.end_deliveries,
  tickwork.emit_event_as_service,
  tickwork.emit_held_event,
  public.emit_event,
  public.emit_held_event
from public, anon, authenticated, service_role;

grant execute on function
  tickwork.emit_event,
  tickwork.check_event,
  tickwork.enqueue_deliveries,
  tickwork.endpoint_lane,
  tickwork.enqueue_late_deliveries,
  tickwork.enqueue_late_deliveries_of,
  tickwork.end_deliveries
to tickwork_owner;

grant execute on function public.emit_event, tickwork.emit_event_as_service to service_role;
grant execute on function public.emit_held_event, tickwork.emit_held_event to tickwork_worker;
