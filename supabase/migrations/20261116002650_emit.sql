-- An event and its deliveries are committed together with whatever caused it, or not at all.

create function tickwork.add_event(tenant_id uuid, type text, aggregate text, payload jsonb, cause uuid default null)
returns uuid
language plpgsql
volatile
as $$
declare
  event public.events;
  delivery_ids uuid[];
begin
  perform tickwork.check_event(add_event.type, add_event.aggregate, add_event.payload);

  insert into public.events (tenant_id, type, aggregate, payload)
  values (add_event.tenant_id, add_event.type, add_event.aggregate, coalesce(add_event.payload, '{}'))
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

  perform tickwork.enqueue_deliveries(delivery_ids, add_event.cause);
  perform tickwork.fire_triggers(event, add_event.cause);
  perform tickwork.note_arrivals(event);

  return event.id;
end
$$;

comment on function tickwork.add_event is
  '-> queued. For other functions of the queue: stores the event, enqueues a delivery for each endpoint that wants it, '
  'starts the jobs of the triggers that match, and notes it for the jobs that wait for it, in the caller''s '
  'transaction. The cause is the job that led to it. '
  'Raises TWARG, TWPAY, TWBIG, never TWFUL.';

create function tickwork.check_event(type text, aggregate text, payload jsonb)
returns void
language plpgsql
stable
as $$
begin
  if (length(check_event.type) <= 100 and check_event.type ~ '^[a-zA-Z0-9_]+(\.[a-zA-Z0-9_]+)*$') is not true then
    raise exception 'type: must be words separated by dots, not %', quote_nullable(left(check_event.type, 100))
      using errcode = 'TWARG', hint = 'For example invoice.paid, with at most 100 characters.';
  end if;

  perform tickwork.check_key('aggregate', check_event.aggregate);
  perform tickwork.check_payload(coalesce(check_event.payload, '{}'), null);
end
$$;

create function tickwork.enqueue_deliveries(delivery_ids uuid[], cause uuid default null)
returns void
language plpgsql
volatile
as $$
declare
  traceparent text;
begin
  if enqueue_deliveries.delivery_ids is null then
    return;
  end if;

  traceparent := tickwork.trace_of_event(enqueue_deliveries.cause);

  perform tickwork.store_new_jobs(array(
    select tickwork.new_job(
      webhook_deliveries.tenant_id,
      'deliver_webhook',
      jsonb_build_object('webhook_delivery_id', webhook_deliveries.id),
      lane => tickwork.endpoint_lane(webhook_deliveries.webhook_endpoint_id),
      source => 'event',
      source_ref => webhook_deliveries.event_id::text,
      id => webhook_deliveries.job_id,
      traceparent => traceparent
    )
    from unnest(enqueue_deliveries.delivery_ids) as delivery(id)
    join public.webhook_deliveries on webhook_deliveries.id = delivery.id
  ));
exception
  -- A full queue must not undo what has happened: enqueue_late_deliveries tries again later.
  when sqlstate 'TWFUL' or sqlstate 'TWTYP' then
    update public.webhook_deliveries
    set job_id = null
    where webhook_deliveries.id = any (enqueue_deliveries.delivery_ids);
end
$$;

create function tickwork.trace_of_event(cause uuid)
returns text
language sql
stable
return coalesce(
  -- Set by hold_job: the very attempt that emits it.
  case
    when tickwork.is_traceparent(current_setting('tickwork.traceparent', true)) then
      current_setting('tickwork.traceparent')
  end,
  (select tickwork.trace_of(jobs.id, jobs.traceparent) from public.jobs where jobs.id = cause),
  tickwork.caller_traceparent()
);

comment on function tickwork.trace_of_event is
  'The trace context in which an event happened: that of the job that caused it, or of the caller.';

create function tickwork.endpoint_lane(webhook_endpoint_id uuid)
returns text
language sql
immutable
return 'endpoint:' || webhook_endpoint_id::text;

create function tickwork.enqueue_late_deliveries()
returns void
language plpgsql
volatile
as $$
declare
  late_tenant uuid := gen_random_uuid();
  has_wrapped boolean := false;
begin
  -- A hundred tenants at a time, however many deliveries each has, starting at a random one: a tenant whose queue stays
  -- full must not keep the others waiting.
  for step in 1 .. 100 loop
    select webhook_deliveries.tenant_id into late_tenant
    from public.webhook_deliveries
    where webhook_deliveries.job_id is null
      and webhook_deliveries.status = 'pending'
      and webhook_deliveries.tenant_id > late_tenant
    order by webhook_deliveries.tenant_id
    limit 1;

    if found then
      perform tickwork.enqueue_late_deliveries_of(late_tenant);
    else
      exit when has_wrapped;
      has_wrapped := true;
      late_tenant := '00000000-0000-0000-0000-000000000000';
    end if;
  end loop;
end
$$;

create function tickwork.enqueue_late_deliveries_of(tenant_id uuid)
returns void
language plpgsql
volatile
as $$
declare
  most integer;
  queued integer;
  delivery_ids uuid[];
begin
  select tenant_settings.max_queued into most
  from public.tenant_settings
  where tenant_settings.tenant_id = enqueue_late_deliveries_of.tenant_id;

  queued := tickwork.count_queued(enqueue_late_deliveries_of.tenant_id, most);

  with late as (
    select webhook_deliveries.id
    from public.webhook_deliveries
    where webhook_deliveries.tenant_id = enqueue_late_deliveries_of.tenant_id
      and webhook_deliveries.job_id is null
      and webhook_deliveries.status = 'pending'
    order by webhook_deliveries.tenant_id, webhook_deliveries.created_at
    limit greatest(least(most - queued, 1000), 0)
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

  perform tickwork.enqueue_deliveries(delivery_ids);
end
$$;

comment on function tickwork.enqueue_late_deliveries is
  '-> queued. Enqueues deliveries for which there was no room when their event happened. Called by every tick.';

create function tickwork.end_deliveries(job_ids uuid[])
returns void
language plpgsql
volatile
as $$
begin
  -- Usually there is none: then nothing else is looked up, however many jobs have ended.
  update public.webhook_deliveries
  set
    status = 'failed',
    (error_code, error_message) = (
      select
        coalesce(webhook_deliveries.error_code, jobs.error_code, upper(jobs.status)),
        coalesce(webhook_deliveries.error_message, jobs.error_message)
      from public.jobs
      where jobs.id = webhook_deliveries.job_id
    )
  where webhook_deliveries.job_id = any (end_deliveries.job_ids)
    and webhook_deliveries.status = 'pending'
    and (select jobs.status from public.jobs where jobs.id = webhook_deliveries.job_id)
      in ('failed', 'dead', 'cancelled');
end
$$;

comment on function tickwork.end_deliveries is
  'Marks deliveries as failed whose job has ended without success, whether or not its handler could do so.';

insert into tickwork.hooks (moment, function_name)
values ('end', 'end_deliveries'), ('tick', 'enqueue_late_deliveries')
on conflict do nothing;


-- Who may emit events: the application's backend, and a worker for the tenant whose job it holds.

create function tickwork.emit_event(tenant_id uuid, type text, aggregate text, payload jsonb)
returns uuid
language plpgsql
volatile
security definer -- nobody may write events directly
set search_path = ''
as $$
begin
  -- What happened is for the application's backend to say, and a key that enqueues for every tenant stands for it.
  if not tickwork.key_serves_all('{enqueue, operate}') then
    perform tickwork.check_platform_admin('emit events');
  end if;

  perform tickwork.check_caller(emit_event.tenant_id, '{enqueue, operate}');
  perform tickwork.wait_for_disk();

  return tickwork.add_event(
    emit_event.tenant_id,
    emit_event.type,
    emit_event.aggregate,
    emit_event.payload,
    tickwork.held_job()
  );
end
$$;

create function public.emit_event(tenant_id uuid, type text, aggregate text default null, payload jsonb default '{}')
returns uuid
language sql
volatile
return tickwork.emit_event(tenant_id, type, aggregate, payload);

comment on function public.emit_event is
  '-> queued. Records that something happened: stores the event, enqueues deliver_webhook for each endpoint of the '
  'tenant that wants it, starts the jobs of the triggers that match, and notes it for the jobs that wait for it, in '
  'the caller''s transaction. Returns the event''s id. For platform admins, and for keys that enqueue for every '
  'tenant. Raises TWADM, TWTNT, TWARG, TWPAY, TWBIG.';

create function tickwork.emit_held_event(type text, aggregate text, payload jsonb)
returns uuid
language plpgsql
volatile
security definer -- nobody may write events directly
set search_path = ''
as $$
begin
  return tickwork.add_event(
    tickwork.tenant_of_held_job(), emit_held_event.type, emit_held_event.aggregate, emit_held_event.payload,
    tickwork.held_job()
  );
end
$$;

create function public.emit_held_event(type text, aggregate text default null, payload jsonb default '{}')
returns uuid
language sql
volatile
return tickwork.emit_held_event(type, aggregate, payload);

comment on function public.emit_held_event is
  '-> queued. Like emit_event, for the tenant of the job held by hold_job in this transaction: for events that a '
  'handler writes with its completion. Raises TWLSE, TWARG, TWPAY, TWBIG.';

select tickwork.open_verbs('authenticated, service_role', array['emit_event']);
select tickwork.open_verbs('tickwork_worker', array['emit_held_event']);
