-- Which jobs a claim starts.

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

create function tickwork.prepare_picking(
  family text, types text[], lease_seconds integer, max_jobs integer, own_tenant uuid
)
returns tickwork.picked_jobs
language plpgsql
volatile
as $$
declare
  picked tickwork.picked_jobs;
  starts bigint;
  low_starts integer;
  low_class integer;
begin
  -- Types with the highest priority first.
  select
    array_agg(served.type), array_agg(coalesce(prepare_picking.lease_seconds, served.lease_seconds)),
    array_agg(served.timeout_seconds), array_agg(served.priority), bool_or(served.is_limited),
    prepare_picking.family, prepare_picking.own_tenant, (array_agg(served.turn))[1], '{}', false
  into
    picked.types, picked.lease_seconds, picked.timeouts, picked.priorities, picked.is_limited, picked.family,
    picked.own_tenant, picked.sequence, picked.passed, picked.has_locks
  from (
    select *
    from tickwork.family_types
    where family_types.family = prepare_picking.family
      and (prepare_picking.types is null or family_types.type = any (prepare_picking.types))
      and not family_types.is_paused
      and family_types.full_until < clock_timestamp()
    order by family_types.priority desc
  ) as served;

  -- A worker of one tenant takes nobody else's turn: for it, chance takes the place of the pointer.
  picked.turn := case
    when picked.own_tenant is null then coalesce(pg_sequence_last_value(picked.sequence), 0)
    else floor(random() * 65536)
  end;
  starts := picked.turn & 65535;
  low_starts := tickwork.low_starts(starts, prepare_picking.max_jobs);
  picked.classes := coalesce(picked.priorities, '{}');

  if cardinality(picked.types) > 1 then
    picked.classes := array(select distinct unnest(picked.priorities) order by 1 desc);
  end if;

  -- One start in ten goes to types, or to jobs, that are less urgent.
  low_class := picked.priorities[1 + starts / 10 % cardinality(picked.priorities)];
  picked.has_low_starts := low_starts = 0 or low_class >= picked.priorities[1];

  if not picked.has_low_starts then
    picked.classes := low_class || picked.classes;
    picked.class_starts := low_starts;
  end if;

  return picked;
end
$$;

comment on function tickwork.prepare_picking is 'The types that a claim asks for, by priority, and whether less urgent ones come first this time.';

create function tickwork.pick(picked tickwork.picked_jobs, wanted integer)
returns tickwork.picked_jobs
language plpgsql
volatile
as $$
declare
  types text[];
  turns tickwork.turns;
begin
  picked.places := null;
  picked.records := null;

  -- A bound in case one tenant after the other turns out to be at its limit: the next claim continues from there.
  for pass in 1 .. 50 loop
    exit when picked.classes = '{}';

    types := tickwork.types_of_class(picked);
    turns := tickwork.turns_of_class(picked, types, least(pick.wanted, picked.class_starts));

    if turns.last_number is not null then
      picked.turn := tickwork.packed(turns.last_number, turns.starts_left, picked.turn);
    end if;

    if turns.numbers is null then
      -- The types of the next lower priority.
      picked.classes := picked.classes[2:];
      picked.class_starts := null;
      picked.passed := '{}';
      continue;
    end if;

    picked := tickwork.pick_targets(picked, types, turns, tickwork.targets_of(picked, types, turns));
    -- Two claims that both wait while they hold locks on limits could deadlock.
    picked.has_locks := true;
    exit when picked.records is not null;
  end loop;

  picked.turn := tickwork.packed(
    picked.turn >> 23, (picked.turn >> 16 & 127)::integer,
    (picked.turn & 65535) + coalesce(cardinality(picked.records), 0)
  );

  if picked.own_tenant is null then
    perform setval(picked.sequence, picked.turn);
  end if;

  return picked;
end
$$;

comment on function tickwork.pick is
  'Locks up to as many jobs as are wanted, for the tenants whose turn it is. There may be more if it is called again, '
  'after these have been started, unless it returns none.';

create function tickwork.types_of_class(picked tickwork.picked_jobs)
returns text[]
language plpgsql
volatile
as $$
begin
  if cardinality((picked).types) = 1 and not (picked).is_limited then
    return (picked).types;
  end if;

  return array(
    select served.type
    from unnest((picked).types, (picked).priorities) as served(type, priority)
    join tickwork.family_types on family_types.family = (picked).family and family_types.type = served.type
    where served.priority = (picked).classes[1]
      and family_types.full_until < clock_timestamp()
  );
end
$$;

comment on function tickwork.types_of_class is
  'The types of the class whose turn it is, except those that have turned out to be at their limit.';

create function tickwork.turns_of_class(picked tickwork.picked_jobs, types text[], wanted integer)
returns tickwork.turns
language plpgsql
volatile
as $$
declare
  turns tickwork.turns;
begin
  if turns_of_class.types = '{}' or turns_of_class.wanted = 0 then
    return turns;
  end if;

  if (picked).own_tenant is null then
    return tickwork.next_turns(
      (picked).family, turns_of_class.types, (picked).is_limited, turns_of_class.wanted, (picked).passed, (picked).turn
    );
  end if;

  select array[tenants.number], array[turns_of_class.wanted], (picked).is_limited or tenants.is_limited
  into turns.numbers, turns.rooms, turns.is_limited
  from tickwork.tenants
  where tenants.tenant_id = (picked).own_tenant
    and not tenants.is_paused
    and tenants.number <> all ((picked).passed)
    and tickwork.open_types(tenants.number, (picked).family, turns_of_class.types) <> '{}';

  return turns;
end
$$;

comment on function tickwork.turns_of_class is
  'Whose turn it is among the types of a class, with as many starts as are wanted.';
