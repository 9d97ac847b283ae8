-- The short way to claim one job, by far the most common case. With the short way to settle it, plain statements take
-- 40 % less server time than those that can handle many jobs (docs/decisions.md).

create function tickwork.claim_one(request tickwork.claim_request, types text[])
returns tickwork.claimed_job[]
language plpgsql
volatile
as $$
declare
  now_at constant timestamptz := clock_timestamp();
  asked_for constant text := tickwork.only_type(request.family, claim_one.types);
  turn bigint := tickwork.read_turn(request.family);
  pointer constant tickwork.pointer := tickwork.unpacked(turn);
  -- A tenant in the middle of its turn comes first; one whose turn is over comes last.
  start constant bigint := pointer.tenant_number - (pointer.starts_left > 0)::integer;
  lease record;
  tenant record;
  max_priority integer := 100;
  due record;
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

  if tickwork.low_starts(pointer.starts, 1) > 0 then
    max_priority := coalesce(
      tickwork.lower_priority(request.family, array[asked_for], tenant.number, pointer.starts / 10), max_priority
    );
  end if;

  select
    waiting.ctid as place, jobs.ctid as record, waiting.lane,
    waiting.lane is not null or jobs.dedupe_key is not null or jobs.notify or jobs.is_redacted as is_watched,
    jobs.is_redacted
  into due
  from tickwork.waiting
  -- An array, as in start_jobs.
  join public.jobs on jobs.id = any (array[waiting.job_id]) and jobs.status = 'queued'
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

  turn := setval(tickwork.turn_of(request.family), tickwork.packed(
    tenant.number,
    case when tenant.number = start + 1 and pointer.starts_left > 0 then pointer.starts_left else tenant.weight end - 1,
    pointer.starts + 1
  ));
  return array[tickwork.start_job(
    request, lease.seconds, lease.timeout_seconds, due.place, due.record, due.is_watched, due.is_redacted
  )];
end
$$;

comment on function tickwork.claim_one is
  'queued -> running. If only one type is asked for, nothing is limited and nothing else needs to be done, one lookup '
  'finds the tenant whose turn it is. Null in all other cases.';

create function tickwork.start_job(
  request tickwork.claim_request,
  lease_seconds integer,
  timeout_seconds integer,
  place tid,
  record tid,
  is_watched boolean,
  is_redacted boolean
)
returns tickwork.claimed_job
language plpgsql
volatile
as $$
declare
  now_at constant timestamptz := clock_timestamp();
  ends_at constant timestamptz := now_at + make_interval(secs => start_job.lease_seconds);
  token constant uuid := gen_random_uuid();
  started tickwork.claimed_job;
begin
  delete from tickwork.waiting
  where waiting.ctid = start_job.place;

  update public.jobs
  set
    status = 'running',
    attempts = jobs.attempts + 1,
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
    token, jobs.lease_seconds, jobs.timeout_seconds, jobs.worker_id, jobs.correlation_id,
    coalesce(jobs.traceparent, 'link ' || jobs.trace_link), tickwork.waited_ms(jobs.run_at, jobs.ready_at, now_at)
  into started;

  if start_job.is_redacted then
    started.payload := tickwork.whole_payload(started.id, started.payload);
  end if;

  insert into tickwork.leases (job_id, token, family, type, tenant_id, lane, lease_seconds, expires_at, is_watched)
  values (
    started.id, token, started.family, started.type, started.tenant_id, started.lane,
    start_job.lease_seconds, ends_at, start_job.is_watched
  );

  return started;
end
$$;

comment on function tickwork.start_job is 'queued -> running. Like lease_jobs, for one job without limits.';

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

comment on function tickwork.only_type is
  'The type that is asked for, if it is the only one; null if there are several.';
