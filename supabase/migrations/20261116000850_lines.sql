-- How a claim keeps its lines: opens those that were woken, closes those where nothing is to be had.

create type tickwork.spot as (
  family text,
  type text,
  priority integer,
  tenant_id uuid,
  lane text,
  turn_id bigint,
  line_id bigint,
  starts bigint,
  weight integer,
  lease_seconds integer,
  timeout_seconds integer,
  is_limited boolean,
  has_lanes boolean,
  is_woken boolean,
  is_to_be_reaped boolean
);

comment on type tickwork.spot is
  'Where a claim is about to take jobs, what holds there, and what it has to do before.';

create function tickwork.open_lines(family text)
returns void
language plpgsql
volatile
set search_path = ''
as $$
declare
  -- A variable, because the index takes no volatile function for its bound.
  due_by constant timestamptz := clock_timestamp();
  woken tickwork.wakes[];
begin
  -- Somebody is changing what turns are made of at this moment.
  if not pg_try_advisory_xact_lock_shared(7465) then
    return;
  end if;

  with taken as (
    delete from tickwork.wakes
    -- By place and not by key: whatever the statistics say, nothing else is looked at.
    where wakes.ctid = any (array(
      select due.ctid
      from tickwork.wakes as due
      where due.family = open_lines.family
        and due.wake_at <= due_by
      order by due.family, due.wake_at
      limit 1000
      for update skip locked
    ))
    -- As a row of its own type: what is aggregated as a mere record would be written and read as text.
    returning wakes as wake
  )
  select array_agg(taken.wake)
  into woken
  from taken;

  if woken is null then
    return;
  end if;

  insert into tickwork.served_types (family, type, is_held)
  select
    wake.family,
    wake.type,
    tickwork.is_held(tickwork.type_scope(wake.type)) or tickwork.is_held(tickwork.family_scope(wake.family))
  from unnest(woken) as wake
  where not exists (
    select
    from tickwork.served_types
    where served_types.family = wake.family
      and served_types.type = wake.type
  )
  group by wake.family, wake.type
  order by wake.type
  on conflict do nothing;

  if found then
    update tickwork.served_types
    set is_alone = false
    where served_types.family = open_lines.family
      and exists (
        select
        from tickwork.served_types as other
        where other.family = served_types.family
          and other.type <> served_types.type
      );
  end if;

  -- In the order of their keys, and turns before lines, so that two claims wait in one direction only. Wait they must:
  -- whoever is closing one at this moment may not have seen the job.
  insert into tickwork.turns (
    id, family, type, priority, tenant_id, has_lanes, turn, weight, lease_seconds, timeout_seconds, is_limited,
    is_open, gate
  )
  select
    tickwork.turn_id(wake.family, wake.type, wake.priority, wake.tenant_id) as id,
    wake.family, wake.type, wake.priority, wake.tenant_id, wake.has_lanes,
    -- A tenant has one turn for all its types; a new one has waited since its first job was due.
    coalesce(
      (
        select max(sibling.turn)
        from tickwork.served_types
        join tickwork.turns as sibling
          on sibling.id = tickwork.turn_id(wake.family, served_types.type, wake.priority, wake.tenant_id)
        where served_types.family = wake.family
      ),
      min(wake.wake_at) over (partition by wake.family, wake.priority, wake.tenant_id)
    ),
    made_of.*,
    not tenant.is_held,
    case when tenant.is_held then tickwork.tenant_scope(wake.tenant_id) end
  from (
    select
      wake.family, wake.type, wake.priority, wake.tenant_id, bool_or(wake.lane is not null) as has_lanes,
      min(wake.wake_at) as wake_at
    from unnest(woken) as wake
    group by wake.family, wake.type, wake.priority, wake.tenant_id
  ) as wake
  cross join lateral tickwork.what_turns_are_made_of(wake.type, wake.tenant_id) as made_of
  cross join lateral tickwork.is_held(tickwork.tenant_scope(wake.tenant_id)) as tenant(is_held)
  order by id
  on conflict (id) do update
  set
    is_open = excluded.is_open,
    gate = excluded.gate,
    has_lanes = turns.has_lanes or excluded.has_lanes
  where not turns.is_open
    or turns.has_lanes < excluded.has_lanes;

  insert into tickwork.lines (id, turn_id, lane, is_limited, is_open, gate)
  select
    tickwork.line_id(wake.family, wake.type, wake.priority, wake.tenant_id, wake.lane) as id,
    tickwork.turn_id(wake.family, wake.type, wake.priority, wake.tenant_id),
    wake.lane,
    exists (
      select
      from tickwork.lanes
      where lanes.family = wake.family
        and lanes.tenant_id = wake.tenant_id
        and lanes.lane = wake.lane
    ),
    not lane.is_held,
    case when lane.is_held then tickwork.lane_scope(wake.family, wake.tenant_id, wake.lane) end
  from (
    select distinct wake.family, wake.type, wake.priority, wake.tenant_id, wake.lane
    from unnest(woken) as wake
    where wake.is_for_line
  ) as wake
  cross join lateral tickwork.is_held(tickwork.lane_scope(wake.family, wake.tenant_id, wake.lane)) as lane(is_held)
  order by id
  on conflict (id) do update
  set
    is_open = excluded.is_open,
    gate = excluded.gate
  where not lines.is_open;

  insert into tickwork.wakes (family, type, priority, tenant_id, lane, wake_at)
  select distinct wake.family, wake.type, wake.priority, wake.tenant_id, wake.lane, holds.until
  from unnest(woken) as wake
  join tickwork.holds on holds.scope = tickwork.lane_scope(wake.family, wake.tenant_id, wake.lane)
  where holds.until > clock_timestamp()
    and isfinite(holds.until);
end
$$;

comment on function tickwork.open_lines is
  'Opens the lines of one family that were woken. What only a limit had closed is open again; a hold stays.';

create function tickwork.is_held(scope text)
returns boolean
language plpgsql
volatile
set search_path = ''
as $$
begin
  return exists (
    select
    from tickwork.holds
    where holds.scope = is_held.scope
      and holds.until > clock_timestamp()
  );
end
$$;

create function tickwork.what_turns_are_made_of(
  type text,
  tenant_id uuid,
  out weight integer,
  out lease_seconds integer,
  out timeout_seconds integer,
  out is_limited boolean
)
language plpgsql
volatile
set search_path = ''
as $$
begin
  select
    coalesce(organizations.weight, 1),
    coalesce(job_types.lease_seconds, 60),
    job_types.timeout_seconds,
    num_nonnulls(
      organizations.max_running, job_types.max_running, job_types.max_running_per_tenant, job_types.starts_per_minute
    ) > 0
  into
    what_turns_are_made_of.weight,
    what_turns_are_made_of.lease_seconds,
    what_turns_are_made_of.timeout_seconds,
    what_turns_are_made_of.is_limited
  from (select what_turns_are_made_of.type, what_turns_are_made_of.tenant_id) as given
  left join public.job_types on job_types.key = given.type
  left join public.organizations on organizations.id = given.tenant_id;
end
$$;

comment on function tickwork.what_turns_are_made_of is
  'What a turn copies from its type and tenant, so that a claim need not look it up.';

create function tickwork.shut_line(line_id bigint, gate text)
returns void
language plpgsql
volatile
set search_path = ''
as $$
begin
  with free as (
    select lines.id
    from tickwork.lines
    where lines.id = shut_line.line_id
    for no key update skip locked
  )
  update tickwork.lines
  set
    is_open = false,
    gate = shut_line.gate
  from free
  where lines.id = free.id;
end
$$;

create function tickwork.shut_turn(turn_id bigint, gate text)
returns void
language plpgsql
volatile
set search_path = ''
as $$
begin
  with free as (
    select turns.id
    from tickwork.turns
    where turns.id = shut_turn.turn_id
    for no key update skip locked
  )
  update tickwork.turns
  set
    is_open = false,
    gate = shut_turn.gate
  from free
  where turns.id = free.id;
end
$$;

create function tickwork.close_line(spot tickwork.spot)
returns void
language plpgsql
volatile
set search_path = ''
as $$
declare
  next_at timestamptz;
begin
  if spot.line_id is not null then
    -- Somebody is enqueuing here at this moment, and relies on the line to stay open.
    if not pg_try_advisory_xact_lock(7464, (spot.turn_id & 1023)::integer) then
      return;
    end if;

    -- Before the look, and a statement of its own: whoever takes a wake from now on waits, and opens the line again.
    perform
    from tickwork.lines
    where lines.id = spot.line_id
    for no key update skip locked;

    if not found then
      return;
    end if;

    select jobs.run_at into next_at
    from public.jobs
    where jobs.tenant_id = spot.tenant_id
      and tickwork.line_id(jobs.family, jobs.type, jobs.priority, jobs.tenant_id, jobs.lane) = spot.line_id
      and jobs.status = 'queued'
      and jobs.attempts < jobs.max_attempts
    order by
      jobs.tenant_id,
      tickwork.line_id(jobs.family, jobs.type, jobs.priority, jobs.tenant_id, jobs.lane),
      jobs.run_at
    limit 1;

    -- Other claims are taking what is there.
    if next_at <= clock_timestamp() then
      return;
    end if;

    if next_at is not null then
      insert into tickwork.wakes (family, type, priority, tenant_id, lane, wake_at)
      values (spot.family, spot.type, spot.priority, spot.tenant_id, spot.lane, next_at);
    end if;

    update tickwork.lines
    set
      is_open = false,
      gate = null
    where lines.id = spot.line_id;
  end if;

  -- A statement of its own: the next one sees what was opened before the row could be locked.
  perform
  from tickwork.turns
  where turns.id = spot.turn_id
  for no key update skip locked;

  if found then
    update tickwork.turns
    set is_open = false
    where turns.id = spot.turn_id
      and not exists (
        select
        from tickwork.lines
        where lines.turn_id = turns.id
          and lines.is_open
      );
  end if;
end
$$;

comment on function tickwork.close_line is
  'Closes a line in which nothing is due, until something is, and its turn if that was the last one.';

create function tickwork.queued_lines()
returns table (
  family text,
  type text,
  priority integer,
  tenant_id uuid,
  lane text,
  run_at timestamptz,
  line_id bigint
)
language sql
stable
set search_path = ''
as $$
  -- From the first job of one line to the first of the next, however long they are.
  with recursive heads as (
    (
      select
        jobs.family, jobs.type, jobs.priority, jobs.tenant_id, jobs.lane, jobs.run_at,
        tickwork.line_id(jobs.family, jobs.type, jobs.priority, jobs.tenant_id, jobs.lane) as line_id
      from public.jobs
      where jobs.status = 'queued'
      order by
        jobs.tenant_id,
        tickwork.line_id(jobs.family, jobs.type, jobs.priority, jobs.tenant_id, jobs.lane),
        jobs.run_at
      limit 1
    )
    union all
    select following.*
    from heads
    cross join lateral (
      select
        jobs.family, jobs.type, jobs.priority, jobs.tenant_id, jobs.lane, jobs.run_at,
        tickwork.line_id(jobs.family, jobs.type, jobs.priority, jobs.tenant_id, jobs.lane) as line_id
      from public.jobs
      where jobs.status = 'queued'
        and (
          jobs.tenant_id,
          tickwork.line_id(jobs.family, jobs.type, jobs.priority, jobs.tenant_id, jobs.lane)
        ) > (heads.tenant_id, heads.line_id)
      order by
        jobs.tenant_id,
        tickwork.line_id(jobs.family, jobs.type, jobs.priority, jobs.tenant_id, jobs.lane),
        jobs.run_at
      limit 1
    ) as following
  )
  select *
  from heads;
$$;

comment on function tickwork.queued_lines is
  'The lines that have queued jobs, with the run_at of the first: one look into the index for each line.';

-- What nobody wakes is found here: a table filled by hand, or restored without its inner state.

create function tickwork.wake_forgotten_lines()
returns integer
language plpgsql
volatile
set search_path = ''
as $$
declare
  woken integer;
begin
  insert into tickwork.wakes (family, type, priority, tenant_id, lane, wake_at)
  select heads.family, heads.type, heads.priority, heads.tenant_id, heads.lane, heads.run_at
  from tickwork.queued_lines() as heads
  left join tickwork.lines on lines.id = heads.line_id
  left join tickwork.turns
    on turns.id = tickwork.turn_id(heads.family, heads.type, heads.priority, heads.tenant_id)
  where (
    (lines.is_open or lines.gate is not null)
    and (turns.is_open or turns.gate is not null)
  ) is not true
    and not exists (
      select
      from tickwork.wakes
      where wakes.family = heads.family
        and wakes.wake_at = heads.run_at
        and tickwork.line_id(wakes.family, wakes.type, wakes.priority, wakes.tenant_id, wakes.lane) = heads.line_id
    );

  get diagnostics woken = row_count;
  return woken;
end
$$;

comment on function tickwork.wake_forgotten_lines is
  'Wakes every line that has jobs and is closed for no reason. Answers how many.';

revoke execute on function
  tickwork.open_lines,
  tickwork.is_held,
  tickwork.what_turns_are_made_of,
  tickwork.close_line,
  tickwork.shut_line,
  tickwork.shut_turn,
  tickwork.queued_lines,
  tickwork.wake_forgotten_lines
from public, anon, authenticated, service_role;

grant execute on function
  tickwork.open_lines,
  tickwork.is_held,
  tickwork.what_turns_are_made_of,
  tickwork.close_line,
  tickwork.shut_line,
  tickwork.shut_turn,
  tickwork.queued_lines,
  tickwork.wake_forgotten_lines
to tickwork_owner;
