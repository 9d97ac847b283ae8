-- -> queued

-- What somebody asks for. The id is chosen beforehand, so that the row can be found again after the insert.

create type tickwork.job_request as (
  id uuid,
  tenant_id uuid,
  type text,
  payload jsonb,
  priority integer,
  run_at timestamptz,
  idempotency_key text,
  dedupe_key text,
  lane text,
  max_attempts integer,
  correlation_id text,
  source text,
  source_ref text
);

create function tickwork.is_plain_job(
  payload jsonb,
  priority integer,
  run_at timestamptz,
  idempotency_key text,
  dedupe_key text,
  lane text,
  max_attempts integer,
  correlation_id text
)
returns boolean
language plpgsql
immutable
set search_path = ''
as $$
declare
  written constant text := is_plain_job.payload::text;
begin
  if jsonb_typeof(is_plain_job.payload) <> 'object' then
    return false;
  end if;

  -- What is shorter has no room for anything wrong.
  if octet_length(written) > 64 then
    if not tickwork.is_plain(written) then
      return false;
    end if;
  end if;

  if is_plain_job.priority not between 0 and 100
    or is_plain_job.run_at not between '1900-01-01 00:00Z' and '9998-12-31 00:00Z'
  then
    return false;
  end if;

  if num_nonnulls(
    is_plain_job.idempotency_key, is_plain_job.dedupe_key, is_plain_job.lane, is_plain_job.max_attempts,
    is_plain_job.correlation_id
  ) = 0 then
    return true;
  end if;

  return coalesce(is_plain_job.max_attempts, 1) between 1 and 25
    and octet_length(coalesce(is_plain_job.idempotency_key, '-')) between 1 and 200
    and octet_length(coalesce(is_plain_job.dedupe_key, '-')) between 1 and 200
    and octet_length(coalesce(is_plain_job.lane, '-')) between 1 and 200
    and octet_length(coalesce(is_plain_job.correlation_id, '-')) between 1 and 200;
end
$$;

comment on function tickwork.is_plain_job is
  'Whether check_job would find nothing wrong, whatever the type; what is not plain may still be in order.';

-- Part of the two inserts that take it, and looks at each job once.

create function tickwork.checked_rows(requests tickwork.job_request[])
returns table (
  id uuid,
  tenant_id uuid,
  type text,
  family text,
  payload jsonb,
  priority integer,
  run_at timestamptz,
  idempotency_key text,
  dedupe_key text,
  lane text,
  max_attempts integer,
  correlation_id text,
  source text,
  source_ref text,
  created_by uuid
)
language sql
stable
begin atomic
  select
    request.id, request.tenant_id, request.type, job_types.family, coalesce(request.payload, '{}'),
    coalesce(request.priority, 0), coalesce(request.run_at, clock_timestamp()),
    request.idempotency_key, request.dedupe_key, request.lane,
    coalesce(request.max_attempts, job_types.max_attempts), request.correlation_id,
    coalesce(request.source, 'manual'), request.source_ref, tickwork.caller_id()
  from unnest(requests) with ordinality as request
  left join public.job_types on job_types.key = request.type
  where case
    when job_types.is_active
      and tickwork.is_plain_match(coalesce(request.payload, '{}'), job_types.payload_schema)
      and tickwork.is_plain_job(
        request.payload, request.priority, request.run_at, request.idempotency_key, request.dedupe_key, request.lane,
        request.max_attempts, request.correlation_id
      )
    then true
    -- Raises, and says what is wrong.
    else tickwork.check_job(
      request.type, job_types, coalesce(request.payload, '{}'), request.priority,
      coalesce(request.run_at, clock_timestamp()), request.idempotency_key, request.dedupe_key, request.lane,
      request.max_attempts, request.correlation_id
    )::text = ''
  end
  order by request.ordinality;
end;

-- Only its row type is used: a job's row, and whether it was there before it was asked for.

create view tickwork.enqueued_jobs
with (security_invoker = true)
as
select
  jobs.*,
  null::boolean as deduplicated
from public.jobs;

create function tickwork.insert_jobs(requests tickwork.job_request[])
returns setof tickwork.enqueued_jobs
language plpgsql
volatile
set search_path = ''
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

  -- Two batches with the same keys in another order would wait for each other in a circle.
  if cardinality(insert_jobs.requests) > 1 then
    perform pg_advisory_xact_lock(hashtextextended(tenant.id::text, 0))
    from (
      select distinct request.tenant_id
      from unnest(insert_jobs.requests) as request
      where request.idempotency_key is not null or request.dedupe_key is not null
      order by request.tenant_id
    ) as tenant(id);
  end if;

  -- A second round is needed only when the job that held a key ended between the insert and the look.
  for round in 1 .. 10 loop
    perform tickwork.insert_missing_jobs(array(
      select request.job
      from unnest(insert_jobs.requests) with ordinality as listed
      cross join lateral (select insert_jobs.requests[listed.ordinality]) as request(job)
      -- A repeat is answered even when its type takes no new jobs any more.
      where not exists (
        select
        from public.jobs as same
        where same.tenant_id = listed.tenant_id
          and same.type = listed.type
          and same.idempotency_key = listed.idempotency_key
      )
      order by listed.ordinality
    ));

    select array_agg(
      coalesce(
        (select own.id from public.jobs as own where own.id = request.id),
        (
          select same.id
          from public.jobs as same
          where same.tenant_id = request.tenant_id
            and same.type = request.type
            and same.idempotency_key = request.idempotency_key
        ),
        (
          select same.id
          from public.jobs as same
          where same.tenant_id = request.tenant_id
            and same.dedupe_key = request.dedupe_key
            and same.status in ('queued', 'running')
        )
      )
      order by request.ordinality
    )
    into ids
    from unnest(insert_jobs.requests) with ordinality as request;

    exit when array_position(ids, null) is null;
  end loop;

  if array_position(ids, null) is not null then
    raise exception 'dedupe_key: jobs that hold it come and go too fast'
      using errcode = 'TWDUP', hint = 'Try again.';
  end if;

  return query
  select jobs.*, jobs.id <> insert_jobs.requests[enqueued.ordinality].id
  from unnest(ids) with ordinality as enqueued(id, ordinality)
  cross join lateral (select * from public.jobs where jobs.id = enqueued.id limit 1) as jobs
  order by enqueued.ordinality;
end
$$;

create function tickwork.insert_new_jobs(requests tickwork.job_request[])
returns setof public.jobs
language plpgsql
volatile
set search_path = ''
as $$
begin
  return query
  insert into public.jobs (
    id, tenant_id, type, family, payload, priority, run_at, idempotency_key, dedupe_key, lane,
    max_attempts, correlation_id, source, source_ref, created_by
  )
  select *
  from tickwork.checked_rows(insert_new_jobs.requests)
  returning jobs.*;

  perform tickwork.announce(array(
    select row(
      job_types.family, request.type, coalesce(request.priority, 0), request.tenant_id, request.lane,
      min(coalesce(request.run_at, clock_timestamp())), count(*)
    )::tickwork.place
    from unnest(insert_new_jobs.requests) as request
    join public.job_types on job_types.key = request.type
    group by job_types.family, request.type, request.priority, request.tenant_id, request.lane
  ));
end
$$;

-- Without those whose key or id is taken, which is a sixth more work for each.

create function tickwork.insert_missing_jobs(requests tickwork.job_request[])
returns void
language plpgsql
volatile
set search_path = ''
as $$
declare
  places tickwork.place[];
begin
  with inserted as (
    insert into public.jobs (
      id, tenant_id, type, family, payload, priority, run_at, idempotency_key, dedupe_key, lane,
      max_attempts, correlation_id, source, source_ref, created_by
    )
    select *
    from tickwork.checked_rows(insert_missing_jobs.requests)
    on conflict do nothing
    returning jobs.*
  )
  select coalesce(array_agg(grouped.place), '{}')
  into places
  from (
    select row(
      inserted.family, inserted.type, inserted.priority, inserted.tenant_id, inserted.lane,
      min(inserted.run_at), count(*)
    )::tickwork.place
    from inserted
    group by inserted.family, inserted.type, inserted.priority, inserted.tenant_id, inserted.lane
  ) as grouped(place);

  perform tickwork.announce(places);
end
$$;

create function tickwork.enqueue_job(
  tenant_id uuid,
  type text,
  payload jsonb,
  priority integer,
  run_at timestamptz,
  idempotency_key text,
  dedupe_key text,
  lane text,
  max_attempts integer,
  correlation_id text
)
returns tickwork.enqueued_jobs
language plpgsql
volatile
security definer -- max_attempts is no column that a client may insert
set search_path = ''
as $$
declare
  due_at constant timestamptz := coalesce(enqueue_job.run_at, clock_timestamp());
  enqueued tickwork.enqueued_jobs;
  done text;
begin
  -- The insert itself finds the tenant, for the service.
  if not tickwork.caller_is_service() then
    done := tickwork.check_caller(enqueue_job.tenant_id)::text;
  end if;

  -- Nearly always one statement is enough; whatever is not plainly in order goes the long way.
  if num_nonnulls(enqueue_job.idempotency_key, enqueue_job.dedupe_key) = 0
    and tickwork.is_plain_job(
      enqueue_job.payload, enqueue_job.priority, due_at, null, null, enqueue_job.lane, enqueue_job.max_attempts,
      enqueue_job.correlation_id
    )
  then
    insert into public.jobs (
      tenant_id, type, family, payload, priority, run_at, lane, max_attempts, correlation_id, created_by
    )
    select
      organizations.id, job_types.key, job_types.family, coalesce(enqueue_job.payload, '{}'),
      coalesce(enqueue_job.priority, 0), due_at, enqueue_job.lane,
      coalesce(enqueue_job.max_attempts, job_types.max_attempts), enqueue_job.correlation_id, tickwork.caller_id()
    from public.job_types
    join public.organizations on organizations.id = enqueue_job.tenant_id
    where job_types.key = enqueue_job.type
      and job_types.is_active
      and tickwork.is_plain_match(coalesce(enqueue_job.payload, '{}'), job_types.payload_schema)
    returning jobs.*, false into enqueued;

    if found then
      done := tickwork.take_allowance(enqueued.tenant_id, 1)::text;
      done := tickwork.announce_place(row(
        enqueued.family, enqueued.type, enqueued.priority, enqueued.tenant_id, enqueued.lane, enqueued.run_at, 1
      )::tickwork.place)::text;

      return enqueued;
    end if;
  end if;

  done := tickwork.check_caller(enqueue_job.tenant_id)::text;

  select * into enqueued
  from tickwork.insert_jobs(array[row(
    gen_random_uuid(),
    enqueue_job.tenant_id,
    enqueue_job.type,
    enqueue_job.payload,
    enqueue_job.priority,
    enqueue_job.run_at,
    enqueue_job.idempotency_key,
    enqueue_job.dedupe_key,
    enqueue_job.lane,
    enqueue_job.max_attempts,
    enqueue_job.correlation_id,
    'manual',
    null
  )::tickwork.job_request]);

  return enqueued;
end
$$;

create function public.enqueue_job(
  tenant_id uuid,
  type text,
  payload jsonb default '{}',
  priority integer default 0,
  run_at timestamptz default null,
  idempotency_key text default null,
  dedupe_key text default null,
  lane text default null,
  max_attempts integer default null,
  correlation_id text default null
)
returns tickwork.enqueued_jobs
language sql
volatile
-- Parsed here and now, it becomes part of the statement that calls it.
return tickwork.enqueue_job(
  tenant_id, type, payload, priority, run_at, idempotency_key, dedupe_key, lane, max_attempts, correlation_id
);

comment on function public.enqueue_job is
  '-> queued. Answers the job''s row and whether it was there already (deduplicated): a repeated idempotency_key '
  'of the tenant and type, or a dedupe_key that a queued or running job of the tenant holds, adds nothing. '
  'Durable when it returns. Raises TWTNT, TWMEM, TWTYP, TWPAY, TWBIG, TWKEY, TWPRI, TWRUN, TWATT, TWDUP, TWFUL.';

alter function tickwork.enqueue_job owner to tickwork_owner;

revoke all on tickwork.enqueued_jobs from public, anon, authenticated, service_role;

revoke execute on function
  tickwork.is_plain_job,
  tickwork.checked_rows,
  tickwork.insert_jobs,
  tickwork.insert_new_jobs,
  tickwork.insert_missing_jobs,
  tickwork.enqueue_job,
  public.enqueue_job
from public, anon, authenticated, service_role;

grant execute on function
  tickwork.is_plain_job,
  tickwork.checked_rows,
  tickwork.insert_jobs,
  tickwork.insert_new_jobs,
  tickwork.insert_missing_jobs
to tickwork_owner;
grant execute on function public.enqueue_job, tickwork.enqueue_job to authenticated, service_role;
