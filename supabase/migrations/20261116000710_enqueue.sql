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
  has_keys boolean;
  ids uuid[];
  violated text;
begin
  select bool_or(num_nonnulls(request.idempotency_key, request.dedupe_key) > 0) into has_keys
  from unnest(insert_jobs.requests) as request;

  if has_keys is not true then
    perform tickwork.store_new_jobs(insert_jobs.requests);

    -- Rows that are looked up together take half the time. Their ids count up in the order of the requests.
    return query
    select jobs.*, false
    from public.jobs
    where jobs.id = any (array(select request.id from unnest(insert_jobs.requests) as request))
    order by jobs.id;

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

  -- Another round is needed when the job that held a key ended between the insert and the lookup, when one of the
  -- batch turned out to be there by its other key, or when somebody else has just taken an idempotency key.
  for round in 1 .. 10 loop
    begin
      perform tickwork.store_new_jobs(tickwork.take_free_keys(insert_jobs.requests));
    exception
      when unique_violation then
        get stacked diagnostics violated = constraint_name;

        if violated <> 'jobs_idempotency_key' then
          raise;
        end if;

        continue;
    end;

    ids := array(
      select tickwork.job_asked_for(insert_jobs.requests[request.ordinality])
      from unnest(insert_jobs.requests) with ordinality as request
      order by request.ordinality
    );

    if array_position(ids, null) is null then
      return query
      select jobs.*, jobs.id <> (insert_jobs.requests[stored.ordinality]).id
      from unnest(ids) with ordinality as stored(id, ordinality)
      cross join lateral (select * from public.jobs where jobs.id = stored.id limit 1) as jobs
      order by stored.ordinality;

      return;
    end if;
  end loop;

  raise exception 'dedupe_key: the jobs that hold it change too fast'
    using errcode = 'TWDUP', hint = 'Try again.';
end
$$;

comment on function tickwork.insert_jobs is
  '-> queued. The way into the queue: checks, stores and files the jobs, except those whose key is taken. Returns one '
  'row for each, in their order, provided that ids of jobs without keys count up. Callers have checked who may '
  'enqueue. Raises what enqueue_job raises.';

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

comment on function tickwork.job_asked_for is 'The job of the request, or the one that has one of its keys.';

create function tickwork.take_free_keys(requests tickwork.job_request[])
returns tickwork.job_request[]
language sql
volatile
as $$
  -- A repeat returns its job even if the type accepts no new jobs any more. Of two with the same key the first wins.
  with missing as materialized (
    select listed.ordinality, listed.id, listed.tenant_id, listed.dedupe_key
    from (
      select
        request.*,
        row_number() over (
          partition by request.tenant_id, request.type, request.idempotency_key order by request.ordinality
        ) as place_by_idempotency_key,
        row_number() over (
          partition by request.tenant_id, request.dedupe_key order by request.ordinality
        ) as place_by_dedupe_key
      from unnest(take_free_keys.requests) with ordinality as request
      -- One that is there already, by its other key, does not keep its place from those after it.
      where tickwork.job_asked_for(take_free_keys.requests[request.ordinality]) is null
    ) as listed
    where (listed.idempotency_key is null or listed.place_by_idempotency_key = 1)
      and (listed.dedupe_key is null or listed.place_by_dedupe_key = 1)
  ),
  -- A call that waits here for another with the same key finds it taken, or free after a rollback.
  taken as (
    insert into tickwork.taken_keys (tenant_id, dedupe_key, job_id)
    select missing.tenant_id, missing.dedupe_key, missing.id
    from missing
    where missing.dedupe_key is not null
    order by missing.tenant_id, missing.dedupe_key
    on conflict do nothing
    returning taken_keys.job_id
  )
  select coalesce(array_agg(take_free_keys.requests[missing.ordinality] order by missing.ordinality), '{}')
  from missing
  where missing.dedupe_key is null
    or missing.id in (select taken.job_id from taken);
$$;

comment on function tickwork.take_free_keys is
  'Takes the dedupe keys of the jobs that are not there yet. Returns those whose key was free, or who have none.';
