-- queued -> running: the oldest due job of the line whose turn it is

create function tickwork.start_jobs(
  tenant_ids uuid[],
  line_ids bigint[],
  rooms integer[],
  due_by timestamptz,
  worker_id text,
  lease_seconds integer,
  timeout_seconds integer
)
returns public.jobs[]
language plpgsql
volatile
set search_path = ''
as $$
declare
  started public.jobs[];
begin
  with started_jobs as (
    update public.jobs
    set
      status = 'running',
      attempts = jobs.attempts + 1,
      lease_token = gen_random_uuid(),
      lease_seconds = start_jobs.lease_seconds,
      lease_expires_at = clock_timestamp() + make_interval(secs => start_jobs.lease_seconds),
      timeout_seconds = start_jobs.timeout_seconds,
      worker_id = start_jobs.worker_id,
      progress = null,
      progress_message = null,
      started_at = clock_timestamp(),
      updated_at = clock_timestamp()
    where jobs.ctid = any (array(
      select due_job.ctid
      from unnest(start_jobs.tenant_ids, start_jobs.line_ids, start_jobs.rooms) as line(tenant_id, id, room)
      cross join lateral (
        select due.ctid
        from public.jobs as due
        where due.tenant_id = line.tenant_id
          and tickwork.line_id(due.family, due.type, due.priority, due.tenant_id, due.lane) = line.id
          and due.status = 'queued'
          and due.run_at <= start_jobs.due_by
          and due.attempts < due.max_attempts
        -- By the whole key of the index: below row-level security the planner does not see that the rest is fixed.
        order by
          due.tenant_id,
          tickwork.line_id(due.family, due.type, due.priority, due.tenant_id, due.lane),
          due.run_at
        limit line.room
        for no key update skip locked
      ) as due_job
    ))
    -- As a row of its own type: what is aggregated as a mere record would be written and read as text.
    returning jobs as job
  )
  select array_agg(started_jobs.job)
  into started
  from started_jobs;

  return started;
end
$$;

comment on function tickwork.start_jobs is
  'queued -> running. Starts the oldest jobs of each line that are due by then, as many as there is room for. '
  'Answers null if there are none.';

create function tickwork.start_job(
  spot tickwork.spot,
  due_by timestamptz,
  worker_id text,
  lease_seconds integer
)
returns public.jobs
language plpgsql
volatile
set search_path = ''
as $$
declare
  job public.jobs;
begin
  update public.jobs
  set
    status = 'running',
    attempts = jobs.attempts + 1,
    lease_token = gen_random_uuid(),
    lease_seconds = coalesce(start_job.lease_seconds, spot.lease_seconds),
    lease_expires_at = clock_timestamp() + make_interval(secs => coalesce(start_job.lease_seconds, spot.lease_seconds)),
    timeout_seconds = spot.timeout_seconds,
    worker_id = start_job.worker_id,
    progress = null,
    progress_message = null,
    started_at = clock_timestamp(),
    updated_at = clock_timestamp()
  where jobs.ctid = any (array(
    select due.ctid
    from public.jobs as due
    where due.tenant_id = spot.tenant_id
      and tickwork.line_id(due.family, due.type, due.priority, due.tenant_id, due.lane) = spot.line_id
      and due.status = 'queued'
      and due.run_at <= start_job.due_by
      and due.attempts < due.max_attempts
    order by
      due.tenant_id,
      tickwork.line_id(due.family, due.type, due.priority, due.tenant_id, due.lane),
      due.run_at
    limit 1
    for no key update skip locked
  ))
  returning jobs.* into job;

  return job;
end
$$;

comment on function tickwork.start_job is
  'queued -> running. As start_jobs, for one job of one line, in two thirds of the time.';

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

create function tickwork.claim(family text, worker_id text, max_jobs integer, lease_seconds integer)
returns public.jobs[]
language plpgsql
volatile
set search_path = ''
as $$
declare
  spot tickwork.spot;
  -- Turns and lines where this claim got nothing.
  barren bigint[] := array[]::bigint[];
  highest_priority integer := 100;
  is_prepared boolean;
  may_descend boolean := true;
  has_descended boolean;
  looks integer := 0;
  rounds integer;
  rounds_of integer;
  has_locks boolean := false;
  wanted integer;
  room integer;
  job public.jobs;
  started public.jobs[];
  claimed public.jobs[];
  due_by timestamptz;
begin
  claimed := case claim.max_jobs
    when 1 then tickwork.claim_in_turn(claim.family, claim.worker_id, claim.lease_seconds)
    else tickwork.claim_rounds(claim.family, claim.worker_id, claim.max_jobs, claim.lease_seconds)
  end;

  if cardinality(claimed) = claim.max_jobs then
    return claimed;
  end if;

  wanted := claim.max_jobs - coalesce(cardinality(claimed), 0);
  -- Whoever has moved turns must not wait for others, or two could wait for each other.
  is_prepared := claimed is not null;

  while wanted > 0 loop
    due_by := clock_timestamp();
    select * into spot from tickwork.next_spot(claim.family, highest_priority, barren, due_by);

    -- Before anything else: whoever holds locks of limits must not wait for a turn that somebody else is moving.
    if not is_prepared then
      is_prepared := true;

      if spot.is_to_be_reaped then
        spot.is_woken := tickwork.reap(claim.family, 100) > 0 or spot.is_woken;
      end if;

      if spot.is_woken and spot.turn_id is null then
        job := tickwork.claim_woken(claim.family, claim.worker_id, claim.lease_seconds);

        if job.id is not null then
          claimed := claimed || job;
          wanted := wanted - 1;
          continue;
        end if;
      end if;

      if spot.is_woken then
        perform tickwork.open_lines(claim.family);
        continue;
      end if;
    end if;

    if spot.turn_id is null and highest_priority < 100 then
      highest_priority := 100;
      continue;
    end if;

    if spot.turn_id is null and spot.is_woken then
      spot := tickwork.next_woken_spot(claim.family, barren, due_by);

      -- Whoever was opening it has done so between the two looks.
      if spot.turn_id is null and looks < 3 then
        looks := looks + 1;
        continue;
      end if;
    end if;

    exit when spot.turn_id is null;

    -- Every tenth start of a turn goes to a lower priority, if one waits: nothing starves.
    if may_descend and spot.starts % 10 = 9 then
      may_descend := false;
      highest_priority := tickwork.longest_waiting_priority(spot);

      if highest_priority < spot.priority then
        perform tickwork.count_starts(spot, 1);
      end if;

      continue;
    end if;

    has_descended := highest_priority < 100;
    highest_priority := 100;

    if spot.line_id is null then
      perform tickwork.close_line(spot);
      barren := barren || spot.turn_id;
      continue;
    end if;

    if wanted > 1 and rounds_of is distinct from spot.priority then
      rounds := tickwork.rounds_for(spot, claim.max_jobs);
      rounds_of := spot.priority;
    end if;

    room := case when wanted = 1 or has_descended then 1
      else least(wanted, tickwork.share_of(spot, rounds))
    end;

    if spot.is_limited then
      room := tickwork.admit(spot, room, not has_locks);
      has_locks := true;

      if room = 0 then
        barren := barren || spot.line_id;
        continue;
      end if;
    end if;

    due_by := case room when 1 then due_by else tickwork.head_of_other_types(spot) end;

    if room = 1 then
      job := tickwork.start_job(spot, due_by, claim.worker_id, claim.lease_seconds);
      started := case when job.id is not null then array[job] end;
    else
      started := tickwork.start_jobs(
        array[spot.tenant_id], array[spot.line_id], array[room], due_by, claim.worker_id,
        coalesce(claim.lease_seconds, spot.lease_seconds), spot.timeout_seconds
      );
    end if;

    if started is null then
      perform tickwork.close_line(spot);
      barren := barren || spot.line_id;
      continue;
    end if;

    perform tickwork.move_on(spot, cardinality(started));
    claimed := claimed || started;
    wanted := wanted - cardinality(started);
    may_descend := true;
  end loop;

  return nullif(claimed, '{}');
end
$$;

comment on function tickwork.claim is
  'queued -> running. Answers null if nothing is due.';

create function tickwork.claim_jobs(family text, worker_id text, max_jobs integer, lease_seconds integer)
returns setof public.jobs
language plpgsql
volatile
security definer -- locking a row needs the right to update it, which the worker does not have
set search_path = ''
as $$
declare
  done text;
  claimed public.jobs[];
  job public.jobs;
begin
  done := tickwork.check_claim(
    claim_jobs.family, claim_jobs.worker_id, claim_jobs.max_jobs, claim_jobs.lease_seconds
  )::text;

  -- A transaction that has written something before may have promised its durability to somebody.
  if pg_current_xact_id_if_assigned() is null then
    done := set_config('synchronous_commit', 'off', true);
  end if;

  claimed := tickwork.claim(
    claim_jobs.family, claim_jobs.worker_id, claim_jobs.max_jobs, claim_jobs.lease_seconds
  );

  if claimed is not null then
    foreach job in array claimed loop
      return next job;
    end loop;
  end if;
end
$$;

create function tickwork.check_claim(family text, worker_id text, max_jobs integer, lease_seconds integer)
returns void
language plpgsql
immutable
set search_path = ''
as $$
begin
  if check_claim.family <> ''
    and octet_length(check_claim.worker_id) between 1 and 200
    and check_claim.max_jobs between 1 and 1000
    and coalesce(check_claim.lease_seconds, 60) between 10 and 3600
  then
    return;
  end if;

  if coalesce(check_claim.family, '') = '' then
    raise exception 'family: must not be empty'
      using errcode = 'TWARG', hint = 'Each family has a function of its own, such as extract.';
  end if;

  if coalesce(check_claim.worker_id, '') = '' then
    raise exception 'worker_id: must not be empty'
      using errcode = 'TWARG', hint = 'Say who works: a host and a process, or a function and its instance.';
  end if;

  perform tickwork.check_size('worker_id', check_claim.worker_id, 200);

  if check_claim.max_jobs is null or check_claim.max_jobs not between 1 and 1000 then
    raise exception 'max_jobs: % is out of range, 1 to 1000 are allowed', coalesce(check_claim.max_jobs::text, 'null')
      using errcode = 'TWARG', hint = 'Claim only what can be started within the lease.';
  end if;

  if check_claim.lease_seconds not between 10 and 3600 then
    raise exception 'lease_seconds: % is out of range, 10 to 3600 are allowed', check_claim.lease_seconds
      using errcode = 'TWLEA', hint = 'Leave it out to take the lease of each job''s type.';
  end if;
end
$$;

create function public.claim_next_job(family text, worker_id text, lease_seconds integer default null)
returns setof public.jobs
language sql
volatile
set search_path = ''
as $$
  select *
  from tickwork.claim_jobs(claim_next_job.family, claim_next_job.worker_id, 1, claim_next_job.lease_seconds);
$$;

create function public.claim_jobs(family text, worker_id text, max_jobs integer, lease_seconds integer default null)
returns setof public.jobs
language sql
volatile
set search_path = ''
as $$
  select *
  from tickwork.claim_jobs(claim_jobs.family, claim_jobs.worker_id, claim_jobs.max_jobs, claim_jobs.lease_seconds);
$$;

comment on function public.claim_next_job is
  'queued -> running. Leases the next due job of one family to the caller, under a fresh lease_token; no row means '
  'that nothing is due. Two callers never receive the same job. Gives back expired leases first. '
  'Without lease_seconds the job''s type decides. Raises TWLEA, TWARG, TWBIG.';

comment on function public.claim_jobs is
  'queued -> running. As claim_next_job, for up to max_jobs jobs, each under its own lease_token. '
  'Raises TWLEA, TWARG, TWBIG.';

alter function tickwork.claim_jobs owner to tickwork_owner;

revoke execute on function
  tickwork.claim_jobs,
  tickwork.claim,
  tickwork.claim_in_turn,
  tickwork.claim_rounds,
  tickwork.claim_woken,
  tickwork.start_jobs,
  tickwork.start_job,
  tickwork.check_claim,
  public.claim_next_job,
  public.claim_jobs
from public, anon, authenticated, service_role;

grant execute on function
  tickwork.claim,
  tickwork.claim_in_turn,
  tickwork.claim_rounds,
  tickwork.claim_woken,
  tickwork.start_jobs,
  tickwork.start_job,
  tickwork.check_claim
to tickwork_owner;

grant execute on function public.claim_next_job, public.claim_jobs, tickwork.claim_jobs
to tickwork_worker, service_role;
