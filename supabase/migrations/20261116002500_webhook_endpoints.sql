-- The endpoints that events are posted to.

create function tickwork.hears(event_types text[], type text)
returns boolean
language sql
immutable
as $$
  select cardinality(hears.event_types) = 0
    or exists (
      select
      from unnest(hears.event_types) as filter
      where filter in (hears.type, '*')
        or (filter like '%.*' and starts_with(hears.type, left(filter, -1)))
    );
$$;

comment on function tickwork.hears is
  'Whether one of the filters matches the type: the type itself or a prefix such as job.*. Without filters every type '
  'matches.';

create function tickwork.hears_of_jobs(event_types text[])
returns boolean
language sql
immutable
set search_path = ''
as $$
  select cardinality(hears_of_jobs.event_types) = 0
    or exists (
      select
      from unnest(hears_of_jobs.event_types) as filter
      where filter = '*' or starts_with(filter, 'job.')
    );
$$;

create function tickwork.are_event_types(event_types text[])
returns boolean
language sql
immutable
set search_path = ''
as $$
  select cardinality(are_event_types.event_types) <= 100
    and not exists (
      select
      from unnest(are_event_types.event_types) as filter
      where filter is null
        or length(filter) > 100
        or filter !~ '^([a-zA-Z0-9_]+\.)*([a-zA-Z0-9_]+|\*)$'
    );
$$;

create table public.webhook_endpoints (
  id uuid primary key default gen_random_uuid(),
  tenant_id uuid not null references public.tenant_settings (tenant_id) on delete cascade,
  url text not null,
  description text not null default '',
  event_types text[] not null default '{}',
  header_prefix text not null default 'X-BPC-',
  format text not null default 'standard',
  timeout_seconds double precision not null default 30,
  status text not null default 'active',
  disabled_reason text,
  breaker text not null default 'closed',
  failures integer not null default 0,
  failing_since timestamptz,
  probes integer not null default 0,
  probe_at timestamptz,
  successes integer not null default 0,
  hears_of_jobs boolean not null generated always as (tickwork.hears_of_jobs(event_types)) stored,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  -- Which addresses may be called is up to the operator, and checked at every call.
  constraint url_is_plain check (url ~ '^https?://[^/?#@\s]+([/?#][!-~]*)?$' and length(url) <= 2000),
  constraint description_is_at_most_500_characters check (length(description) <= 500),
  constraint event_types_are_types_or_beginnings check (tickwork.are_event_types(event_types)),
  -- With one of these prefixes the headers could be mistaken for others.
  constraint header_prefix_is_one check (
    header_prefix ~ '^[A-Za-z][A-Za-z0-9]*(-[A-Za-z0-9]+)*-$'
    and length(header_prefix) <= 40
    and lower(header_prefix) not in ('webhook-', 'proxy-')
  ),
  constraint format_is_known check (format in ('standard', 'bpc')),
  -- Less than the 60 seconds of a deliver_webhook job, so that there is time left to record how the attempt went.
  constraint timeout_seconds_is_a_tenth_to_50 check (timeout_seconds between 0.1 and 50),
  constraint status_is_known check (status in ('active', 'disabled')),
  constraint breaker_is_known check (breaker in ('closed', 'open', 'recovering'))
);

comment on table public.webhook_endpoints is
  'Where events are posted. Admins of the tenant, the operator and the application''s backend manage them; members may '
  'read them.';
comment on column public.webhook_endpoints.event_types is
  'Which events: exact types, or prefixes such as job.*; an empty list means all.';
comment on column public.webhook_endpoints.header_prefix is
  'The prefix of the headers <prefix>Signature, <prefix>Event-Type and <prefix>Delivery-Id.';
comment on column public.webhook_endpoints.format is
  'The body. standard: type, timestamp, aggregate_type, aggregate_id and data. bpc: event_id, event_type, '
  'aggregate_type, aggregate_id, occurred_at and payload.';
comment on column public.webhook_endpoints.timeout_seconds is 'How long one attempt may take in total.';
comment on column public.webhook_endpoints.breaker is
  'closed: deliveries flow. open: one delivery at a time probes whether the endpoint is back. recovering: deliveries '
  'flow at a limited rate.';
comment on column public.webhook_endpoints.failures is 'How many attempts have failed in a row.';
comment on column public.webhook_endpoints.failing_since is 'When the first of these attempts failed.';
comment on column public.webhook_endpoints.probes is 'How many probes have been made since the breaker opened.';
comment on column public.webhook_endpoints.probe_at is 'When the next probe may start.';
comment on column public.webhook_endpoints.successes is 'How many deliveries have succeeded since it came back.';

create unique index webhook_endpoints_of_their_tenant on public.webhook_endpoints (tenant_id, id);
-- Every settle reads it. It is empty if nobody listens to events of jobs.
create index webhook_endpoints_that_hear_of_jobs on public.webhook_endpoints (tenant_id)
where hears_of_jobs and status = 'active';

create trigger note_update before update on public.webhook_endpoints
for each row execute function tickwork.note_update();

create function tickwork.count_endpoints()
returns trigger
language plpgsql
security definer -- counts all endpoints, whoever inserts
set search_path = ''
as $$
declare
  most constant integer := 20;
begin
  perform pg_advisory_xact_lock(hashtextextended('endpoints of ' || new.tenant_id, 0));

  if (select count(*) from public.webhook_endpoints where webhook_endpoints.tenant_id = new.tenant_id) >= most then
    raise exception 'tenant_id: tenant % has % endpoints, which is the limit', new.tenant_id, most
      using errcode = 'TWBIG', hint = 'Delete one that is no longer needed.';
  end if;

  return new;
end
$$;

create trigger count_endpoints before insert on public.webhook_endpoints
for each row execute function tickwork.count_endpoints();

select tickwork.guard_table(
  'public.webhook_endpoints',
  members => 'select', worker => 'select', service => 'select, insert, update, delete'
);

-- Called by constraints and generated columns, as the role that writes the row.
select tickwork.open_verbs('service_role', array['hears_of_jobs', 'are_event_types']);

-- Few enough at once that a tenant whose receivers are slow leaves workers for the others; raise it with the number of
-- instances of the function. Deliveries follow the schedule of Standard Webhooks, some 75 hours in all.
insert into public.job_types (
  key, family, description, timeout_seconds, max_attempts, backoff, max_running_per_tenant, enqueued_by
)
values
  (
    'deliver_webhook', 'webhook', 'Post an event to a subscriber', 60, 10,
    '[5, 300, 1800, 7200, 18000, 36000, 50400, 72000, 86400]', 3, 'service'
  ),
  ('http_request', 'webhook', 'Call an HTTP API', 60, 4, '[60, 300, 1800]', 3, 'admin');
