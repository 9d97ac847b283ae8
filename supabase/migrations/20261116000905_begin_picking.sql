-- How a claim begins: what it has to know, what it has to do first, and in the usual case the job that it starts.

create function tickwork.begin_picking(
  family text, types text[], lease_seconds integer, max_jobs integer, own_tenant uuid
)
returns tickwork.picked_jobs
language plpgsql
volatile
as $$
declare
  now_at constant timestamptz := clock_timestamp();
  look record;
  next record;
begin
  -- All that a claim has to know of a type, if it asks for only one.
  select
    family_types.turn as sequence, turn.value as turn, (turn.value >> 16 & 127)::integer as starts_left,
    -- A tenant in the middle of its turn comes first; one whose turn is over comes last.
    (turn.value >> 23) - ((turn.value >> 16 & 127) > 0)::integer as start,
    tickwork.low_starts(turn.value & 65535, 1) > 0 as is_low, 100 as max_priority,
    array[coalesce(begin_picking.lease_seconds, family_types.lease_seconds)] as lease_seconds,
    array[family_types.timeout_seconds] as timeouts,
    begin_picking.max_jobs = 1 and begin_picking.own_tenant is null
      and not (family_types.is_limited or family_types.is_paused) as is_plain,
    family_types.reaped_at < now_at - interval '1 second'
      or (family_types.asked_at > now_at - interval '1 minute') is not true
      or exists (select from tickwork.alarms where alarms.family = begin_picking.family and alarms.wake_at <= now_at)
      as is_overdue
  into look
  from tickwork.family_types
  cross join lateral (select coalesce(pg_sequence_last_value(family_types.turn), 0) offset 0) as turn(value)
  where family_types.family = begin_picking.family
    and family_types.type = begin_picking.types[1]
    and cardinality(begin_picking.types) = 1;

  if look.is_overdue is not false then
    perform tickwork.catch_up(begin_picking.family, begin_picking.types);
  end if;

  if look.is_plain is not true then
    return tickwork.prepare_picking(
      begin_picking.family, begin_picking.types, begin_picking.lease_seconds, begin_picking.max_jobs,
      begin_picking.own_tenant
    );
  end if;

  if look.is_low then
    look.max_priority := tickwork.low_priority_after(
      begin_picking.family, begin_picking.types, look.start, look.turn & 65535
    );
  end if;

  -- One job of one type, by far the most common claim: one scan finds both the tenant and its job, because the index of
  -- waiting is in the order of turns. pick would find the same job, at twice the cost; a test compares the two.
  for round in 1 .. 2 loop
    select
      waiting.ctid as place, jobs.ctid as record, tenants.number, tenants.weight,
      tenants.is_paused or tenants.is_limited or waiting.lane is not null as is_special, round > 1 as has_wrapped
    into next
    from tickwork.waiting
    join tickwork.tenants on tenants.number = waiting.tenant_number
    -- An array of one, here and in other verbs: ids that are equal could also be merged, and where the statistics know
    -- of no job, a plan that reads all of them for that looks as cheap.
    join public.jobs on jobs.id = any (array[waiting.job_id]) and jobs.status = 'queued'
    where waiting.family = begin_picking.family
      and waiting.type = begin_picking.types[1]
      and waiting.tenant_number > look.start
      and waiting.priority <= look.max_priority
    -- By the whole key of the index: under row-level security the planner does not see which columns are constant.
    order by waiting.family, waiting.type, waiting.tenant_number, waiting.priority desc, waiting.run_at
    limit 1
    for update of waiting skip locked
    for no key update of jobs skip locked;

    exit when found or look.start <= 0;
    look.start := 0;
  end loop;

  if next.is_special is not false then
    return tickwork.prepare_picking(
      begin_picking.family, begin_picking.types, begin_picking.lease_seconds, begin_picking.max_jobs,
      begin_picking.own_tenant
    );
  end if;

  perform setval(look.sequence, tickwork.packed(
    -- If it is the only tenant, the next claim need not look behind it first.
    case when next.has_wrapped and next.number = look.turn >> 23 and next.weight = 1 then 0 else next.number end,
    case when next.number = look.turn >> 23 and look.starts_left > 0 then look.starts_left else next.weight end - 1,
    look.turn + 1
  ));

  return row(
    array[next.place], array[next.record], false, begin_picking.types, look.lease_seconds, look.timeouts,
    begin_picking.family, null, look.sequence, null, null, '{}', null, null, null, null
  )::tickwork.picked_jobs;
end
$$;

comment on function tickwork.begin_picking is
  'What a claim has to know before it can pick; in the usual case also the job that it starts.';

create function tickwork.low_priority_after(family text, types text[], tenant_number bigint, starts bigint)
returns integer
language sql
volatile
as $$
  select coalesce(
    tickwork.lower_priority(low_priority_after.family, low_priority_after.types, next.number, starts / 10), 100
  )
  from (
    select coalesce(
      (
        select waiting.tenant_number
        from tickwork.waiting
        where waiting.family = low_priority_after.family
          and waiting.type = low_priority_after.types[1]
          and waiting.tenant_number > low_priority_after.tenant_number
        order by waiting.family, waiting.type, waiting.tenant_number
        limit 1
      ),
      (
        select waiting.tenant_number
        from tickwork.waiting
        where waiting.family = low_priority_after.family
          and waiting.type = low_priority_after.types[1]
        order by waiting.family, waiting.type, waiting.tenant_number
        limit 1
      )
    )
  ) as next(number);
$$;

comment on function tickwork.low_priority_after is
  'One of the lower priorities of the tenant whose turn comes after this one; 100 if it has only one priority.';

create function tickwork.catch_up(family text, types text[])
returns void
language plpgsql
volatile
as $$
declare
  now_at constant timestamptz := clock_timestamp();
begin
  with free as (
    select family_types.ctid as place
    from tickwork.family_types
    where family_types.family = catch_up.family
      and (catch_up.types is null or family_types.type = any (catch_up.types))
      and (family_types.asked_at > now_at - interval '1 minute') is not true
    for no key update skip locked
  )
  update tickwork.family_types
  set asked_at = now_at
  from free
  where family_types.ctid = free.place;

  if exists (
    select
    from tickwork.family_types
    where family_types.family = catch_up.family
      and family_types.reaped_at < now_at - interval '1 second'
  ) then
    perform tickwork.reap(catch_up.family, 100);
  end if;

  -- Last: whoever rings holds locks that others wait for, and must wait for nobody.
  perform tickwork.ring_alarms(catch_up.family, 16);
end
$$;

comment on function tickwork.catch_up is
  'Notes who asks, ends expired leases of the family and wakes its parked jobs that are due, so many at a time.';
