-- How many jobs of which type each turn starts.

create function tickwork.targets_of(picked tickwork.picked_jobs, types text[], turns tickwork.turns)
returns tickwork.claim_targets
language plpgsql
volatile
as $$
declare
  targets tickwork.claim_targets;
begin
  select array_agg(head.type), array_agg(turn.number), array_agg(part.max_priority), array_agg(head.room)
  into targets.types, targets.numbers, targets.max_priorities, targets.rooms
  from (
    select
      given.number, given.room, low.starts as low_starts, open.types,
      case when low.starts > 0 then
        tickwork.lower_priority(picked.family, open.types, picked.front, given.number, given.starts / 10)
      end as low_priority
    from (
      select
        turn.number, turn.room,
        (picked.turn & 65535) + sum(turn.room) over (order by turn.place) - turn.room as starts
      from unnest(turns.numbers, turns.rooms) with ordinality as turn(number, room, place)
    ) as given
    cross join lateral (
      select tickwork.low_starts(given.starts, given.room) * picked.has_low_starts::integer offset 0
    ) as low(starts)
    cross join lateral (
      select case
        when turns.is_limited then tickwork.open_types(given.number, picked.family, targets_of.types)
        else targets_of.types
      end
      offset 0
    ) as open(types)
    offset 0
  ) as turn
  cross join lateral (
    values
      (turn.low_priority, turn.low_starts),
      (100, turn.room - turn.low_starts * (turn.low_priority is not null)::integer)
  ) as part(max_priority, room)
  cross join lateral (
    select turn.types[1] as type, part.room
    where cardinality(turn.types) = 1
    union all
    select first.type, first.jobs
    from tickwork.first_types(
      picked.family, turn.types, picked.front, turn.number, part.max_priority, part.room
    ) as first
    where cardinality(turn.types) > 1
  ) as head
  where part.max_priority is not null
    and head.room > 0;

  if turns.is_limited then
    return tickwork.within_limits(targets, picked, types, turns);
  end if;

  return targets;
end
$$;

comment on function tickwork.targets_of is
  'The starts of each turn, as far as limits allow: how many of each type, and how many of those at a lower priority.';

create function tickwork.first_types(
  family text, types text[], front timestamptz, tenant_number bigint, max_priority integer, max_jobs integer
)
returns table (type text, jobs integer)
language plpgsql
volatile
as $$
begin
  return query
  select head.type, count(*)::integer
  from (
    select served.type
    from unnest(first_types.types) as served(type)
    cross join lateral (
      select standing.priority, standing.run_at
      from tickwork.waiting as standing
      where standing.family = first_types.family
        and standing.type = served.type
        and standing.tenant_number = first_types.tenant_number
        and standing.priority <= first_types.max_priority
        and standing.run_at >= first_types.front
      order by standing.family, standing.type, standing.tenant_number, standing.priority desc, standing.run_at
      limit first_types.max_jobs
    ) as waiting
    order by waiting.priority desc, waiting.run_at
    limit first_types.max_jobs
  ) as head
  group by head.type;
end
$$;

comment on function tickwork.first_types is 'The types of the tenant''s next jobs, and how many there are of each.';

create function tickwork.within_limits(
  targets tickwork.claim_targets, picked tickwork.picked_jobs, types text[], turns tickwork.turns
)
returns tickwork.claim_targets
language plpgsql
volatile
as $$
declare
  allowed tickwork.claim_targets := row('{}', '{}', '{}', '{}', '{}');
  has_locks boolean := picked.has_locks;
  room integer;
begin
  allowed.open_types := array(
    select cardinality(tickwork.open_types(turn.number, picked.family, within_limits.types))
    from unnest(turns.numbers) with ordinality as turn(number, place)
    order by turn.place
  );

  for number in 1 .. coalesce(cardinality(targets.types), 0) loop
    -- A claim that holds a lock on a limit does not wait for another, or two claims could deadlock.
    room := tickwork.room_for(
      targets.numbers[number], targets.types[number], targets.rooms[number], allowed, may_wait => not has_locks
    );
    has_locks := true;
    continue when room = 0;

    allowed.types := allowed.types || targets.types[number];
    allowed.numbers := allowed.numbers || targets.numbers[number];
    allowed.max_priorities := allowed.max_priorities || targets.max_priorities[number];
    allowed.rooms := allowed.rooms || room;
  end loop;

  return allowed;
end
$$;

comment on function tickwork.within_limits is 'The targets as far as limits allow.';

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
  from unnest(targets.types, targets.numbers, targets.max_priorities, targets.rooms)
    as target(type, number, max_priority, room)
  cross join lateral (
    select waiting.ctid as place, jobs.ctid as record, waiting.lane
    from tickwork.waiting
    -- An array of one, here and in other verbs: ids that are equal could also be merged, and where the statistics know
    -- of no job, a plan that reads all of them for that looks as cheap.
    join public.jobs on jobs.id = any (array[waiting.job_id]) and jobs.status = 'queued'
    where waiting.family = picked.family
      and waiting.type = target.type
      and waiting.tenant_number = target.number
      and waiting.priority <= target.max_priority
      and waiting.run_at >= picked.front
    -- By the whole key of the index: under row-level security the planner does not see which columns are constant.
    order by waiting.family, waiting.type, waiting.tenant_number, waiting.priority desc, waiting.run_at
    limit target.room
    for update of waiting skip locked
    for no key update of jobs skip locked
  ) as due;

  if has_lanes then
    picked := tickwork.admit_to_lanes(picked, has_locks => turns.is_limited or picked.has_locks);
  end if;

  if turns.is_limited then
    perform tickwork.spend_starts(picked.places);
    picked.is_limited := true;
  end if;

  picked.class_starts := picked.class_starts - coalesce(cardinality(picked.records), 0);

  if turns.is_limited or coalesce(cardinality(numbers), 0) < (select sum(room) from unnest(turns.rooms) as room) then
    picked.passed := picked.passed || tickwork.passed_turns(picked, pick_targets.types, turns, targets, numbers);
  end if;

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
  if cardinality(passed_turns.taken) >= (select sum(room) from unnest(turns.rooms) as room)
    -- If a type turned out to be at its limit, another one may still have room.
    or turns.is_limited and tickwork.types_of_class(picked) <> passed_turns.types
  then
    return '{}';
  end if;

  return array(
    select turn.number
    from unnest(turns.numbers, turns.rooms, targets.open_types) as turn(number, room, open_types)
    cross join lateral (
      select count(*) as jobs from unnest(passed_turns.taken) as job(number) where job.number = turn.number
    ) as given
    where turn.room > given.jobs
      and (
        not turns.is_limited
        or cardinality(tickwork.open_types(turn.number, picked.family, passed_turns.types)) = turn.open_types
      )
      -- A job that two targets of a turn have found is one start less: there may be more.
      and (given.jobs = 0 or not exists (
        select
        from unnest(targets.numbers, targets.max_priorities) as target(number, max_priority)
        where target.number = turn.number
          and target.max_priority < 100
      ))
  );
end
$$;

comment on function tickwork.passed_turns is
  'The tenants that have no more jobs to start than have been found, although their turn allows more.';
