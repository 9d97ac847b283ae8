-- Which jobs a claim starts.

create function tickwork.prepare_picking(
  family text, types text[], lease_seconds integer, max_jobs integer, own_tenant uuid
)
returns tickwork.picked_jobs
language plpgsql
volatile
as $$
declare
  now_at constant timestamptz := clock_timestamp();
  picked tickwork.picked_jobs;
  starts bigint;
  low_starts integer;
  low_class integer;
begin
  if (
    select bool_or(tickwork.is_overdue(family_types.reaped_at, family_types.asked_at, now_at))
    from tickwork.family_types
    where family_types.family = prepare_picking.family
      and (prepare_picking.types is null or family_types.type = any (prepare_picking.types))
  ) is not false
    or exists (select from tickwork.alarms where alarms.family = prepare_picking.family and alarms.wake_at <= now_at)
  then
    perform tickwork.catch_up(prepare_picking.family, prepare_picking.types);
  end if;

  -- Types with the highest priority first.
  select
    array_agg(served.type), array_agg(coalesce(prepare_picking.lease_seconds, served.lease_seconds)),
    array_agg(served.timeout_seconds), array_agg(served.priority), bool_or(served.is_limited),
    prepare_picking.family, prepare_picking.own_tenant, (array_agg(served.turn))[1],
    tickwork.front_at(pg_sequence_last_value((array_agg(served.front))[1])), '{}', false
  into
    picked.types, picked.lease_seconds, picked.timeouts, picked.priorities, picked.is_limited, picked.family,
    picked.own_tenant, picked.sequence, picked.front, picked.passed, picked.has_locks
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

  if tickwork.is_time_to_move(starts, prepare_picking.max_jobs) then
    perform tickwork.move_front(picked.family, picked.front, 100);
  end if;

  if not picked.has_low_starts then
    picked.classes := low_class || picked.classes;
    picked.class_starts := low_starts;
  end if;

  return picked;
end
$$;

comment on function tickwork.prepare_picking is
  'The types that a claim asks for, by priority, and whether less urgent ones come first this time.';

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

    types := case
      when cardinality(picked.types) = 1 and not picked.is_limited then picked.types
      else tickwork.types_of_class(picked)
    end;
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
      (picked).family, turns_of_class.types, (picked).front, (picked).is_limited, turns_of_class.wanted,
      (picked).passed, (picked).turn
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
