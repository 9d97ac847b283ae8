-- Events, with their deliveries -> gone

create function tickwork.delete_events(ids uuid[])
returns integer
language plpgsql
volatile
as $$
declare
  locked uuid[];
  deleted integer;
begin
  -- An event whose delivery is being changed is kept: nobody waits for it.
  locked := array(
    select webhook_deliveries.id
    from unnest(delete_events.ids) as old(id)
    cross join lateral (select * from public.events where events.id = old.id limit 1) as events
    join public.webhook_deliveries
      on webhook_deliveries.tenant_id = events.tenant_id
      and webhook_deliveries.event_id = events.id
    where webhook_deliveries.status <> 'pending'
    for update of webhook_deliveries skip locked
  );

  delete from public.events
  where events.id = any (delete_events.ids)
    and not exists (
      select
      from public.webhook_deliveries
      where webhook_deliveries.tenant_id = events.tenant_id
        and webhook_deliveries.event_id = events.id
        and webhook_deliveries.id <> all (locked)
    );

  get diagnostics deleted = row_count;
  return deleted;
end
$$;

comment on function tickwork.delete_events is
  'Deletes those of the events that have no pending deliveries, with their deliveries. Returns how many.';

create function tickwork.purge_events(older_than interval, batch_size integer)
returns integer
language plpgsql
volatile
security definer -- nobody may delete events directly
set search_path = ''
as $$
begin
  perform tickwork.check_purge(purge_events.older_than, purge_events.batch_size);

  return tickwork.delete_events(array(
    select events.id
    from public.events
    where events.occurred_at < now() - purge_events.older_than
      and not exists (
        select
        from public.webhook_deliveries
        where webhook_deliveries.tenant_id = events.tenant_id
          and webhook_deliveries.event_id = events.id
          and webhook_deliveries.status = 'pending'
      )
    order by events.occurred_at
    limit purge_events.batch_size
    for update skip locked
  ));
end
$$;

create function public.purge_events(older_than interval, batch_size integer default 1000)
returns integer
language sql
volatile
return tickwork.purge_events(older_than, batch_size);

comment on function public.purge_events is
  '-> gone. Deletes one batch of the events that happened longer ago than older_than, with their deliveries, the '
  'oldest first, and returns how many. Events with pending deliveries are kept. Call it again until it returns 0. '
  'Raises TWARG.';


-- Every tick looks at a portion of the old events, starting where the last one stopped, and starts over at the end.

create table tickwork.event_purge (
  purged_at timestamptz not null default '-infinity',
  purged_to timestamptz not null default '-infinity'
);

comment on table tickwork.event_purge is
  'When events that have been kept long enough were last looked for, and how far that got. One row.';

insert into tickwork.event_purge default values;

select tickwork.guard_table('tickwork.event_purge', queue => 'select, update');

create function tickwork.purge_event_portion()
returns void
language plpgsql
volatile
as $$
declare
  batch_size constant integer := 200;
  begins_at timestamptz;
  portion public.events[];
begin
  select event_purge.purged_to into begins_at
  from tickwork.event_purge
  where event_purge.purged_at < clock_timestamp() - interval '30 seconds'
  for no key update skip locked;

  if not found then
    return;
  end if;

  portion := array(
    select events
    from public.events
    where events.occurred_at between begins_at and clock_timestamp() - interval '30 days'
    order by events.occurred_at
    limit batch_size
    for update skip locked
  );

  perform tickwork.delete_events(array(select event.id from unnest(portion) as event));

  update tickwork.event_purge
  set
    purged_at = clock_timestamp(),
    purged_to = case
      when cardinality(portion) < batch_size then '-infinity'
      else portion[cardinality(portion)].occurred_at
    end;
end
$$;

comment on function tickwork.purge_event_portion is
  '-> gone. Looks at 200 events that are at least 30 days old, at most once every 30 seconds, and deletes those that '
  'have no pending deliveries.';

insert into tickwork.hooks (moment, function_name)
values ('tick', 'purge_event_portion')
on conflict do nothing;

select tickwork.open_verbs('service_role', array['purge_events']);
