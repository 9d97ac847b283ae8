-- How many jobs of which type each turn starts.

create function tickwork.targets_of(picked tickwork.picked_jobs, types text[], turns tickwork.turns)
returns tickwork.claim_targets
language plpgsql
volatile
as $$
declare
  targets tickwork.claim_targets := row('{}', '{}', '{}', '{}', '{}');
  starts integer := ((picked).pointer).starts;
  open_types text[] := targets_of.types;
  room integer;
  low_room integer;
  low_priority integer;
  -- A claim that holds a lock on a limit does not wait for another, or two claims could deadlock.
  has_locks boolean := (picked).has_locks;
  head record;
begin
  for turn in 1 .. cardinality((turns).numbers) loop
    if (turns).is_limited then
      open_types := tickwork.open_types((turns).numbers[turn], (picked).family, targets_of.types);
      targets.open_types[turn] := cardinality(open_types);
    end if;

    room := (turns).rooms[turn];
    low_room := (picked).has_low_starts::integer * tickwork.low_starts(starts, room);
    low_priority := null;

    if low_room > 0 then
      low_priority := tickwork.lower_priority((picked).family, open_types, (turns).numbers[turn], starts / 10);
    end if;

    starts := starts + room;

    if cardinality(open_types) = 1 and low_priority is null and not (turns).is_limited then
      targets.types := targets.types || open_types[1];
      targets.numbers := targets.numbers || (turns).numbers[turn];
      targets.max_priorities := targets.max_priorities || 100;
      targets.rooms := targets.rooms || room;
      continue;
    end if;

    for head in
      select *
      from tickwork.heads_of((picked).family, open_types, (turns).numbers[turn], room, low_room, low_priority)
    loop
      if (turns).is_limited then
        head.room := tickwork.room_for(
          (turns).tenant_ids[turn], (turns).numbers[turn], head.type, head.room, targets, may_wait => not has_locks
        );
        has_locks := true;
      end if;

      if head.room > 0 then
        targets.types := targets.types || head.type;
        targets.numbers := targets.numbers || (turns).numbers[turn];
        targets.max_priorities := targets.max_priorities || head.max_priority;
        targets.rooms := targets.rooms || head.room;
      end if;
    end loop;
  end loop;

  return targets;
end
$$;

comment on function tickwork.targets_of is
  'The starts of each turn, as far as limits allow: how many of each type, and how many of those at a lower priority.';

create function tickwork.heads_of(
  family text, types text[], tenant_number bigint, starts integer, low_starts integer, low_priority integer
)
returns table (type text, max_priority integer, room integer)
language sql
volatile
as $$
  select head.type, part.max_priority, count(*)::integer
  from (
    values
      (heads_of.low_priority, heads_of.low_starts),
      (100, heads_of.starts - heads_of.low_starts * (heads_of.low_priority is not null)::integer)
  ) as part(max_priority, room)
  cross join lateral (
    select served.type
    from unnest(heads_of.types) as served(type)
    cross join lateral (
      select standing.priority, standing.run_at
      from tickwork.waiting as standing
      where standing.family = heads_of.family
        and standing.type = served.type
        and standing.tenant_number = heads_of.tenant_number
        and standing.priority <= part.max_priority
      order by standing.family, standing.type, standing.tenant_number, standing.priority desc, standing.run_at
      limit part.room
    ) as waiting
    order by waiting.priority desc, waiting.run_at
    limit part.room
  ) as head
  where part.max_priority is not null
  group by part.max_priority, head.type
  order by part.max_priority;
$$;

comment on function tickwork.heads_of is
  'The starts of a turn by type, in the order of its jobs, some of them at a lower priority.';

create function tickwork.pick_targets(
  picked tickwork.picked_jobs, types text[], turns tickwork.turns, targets tickwork.claim_targets
)
returns tickwork.picked_jobs
language plpgsql
volatile
as $$
declare
  numbers bigint[];
  has_lanes boolean;
begin
  -- Nobody waits for a locked row, neither in waiting nor in jobs.
  select array_agg(due.place), array_agg(due.record), array_agg(target.number), bool_or(due.lane is not null)
  into picked.places, picked.records, numbers, has_lanes
  from unnest((targets).types, (targets).numbers, (targets).max_priorities, (targets).rooms)
    as target(type, number, max_priority, room)
  cross join lateral (
    select waiting.ctid as place, jobs.ctid as record, waiting.lane
    from tickwork.waiting
    join public.jobs on jobs.id = any (array[waiting.job_id]) and jobs.status = 'queued'
    where waiting.family = (picked).family
      and waiting.type = target.type
      and waiting.tenant_number = target.number
      and waiting.priority <= target.max_priority
    order by waiting.family, waiting.type, waiting.tenant_number, waiting.priority desc, waiting.run_at
    limit target.room
    for update of waiting skip locked
    for no key update of jobs skip locked
  ) as due;

  if has_lanes then
    picked := tickwork.admit_to_lanes(picked, has_locks => (turns).is_limited or (picked).has_locks);
  end if;

  if (turns).is_limited then
    perform tickwork.spend_starts((picked).places);
  end if;

  picked.is_limited := (picked).is_limited or (turns).is_limited;
  picked.class_starts := (picked).class_starts - coalesce(cardinality((picked).records), 0);
  picked.passed := (picked).passed || tickwork.passed_turns(picked, pick_targets.types, turns, targets, numbers);
  return picked;
end
$$;

comment on function tickwork.pick_targets is
  'Locks the most urgent and oldest jobs of each target, as many as there is room for.';

create function tickwork.passed_turns(
  picked tickwork.picked_jobs,
  types text[],
  turns tickwork.turns,
  targets tickwork.claim_targets,
  taken bigint[]
)
returns bigint[]
language plpgsql
volatile
as $$
begin
  if cardinality(passed_turns.taken) >= (select sum(room) from unnest((turns).rooms) as room)
    -- If a type turned out to be at its limit, another one may still have room.
    or (turns).is_limited and tickwork.types_of_class(picked) <> passed_turns.types
  then
    return '{}';
  end if;

  return array(
    select turn.number
    from unnest((turns).numbers, (turns).rooms, (targets).open_types) as turn(number, room, open_types)
    cross join lateral (
      select count(*) as jobs from unnest(passed_turns.taken) as job(number) where job.number = turn.number
    ) as given
    where turn.room > given.jobs
      and (
        not (turns).is_limited
        or cardinality(tickwork.open_types(turn.number, (picked).family, passed_turns.types)) = turn.open_types
      )
      -- A job that two targets of a turn have found is one start less: there may be more.
      and (given.jobs = 0 or not exists (
        select
        from unnest((targets).numbers, (targets).max_priorities) as target(number, max_priority)
        where target.number = turn.number
          and target.max_priority < 100
      ))
  );
end
$$;

comment on function tickwork.passed_turns is
  'The tenants that have no more jobs to start than have been found, although their turn allows more.';
