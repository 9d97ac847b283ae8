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

-- Which tenant a claim is going to take jobs from, and how many.

create type tickwork.turn as (
  tenant_number bigint,
  tenant_id uuid,
  weight integer,
  is_limited boolean,
  types text[],
  room integer
);

create type tickwork.next_turns as (
  turns tickwork.turn[],
  pointer tickwork.pointer
);

create function tickwork.next_turns(
  family text,
  types text[],
  is_limited boolean,
  wanted integer,
  passed bigint[],
  pointer tickwork.pointer
)
returns tickwork.next_turns
language plpgsql
volatile
as $$
declare
  -- A tenant in the middle of its turn comes first; one whose turn is over comes last.
  start constant bigint := (pointer).tenant_number - ((pointer).starts_left > 0)::integer;
  tenant record;
  open_types text[];
  share integer;
  starts integer := 0;
  turns tickwork.turn[] := array[]::tickwork.turn[];
begin
  for tenant in
    -- Once around the tenants with waiting jobs of these types: one index probe per tenant and type.
    with recursive ring(number, has_wrapped, step) as (
      select start, false, 0
      union all
      select coalesce(next.number, 0), ring.has_wrapped or next.number is null, ring.step + num_nonnulls(next.number)
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
      -- A bound in case a thousand in a row are paused or at their limits: the next claim continues from there.
      where ring.step < 1000
        and (not ring.has_wrapped or next.number <= start)
    )
    select tenants.*, ring.step
    from ring
    join tickwork.tenants on tenants.number = ring.number and ring.step > 0
  loop
    continue when tenant.is_paused or tenant.number = any (next_turns.passed);

    open_types := next_turns.types;

    if tenant.is_limited or next_turns.is_limited then
      open_types := tickwork.open_types(tenant.number, next_turns.family, next_turns.types);
      continue when open_types = '{}';
    end if;

    share := case
      when tenant.number = start + 1 and (pointer).starts_left > 0 then (pointer).starts_left
      else tenant.weight
    end;
    starts := starts + share;
    turns := turns || row(
      tenant.number, tenant.tenant_id, tenant.weight, tenant.is_limited or next_turns.is_limited, open_types, share
    )::tickwork.turn;
    exit when starts >= next_turns.wanted;
  end loop;

  if starts = 0 then
    -- After a full round without a start the pointer stays where it was.
    return row(
      turns,
      case when tenant.step >= 1000 then row(tenant.number, 0, (pointer).starts)::tickwork.pointer else pointer end
    )::tickwork.next_turns;
  end if;

  return tickwork.share_out(turns, starts, next_turns.wanted, (pointer).starts);
end
$$;

comment on function tickwork.next_turns is
  'Whose turns come next, and how many starts each of them gets; in total as many as are wanted.';

create function tickwork.share_out(turns tickwork.turn[], starts integer, wanted integer, starts_before integer)
returns tickwork.next_turns
language plpgsql
immutable
as $$
declare
  missing integer := share_out.wanted - share_out.starts;
  last_turn integer := cardinality(share_out.turns);
  weights integer;
begin
  if missing > 0 then
    -- Every tenant has had a turn: add as many full rounds as are wanted, and give the rest to one after the other.
    weights := (select sum(turn.weight) from unnest(share_out.turns) as turn);

    for number in 1 .. cardinality(share_out.turns) loop
      turns[number].room := (turns[number]).room + (turns[number]).weight * (missing / weights);
    end loop;

    missing := missing % weights;

    while missing > 0 loop
      last_turn := last_turn % cardinality(share_out.turns) + 1;
      turns[last_turn].room := (turns[last_turn]).room + (turns[last_turn]).weight;
      missing := missing - (turns[last_turn]).weight;
    end loop;
  end if;

  -- What is left of the last turn is for the next claim.
  turns[last_turn].room := (turns[last_turn]).room + missing;

  return row(
    turns,
    row((turns[last_turn]).tenant_number, -missing, share_out.starts_before)::tickwork.pointer
  )::tickwork.next_turns;
end
$$;

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
