-- queued -> running: the oldest due job of the line whose turn it is

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
  tickwork.check_claim,
  public.claim_next_job,
  public.claim_jobs
from public, anon, authenticated, service_role;

grant execute on function
  tickwork.claim,
  tickwork.check_claim
to tickwork_owner;

grant execute on function public.claim_next_job, public.claim_jobs, tickwork.claim_jobs
to tickwork_worker, service_role;
