-- queued -> running: the oldest due job of the line whose turn it is

create function tickwork.claim_jobs(family text, worker_id text, max_jobs integer, lease_seconds integer)
returns setof public.jobs
language plpgsql
volatile
security definer -- locking a row needs the right to update it, which the worker does not have
set search_path = ''
as $$
declare
  spot tickwork.spot;
  -- Turns and lines where this claim got nothing.
  barren bigint[] := array[]::bigint[];
  highest_priority integer := 100;
  is_prepared boolean := false;
  has_moved_on boolean := false;
  done text;
  may_descend boolean := true;
  has_descended boolean;
  looks integer := 0;
  rounds integer;
  rounds_of integer;
  has_locks boolean := false;
  wanted integer := claim_jobs.max_jobs;
  room integer;
  claimed integer;
  due_by timestamptz := clock_timestamp();
begin
  if (
    claim_jobs.family <> ''
    and octet_length(claim_jobs.worker_id) between 1 and 200
    and claim_jobs.max_jobs between 1 and 1000
    and coalesce(claim_jobs.lease_seconds, 60) between 10 and 3600
  ) is not true then
    perform tickwork.check_claim(
      claim_jobs.family, claim_jobs.worker_id, claim_jobs.max_jobs, claim_jobs.lease_seconds
    );
  end if;

  -- A transaction that has written something before may have promised its durability to somebody.
  if pg_current_xact_id_if_assigned() is null then
    done := set_config('synchronous_commit', 'off', true);
  end if;

  -- Nearly always this finds the turn: the family has one type, nobody has limits or lanes, nothing was woken.
  if wanted = 1 then
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
        where turns.family = claim_jobs.family
          and turns.type = served_types.type
          and turns.is_open
        order by turns.priority desc, turns.turn
        limit 1
        for no key update skip locked
      ) as first_turn
      where served_types.family = claim_jobs.family
        and served_types.is_alone
        and not served_types.is_held
        and served_types.full_until < due_by
        and served_types.reap_at > due_by
        and not first_turn.is_limited
        and not first_turn.has_lanes
        and first_turn.starts % 10 <> 9
        and not exists (
          select
          from tickwork.wakes
          where wakes.family = claim_jobs.family
            and wakes.wake_at <= due_by
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

    has_moved_on := found;
    room := 1;
  end if;

  while wanted > 0 loop
    if not has_moved_on then
      due_by := clock_timestamp();
      select * into spot from tickwork.next_spot(claim_jobs.family, highest_priority, barren, due_by);

      -- Before anything else: whoever holds locks of limits must not wait for a turn that somebody else is moving.
      if not is_prepared then
        is_prepared := true;

        if spot.is_to_be_reaped then
          spot.is_woken := tickwork.reap(claim_jobs.family, 100) > 0 or spot.is_woken;
        end if;

        if spot.is_woken then
          perform tickwork.open_lines(claim_jobs.family);
          continue;
        end if;
      end if;

      if spot.turn_id is null and highest_priority < 100 then
        highest_priority := 100;
        continue;
      end if;

      if spot.turn_id is null and spot.is_woken then
        spot := tickwork.next_woken_spot(claim_jobs.family, barren, due_by);

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
        rounds := tickwork.rounds_for(spot, claim_jobs.max_jobs);
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
    end if;

    return query
    update public.jobs
    set
      status = 'running',
      attempts = jobs.attempts + 1,
      lease_token = gen_random_uuid(),
      lease_seconds = coalesce(claim_jobs.lease_seconds, spot.lease_seconds),
      lease_expires_at = clock_timestamp()
        + make_interval(secs => coalesce(claim_jobs.lease_seconds, spot.lease_seconds)),
      timeout_seconds = spot.timeout_seconds,
      worker_id = claim_jobs.worker_id,
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
        -- A variable, because the index takes no volatile function for its bound.
        and due.run_at <= due_by
        and due.attempts < due.max_attempts
      -- By the whole key of the index: below row-level security the planner does not see that the rest is fixed.
      order by
        due.tenant_id,
        tickwork.line_id(due.family, due.type, due.priority, due.tenant_id, due.lane),
        due.run_at
      limit room
      for no key update skip locked
    ))
    returning jobs.*;

    get diagnostics claimed = row_count;

    if claimed = 0 then
      perform tickwork.close_line(spot);
      barren := barren || spot.line_id;
      has_moved_on := false;
      continue;
    end if;

    if not has_moved_on then
      perform tickwork.move_on(spot, claimed);
    end if;

    wanted := wanted - claimed;
    may_descend := true;
  end loop;
end
$$;

create function tickwork.check_claim(family text, worker_id text, max_jobs integer, lease_seconds integer)
returns void
language plpgsql
immutable
set search_path = ''
as $$
begin
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
  tickwork.check_claim,
  public.claim_next_job,
  public.claim_jobs
from public, anon, authenticated, service_role;

grant execute on function tickwork.check_claim to tickwork_owner;

grant execute on function public.claim_next_job, public.claim_jobs, tickwork.claim_jobs
to tickwork_worker, service_role;
