-- Whether the queue works, for whoever watches it: functions, workers, the API and alerts.

create function tickwork.last_tick()
returns timestamptz
language sql
stable
return (select maintenance.maintained_at from tickwork.maintenance where maintenance.is_only);

comment on function tickwork.last_tick is 'When the queue was last looked after, by maintain; -infinity if never.';

create function tickwork.is_ticking()
returns boolean
language sql
stable
return tickwork.last_tick() > clock_timestamp() - interval '5 minutes'
  -- Nobody has to tick where nothing depends on it.
  or not (
    exists (select from tickwork.functions)
    or exists (
      select
      from public.schedules
      where schedules.paused_at is null
        and schedules.look_at < clock_timestamp() - interval '5 minutes'
    )
  );

create function tickwork.is_served()
returns boolean
language plpgsql
stable
as $$
declare
  long_ago constant timestamptz := clock_timestamp() - interval '5 minutes';
begin
  return not exists (
    select
    from tickwork.family_types
    where not family_types.is_paused
      and coalesce(family_types.asked_at, '-infinity') < long_ago
      and exists (
        select
        from (
          select waiting.run_at
          from tickwork.waiting
          where waiting.family = family_types.family
            and waiting.type = family_types.type
          -- Sorted by the key of the index, which finds out at once where nothing waits.
          order by waiting.family, waiting.type, waiting.tenant_number, waiting.priority desc, waiting.run_at
          -- Where nobody has asked for minutes, one of the first is old.
          limit 1000
        ) as first
        where first.run_at < long_ago
      )
  );
end
$$;

comment on function tickwork.is_served is
  'False if a job has been due for 5 minutes, and no worker has asked for its type meanwhile.';

create function tickwork.queue_health()
returns table (name text, is_ok boolean, detail text)
language plpgsql
stable
security definer -- callers may not read the tables of the queue
set search_path = ''
as $$
begin
  return query
  select 'schema', true, (select max(schema_versions.number)::text from tickwork.schema_versions)
  union all
  select
    'tick', tickwork.is_ticking(),
    coalesce(
      'last ' || extract(epoch from clock_timestamp() - nullif(tickwork.last_tick(), '-infinity'))::bigint || ' s ago',
      'never'
    )
  union all
  select 'work', tickwork.is_served(), 'whether due jobs have been asked for within 5 minutes'
  union all
  select
    'standstill', not (alert_rules.is_on and standstill.seconds > alert_rules.threshold),
    'nothing has run for ' || standstill.seconds::bigint || ' s although something is due'
  from public.alert_rules
  cross join lateral (select tickwork.measure_standstill_seconds() offset 0) as standstill(seconds)
  where alert_rules.key = 'standstill_seconds';
end
$$;

create function public.queue_health()
returns table (name text, is_ok boolean, detail text)
language sql
stable
begin atomic
  select *
  from tickwork.queue_health();
end;

comment on function public.queue_health is
  'Reads whether the queue works: schema (its version), tick (maintain has been called within 5 minutes, where that '
  'matters), work (no job has been due for 5 minutes without a worker that asks for its '
  'type) and standstill (the alert rule standstill_seconds: nothing has run for 5 minutes although something is due). '
  'Tells nothing of any tenant.';

select tickwork.open_verbs('authenticated, service_role, tickwork_worker', array['queue_health']);
