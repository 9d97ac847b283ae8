-- Which jobs a claim starts.

create function tickwork.begin_picking(
  family text, types text[], own_tenant uuid, turn bigint, max_jobs integer
)
returns tickwork.picked_jobs
language plpgsql
volatile
as $$
declare
  -- A worker of one tenant takes nobody else's turn: for it, chance takes the place of the pointer.
  pointer constant tickwork.pointer := tickwork.unpacked(
    case when begin_picking.own_tenant is null then begin_picking.turn else floor(random() * 65536)::bigint end
  );
  low_starts constant integer := tickwork.low_starts(pointer.starts, begin_picking.max_jobs);
  low_class integer;
  picked tickwork.picked_jobs;
begin
  -- Types with the highest priority first.
  select
    array_agg(family_types.type order by family_types.priority desc),
    array_agg(family_types.priority order by family_types.priority desc), bool_or(family_types.is_limited)
  into picked.types, picked.priorities, picked.is_limited
  from tickwork.family_types
  where family_types.family = begin_picking.family
    and (begin_picking.types is null or family_types.type = any (begin_picking.types))
    and not family_types.is_paused
    and family_types.full_until < clock_timestamp();

  picked.family := begin_picking.family;
  picked.own_tenant := begin_picking.own_tenant;
  picked.pointer := pointer;
  picked.passed := '{}';
  picked.has_locks := false;
  picked.classes := coalesce(picked.priorities, '{}');
  -- One start in ten goes to types, or to jobs, that are less urgent.
  low_class := picked.priorities[1 + pointer.starts / 10 % cardinality(picked.priorities)];
  picked.has_low_starts := low_starts = 0 or low_class >= picked.priorities[1];

  if cardinality(picked.types) > 1 then
    picked.classes := array(select distinct unnest(picked.priorities) order by 1 desc);
  end if;

  if not picked.has_low_starts then
    picked.classes := low_class || picked.classes;
    picked.class_starts := low_starts;
  end if;

  return picked;
end
$$;

create function tickwork.pick_many(picked tickwork.picked_jobs, wanted integer)
returns tickwork.picked_jobs
language plpgsql
volatile
as $$
declare
  types text[];
  turns tickwork.turns;
begin
  -- A bound in case one tenant after the other turns out to be at its limit: the next claim continues from there.
  for pass in 1 .. 50 loop
    exit when cardinality((picked).classes) = 0;

    types := tickwork.types_of_class(picked);
    turns := tickwork.turns_of_class(picked, types, least(pick_many.wanted, (picked).class_starts));

    -- After a full round without a start the pointer stays where it was.
    if turns.numbers is not null or turns.steps >= 1000 then
      picked.pointer := row(turns.last_number, turns.starts, (picked.pointer).starts);
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

  picked.pointer.starts := (picked.pointer).starts + coalesce(cardinality(picked.records), 0);

  if picked.own_tenant is null then
    perform setval(tickwork.turn_of(picked.family), tickwork.packed(
      (picked.pointer).tenant_number, (picked.pointer).starts_left, (picked.pointer).starts
    ));
  end if;

  return picked;
end
$$;

comment on function tickwork.pick_many is
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
    turns := tickwork.next_turns(
      (picked).family, turns_of_class.types, (picked).is_limited, turns_of_class.wanted, (picked).passed,
      (picked).pointer
    );
    return case when turns.numbers is null then turns else tickwork.share_out(turns, turns_of_class.wanted) end;
  end if;

  select
    array[tenants.number], array[tenants.tenant_id], array[1], array[turns_of_class.wanted],
    (picked).is_limited or tenants.is_limited
  into turns.numbers, turns.tenant_ids, turns.weights, turns.rooms, turns.is_limited
  from tickwork.tenants
  where tenants.tenant_id = (picked).own_tenant
    and not tenants.is_paused
    and tenants.number <> all ((picked).passed)
    and tickwork.open_types(tenants.number, (picked).family, turns_of_class.types) <> '{}';

  return turns;
end
$$;

comment on function tickwork.turns_of_class is 'Whose turn it is among the types of a class, with as many starts as are wanted.';
