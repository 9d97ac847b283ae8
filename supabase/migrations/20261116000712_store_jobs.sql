-- -> queued, past the keys: many jobs together, and the short way for one.

create function tickwork.store_new_jobs(requests tickwork.job_request[])
returns void
language plpgsql
volatile
as $$
declare
  due_by constant timestamptz := clock_timestamp();
  tenant_ids uuid[];
  types text[];
  has_secrets boolean;
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
  has_secrets := tickwork.check_jobs(store_new_jobs.requests, types);

  if has_secrets then
    requests := tickwork.keep_payloads(store_new_jobs.requests);
  end if;

  with known as materialized (
    select job_types.key, job_types.family, job_types.priority, job_types.max_attempts, job_types.redacted
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
      coalesce(
        request.correlation_id, case when request.after is not null then tickwork.correlation_id_of(request.after) end
      ),
      coalesce(request.traceparent, case request.source when 'manual' then caller.traceparent end), request.trace_link,
      coalesce(request.notify, false), coalesce(request.source, 'manual'), request.source_ref, caller.id,
      request.after, case when request.after is not null then request.after_when end,
      has_secrets and tickwork.is_to_redact(job_type.redacted, request.payload::text)
    from unnest(store_new_jobs.requests) with ordinality as request
    cross join lateral (select * from known where known.key = request.type limit 1) as job_type
    cross join (select tickwork.caller_id() as id, tickwork.caller_traceparent() as traceparent offset 0) as caller
    order by request.ordinality
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
  '-> queued. Like store_jobs, for jobs that already hold their dedupe keys. Raises unique_violation if an idempotency '
  'key is taken.';

-- The short way for one job, by whoever it is asked for: without a key, due at once, in no lane.

create function tickwork.enqueue_job(request tickwork.job_request)
returns tickwork.enqueued_jobs
language plpgsql
volatile
security definer -- max_attempts is not a column that clients may insert
set search_path = ''
as $$
declare
  job tickwork.enqueued_jobs;
begin
  if not tickwork.caller_is_service() then
    perform tickwork.check_enqueuer(request.tenant_id, array[request.type]);
  end if;

  with usual as materialized (
    select tenants.number, job_types.family, job_types.priority, job_types.max_attempts, clock_timestamp() as due_by
    from tickwork.tenants
    cross join public.job_types
    where tenants.tenant_id = request.tenant_id
      and job_types.key = request.type
      and num_nonnulls(request.idempotency_key, request.dedupe_key, request.lane, request.run_at, request.after) = 0
      and tickwork.broken_rule(
        job_types.is_active, request.priority, null, null, null, null, request.max_attempts, request.correlation_id,
        request.traceparent
      ) is null
      and tickwork.broken_payload_rule(request.payload, request.payload::text) is null
      and not request.payload ? 'artifact_ref'
      and tickwork.schema_mismatch(request.payload, job_types.payload_schema) is null
      and not tickwork.is_to_redact(job_types.redacted, request.payload::text)
    for key share of tenants skip locked
  ),
  taken as (
    delete from tickwork.allowances
    where allowances.ctid = (
      select free.ctid
      from tickwork.allowances as free
      where free.tenant_id = request.tenant_id and free.jobs_left >= 1 and exists (select from usual)
      limit 1
      for update skip locked
    )
    returning allowances.jobs_left - 1 as jobs_left
  ),
  left_over as (
    insert into tickwork.allowances (tenant_id, jobs_left) select request.tenant_id, taken.jobs_left from taken
  ),
  stored as (
    insert into public.jobs (
      id, tenant_id, type, family, payload, priority, run_at, max_attempts, correlation_id, traceparent, notify,
      created_by
    )
    select
      tickwork.new_id(), request.tenant_id, request.type, usual.family, request.payload,
      coalesce(request.priority, usual.priority), usual.due_by, coalesce(request.max_attempts, usual.max_attempts),
      request.correlation_id, coalesce(request.traceparent, tickwork.caller_traceparent()),
      coalesce(request.notify, false), tickwork.caller_id()
    from usual
    cross join taken
    returning jobs.*
  ),
  filed as (
    insert into tickwork.waiting (family, type, tenant_number, priority, run_at, job_id)
    select stored.family, stored.type, usual.number, stored.priority, stored.run_at, stored.id
    from stored
    cross join usual
  )
  select stored.*, false into job
  from stored
  cross join lateral (
    select
      tickwork.wait_for_disk(), set_config('tickwork.has_enqueued', 'yes', true), pg_notify('tickwork', stored.family)
  ) as announced;

  return case when found then job else tickwork.enqueue_unusual(request) end;
end
$$;

comment on function tickwork.enqueue_job is
  '-> queued. For tickwork.new_job: the short way for the usual job of the service, in one statement. Everything else '
  'goes the way of many.';

create function tickwork.enqueue_unusual(request tickwork.job_request)
returns tickwork.enqueued_jobs
language plpgsql
volatile
as $$
declare
  job tickwork.enqueued_jobs;
begin
  -- Callers must not choose it: with the id of another job they would be given that job.
  request.id := tickwork.new_id();
  request.source := 'manual';
  request.source_ref := null;

  select * into job
  from tickwork.insert_jobs(array[request]);

  return job;
end
$$;

comment on function tickwork.enqueue_unusual is '-> queued. Like enqueue_job, the way of many.';
