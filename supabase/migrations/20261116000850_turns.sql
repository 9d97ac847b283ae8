-- Whose turn it is. Tenants take turns in the order of their numbers, each with as many starts as its weight. Where the
-- last claim stopped is kept in a sequence, whose value packs three numbers. It is read and set without a lock: two
-- concurrent claims may serve one tenant twice, which does no harm.

create type tickwork.pointer as (
  tenant_number bigint,
  starts_left integer,
  starts integer
);

comment on type tickwork.pointer is
  'The tenant that was served last, how many starts are left of its turn, and how many starts there have been in '
  'total.';

create function tickwork.turn_of(family text)
returns regclass
language sql
stable
-- Null if there is no such family.
return to_regclass('tickwork.' || quote_ident('turn_of_' || family));

create function tickwork.read_turn(family text)
returns bigint
language sql
volatile
return coalesce(pg_sequence_last_value(tickwork.turn_of(family)), 0);

create function tickwork.unpacked(stored bigint)
returns tickwork.pointer
language sql
immutable
return row(stored >> 23, (stored >> 16 & 127)::integer, (stored & 65535)::integer)::tickwork.pointer;

create function tickwork.packed(tenant_number bigint, starts_left integer, starts integer)
returns bigint
language sql
immutable
return tenant_number << 23 | (starts_left << 16)::bigint | (starts & 65535)::bigint;

-- The tenants that a claim is going to take jobs from, in the order of their turns, and how many of each.

create type tickwork.turns as (
  numbers bigint[],
  tenant_ids uuid[],
  weights integer[],
  rooms integer[],
  is_limited boolean,
  starts integer,
  steps bigint,
  last_number bigint
);

create function tickwork.next_turns(
  family text, types text[], are_limited boolean, wanted integer, passed bigint[], pointer tickwork.pointer
)
returns tickwork.turns
language plpgsql
volatile
as $$
declare
  -- A tenant in the middle of its turn comes first; one whose turn is over comes last.
  start constant bigint := (pointer).tenant_number - ((pointer).starts_left > 0)::integer;
  turns tickwork.turns;
begin
  -- Once around the tenants with waiting jobs of these types: one index probe per tenant and type. Bounded in case a
  -- thousand in a row are paused or at their limits: the next claim continues from there.
  with recursive ring(number, tenant_id, weight, is_limited, share, starts, step, has_wrapped) as (
    select start, null::uuid, 0, false, 0, 0, 0, false
    union all
    select
      coalesce(next.number, 0), tenants.tenant_id, tenants.weight, tenants.is_limited, turn.share,
      ring.starts + turn.share, ring.step + num_nonnulls(next.number), ring.has_wrapped or next.number is null
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
        when tenants.number = start + 1 and (pointer).starts_left > 0 then (pointer).starts_left
        else tenants.weight
      end
    ) as turn(share)
    where ring.starts < next_turns.wanted
      and ring.step < 1000
      and (not ring.has_wrapped or next.number <= start)
  )
  select
    array_agg(ring.number) filter (where ring.share > 0),
    array_agg(ring.tenant_id) filter (where ring.share > 0),
    array_agg(ring.weight) filter (where ring.share > 0),
    array_agg(ring.share) filter (where ring.share > 0),
    next_turns.are_limited or bool_or(ring.is_limited and ring.share > 0),
    max(ring.starts), max(ring.step), (array_agg(ring.number))[count(*)]
  into turns
  from ring;

  return turns;
end
$$;

comment on function tickwork.next_turns is
  'Whose turns come next, and how many starts each of them gets: once around the tenants, or fewer if that is enough.';

create function tickwork.share_out(turns tickwork.turns, wanted integer)
returns tickwork.turns
language plpgsql
immutable
as $$
declare
  last_turn integer := cardinality((turns).numbers);
  missing integer := share_out.wanted - (turns).starts;
  weights integer;
begin
  if missing > 0 then
    -- Every tenant has had a turn: add as many full rounds as are wanted, and give the rest to one after the other.
    weights := (select sum(weight) from unnest((turns).weights) as weight);

    for number in 1 .. last_turn loop
      turns.rooms[number] := turns.rooms[number] + turns.weights[number] * (missing / weights);
    end loop;

    missing := missing % weights;

    while missing > 0 loop
      last_turn := last_turn % cardinality((turns).numbers) + 1;
      turns.rooms[last_turn] := turns.rooms[last_turn] + turns.weights[last_turn];
      missing := missing - turns.weights[last_turn];
    end loop;
  end if;

  -- What is left of the last turn is for the next claim.
  turns.rooms[last_turn] := turns.rooms[last_turn] + missing;
  turns.last_number := turns.numbers[last_turn];
  turns.starts := -missing;
  return turns;
end
$$;

comment on function tickwork.share_out is
  'The turns with as many starts in total as are wanted. starts is then what is left of the last turn, last_number whose '
  'turn that is.';

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

create function tickwork.low_starts(starts integer, wanted integer)
returns integer
language sql
immutable
return wanted / 10 + (((starts + 17)::bigint * 40503 & 65535) < wanted % 10 * 6554)::integer;

create function tickwork.lower_priority(family text, types text[], tenant_number bigint, rank integer)
returns integer
language plpgsql
volatile
as $$
declare
  priorities integer[] := array[]::integer[];
  lower integer := 101;
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
  'priority.';
