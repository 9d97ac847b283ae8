-- Whose turn it is, how long it lasts, and what comes after it.

create function tickwork.next_spot(family text, highest_priority integer, barren bigint[], due_by timestamptz)
returns setof tickwork.spot
language sql
stable
begin atomic
  select
    next_spot.family,
    place.type,
    place.priority,
    place.tenant_id,
    place.lane,
    place.turn_id,
    place.line_id,
    place.starts,
    place.weight,
    place.lease_seconds,
    place.timeout_seconds,
    place.is_limited,
    place.has_lanes,
    exists (
      select
      from tickwork.wakes
      where wakes.family = next_spot.family
        and wakes.wake_at <= next_spot.due_by
    ),
    not exists (
      select
      from tickwork.served_types
      where served_types.family = next_spot.family
        and served_types.reap_at > next_spot.due_by
    )
  from (select) as nothing_yet
  left join (
    select
      first_turn.type,
      first_turn.priority,
      first_turn.tenant_id,
      first_line.lane,
      first_turn.id as turn_id,
      first_line.id as line_id,
      first_turn.starts,
      first_turn.weight,
      first_turn.lease_seconds,
      first_turn.timeout_seconds,
      first_turn.is_limited or first_line.is_limited as is_limited,
      first_turn.has_lanes
    from tickwork.served_types
    cross join lateral (
      select *
      from tickwork.turns
      where turns.family = next_spot.family
        and turns.type = served_types.type
        and turns.is_open
        and turns.priority <= next_spot.highest_priority
        and turns.id <> all (next_spot.barren)
      order by turns.priority desc, turns.turn
      limit 1
    ) as first_turn
    left join lateral (
      select *
      from tickwork.lines
      where lines.turn_id = first_turn.id
        and lines.is_open
        and lines.id <> all (next_spot.barren)
      order by lines.served_at
      limit 1
    ) as first_line on true
    where served_types.family = next_spot.family
      and not served_types.is_held
      and served_types.full_until < next_spot.due_by
    order by
      first_turn.priority desc,
      first_turn.turn,
      -- Of the types of one tenant the one with the oldest job.
      case
        when (select count(*) from tickwork.served_types where served_types.family = next_spot.family) > 1 then (
          select jobs.run_at
          from public.jobs
          where jobs.tenant_id = first_turn.tenant_id
            and tickwork.line_id(jobs.family, jobs.type, jobs.priority, jobs.tenant_id, jobs.lane) = first_line.id
            and jobs.status = 'queued'
          order by
            jobs.tenant_id,
            tickwork.line_id(jobs.family, jobs.type, jobs.priority, jobs.tenant_id, jobs.lane),
            jobs.run_at
          limit 1
        )
      end
    limit 1
  ) as place on true;
end;

comment on function tickwork.next_spot is
  'The turn that waits longest among those of the highest priority, and of its lines the one that does.';

create function tickwork.next_woken_spot(family text, barren bigint[], due_by timestamptz)
returns tickwork.spot
language plpgsql
volatile
set search_path = ''
as $$
declare
  spot tickwork.spot;
begin
  select
    wakes.family,
    wakes.type,
    wakes.priority,
    wakes.tenant_id,
    wakes.lane,
    tickwork.turn_id(wakes.family, wakes.type, wakes.priority, wakes.tenant_id),
    tickwork.line_id(wakes.family, wakes.type, wakes.priority, wakes.tenant_id, wakes.lane),
    0,
    made_of.weight,
    made_of.lease_seconds,
    made_of.timeout_seconds,
    made_of.is_limited or wakes.lane is not null,
    wakes.lane is not null,
    true,
    false
  into spot
  from tickwork.wakes
  cross join lateral tickwork.what_turns_are_made_of(wakes.type, wakes.tenant_id) as made_of
  where wakes.family = next_woken_spot.family
    and wakes.wake_at <= next_woken_spot.due_by
    and wakes.is_for_line
    and tickwork.line_id(wakes.family, wakes.type, wakes.priority, wakes.tenant_id, wakes.lane)
      <> all (next_woken_spot.barren)
    and not tickwork.is_held(tickwork.family_scope(wakes.family))
    and not tickwork.is_held(tickwork.type_scope(wakes.type))
    and not tickwork.is_held(tickwork.tenant_scope(wakes.tenant_id))
    and not tickwork.is_held(tickwork.lane_scope(wakes.family, wakes.tenant_id, wakes.lane))
  order by wakes.wake_at
  limit 1;

  return spot;
end
$$;

comment on function tickwork.next_woken_spot is
  'A line that another claim is opening at this moment: nobody has to wait for it.';

create function tickwork.longest_waiting_priority(spot tickwork.spot)
returns integer
language plpgsql
volatile
set search_path = ''
as $$
declare
  longest integer;
begin
  -- From one priority down to the next, of each type.
  with recursive levels as (
    select served_types.type, spot.priority, null::timestamptz as served_at
    from tickwork.served_types
    where served_types.family = spot.family
      and not served_types.is_held
      and served_types.full_until < clock_timestamp()
    union all
    select levels.type, lower_turn.priority, lower_turn.served_at
    from levels
    cross join lateral (
      select turns.priority, turns.served_at
      from tickwork.turns
      where turns.family = spot.family
        and turns.type = levels.type
        and turns.is_open
        and turns.priority < levels.priority
      order by turns.priority desc, turns.turn
      limit 1
    ) as lower_turn
  )
  select levels.priority into longest
  from levels
  where levels.served_at is not null
  order by levels.served_at
  limit 1;

  return coalesce(longest, 100);
end
$$;

comment on function tickwork.longest_waiting_priority is
  'Of the priorities below that of the spot the one that waits longest, or 100 if none waits.';

create function tickwork.rounds_for(spot tickwork.spot, max_jobs integer)
returns integer
language plpgsql
volatile
set search_path = ''
as $$
declare
  weights integer;
  is_plain boolean;
begin
  select sum(peer.weight), bool_and(peer.is_alone and not peer.has_lanes)
  into weights, is_plain
  from (
    select turns.weight, turns.has_lanes, served_types.is_alone
    from tickwork.served_types
    join tickwork.turns on turns.type = served_types.type
    where served_types.family = spot.family
      and turns.family = spot.family
      and turns.is_open
      and turns.priority = spot.priority
    limit rounds_for.max_jobs
  ) as peer;

  return case
    when weights <= spot.weight then rounds_for.max_jobs
    when is_plain then greatest(rounds_for.max_jobs / weights, 1)
    else 1
  end;
end
$$;

comment on function tickwork.rounds_for is
  'How many rounds of turns a batch is good for. They are taken at one go: the order within a batch matters to nobody.';

create function tickwork.share_of(spot tickwork.spot, rounds integer)
returns integer
language plpgsql
volatile
set search_path = ''
as $$
declare
  share integer := share_of.rounds * spot.weight - spot.starts % spot.weight;
begin
  -- Not past the start that goes to a lower priority.
  if exists (
    select
    from tickwork.served_types
    join tickwork.turns on turns.type = served_types.type
    where served_types.family = spot.family
      and turns.family = spot.family
      and turns.is_open
      and turns.priority < spot.priority
  ) then
    share := least(share, 9 - spot.starts % 10);
  end if;

  if spot.has_lanes and exists (
    select
    from tickwork.lines
    where lines.turn_id = spot.turn_id
      and lines.is_open
      and lines.id <> spot.line_id
  ) then
    share := 1;
  end if;

  return greatest(share, 1);
end
$$;

comment on function tickwork.share_of is
  'How many jobs a batch may take at the spot before others take their turns.';

create function tickwork.head_of_other_types(spot tickwork.spot)
returns timestamptz
language plpgsql
volatile
set search_path = ''
as $$
declare
  head timestamptz;
begin
  select min(other.run_at) into head
  from tickwork.served_types
  join tickwork.turns
    on turns.id = tickwork.turn_id(spot.family, served_types.type, spot.priority, spot.tenant_id)
  join tickwork.lines on lines.turn_id = turns.id
  cross join lateral (
    select jobs.run_at
    from public.jobs
    where jobs.tenant_id = spot.tenant_id
      and tickwork.line_id(jobs.family, jobs.type, jobs.priority, jobs.tenant_id, jobs.lane) = lines.id
      and jobs.status = 'queued'
    order by
      jobs.tenant_id,
      tickwork.line_id(jobs.family, jobs.type, jobs.priority, jobs.tenant_id, jobs.lane),
      jobs.run_at
    limit 1
  ) as other
  where served_types.family = spot.family
    and served_types.type <> spot.type
    and turns.is_open
    and lines.is_open
    and lines.lane is not distinct from spot.lane;

  return least(head, clock_timestamp());
end
$$;

comment on function tickwork.head_of_other_types is
  'How old a job has to be to come before those that the tenant has of other types, or else now.';


-- Whoever finds a row of turns or lines locked lets it be: turns may be off by what happens at the same moment.

create function tickwork.move_on(spot tickwork.spot, starts integer)
returns void
language plpgsql
volatile
set search_path = ''
as $$
declare
  is_over constant boolean := (spot.starts + move_on.starts) / spot.weight > spot.starts / spot.weight;
  -- One and the same for all types of the tenant: among them the oldest job decides.
  moved_at constant timestamptz := clock_timestamp();
begin
  with free as (
    select turns.id
    from tickwork.turns
    where turns.id = spot.turn_id
    for no key update skip locked
  )
  update tickwork.turns
  set
    starts = turns.starts + move_on.starts,
    served_at = moved_at,
    turn = case when is_over then moved_at else turns.turn end
  from free
  where turns.id = free.id;

  if is_over then
    with free as (
      select turns.id
      from tickwork.served_types
      join tickwork.turns
        on turns.id = tickwork.turn_id(spot.family, served_types.type, spot.priority, spot.tenant_id)
      where served_types.family = spot.family
        and served_types.type <> spot.type
      for no key update of turns skip locked
    )
    update tickwork.turns
    set turn = moved_at
    from free
    where turns.id = free.id;
  end if;

  if spot.has_lanes then
    with free as (
      select lines.id
      from tickwork.lines
      where lines.id = spot.line_id
      for no key update skip locked
    )
    update tickwork.lines
    set served_at = moved_at
    from free
    where lines.id = free.id;
  end if;

  if spot.is_limited then
    perform tickwork.spend_tokens(spot, move_on.starts);
  end if;
end
$$;

comment on function tickwork.move_on is
  'Counts the starts. A tenant that has started as many as its weight goes to the end with all its types, and the '
  'line to the end of its turn.';

create function tickwork.count_starts(spot tickwork.spot, starts integer)
returns void
language plpgsql
volatile
set search_path = ''
as $$
begin
  with free as (
    select turns.id
    from tickwork.turns
    where turns.id = spot.turn_id
    for no key update skip locked
  )
  update tickwork.turns
  set starts = turns.starts + count_starts.starts
  from free
  where turns.id = free.id;
end
$$;

revoke execute on function
  tickwork.next_spot,
  tickwork.next_woken_spot,
  tickwork.longest_waiting_priority,
  tickwork.rounds_for,
  tickwork.share_of,
  tickwork.head_of_other_types,
  tickwork.move_on,
  tickwork.count_starts
from public, anon, authenticated, service_role;

grant execute on function
  tickwork.next_spot,
  tickwork.next_woken_spot,
  tickwork.longest_waiting_priority,
  tickwork.rounds_for,
  tickwork.share_of,
  tickwork.head_of_other_types,
  tickwork.move_on,
  tickwork.count_starts
to tickwork_owner;
