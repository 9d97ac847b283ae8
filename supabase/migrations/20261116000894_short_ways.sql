-- The short ways of a claim, for what nearly always is: one job in turn, rounds of turns, one job all alone

create function tickwork.claim_in_turn(family text, worker_id text, lease_seconds integer)
returns public.jobs[]
language plpgsql
volatile
set search_path = ''
as $$
declare
  spot tickwork.spot;
  job public.jobs;
  due_by constant timestamptz := clock_timestamp();
begin
  update tickwork.turns
  set
    starts = turns.starts + 1,
    served_at = due_by,
    turn = case (turns.starts + 1) % turns.weight when 0 then clock_timestamp() else turns.turn end
  where turns.id = (
    select first_turn.id
    from tickwork.served_types
    cross join lateral (
      select *
      from tickwork.turns
      where turns.family = claim_in_turn.family
        and turns.type = served_types.type
        and turns.is_open
      order by turns.priority desc, turns.turn
      limit 1
      for no key update skip locked
    ) as first_turn
    where served_types.family = claim_in_turn.family
      and served_types.is_alone
      and not served_types.is_held
      and served_types.full_until < due_by
      and served_types.reap_at > due_by
      and not first_turn.is_limited
      and not first_turn.has_lanes
      and not exists (
        select
        from tickwork.wakes
        where wakes.family = claim_in_turn.family
          and wakes.wake_at <= due_by
      )
      -- Every tenth start goes to a lower priority, if one waits.
      and (
        first_turn.starts % 10 <> 9
        or not exists (
          select
          from tickwork.turns
          where turns.family = claim_in_turn.family
            and turns.type = served_types.type
            and turns.is_open
            and turns.priority < first_turn.priority
        )
      )
  )
  returning
    turns.family, turns.type, turns.priority, turns.tenant_id, turns.id,
    tickwork.line_id(turns.family, turns.type, turns.priority, turns.tenant_id, null),
    turns.lease_seconds, turns.timeout_seconds
  into
    spot.family, spot.type, spot.priority, spot.tenant_id, spot.turn_id,
    spot.line_id,
    spot.lease_seconds, spot.timeout_seconds;

  if spot.turn_id is null then
    return null;
  end if;

  job := tickwork.start_job(spot, due_by, claim_in_turn.worker_id, claim_in_turn.lease_seconds);

  if job.id is null then
    perform tickwork.close_line(spot);
    return array[]::public.jobs[];
  end if;

  return array[job];
end
$$;

comment on function tickwork.claim_in_turn is
  'queued -> running. The short way to one job, which nearly always leads there: the family has one type, nobody has '
  'limits or lanes, nothing was woken. Null means that there is no such way, an empty array that it led nowhere.';

create function tickwork.claim_rounds(family text, worker_id text, max_jobs integer, lease_seconds integer)
returns public.jobs[]
language plpgsql
volatile
set search_path = ''
as $$
declare
  due_by constant timestamptz := clock_timestamp();
  turn_ids bigint[];
  tenant_ids uuid[];
  line_ids bigint[];
  shares integer[];
  lease integer;
  timeout integer;
  is_plain boolean;
  started public.jobs[];
  moved_at timestamptz;
begin
  select
    array_agg(peer.id),
    array_agg(peer.tenant_id),
    array_agg(tickwork.line_id(peer.family, peer.type, peer.priority, peer.tenant_id, null)),
    -- As many whole rounds as fit, and then whole turns, in their order.
    array_agg(greatest(
      claim_rounds.max_jobs / peer.weights * peer.weight
      + case when peer.weights_so_far <= claim_rounds.max_jobs % peer.weights then peer.weight else 0 end
      - peer.starts % peer.weight,
      0
    )::integer),
    min(peer.lease_seconds),
    min(peer.timeout_seconds),
    bool_and(not peer.is_limited and not peer.has_lanes and peer.priority = peer.lowest_priority)
  into turn_ids, tenant_ids, line_ids, shares, lease, timeout, is_plain
  from (
    select
      first_turns.*,
      sum(first_turns.weight) over () as weights,
      sum(first_turns.weight) over (order by first_turns.turn rows unbounded preceding) as weights_so_far,
      last_turn.priority as lowest_priority
    from tickwork.served_types
    cross join lateral (
      select turns.priority
      from tickwork.turns
      where turns.family = claim_rounds.family
        and turns.type = served_types.type
        and turns.is_open
      order by turns.priority, turns.turn desc
      limit 1
    ) as last_turn
    cross join lateral (
      select *
      from tickwork.turns
      where turns.family = claim_rounds.family
        and turns.type = served_types.type
        and turns.is_open
      order by turns.priority desc, turns.turn
      limit claim_rounds.max_jobs
    ) as first_turns
    where served_types.family = claim_rounds.family
      and served_types.is_alone
      and not served_types.is_held
      and served_types.full_until < due_by
      and served_types.reap_at > due_by
      and not exists (
        select
        from tickwork.wakes
        where wakes.family = claim_rounds.family
          and wakes.wake_at <= due_by
      )
  ) as peer;

  if is_plain is not true then
    return null;
  end if;

  started := tickwork.start_jobs(
    tenant_ids, line_ids, shares, due_by, claim_rounds.worker_id, coalesce(claim_rounds.lease_seconds, lease), timeout
  );

  moved_at := clock_timestamp();

  with served as (
    select job.tenant_id, count(*) as starts
    from unnest(started) as job
    group by job.tenant_id
  ),
  free as (
    select turns.id, served.starts
    from unnest(turn_ids, tenant_ids) as served_turn(id, tenant_id)
    join served on served.tenant_id = served_turn.tenant_id
    cross join lateral (
      select turns.id
      from tickwork.turns
      where turns.id = served_turn.id
      for no key update skip locked
    ) as turns
  )
  update tickwork.turns
  set
    starts = turns.starts + free.starts,
    served_at = due_by,
    turn = case
      -- Who got more rounds than others comes after them.
      when (turns.starts + free.starts) / turns.weight > turns.starts / turns.weight then
        moved_at + free.starts * interval '1 microsecond' / turns.weight
      else turns.turn
    end
  from free
  where turns.id = free.id;

  return started;
end
$$;

comment on function tickwork.claim_rounds is
  'queued -> running. The short way to many jobs: whole rounds of turns at one go, where the family has one type and '
  'nobody has limits, lanes or another priority. The order within a batch matters to nobody.';

create function tickwork.claim_woken(family text, worker_id text, lease_seconds integer)
returns public.jobs
language plpgsql
volatile
set search_path = ''
as $$
declare
  spot tickwork.spot;
  wake_id bigint;
  job public.jobs;
  due_by constant timestamptz := clock_timestamp();
begin
  -- Somebody is changing what turns are made of at this moment.
  if not pg_try_advisory_xact_lock_shared(7465) then
    return null;
  end if;

  select
    wakes.id, wakes.tenant_id,
    tickwork.line_id(wakes.family, wakes.type, wakes.priority, wakes.tenant_id, null),
    made_of.lease_seconds, made_of.timeout_seconds
  into
    wake_id, spot.tenant_id,
    spot.line_id,
    spot.lease_seconds, spot.timeout_seconds
  from tickwork.wakes
  cross join lateral tickwork.what_turns_are_made_of(wakes.type, wakes.tenant_id) as made_of
  where wakes.id = (
    select first_wake.id
    from tickwork.wakes as first_wake
    where first_wake.family = claim_woken.family
      and first_wake.wake_at <= due_by
    order by first_wake.family, first_wake.wake_at
    limit 1
  )
    and wakes.is_for_line
    and wakes.lane is null
    and not made_of.is_limited
    and not tickwork.is_held(tickwork.tenant_scope(wakes.tenant_id))
    and exists (
      select
      from tickwork.served_types
      where served_types.family = wakes.family
        and served_types.type = wakes.type
        and not served_types.is_held
        and served_types.full_until < due_by
    )
    and not exists (
      select
      from tickwork.wakes as other
      where other.family = claim_woken.family
        and other.wake_at <= due_by
        and other.id <> wakes.id
    )
  for update of wakes skip locked;

  if wake_id is null then
    return null;
  end if;

  job := tickwork.start_job(spot, due_by, claim_woken.worker_id, claim_woken.lease_seconds);

  delete from tickwork.wakes
  where wakes.id = wake_id
    and not exists (
      select
      from public.jobs
      where jobs.tenant_id = spot.tenant_id
        and tickwork.line_id(jobs.family, jobs.type, jobs.priority, jobs.tenant_id, jobs.lane) = spot.line_id
        and jobs.status = 'queued'
    );

  -- More are waiting there, and shall take turns with whoever comes.
  if not found and job.id is not null then
    perform tickwork.open_lines(claim_woken.family);
  end if;

  return job;
end
$$;

comment on function tickwork.claim_woken is
  'queued -> running. Where nobody else waits, a single job is started without opening its line, which would be closed '
  'again at once. Null means that there is more to it.';

revoke execute on function
  tickwork.claim_in_turn,
  tickwork.claim_rounds,
  tickwork.claim_woken
from public, anon, authenticated, service_role;

grant execute on function
  tickwork.claim_in_turn,
  tickwork.claim_rounds,
  tickwork.claim_woken
to tickwork_owner;
