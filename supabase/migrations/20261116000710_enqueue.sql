-- -> queued

-- Only its row type is used: a job's row, and whether the job already existed.

create view tickwork.enqueued_jobs
with (security_invoker = true)
as
select
  jobs.*,
  null::boolean as deduplicated
from public.jobs;

revoke all on tickwork.enqueued_jobs from public, anon, authenticated, service_role;

create function tickwork.insert_jobs(requests tickwork.job_request[])
returns setof tickwork.enqueued_jobs
language plpgsql
volatile
as $$
declare
  has_keys constant boolean := exists (
    select
    from unnest(insert_jobs.requests) as request
    where request.idempotency_key is not null or request.dedupe_key is not null
  );
  ids uuid[];
begin
  if not has_keys then
    return query
    select inserted.*, false
    from tickwork.insert_new_jobs(insert_jobs.requests) as inserted;

    return;
  end if;

  -- Two batches with the same keys in another order could deadlock.
  if cardinality(insert_jobs.requests) > 1 then
    perform pg_advisory_xact_lock(hashtextextended(tenant.id::text, 0))
    from (
      select distinct request.tenant_id
      from unnest(insert_jobs.requests) as request
      where request.idempotency_key is not null or request.dedupe_key is not null
      order by request.tenant_id
    ) as tenant(id);
  end if;

  -- Another round is needed when the job that held a key ended between the insert and the lookup, or when one of the
  -- batch turned out to be there by its other key.
  for round in 1 .. 10 loop
    perform tickwork.insert_missing_jobs(insert_jobs.requests);

    ids := array(
      select tickwork.job_asked_for(insert_jobs.requests[request.ordinality])
      from unnest(insert_jobs.requests) with ordinality as request
      order by request.ordinality
    );

    exit when array_position(ids, null) is null;
  end loop;

  if array_position(ids, null) is not null then
    raise exception 'dedupe_key: the jobs that hold it change too fast'
      using errcode = 'TWDUP', hint = 'Try again.';
  end if;

  return query
  select jobs.*, jobs.id <> insert_jobs.requests[enqueued.ordinality].id
  from unnest(ids) with ordinality as enqueued(id, ordinality)
  cross join lateral (select * from public.jobs where jobs.id = enqueued.id limit 1) as jobs
  order by enqueued.ordinality;
end
$$;

comment on function tickwork.insert_jobs is
  '-> queued. The way into the queue: checks, stores and files the jobs, except those whose key is taken. Returns '
  'one row for each, in their order. Callers have checked who may enqueue. Raises what enqueue_job raises.';

create function tickwork.job_asked_for(request tickwork.job_request)
returns uuid
language sql
volatile
as $$
  select coalesce(
    (select own.id from public.jobs as own where own.id = (job_asked_for.request).id),
    (
      select same.id
      from public.jobs as same
      where same.tenant_id = (job_asked_for.request).tenant_id
        and same.type = (job_asked_for.request).type
        and same.idempotency_key = (job_asked_for.request).idempotency_key
    ),
    (
      select taken_keys.job_id
      from tickwork.taken_keys
      where taken_keys.tenant_id = (job_asked_for.request).tenant_id
        and taken_keys.dedupe_key = (job_asked_for.request).dedupe_key
    )
  );
$$;

create function tickwork.insert_missing_jobs(requests tickwork.job_request[])
returns void
language plpgsql
volatile
as $$
declare
  wanted tickwork.job_request[];
begin
  -- A repeat returns its job even if the type accepts no new jobs any more. Of two with the same key the first wins.
  wanted := array(
    select insert_missing_jobs.requests[listed.ordinality]
    from (
      select
        request.*,
        row_number() over (
          partition by request.tenant_id, request.type, request.idempotency_key order by request.ordinality
        ) as place_by_idempotency_key,
        row_number() over (
          partition by request.tenant_id, request.dedupe_key order by request.ordinality
        ) as place_by_dedupe_key
      from unnest(insert_missing_jobs.requests) with ordinality as request
      -- One that is there already, by its other key, does not keep its place from those after it.
      where tickwork.job_asked_for(insert_missing_jobs.requests[request.ordinality]) is null
    ) as listed
    where (listed.idempotency_key is null or listed.place_by_idempotency_key = 1)
      and (listed.dedupe_key is null or listed.place_by_dedupe_key = 1)
    order by listed.ordinality
  );

  -- A call that waits here for another with the same key finds it taken, or free after a rollback.
  with taken as (
    insert into tickwork.taken_keys (tenant_id, dedupe_key, job_id)
    select request.tenant_id, request.dedupe_key, request.id
    from unnest(wanted) as request
    join tickwork.tenants on tenants.tenant_id = request.tenant_id
    where request.dedupe_key is not null
    order by request.tenant_id, request.dedupe_key
    on conflict do nothing
    returning taken_keys.job_id
  )
  select coalesce(array_agg(wanted[request.ordinality] order by request.ordinality), '{}')
  into wanted
  from unnest(wanted) with ordinality as request
  where request.dedupe_key is null
    or request.id in (select taken.job_id from taken);

  perform tickwork.insert_new_jobs(wanted);

  -- A job whose idempotency key was taken in the meantime was not inserted, and keeps no other key.
  delete from tickwork.taken_keys
  using unnest(wanted) as request
  where taken_keys.tenant_id = request.tenant_id
    and taken_keys.dedupe_key = request.dedupe_key
    and taken_keys.job_id = request.id
    and not exists (select from public.jobs where jobs.id = request.id);
end
$$;

create function tickwork.insert_new_jobs(requests tickwork.job_request[])
returns setof public.jobs
language plpgsql
volatile
as $$
declare
  due_by constant timestamptz := clock_timestamp();
  caller_id constant uuid := tickwork.caller_id();
  caller_traceparent constant text := tickwork.caller_traceparent();
  inserted public.jobs[];
  has_after boolean;
  has_redacted boolean;
begin
  with inserted_jobs as (
    insert into public.jobs (
      id, tenant_id, type, family, payload, priority, run_at, idempotency_key, dedupe_key, lane, max_attempts,
      correlation_id, traceparent, trace_link, notify, source, source_ref, created_by, after, after_when, is_redacted
    )
    select
      request.id, request.tenant_id, request.type, job_types.family,
      case when secret.is_there then tickwork.redacted_payload(given.payload, job_types) else given.payload end,
      coalesce(request.priority, job_types.priority), coalesce(request.run_at, due_by), request.idempotency_key,
      request.dedupe_key, request.lane, coalesce(request.max_attempts, job_types.max_attempts),
      case
        when request.after is null then request.correlation_id
        else coalesce(request.correlation_id, tickwork.correlation_id_of(request.after))
      end,
      coalesce(request.traceparent, case request.source when 'manual' then caller_traceparent end), request.trace_link,
      coalesce(request.notify, false), coalesce(request.source, 'manual'), request.source_ref, caller_id,
      request.after, case when request.after is not null then request.after_when end, secret.is_there
    from unnest(insert_new_jobs.requests) with ordinality as request
    left join public.job_types on job_types.key = request.type
    cross join lateral (
      select coalesce(request.payload, '{}') as payload, coalesce(request.payload, '{}')::text as as_text offset 0
    ) as given
    cross join lateral (select tickwork.is_to_redact(job_types, given.as_text) offset 0) as secret(is_there)
    where case
      when job_types.is_active
        and tickwork.is_plain_match(given.payload, job_types.payload_schema)
        and tickwork.is_plain(given.payload, given.as_text)
        and tickwork.is_plain_job(insert_new_jobs.requests[request.ordinality])
      then true
      -- Raises, and says what is wrong.
      else tickwork.check_job(insert_new_jobs.requests[request.ordinality], job_types)::text = ''
    end
    order by request.ordinality
    on conflict do nothing
    returning jobs as job
  ),
  filed as (
    insert into tickwork.waiting (family, type, tenant_number, priority, run_at, job_id)
    select
      (inserted_jobs.job).family, (inserted_jobs.job).type, tenants.number, (inserted_jobs.job).priority,
      (inserted_jobs.job).run_at, (inserted_jobs.job).id
    from inserted_jobs
    join tickwork.tenants on tenants.tenant_id = (inserted_jobs.job).tenant_id
    where num_nonnulls((inserted_jobs.job).lane, (inserted_jobs.job).after) = 0
      and (inserted_jobs.job).run_at <= due_by
  )
  select array_agg(job), bool_or((job).after is not null), bool_or((job).is_redacted)
  into inserted, has_after, has_redacted
  from inserted_jobs;

  if has_redacted then
    perform tickwork.keep_payloads(inserted, insert_new_jobs.requests);
  end if;

  perform tickwork.note_enqueued(inserted, due_by);

  -- What they wait for may have ended already.
  if has_after then
    inserted := tickwork.read_again(inserted);
  end if;

  return query
  select *
  from unnest(inserted);
end
$$;

comment on function tickwork.insert_new_jobs is
  '-> queued. Like insert_jobs, for jobs that already hold their dedupe keys. A job whose idempotency key is taken is '
  'left out.';

create function tickwork.read_again(jobs public.jobs[])
returns public.jobs[]
language sql
volatile
return array(
  select found.job
  from unnest(read_again.jobs) with ordinality as known
  cross join lateral (select jobs as job from public.jobs where jobs.id = known.id limit 1) as found
  order by known.ordinality
);

comment on function tickwork.read_again is 'The jobs as they are now.';

create function tickwork.keep_payloads(inserted public.jobs[], requests tickwork.job_request[])
returns void
language sql
volatile
as $$
  insert into tickwork.redacted_values (job_id, tenant_id, payload)
  select job.id, job.tenant_id, request.payload
  from unnest(keep_payloads.inserted) as job
  join unnest(keep_payloads.requests) as request on request.id = job.id
  where job.is_redacted
    and job.payload <> request.payload;
$$;

comment on function tickwork.keep_payloads is 'Keeps the whole payloads of new jobs in which something is redacted.';
