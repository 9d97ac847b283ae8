-- queued -> running

-- What a worker needs to know about a job.

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
  correlation_id text,
  trace text,
  wait_ms bigint
);

comment on type tickwork.claimed_job is
  'trace is the traceparent of the job, or its trace_link after the word link: one column, because each takes almost a '
  'hundredth of the time of a claim. wait_ms is how long it has been due.';

create function tickwork.waited_ms(run_at timestamptz, ready_at timestamptz, started_at timestamptz)
returns bigint
language sql
immutable
return date_part('epoch', started_at - greatest(run_at, ready_at)) * 1000;


-- The jobs that are to be started next: where their rows are, in waiting and in jobs. And how far the claim has got.
-- Types of the same priority form a class; each class may start so many jobs.

create type tickwork.picked_jobs as (
  places tid[],
  records tid[],
  is_limited boolean,
  family text,
  own_tenant uuid,
  types text[],
  priorities integer[],
  classes integer[],
  class_starts integer,
  has_low_starts boolean,
  passed bigint[],
  has_locks boolean,
  pointer tickwork.pointer
);

comment on type tickwork.picked_jobs is
  'passed are tenants that had fewer jobs of the class than their turn allowed. has_locks is whether the claim may hold '
  'locks on limits, and so must not wait for another one.';

create function tickwork.claim(
  family text, worker_id text, max_jobs integer, lease_seconds integer, types text[], own_tenant uuid default null
)
returns setof tickwork.claimed_job
language plpgsql
volatile
as $$
declare
  now_at constant timestamptz := clock_timestamp();
  look record;
  picked tickwork.picked_jobs;
  started integer := 0;
  starts integer;
begin
  -- Everything that a claim has to know before it picks.
  select
    count(*) as types, min(family_types.type) as type, min(family_types.lease_seconds) as lease_seconds,
    bool_or(family_types.is_limited or family_types.is_paused) as is_special,
    bool_and(
      family_types.reaped_at > now_at - interval '1 second' and family_types.asked_at > now_at - interval '1 minute'
    ) is not true
      or exists (select from tickwork.alarms where alarms.family = claim.family and alarms.wake_at <= now_at)
      as is_overdue,
    turn.value as turn
  into look
  from coalesce(pg_sequence_last_value(tickwork.turn_of(claim.family)), 0) as turn(value)
  cross join tickwork.family_types
  where family_types.family = claim.family
    and (claim.types is null or family_types.type = any (claim.types))
  group by turn.value;

  if look.is_overdue then
    perform tickwork.catch_up(claim.family, claim.types);
  end if;

  if look.types = 1 and claim.max_jobs = 1 and claim.own_tenant is null and not look.is_special then
    return query
    select *
    from tickwork.start_next_job(claim.family, look.type, claim.worker_id, claim.lease_seconds, look.turn);

    if found then
      return;
    end if;
  end if;

  picked := tickwork.begin_picking(claim.family, claim.types, claim.own_tenant, look.turn, claim.max_jobs);

  loop
    picked := tickwork.pick_many(picked, claim.max_jobs - started);
    exit when picked.records is null;

    return query
    select *
    from tickwork.start_jobs(claim.family, claim.worker_id, claim.lease_seconds, picked);

    get diagnostics starts = row_count;
    started := started + starts;
    exit when started >= claim.max_jobs;
  end loop;
end
$$;

comment on function tickwork.claim is
  'queued -> running. Starts jobs: types with the highest priority first, for the tenants whose turn it is, and for '
  'each tenant the most urgent and oldest jobs; or only jobs of own_tenant, which take nobody''s turn.';

-- One job of one type, by far the most common claim: picked and started by one statement, which finds both the tenant
-- and its job in one scan, because the index of waiting is in the order of turns. pick_many and start_jobs would do the
-- same at twice the cost; a test compares the two.

create function tickwork.start_next_job(
  family text, type text, worker_id text, lease_seconds integer, turn bigint
)
returns setof tickwork.claimed_job
language plpgsql
volatile
as $$
declare
  now_at constant timestamptz := clock_timestamp();
  starts_left constant integer := start_next_job.turn >> 16 & 127;
  -- A tenant in the middle of its turn comes first; one whose turn is over comes last.
  start bigint := (start_next_job.turn >> 23) - (starts_left > 0)::integer;
begin
  if tickwork.low_starts((start_next_job.turn & 65535)::integer, 1) > 0 then
    return;
  end if;

  loop
    return query
    with due as materialized (
      select
        waiting.ctid as place, jobs.ctid as record, tenants.number, tenants.weight, family_types.timeout_seconds,
        coalesce(start_next_job.lease_seconds, family_types.lease_seconds) as lease_seconds,
        not (tenants.is_paused or tenants.is_limited or waiting.lane is not null) as is_plain
      from tickwork.waiting
      join tickwork.tenants on tenants.number = waiting.tenant_number
      join tickwork.family_types on family_types.family = waiting.family and family_types.type = waiting.type
      -- An array of one, here and in other verbs: ids that are equal could also be merged, and where the statistics
      -- know of no job, a plan that reads all of them for that looks as cheap.
      join public.jobs on jobs.id = any (array[waiting.job_id]) and jobs.status = 'queued'
      where waiting.family = start_next_job.family
        and waiting.type = start_next_job.type
        and waiting.tenant_number > start
      -- Sorted by the whole index key: under row-level security the planner does not see which columns are constant.
      order by waiting.family, waiting.type, waiting.tenant_number, waiting.priority desc, waiting.run_at
      limit 1
      for update of waiting skip locked
      for no key update of jobs skip locked
    ),
    taken as (
      delete from tickwork.waiting
      where waiting.ctid = (select due.place from due where due.is_plain)
    ),
    started_job as (
      update public.jobs
      set
        status = 'running',
        attempts = jobs.attempts + 1,
        lease_seconds = due.lease_seconds,
        lease_expires_at = now_at + make_interval(secs => due.lease_seconds),
        timeout_seconds = due.timeout_seconds,
        worker_id = start_next_job.worker_id,
        progress = null,
        progress_message = null,
        started_at = now_at,
        updated_at = now_at
      from due
      where jobs.ctid = due.record
        and due.is_plain
      returning
        jobs.id, jobs.tenant_id, jobs.type, jobs.payload, jobs.attempts, jobs.max_attempts, jobs.lease_seconds,
        jobs.lease_expires_at, jobs.timeout_seconds, jobs.correlation_id, jobs.is_redacted, due.number, due.weight,
        jobs.dedupe_key is not null or jobs.notify or jobs.is_redacted as is_watched,
        coalesce(jobs.traceparent, 'link ' || jobs.trace_link) as trace,
        tickwork.waited_ms(jobs.run_at, jobs.ready_at, now_at) as wait_ms
    ),
    leased as (
      insert into tickwork.leases (job_id, token, family, type, tenant_id, lease_seconds, expires_at, is_watched)
      select
        job.id, gen_random_uuid(), start_next_job.family, job.type, job.tenant_id, job.lease_seconds,
        job.lease_expires_at, job.is_watched
      from started_job as job
      returning leases.token
    )
    select
      job.id, job.tenant_id, job.type, start_next_job.family, null,
      case when job.is_redacted then tickwork.whole_payload(job.id, job.payload) else job.payload end,
      job.attempts, job.max_attempts, leased.token, job.lease_seconds, job.timeout_seconds,
      start_next_job.worker_id, job.correlation_id, job.trace, job.wait_ms
    from started_job as job
    cross join leased
    where setval(tickwork.turn_of(start_next_job.family), tickwork.packed(
      job.number,
      case when job.number = start + 1 and starts_left > 0 then starts_left else job.weight end - 1,
      (start_next_job.turn & 65535)::integer + 1
    )) > 0;

    exit when found or start <= 0;
    start := 0;
  end loop;
end
$$;

create function tickwork.start_jobs(
  family text, worker_id text, lease_seconds integer, picked tickwork.picked_jobs
)
returns setof tickwork.claimed_job
language plpgsql
volatile
as $$
declare
  now_at constant timestamptz := clock_timestamp();
  -- One for all of them: whoever settles a job names both.
  token constant uuid := gen_random_uuid();
begin
  return query
  with taken as (
    delete from tickwork.waiting
    where waiting.ctid = any (picked.places)
  ),
  started_jobs as (
    update public.jobs
    set
      status = 'running',
      attempts = jobs.attempts + 1,
      lease_seconds = coalesce(start_jobs.lease_seconds, family_types.lease_seconds),
      lease_expires_at = now_at + make_interval(secs => coalesce(start_jobs.lease_seconds, family_types.lease_seconds)),
      timeout_seconds = family_types.timeout_seconds,
      worker_id = start_jobs.worker_id,
      progress = null,
      progress_message = null,
      started_at = now_at,
      updated_at = now_at
    from tickwork.family_types
    where jobs.ctid = any (picked.records)
      and family_types.family = start_jobs.family
      and family_types.type = jobs.type
    returning
      jobs.id, jobs.tenant_id, jobs.type, jobs.lane, jobs.payload, jobs.attempts, jobs.max_attempts,
      jobs.lease_seconds, jobs.lease_expires_at, jobs.timeout_seconds, jobs.correlation_id, jobs.is_redacted,
      coalesce(jobs.traceparent, 'link ' || jobs.trace_link) as trace,
      tickwork.waited_ms(jobs.run_at, jobs.ready_at, now_at) as wait_ms,
      jobs.lane is not null or jobs.dedupe_key is not null or jobs.notify or jobs.is_redacted as is_watched
  ),
  leased as (
    insert into tickwork.leases (job_id, token, family, type, tenant_id, lane, lease_seconds, expires_at, is_watched)
    select
      job.id, token, start_jobs.family, job.type, job.tenant_id, job.lane, job.lease_seconds, job.lease_expires_at,
      picked.is_limited or job.is_watched
    from started_jobs as job
  )
  select
    job.id, job.tenant_id, job.type, start_jobs.family, job.lane,
    case when job.is_redacted then tickwork.whole_payload(job.id, job.payload) else job.payload end,
    job.attempts, job.max_attempts, token, job.lease_seconds, job.timeout_seconds, start_jobs.worker_id,
    job.correlation_id, job.trace, job.wait_ms
  from started_jobs as job;
end
$$;

comment on function tickwork.start_jobs is 'queued -> running. Starts the jobs that were picked.';

create function tickwork.catch_up(family text, types text[])
returns void
language plpgsql
volatile
as $$
declare
  now_at constant timestamptz := clock_timestamp();
begin
  with free as (
    select family_types.ctid as place
    from tickwork.family_types
    where family_types.family = catch_up.family
      and (catch_up.types is null or family_types.type = any (catch_up.types))
      and (family_types.asked_at > now_at - interval '1 minute') is not true
    for no key update skip locked
  )
  update tickwork.family_types
  set asked_at = now_at
  from free
  where family_types.ctid = free.place;

  if exists (
    select
    from tickwork.family_types
    where family_types.family = catch_up.family
      and family_types.reaped_at < now_at - interval '1 second'
  ) then
    perform tickwork.reap(catch_up.family, 100);
  end if;

  -- Last: whoever rings holds locks that others wait for, and must wait for nobody.
  perform tickwork.ring_alarms(catch_up.family, 16);
end
$$;

comment on function tickwork.catch_up is
  'Notes who asks, ends expired leases of the family and wakes its parked jobs that are due, a bounded number at a time.';
