-- queued -> running

create type tickwork.claim_request as (
  family text,
  worker_id text,
  lease_seconds integer
);

-- What a worker needs to know of a job.

create type tickwork.claimed_job as (
  id uuid,
  tenant_id uuid,
  type text,
  family text,
  lane text,
  payload jsonb,
  attempts integer,
  max_attempts integer,
  lease_token uuid,
  lease_seconds integer,
  timeout_seconds integer,
  worker_id text,
  correlation_id text
);

create type tickwork.claimed_so_far as (
  jobs tickwork.claimed_job[],
  pointer tickwork.pointer,
  has_locks boolean
);

create type tickwork.picked_jobs as (
  places tid[],
  records tid[],
  has_lanes boolean
);

comment on type tickwork.picked_jobs is
  'Where the rows of jobs to start are: those that wait, and those of the record.';

create function tickwork.claim(family text, worker_id text, max_jobs integer, lease_seconds integer, types text[])
returns tickwork.claimed_job[]
language plpgsql
volatile
as $$
declare
  request constant tickwork.claim_request := row(claim.family, claim.worker_id, claim.lease_seconds);
  served tickwork.family_types[];
  so_far tickwork.claimed_so_far;
  low_starts integer;
  low_priority integer;
  has_low_starts boolean := true;
  turn bigint;
begin
  if claim.max_jobs = 1 then
    so_far.jobs := tickwork.claim_one(request, claim.types);

    if so_far.jobs is not null then
      return so_far.jobs;
    end if;
  end if;

  -- Those of the highest priority first.
  served := tickwork.keep_up(claim.family, claim.types);

  if served is null then
    return array[]::tickwork.claimed_job[];
  end if;

  turn := tickwork.read_turn(claim.family);
  so_far := row(array[]::tickwork.claimed_job[], tickwork.unpacked(turn), false)::tickwork.claimed_so_far;
  low_starts := tickwork.low_starts((so_far.pointer).starts, claim.max_jobs);

  -- One start in ten goes to types, or to jobs, that are less urgent.
  if low_starts > 0 then
    low_priority := (served[1 + (so_far.pointer).starts / 10 % cardinality(served)]).priority;

    if low_priority < (served[1]).priority then
      so_far := tickwork.claim_at(request, served, low_priority, low_starts, false, so_far);
      has_low_starts := false;
    end if;
  end if;

  for number in 1 .. cardinality(served) loop
    exit when cardinality(so_far.jobs) >= claim.max_jobs;
    continue when (served[number]).priority = (served[number - 1]).priority;

    so_far := tickwork.claim_at(
      request, served, (served[number]).priority, claim.max_jobs, has_low_starts, so_far
    );
  end loop;

  turn := setval(tickwork.turn_of(claim.family), tickwork.packed(
    (so_far.pointer).tenant_number, (so_far.pointer).starts_left,
    (so_far.pointer).starts + cardinality(so_far.jobs)
  ));

  return so_far.jobs;
end
$$;

comment on function tickwork.claim is
  'queued -> running. The one way to start jobs: those of the types with the highest priority first, for the tenants '
  'whose turn it is, and of each tenant the most urgent and oldest.';

-- The short way to one job, for what nearly always is: a few plain statements take half as long as those that could do
-- it for many (make bench, drain).

create function tickwork.claim_one(request tickwork.claim_request, types text[])
returns tickwork.claimed_job[]
language plpgsql
volatile
as $$
declare
  now_at constant timestamptz := clock_timestamp();
  asked_for constant text := tickwork.only_type(request.family, claim_one.types);
  turn bigint := tickwork.read_turn(request.family);
  starts constant integer := turn & 65535;
  starts_left integer := turn >> 16 & 127;
  -- Within a turn its tenant comes first, otherwise last.
  start constant bigint := (turn >> 23) - (starts_left > 0)::integer;
  lease record;
  tenant record;
  max_priority integer := 100;
  due record;
  started tickwork.claimed_job;
begin
  select coalesce(request.lease_seconds, family_types.lease_seconds) as seconds, family_types.timeout_seconds
  into lease
  from tickwork.family_types
  where family_types.family = request.family
    and family_types.type = asked_for
    and not family_types.is_paused
    and not family_types.is_limited
    and family_types.reaped_at > now_at - interval '1 second'
    and family_types.asked_at > now_at - interval '1 minute'
    and not exists (
      select
      from tickwork.alarms
      where alarms.family = request.family
        and alarms.wake_at <= now_at
    );

  if not found then
    return null;
  end if;

  tenant := tickwork.tenant_in_turn(request.family, asked_for, start);

  if (tenant.is_paused or tenant.is_limited) is not false then
    return null;
  end if;

  if tickwork.low_starts(starts, 1) > 0 then
    max_priority := coalesce(
      tickwork.lower_priority(request.family, array[asked_for], tenant.number, starts / 10), max_priority
    );
  end if;

  select
    waiting.ctid as place, jobs.ctid as record, waiting.lane,
    waiting.lane is not null or jobs.dedupe_key is not null or jobs.notify as is_watched
  into due
  from tickwork.waiting
  join public.jobs on jobs.id = waiting.job_id and jobs.status = 'queued'
  where waiting.family = request.family
    and waiting.type = asked_for
    and waiting.tenant_number = tenant.number
    and waiting.priority <= max_priority
  order by waiting.family, waiting.type, waiting.tenant_number, waiting.priority desc, waiting.run_at
  limit 1
  for update of waiting skip locked
  for no key update of jobs skip locked;

  if not found or due.lane is not null and tickwork.has_lane_rule(tenant.tenant_id, request.family, due.lane) then
    return null;
  end if;

  started := tickwork.start_job(request, lease.seconds, lease.timeout_seconds, due.place, due.record, due.is_watched);
  starts_left := case when tenant.number = start + 1 and starts_left > 0 then starts_left else tenant.weight end - 1;
  turn := setval(tickwork.turn_of(request.family), tickwork.packed(tenant.number, starts_left, starts + 1));
  return array[started];
end
$$;

comment on function tickwork.claim_one is
  'queued -> running. Where only one type is asked for, nothing is limited and nothing else is to be done, one look '
  'finds the tenant whose turn it is. Null if there is more to it.';

create function tickwork.start_job(
  request tickwork.claim_request,
  lease_seconds integer,
  timeout_seconds integer,
  place tid,
  record tid,
  is_watched boolean
)
returns tickwork.claimed_job
language plpgsql
volatile
as $$
declare
  now_at constant timestamptz := clock_timestamp();
  ends_at constant timestamptz := now_at + make_interval(secs => start_job.lease_seconds);
  started tickwork.claimed_job;
begin
  delete from tickwork.waiting
  where waiting.ctid = start_job.place;

  update public.jobs
  set
    status = 'running',
    attempts = jobs.attempts + 1,
    lease_token = gen_random_uuid(),
    lease_seconds = start_job.lease_seconds,
    lease_expires_at = ends_at,
    timeout_seconds = start_job.timeout_seconds,
    worker_id = request.worker_id,
    progress = null,
    progress_message = null,
    started_at = now_at,
    updated_at = now_at
  where jobs.ctid = start_job.record
  returning
    jobs.id, jobs.tenant_id, jobs.type, jobs.family, jobs.lane, jobs.payload, jobs.attempts, jobs.max_attempts,
    jobs.lease_token, jobs.lease_seconds, jobs.timeout_seconds, jobs.worker_id, jobs.correlation_id
  into started;

  insert into tickwork.leases (job_id, token, family, type, tenant_id, lane, lease_seconds, expires_at, is_watched)
  values (
    started.id, started.lease_token, started.family, started.type, started.tenant_id, started.lane,
    start_job.lease_seconds, ends_at, start_job.is_watched
  );

  return started;
end
$$;

comment on function tickwork.start_job is 'queued -> running. As lease_jobs, for one job without limits.';

create function tickwork.tenant_in_turn(family text, type text, start bigint)
returns tickwork.tenants
language plpgsql
volatile
as $$
declare
  tenant tickwork.tenants;
begin
  select * into tenant
  from tickwork.tenants
  where tenants.number = coalesce(
    (
      select waiting.tenant_number
      from tickwork.waiting
      where waiting.family = tenant_in_turn.family
        and waiting.type = tenant_in_turn.type
        and waiting.tenant_number > tenant_in_turn.start
      order by waiting.family, waiting.type, waiting.tenant_number
      limit 1
    ),
    (
      select waiting.tenant_number
      from tickwork.waiting
      where waiting.family = tenant_in_turn.family
        and waiting.type = tenant_in_turn.type
      order by waiting.family, waiting.type, waiting.tenant_number
      limit 1
    )
  );

  return tenant;
end
$$;

create function tickwork.only_type(family text, types text[])
returns text
language plpgsql
stable
as $$
begin
  if cardinality(only_type.types) = 1 then
    return only_type.types[1];
  end if;

  return (
    select min(family_types.type)
    from tickwork.family_types
    where family_types.family = only_type.family
      and (only_type.types is null or family_types.type = any (only_type.types))
    having count(*) = 1
  );
end
$$;

comment on function tickwork.only_type is 'The one type of the family that is asked for; null if there are several.';

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

  if has_alarm then
    perform tickwork.ring_alarms(keep_up.family, 16);
  end if;

  if reaped_at < now_at - interval '1 second' and not has_ticked then
    perform tickwork.tick_family(keep_up.family, 100);
    -- That may have made room at a limit.
    return tickwork.keep_up(keep_up.family, keep_up.types, has_ticked => true);
  end if;

  return served;
end
$$;

comment on function tickwork.keep_up is
  'What is to be done before a claim: now and then a bounded portion, most of the time nothing. Returns the types that '
  'jobs may be taken of.';

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

  -- A bound for the case that one tenant after the other is found at its limit: the next claim goes on there.
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
    -- Who may hold locks of limits does not wait for others, or two could wait for each other.
    so_far.has_locks := true;
    so_far.jobs := so_far.jobs || started;

    exit when cardinality(so_far.jobs) >= claim_at.max_jobs;

    if is_limited then
      open_types := tickwork.types_with_room((request).family, types);
    end if;

    -- Where a type was found to be at its limit another one may do.
    if open_types is null or open_types = types then
      passed := passed || array(
        select turn.tenant_number
        from unnest(next.turns) as turn
        where turn.room > (select count(*) from unnest(started) as job where job.tenant_id = turn.tenant_id)
          and turn.types = tickwork.open_types(turn.tenant_number, (request).family, turn.types)
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
  'The starts of each turn, as far as limits allow: of each type, and how many of them for a lower priority.';

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
  'The starts of a turn by type, in the order of its jobs, with some of them for a lower priority.';

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


-- The start itself.

create function tickwork.start_jobs(
  request tickwork.claim_request,
  targets tickwork.claim_target[],
  has_locks boolean
)
returns tickwork.claimed_job[]
language plpgsql
volatile
as $$
declare
  is_limited boolean := false;
  picked tickwork.picked_jobs;
  started tickwork.claimed_job[];
begin
  for number in 1 .. cardinality(start_jobs.targets) loop
    is_limited := is_limited or (targets[number]).is_limited;
  end loop;

  -- Nobody waits for a row, neither of those that wait nor of the record.
  select array_agg(due.place), array_agg(due.record), bool_or(due.lane is not null)
  into picked.places, picked.records, picked.has_lanes
  from unnest(start_jobs.targets) as target
  cross join lateral (
    select waiting.ctid as place, jobs.ctid as record, waiting.lane
    from tickwork.waiting
    join public.jobs on jobs.id = waiting.job_id and jobs.status = 'queued'
    where waiting.family = (request).family
      and waiting.type = target.type
      and waiting.tenant_number = target.tenant_number
      and waiting.priority <= target.max_priority
    -- By the whole key of the index: under row-level security the planner does not see which columns are fixed.
    order by waiting.family, waiting.type, waiting.tenant_number, waiting.priority desc, waiting.run_at
    limit target.room
    for update of waiting skip locked
    for no key update of jobs skip locked
  ) as due;

  if picked.has_lanes then
    picked := tickwork.admit_to_lanes((request).family, picked, has_locks => is_limited or has_locks);
  end if;

  if cardinality(picked.places) > 0 then
    started := tickwork.lease_jobs(request, picked, is_limited);

    if is_limited then
      perform tickwork.spend_starts(started);
    end if;

    if picked.has_lanes then
      perform tickwork.fill_lanes_of(started);
    end if;
  end if;

  return coalesce(started, '{}');
end
$$;

comment on function tickwork.start_jobs is
  'queued -> running. Starts the most urgent and oldest jobs of each target, as many as there is room for.';

create function tickwork.lease_jobs(
  request tickwork.claim_request,
  picked tickwork.picked_jobs,
  is_limited boolean
)
returns tickwork.claimed_job[]
language plpgsql
volatile
as $$
declare
  now_at constant timestamptz := clock_timestamp();
  -- One random number for all of them: to make one for each would take longer than all the rest.
  secret constant bytea := uuid_send(gen_random_uuid());
  started tickwork.claimed_job[];
begin
  with taken as (
    delete from tickwork.waiting
    where waiting.ctid = any ((picked).places)
  ),
  started_jobs as (
    update public.jobs
    set
      status = 'running',
      attempts = jobs.attempts + 1,
      lease_token = left(encode(sha256(secret || uuid_send(jobs.id)), 'hex'), 32)::uuid,
      lease_seconds = coalesce((request).lease_seconds, family_types.lease_seconds),
      lease_expires_at = now_at + make_interval(secs => coalesce((request).lease_seconds, family_types.lease_seconds)),
      timeout_seconds = family_types.timeout_seconds,
      worker_id = (request).worker_id,
      progress = null,
      progress_message = null,
      started_at = now_at,
      updated_at = now_at
    from tickwork.family_types
    where jobs.ctid = any ((picked).records)
      and family_types.family = (request).family
      and family_types.type = jobs.type
    returning
      jobs.id, jobs.tenant_id, jobs.type, jobs.lane, jobs.payload, jobs.attempts, jobs.max_attempts, jobs.lease_token,
      jobs.lease_seconds, jobs.timeout_seconds, jobs.correlation_id, jobs.lease_expires_at,
      lease_jobs.is_limited or jobs.lane is not null or jobs.dedupe_key is not null or jobs.notify as is_watched
  ),
  leased as (
    insert into tickwork.leases (job_id, token, family, type, tenant_id, lane, lease_seconds, expires_at, is_watched)
    select
      job.id, job.lease_token, (request).family, job.type, job.tenant_id, job.lane, job.lease_seconds,
      job.lease_expires_at, job.is_watched
    from started_jobs as job
  )
  select array_agg(row(
    job.id, job.tenant_id, job.type, (request).family, job.lane, job.payload, job.attempts, job.max_attempts,
    job.lease_token, job.lease_seconds, job.timeout_seconds, (request).worker_id, job.correlation_id
  )::tickwork.claimed_job)
  into started
  from started_jobs as job;

  return started;
end
$$;

create function tickwork.fill_lanes_of(started tickwork.claimed_job[])
returns void
language sql
volatile
as $$
  select tickwork.fill_lane(lane.family, tenants.number, lane.name)
  from (
    select distinct job.family, job.tenant_id, job.lane
    from unnest(fill_lanes_of.started) as job
  ) as lane(family, tenant_id, name)
  join tickwork.tenants on tenants.tenant_id = lane.tenant_id
  where tickwork.has_lane_rule(lane.tenant_id, lane.family, lane.name);
$$;

create function tickwork.spend_starts(started tickwork.claimed_job[])
returns void
language sql
volatile
as $$
  select tickwork.spend_tokens(spent.tenant_id, 'type ' || spent.type, job_types.starts_per_minute, spent.starts)
  from (
    select job.tenant_id, job.type, count(*)::integer as starts
    from unnest(spend_starts.started) as job
    group by job.tenant_id, job.type
  ) as spent
  join public.job_types on job_types.key = spent.type
  where job_types.starts_per_minute is not null;
$$;

create function tickwork.admit_to_lanes(family text, picked tickwork.picked_jobs, has_locks boolean)
returns tickwork.picked_jobs
language plpgsql
volatile
as $$
declare
  busy record;
  room integer;
begin
  for busy in
    select
      lane_rules as rule, tenants.number as tenant_number,
      array_agg(job.place) as places, array_agg(job.record) as records
    from unnest((picked).places, (picked).records) as job(place, record)
    -- Each by its place or key, whatever the statistics say.
    cross join lateral (select * from tickwork.waiting where waiting.ctid = job.place limit 1) as waiting
    cross join lateral (select * from tickwork.tenants where tenants.number = waiting.tenant_number limit 1) as tenants
    join tickwork.lane_rules
      on lane_rules.tenant_id = tenants.tenant_id
      and lane_rules.family = admit_to_lanes.family
      and lane_rules.lane = waiting.lane
    group by lane_rules.*, tenants.number
  loop
    room := 0;

    -- Where somebody else takes the rule away, or starts jobs of the lane, at this moment: not now.
    if pg_try_advisory_xact_lock_shared(7464, (busy.tenant_number & 1023)::integer)
      and tickwork.lock_lane(busy.rule, may_wait => not has_locks)
    then
      has_locks := true;
      room := least(cardinality(busy.places), tickwork.room_in_lane(busy.rule));

      perform tickwork.spend_tokens(
        (busy.rule).tenant_id, tickwork.lane_scope(busy.rule), (busy.rule).starts_per_minute, room
      );

      if room < cardinality(busy.places) then
        perform tickwork.park_jobs(busy.places[room + 1:]);
        perform tickwork.wake_lane(busy.rule, tickwork.lane_opens_at(busy.rule), busy.tenant_number);
      end if;
    end if;

    picked.places := array(
      select kept.place from unnest((picked).places) as kept(place) where kept.place <> all (busy.places[room + 1:])
    );
    picked.records := array(
      select kept.place from unnest((picked).records) as kept(place) where kept.place <> all (busy.records[room + 1:])
    );
  end loop;

  return picked;
end
$$;

comment on function tickwork.admit_to_lanes is
  'Those of the jobs that their lanes let start. The others are parked until their lane has room.';

create function tickwork.park_jobs(places tid[])
returns void
language sql
volatile
as $$
  with taken as (
    delete from tickwork.waiting
    where waiting.ctid = any (park_jobs.places)
    returning waiting.*
  )
  insert into tickwork.parked (family, type, tenant_number, priority, run_at, job_id, lane, wake_at)
  select
    taken.family, taken.type, taken.tenant_number, taken.priority, taken.run_at, taken.job_id, taken.lane, 'infinity'
  from taken;
$$;


-- The verbs.

create function tickwork.is_plain_claim(family text, worker_id text, max_jobs integer, lease_seconds integer)
returns boolean
language sql
immutable
return family <> ''
  and octet_length(worker_id) between 1 and 200
  and max_jobs between 1 and 1000
  and coalesce(lease_seconds, 60) between 10 and 3600;

create function tickwork.check_claim(family text, worker_id text, max_jobs integer, lease_seconds integer)
returns void
language plpgsql
immutable
as $$
begin
  if coalesce(check_claim.family, '') = '' then
    raise exception 'family: must not be empty'
      using errcode = 'TWARG', hint = 'Each family has a function of its own, such as extract.';
  end if;

  if coalesce(check_claim.worker_id, '') = '' then
    raise exception 'worker_id: must not be empty'
      using errcode = 'TWARG', hint = 'Name the worker: a host and a process, or a function and its instance.';
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

create function tickwork.claim_jobs(family text, worker_id text, max_jobs integer, lease_seconds integer, types text[])
returns setof public.jobs
language plpgsql
volatile
security definer -- locking a row needs the right to update it, which the worker does not have
set search_path = ''
as $$
declare
  claimed tickwork.claimed_job[];
begin
  if tickwork.is_plain_claim(
    claim_jobs.family, claim_jobs.worker_id, claim_jobs.max_jobs, claim_jobs.lease_seconds
  ) is not true then
    perform tickwork.check_claim(
      claim_jobs.family, claim_jobs.worker_id, claim_jobs.max_jobs, claim_jobs.lease_seconds
    );
  end if;

  perform tickwork.skip_disk();

  claimed := tickwork.claim(
    claim_jobs.family, claim_jobs.worker_id, claim_jobs.max_jobs, claim_jobs.lease_seconds, claim_jobs.types
  );

  return query
  select jobs.*
  from unnest(claimed) as job
  cross join lateral (select * from public.jobs where jobs.id = job.id limit 1) as jobs;
end
$$;

create function public.claim_next_job(
  family text,
  worker_id text,
  lease_seconds integer default null,
  types text[] default null
)
returns setof public.jobs
language sql
volatile
set search_path = ''
as $$
  select *
  from tickwork.claim_jobs(
    claim_next_job.family, claim_next_job.worker_id, 1, claim_next_job.lease_seconds, claim_next_job.types
  );
$$;

create function public.claim_jobs(
  family text,
  worker_id text,
  max_jobs integer,
  lease_seconds integer default null,
  types text[] default null
)
returns setof public.jobs
language sql
volatile
set search_path = ''
as $$
  select *
  from tickwork.claim_jobs(
    claim_jobs.family, claim_jobs.worker_id, claim_jobs.max_jobs, claim_jobs.lease_seconds, claim_jobs.types
  );
$$;

comment on function public.claim_next_job is
  'queued -> running. Leases the next due job of one family to the caller, under a fresh lease_token; no row means '
  'that there is nothing to start now. Two callers never receive the same job. types are those that the caller has '
  'handlers for; null is all of them. Gives expired leases back first. Without lease_seconds the job''s type decides. '
  'Raises TWLEA, TWARG, TWBIG.';

comment on function public.claim_jobs is
  'queued -> running. As claim_next_job, for up to max_jobs jobs, each under its own lease_token. '
  'Raises TWLEA, TWARG, TWBIG.';
