-- -> queued, past the keys: many jobs together, and the short way for one.

create function tickwork.store_new_jobs(requests tickwork.job_request[])
returns void
language plpgsql
volatile
as $$
declare
  due_by constant timestamptz := clock_timestamp();
  caller_id constant uuid := tickwork.caller_id();
  caller_trace constant text := tickwork.caller_traceparent();
  tenant_ids uuid[];
  types text[];
  owners uuid[];
  families text[];
  first_at timestamptz;
  parked uuid[];
  awaiting uuid[];
begin
  if store_new_jobs.requests = '{}' then
    return;
  end if;

  select array_agg(distinct request.tenant_id), array_agg(distinct request.type)
  into tenant_ids, types
  from unnest(store_new_jobs.requests) as request;

  perform tickwork.hold_tenants(tenant_ids);
  requests := tickwork.check_jobs(store_new_jobs.requests, types);

  with known as materialized (
    select job_types.key, job_types.family, job_types.priority, job_types.max_attempts
    from public.job_types
    where job_types.key = any (types)
  ),
  owner as materialized (
    select * from tickwork.tenants where tenants.tenant_id = any (tenant_ids)
  ),
  stored as (
    insert into public.jobs (
      id, tenant_id, type, family, payload, priority, run_at, idempotency_key, dedupe_key, lane, max_attempts,
      correlation_id, traceparent, trace_link, notify, source, source_ref, created_by, after, after_when, is_redacted
    )
    select
      request.id, request.tenant_id, request.type, job_type.family, request.payload,
      coalesce(request.priority, job_type.priority), coalesce(request.run_at, due_by), request.idempotency_key,
      request.dedupe_key, request.lane, coalesce(request.max_attempts, job_type.max_attempts),
      coalesce(request.correlation_id, case when request.after is not null then (
        select awaited.correlation_id from public.jobs as awaited where awaited.id = request.after[1]
      ) end),
      coalesce(request.traceparent, case request.source when 'manual' then caller_trace end), request.trace_link,
      coalesce(request.notify, false), coalesce(request.source, 'manual'), request.source_ref, caller_id,
      request.after, case when request.after is not null then request.after_when end, request.is_redacted
    -- In the order of the requests: of the same age and priority, that one runs first that was listed first.
    from unnest(store_new_jobs.requests) as request
    cross join lateral (select * from known where known.key = request.type limit 1) as job_type
    returning jobs.id, jobs.tenant_id, jobs.type, jobs.family, jobs.priority, jobs.run_at, jobs.lane, jobs.after
  ),
  filed as (
    insert into tickwork.waiting (family, type, tenant_number, priority, run_at, job_id)
    select stored.family, stored.type, tenant.number, stored.priority, stored.run_at, stored.id
    from stored
    cross join lateral (select * from owner where owner.tenant_id = stored.tenant_id limit 1) as tenant
    where num_nonnulls(stored.lane, stored.after) = 0
      and stored.run_at <= due_by
  )
  select
    array_agg(stored.tenant_id),
    array_agg(distinct stored.family) filter (where stored.run_at <= due_by and stored.after is null),
    min(stored.run_at) filter (where stored.run_at < due_by),
    array_agg(stored.id) filter (where stored.after is null and (stored.lane is not null or stored.run_at > due_by)),
    array_agg(stored.id) filter (where stored.after is not null)
  into owners, families, first_at, parked, awaiting
  from stored;

  if first_at is not null then
    perform tickwork.lower_front(family, first_at)
    from unnest(families) as family;
  end if;

  perform tickwork.note_enqueued(owners, families, parked, awaiting);
end
$$;

comment on function tickwork.store_new_jobs is
  '-> queued. Like insert_jobs, for jobs that hold their dedupe keys. Raises unique_violation if an idempotency key is '
  'taken.';

-- The short way for one job, by whoever it is asked for: without a key, due at once, in no lane.

create function tickwork.enqueue_job(request tickwork.job_request)
returns tickwork.enqueued_jobs
language plpgsql
volatile
security definer -- max_attempts is not a column that clients may insert
set search_path = ''
as $$
declare
  due_by constant timestamptz := clock_timestamp();
  as_text constant text := request.payload::text;
  usual record;
  job tickwork.enqueued_jobs;
begin
  if not tickwork.caller_is_service() then
    perform tickwork.check_enqueuer(request.tenant_id, array[request.type]);
  end if;

  select tenants.number, job_types.family, job_types.priority, job_types.max_attempts into usual
  from tickwork.tenants
  cross join public.job_types
  where tenants.tenant_id = request.tenant_id
    and job_types.key = request.type
    and num_nonnulls(request.idempotency_key, request.dedupe_key, request.lane, request.run_at, request.after) = 0
    and tickwork.broken_rule(
      job_types.is_active, request.priority, null, null, null, null, request.max_attempts, request.correlation_id,
      request.traceparent
    ) is null
    and tickwork.broken_payload_rule(request.payload, as_text) is null
    and not request.payload ? 'artifact_ref'
    and (job_types.payload_schema is null
      or tickwork.schema_mismatch(request.payload, job_types.payload_schema) is null)
    and not tickwork.is_to_redact(job_types.redacted, as_text)
  for key share of tenants skip locked;

  if not found then
    -- Callers must not choose it: with the id of another job they would be given that job.
    request.id := tickwork.new_id();
    request.source := 'manual';
    request.source_ref := null;
    request.is_redacted := false;

    select * into job
    from tickwork.insert_jobs(array[request]);

    return job;
  end if;

  insert into public.jobs (
    id, tenant_id, type, family, payload, priority, run_at, max_attempts, correlation_id, traceparent, notify,
    created_by
  )
  values (
    tickwork.new_id(), request.tenant_id, request.type, usual.family, request.payload,
    coalesce(request.priority, usual.priority), due_by, coalesce(request.max_attempts, usual.max_attempts),
    request.correlation_id, coalesce(request.traceparent, tickwork.caller_traceparent()),
    coalesce(request.notify, false), tickwork.caller_id()
  )
  returning jobs.*, false into job;

  insert into tickwork.waiting (family, type, tenant_number, priority, run_at, job_id)
  values (job.family, job.type, usual.number, job.priority, due_by, job.id);

  perform
    tickwork.wait_for_disk(), tickwork.take_allowance(request.tenant_id, 1),
    set_config('tickwork.has_enqueued', 'yes', true), pg_notify('tickwork', job.family);

  return job;
end
$$;

comment on function tickwork.enqueue_job is
  '-> queued. For tickwork.new_job: the short way for the usual job. Everything else goes the way of many.';
