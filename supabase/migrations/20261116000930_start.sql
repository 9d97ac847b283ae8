-- Starting the jobs.

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

  -- Nobody waits for a locked row, neither in waiting nor in jobs.
  select array_agg(due.place), array_agg(due.record), bool_or(due.lane is not null)
  into picked.places, picked.records, picked.has_lanes
  from unnest(start_jobs.targets) as target
  cross join lateral (
    select waiting.ctid as place, jobs.ctid as record, waiting.lane
    from tickwork.waiting
    -- An array of one, here and in other verbs: ids that are equal could also be merged, and where the statistics
    -- know of no job, a plan that reads all of them for that looks as cheap.
    join public.jobs on jobs.id = any (array[waiting.job_id]) and jobs.status = 'queued'
    where waiting.family = (request).family
      and waiting.type = target.type
      and waiting.tenant_number = target.tenant_number
      and waiting.priority <= target.max_priority
    -- Sorted by the whole index key: under row-level security the planner does not see which columns are constant.
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
  -- One random number for all of them: generating one for each would take longer than everything else.
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
      jobs.id, jobs.tenant_id, jobs.type, jobs.lane,
      case when jobs.is_redacted then tickwork.whole_payload(jobs.id, jobs.payload) else jobs.payload end as payload,
      jobs.attempts, jobs.max_attempts,
      encode(substr(sha256(secret || uuid_send(jobs.id)), 1, 16), 'hex')::uuid as lease_token, jobs.lease_seconds,
      jobs.timeout_seconds, jobs.correlation_id, coalesce(jobs.traceparent, 'link ' || jobs.trace_link) as trace,
      tickwork.waited_ms(jobs.run_at, jobs.ready_at, now_at) as wait_ms, jobs.lease_expires_at,
      lease_jobs.is_limited or jobs.lane is not null or jobs.dedupe_key is not null or jobs.notify or
      jobs.is_redacted as is_watched
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
    job.lease_token, job.lease_seconds, job.timeout_seconds, (request).worker_id, job.correlation_id,
    job.trace, job.wait_ms
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
    -- Each by its ctid or key, whatever the statistics say.
    cross join lateral (select * from tickwork.waiting where waiting.ctid = job.place limit 1) as waiting
    cross join lateral (select * from tickwork.tenants where tenants.number = waiting.tenant_number limit 1) as tenants
    join tickwork.lane_rules
      on lane_rules.tenant_id = tenants.tenant_id
      and lane_rules.family = admit_to_lanes.family
      and lane_rules.lane = waiting.lane
    group by lane_rules.*, tenants.number
  loop
    room := 0;

    -- If somebody else is removing the rule or starting jobs of the lane right now, skip it for now.
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
  'The jobs that their lanes allow to start. The others are parked until their lane has room.';
