-- Jobs for the tenants whose turn it is, as many as are wanted.

create function tickwork.keep_up(family text, types text[], has_ticked boolean default false)
returns tickwork.family_types[]
language plpgsql
volatile
as $$
declare
  now_at constant timestamptz := clock_timestamp();
  served tickwork.family_types[];
  asked_at timestamptz;
  reaped_at timestamptz;
  has_alarm boolean;
begin
  select
    array_agg(family_types order by family_types.priority desc)
      filter (where not family_types.is_paused and family_types.full_until < now_at),
    min(coalesce(family_types.asked_at, '-infinity')),
    max(family_types.reaped_at),
    exists (
      select
      from tickwork.alarms
      where alarms.family = keep_up.family
        and alarms.wake_at <= now_at
    )
  into served, asked_at, reaped_at, has_alarm
  from tickwork.family_types
  where family_types.family = keep_up.family
    and (keep_up.types is null or family_types.type = any (keep_up.types));

  if asked_at < now_at - interval '1 minute' then
    perform tickwork.note_asked(keep_up.family, keep_up.types);
  end if;

  if reaped_at < now_at - interval '1 second' and not has_ticked then
    perform tickwork.tick_family(keep_up.family, 100);
    -- That may have freed room at a limit.
    return tickwork.keep_up(keep_up.family, keep_up.types, has_ticked => true);
  end if;

  -- Last: whoever rings holds locks that others wait for, and must wait for nobody.
  if has_alarm then
    perform tickwork.ring_alarms(keep_up.family, 16);
  end if;

  return served;
end
$$;

comment on function tickwork.keep_up is
  'The upkeep before a claim: a bounded amount now and then, usually nothing. Returns the types whose jobs may be '
  'started.';

create function tickwork.note_asked(family text, types text[])
returns void
language sql
volatile
as $$
  with free as (
    select family_types.ctid as place
    from tickwork.family_types
    where family_types.family = note_asked.family
      and (note_asked.types is null or family_types.type = any (note_asked.types))
    for no key update skip locked
  )
  update tickwork.family_types
  set asked_at = clock_timestamp()
  from free
  where family_types.ctid = free.place;
$$;


-- Jobs of the types of one priority, tenant after tenant.

create function tickwork.claim_at(
  request tickwork.claim_request,
  served tickwork.family_types[],
  priority integer,
  max_jobs integer,
  has_low_starts boolean,
  so_far tickwork.claimed_so_far
)
returns tickwork.claimed_so_far
language plpgsql
volatile
as $$
declare
  types text[] := array[]::text[];
  open_types text[];
  is_limited boolean := false;
  next tickwork.next_turns;
  targets tickwork.claim_target[];
  started tickwork.claimed_job[];
  -- Tenants that had fewer jobs than their turn allows.
  passed bigint[] := array[]::bigint[];
begin
  for number in 1 .. cardinality(claim_at.served) loop
    continue when (served[number]).priority <> claim_at.priority;
    types := types || (served[number]).type;
    is_limited := is_limited or (served[number]).is_limited;
  end loop;

  -- A bound in case one tenant after the other turns out to be at its limit: the next claim continues from there.
  for pass in 1 .. 50 loop
    next := tickwork.next_turns(
      (request).family, types, is_limited, claim_at.max_jobs - cardinality(so_far.jobs), passed, so_far.pointer
    );
    so_far.pointer := next.pointer;

    exit when cardinality(next.turns) = 0;

    targets := tickwork.targets_of(
      (request).family, next.turns, claim_at.has_low_starts, (so_far.pointer).starts, so_far.has_locks
    );
    started := tickwork.start_jobs(request, targets, so_far.has_locks);
    -- A claim that may hold locks on limits does not wait for others, or two claims could deadlock.
    so_far.has_locks := true;
    so_far.jobs := so_far.jobs || started;

    exit when cardinality(so_far.jobs) >= claim_at.max_jobs;

    if is_limited then
      open_types := tickwork.types_with_room((request).family, types);
    end if;

    -- If a type turned out to be at its limit, another one may still have room.
    if open_types is null or open_types = types then
      passed := passed || array(
        select turn.tenant_number
        from unnest(next.turns) as turn
        cross join lateral (
          select count(*) as jobs from unnest(started) as job where job.tenant_id = turn.tenant_id
        ) as given
        where turn.room > given.jobs
          and turn.types = tickwork.open_types(turn.tenant_number, (request).family, turn.types)
          -- A job that two targets of a turn have found is one start less: there may be more.
          and (given.jobs = 0 or not exists (
            select
            from unnest(targets) as target
            where target.tenant_number = turn.tenant_number
              and target.max_priority < 100
          ))
      );
    else
      types := open_types;
      exit when types = '{}';
    end if;
  end loop;

  return so_far;
end
$$;

create function tickwork.types_with_room(family text, types text[])
returns text[]
language plpgsql
volatile
as $$
begin
  return array(
    select served.type
    from unnest(types_with_room.types) as served(type)
    join tickwork.family_types on family_types.type = served.type
    where family_types.family = types_with_room.family
      and family_types.full_until < clock_timestamp()
    order by array_position(types_with_room.types, served.type)
  );
end
$$;

create function tickwork.targets_of(
  family text,
  turns tickwork.turn[],
  has_low_starts boolean,
  starts integer,
  has_locks boolean
)
returns tickwork.claim_target[]
language plpgsql
volatile
as $$
declare
  served tickwork.turn;
  low_starts integer;
  target tickwork.claim_target;
  targets tickwork.claim_target[] := array[]::tickwork.claim_target[];
begin
  foreach served in array targets_of.turns loop
    low_starts := targets_of.has_low_starts::integer * tickwork.low_starts(targets_of.starts, served.room);
    starts := targets_of.starts + served.room;

    foreach target in array tickwork.split_turn(targets_of.family, served, low_starts, targets_of.starts) loop
      if target.is_limited and target.room > 0 then
        target.room := tickwork.room_for(
          target.tenant_id, target.type, target.room, targets, may_wait => not has_locks
        );
        has_locks := true;
      end if;

      if target.room > 0 then
        targets := targets || target;
      end if;
    end loop;
  end loop;

  return targets;
end
$$;

comment on function tickwork.targets_of is
  'The starts of each turn, as far as limits allow: how many of each type, and how many of those at a lower priority.';

create function tickwork.split_turn(family text, turn tickwork.turn, low_starts integer, rank integer)
returns tickwork.claim_target[]
language plpgsql
volatile
as $$
declare
  low_priority constant integer := case
    when split_turn.low_starts > 0 then
      tickwork.lower_priority(split_turn.family, (turn).types, (turn).tenant_number, split_turn.rank / 10)
  end;
  room constant integer := (turn).room - case when low_priority is null then 0 else split_turn.low_starts end;
  targets tickwork.claim_target[] := array[]::tickwork.claim_target[];
begin
  if low_priority is not null then
    targets := array[row(
      tickwork.most_urgent_type(split_turn.family, (turn).types, (turn).tenant_number, low_priority),
      (turn).tenant_number, (turn).tenant_id, low_priority, split_turn.low_starts, (turn).is_limited
    )::tickwork.claim_target];
  end if;

  if cardinality((turn).types) = 1 or room <= 1 then
    return targets || row(
      tickwork.most_urgent_type(split_turn.family, (turn).types, (turn).tenant_number, 100),
      (turn).tenant_number, (turn).tenant_id, 100, room, (turn).is_limited
    )::tickwork.claim_target;
  end if;

  return targets || array(
    select row(
      head.type, (turn).tenant_number, (turn).tenant_id, 100, count(*), (turn).is_limited
    )::tickwork.claim_target
    from (
      select served.type
      from unnest((turn).types) as served(type)
      cross join lateral (
        select standing.priority, standing.run_at
        from tickwork.waiting as standing
        where standing.family = split_turn.family
          and standing.type = served.type
          and standing.tenant_number = (turn).tenant_number
        order by standing.family, standing.type, standing.tenant_number, standing.priority desc, standing.run_at
        limit room
      ) as waiting
      order by waiting.priority desc, waiting.run_at
      limit room
    ) as head
    group by head.type
  );
end
$$;

comment on function tickwork.split_turn is
  'The starts of a turn by type, in the order of its jobs, some of them at a lower priority.';

create function tickwork.most_urgent_type(family text, types text[], tenant_number bigint, max_priority integer)
returns text
language plpgsql
volatile
as $$
begin
  if cardinality(most_urgent_type.types) = 1 then
    return most_urgent_type.types[1];
  end if;

  return (
    select served.type
    from unnest(most_urgent_type.types) as served(type)
    cross join lateral (
      select standing.priority, standing.run_at
      from tickwork.waiting as standing
      where standing.family = most_urgent_type.family
        and standing.type = served.type
        and standing.tenant_number = most_urgent_type.tenant_number
        and standing.priority <= most_urgent_type.max_priority
      order by standing.family, standing.type, standing.tenant_number, standing.priority desc, standing.run_at
      limit 1
    ) as waiting
    order by waiting.priority desc, waiting.run_at
    limit 1
  );
end
$$;
