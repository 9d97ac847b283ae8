-- Whose turn it is. Tenants take turns in the order of their numbers, each with as many starts as its weight. Where the
-- last claim stopped is kept in a sequence, whose value packs three numbers: the tenant that was served last, how many
-- starts are left of its turn, and how many starts there have been in total. It is read and set without a lock: two
-- concurrent claims may serve one tenant twice, which does no harm.

create function tickwork.read_turn(family text)
returns bigint
language sql
volatile
return (
  select coalesce(pg_sequence_last_value(family_types.turn), 0)
  from tickwork.family_types
  where family_types.family = read_turn.family
  limit 1
);

create function tickwork.packed(tenant_number bigint, starts_left integer, starts bigint)
returns bigint
language sql
immutable
return tenant_number << 23 | (starts_left << 16)::bigint | (starts & 65535);

comment on function tickwork.packed is
  'What the sequence of a family stores: value >> 23, value >> 16 & 127 and value & 65535 are the three numbers again.';

-- The tenants that a claim is going to take jobs from, in the order of their turns, and how many of each.

create type tickwork.turns as (
  numbers bigint[],
  rooms integer[],
  is_limited boolean,
  last_number bigint,
  starts_left integer
);

comment on type tickwork.turns is
  'numbers is null if no tenant has anything to start. last_number is whose turn the last one is, starts_left what is '
  'left of it for the next claim.';

create function tickwork.next_turns(
  family text,
  types text[],
  front timestamptz,
  are_limited boolean,
  wanted integer,
  passed bigint[],
  turn bigint
)
returns tickwork.turns
language plpgsql
volatile
as $$
declare
  starts_left constant integer := next_turns.turn >> 16 & 127;
  -- A tenant in the middle of its turn comes first; one whose turn is over comes last.
  start constant bigint := (next_turns.turn >> 23) - (starts_left > 0)::integer;
  weights integer[];
  starts integer;
  steps integer;
  turns tickwork.turns;
begin
  -- Once around the tenants with waiting jobs of these types: one index probe per tenant and type. Bounded in case a
  -- thousand in a row are paused or at their limits: the next claim continues from there.
  with recursive ring(number, starts, step, has_wrapped, weight, share, is_limited) as (
    select start, 0, 0, false, 0, 0, false
    union all
    select
      coalesce(next.number, 0), ring.starts + turn.share, ring.step + num_nonnulls(next.number),
      ring.has_wrapped or next.number is null, tenants.weight, turn.share, tenants.is_limited
    from ring
    cross join lateral (
      select min(next_in_type.tenant_number)
      from unnest(next_turns.types) as served(type)
      cross join lateral (
        select waiting.tenant_number
        from tickwork.waiting
        where waiting.family = next_turns.family
          and waiting.type = served.type
          and waiting.tenant_number > ring.number
          and waiting.run_at >= next_turns.front
        order by waiting.family, waiting.type, waiting.tenant_number
        limit 1
      ) as next_in_type
    ) as next(number)
    left join tickwork.tenants on tenants.number = next.number
    cross join lateral (
      select case
        when (tenants.is_paused or tenants.number = any (next_turns.passed)) is not false
          or (tenants.is_limited or next_turns.are_limited)
            and tickwork.open_types(tenants.number, next_turns.family, next_turns.types) = '{}'
        then 0
        when tenants.number = start + 1 and starts_left > 0 then starts_left
        else tenants.weight
      end
    ) as turn(share)
    where ring.starts < next_turns.wanted
      and ring.step < 1000
      and (not ring.has_wrapped or next.number <= start)
  )
  select
    array_agg(ring.number) filter (where ring.share > 0), array_agg(ring.share) filter (where ring.share > 0),
    next_turns.are_limited or bool_or(ring.is_limited and ring.share > 0), (array_agg(ring.number))[count(*)],
    array_agg(ring.weight) filter (where ring.share > 0), max(ring.starts), max(ring.step)
  into turns.numbers, turns.rooms, turns.is_limited, turns.last_number, weights, starts, steps
  from ring;

  if turns.numbers is not null then
    return tickwork.share_out(turns, weights, next_turns.wanted - starts);
  end if;

  -- After a full round without a start the pointer stays where it was.
  if steps < 1000 then
    turns.last_number := next_turns.turn >> 23;
    turns.starts_left := starts_left;
  else
    turns.starts_left := 0;
  end if;

  return turns;
end
$$;

comment on function tickwork.next_turns is
  'Whose turns come next, and how many starts each of them gets, in total as many as are wanted.';

create function tickwork.share_out(turns tickwork.turns, weights integer[], missing integer)
returns tickwork.turns
language plpgsql
immutable
as $$
declare
  last_turn integer := cardinality((turns).numbers);
  rooms integer[] := (turns).rooms;
  starts_of_a_round integer;
begin
  if missing > 0 then
    -- Every tenant has had a turn: add as many full rounds as are wanted, and give the rest to one after the other.
    starts_of_a_round := (select sum(weight) from unnest(weights) as weight);
    rooms := array(
      select given.room + given.weight * (missing / starts_of_a_round)
      from unnest(rooms, weights) with ordinality as given(room, weight, place)
      order by given.place
    );
    missing := missing % starts_of_a_round;

    while missing > 0 loop
      last_turn := last_turn % cardinality(rooms) + 1;
      rooms[last_turn] := rooms[last_turn] + weights[last_turn];
      missing := missing - weights[last_turn];
    end loop;
  end if;

  -- What is left of the last turn is for the next claim.
  rooms[last_turn] := rooms[last_turn] + missing;
  turns.rooms := rooms;
  turns.last_number := (turns).numbers[last_turn];
  turns.starts_left := -missing;
  return turns;
end
$$;

comment on function tickwork.share_out is
  'The turns with the starts that are missing; if that is a negative number, without those that are too many.';

create function tickwork.open_types(tenant_number bigint, family text, types text[])
returns text[]
language plpgsql
volatile
as $$
begin
  return array(
    select served.type
    from unnest(open_types.types) as served(type)
    where not exists (
      select
      from tickwork.blocked
      where blocked.tenant_number = open_types.tenant_number
        and blocked.family = open_types.family
        and blocked.type = served.type
        and blocked.until > clock_timestamp()
    )
  );
end
$$;

comment on function tickwork.open_types is 'The types for which the tenant is not known to be at a limit.';


-- Nothing starves: one start in ten goes to a lower priority. The golden ratio decides which ones, so that no regular
-- pattern of tenants or workers always or never gets them.

create function tickwork.low_starts(starts bigint, wanted integer)
returns integer
language sql
immutable
return wanted / 10 + wanted % 10 * (((starts + 17) * 40503 & 65535) < 6554)::integer;

create function tickwork.lower_priority(
  family text, types text[], front timestamptz, tenant_number bigint, rank bigint, highest integer default null
)
returns integer
language plpgsql
volatile
as $$
declare
  lower integer := coalesce(lower_priority.highest, 101);
  priorities integer[] := array_remove(array[lower_priority.highest], null);
begin
  -- From one priority to the next, however many jobs each has. There are at most 101.
  loop
    lower := (
      select max(next_in_type.priority)
      from unnest(lower_priority.types) as served(type)
      cross join lateral (
        select waiting.priority
        from tickwork.waiting
        where waiting.family = lower_priority.family
          and waiting.type = served.type
          and waiting.tenant_number = lower_priority.tenant_number
          and waiting.priority < lower
          and waiting.run_at >= lower_priority.front
        order by waiting.family, waiting.type, waiting.tenant_number, waiting.priority desc
        limit 1
      ) as next_in_type
    );

    exit when lower is null;
    priorities := priorities || lower;
  end loop;

  return case
    when cardinality(priorities) > 1 then priorities[2 + lower_priority.rank % (cardinality(priorities) - 1)]
  end;
end
$$;

comment on function tickwork.lower_priority is
  'One of the lower priorities of the tenant''s waiting jobs, a different one for each rank; null if there is only one '
  'priority. highest is the highest one, if that is known.';
