-- The verbs.

-- A condition of every claim: one short expression, which becomes a part of whoever asks.

create function tickwork.wrong_in_claim(family text, worker_id text, max_jobs integer, lease_seconds integer)
returns text
language sql
immutable
return case
  when coalesce(family, '') = '' then 'family'
  when coalesce(worker_id, '') = '' then 'worker_id'
  when octet_length(worker_id) > 200 then 'length'
  when (max_jobs between 1 and 1000) is not true then 'max_jobs'
  when lease_seconds not between 10 and 3600 then 'lease_seconds'
end;

comment on function tickwork.wrong_in_claim is 'Which argument of a claim is wrong; null if none is.';

create function tickwork.check_claim(family text, worker_id text, max_jobs integer, lease_seconds integer)
returns void
language plpgsql
immutable
as $$
begin
  case tickwork.wrong_in_claim(
    check_claim.family, check_claim.worker_id, check_claim.max_jobs, check_claim.lease_seconds
  )
    when 'family' then
      raise exception 'family: must not be empty'
        using errcode = 'TWARG', hint = 'Each family has a function of its own, such as extract.';
    when 'worker_id' then
      raise exception 'worker_id: must not be empty'
        using errcode = 'TWARG', hint = 'Name the worker, such as its host and process, or its function and instance.';
    when 'length' then
      perform tickwork.check_size('worker_id', check_claim.worker_id, 200);
    when 'max_jobs' then
      raise exception 'max_jobs: % is out of range, it must be 1 to 1000', coalesce(check_claim.max_jobs::text, 'null')
        using errcode = 'TWARG', hint = 'Claim only what can be started within the lease.';
    when 'lease_seconds' then
      raise exception 'lease_seconds: % is out of range, it must be 10 to 3600', check_claim.lease_seconds
        using errcode = 'TWLEA', hint = 'Leave it out to use the lease_seconds of each job''s type.';
    else
      return;
  end case;
end
$$;

comment on function tickwork.check_claim is 'Raises TWARG, TWBIG or TWLEA if something in a claim is wrong.';

create function tickwork.claim_alone(
  family text, worker_id text, max_jobs integer, lease_seconds integer, types text[], own_tenant uuid
)
returns setof tickwork.claimed_job
language plpgsql
volatile
as $$
begin
  perform tickwork.check_claim(
    claim_alone.family, claim_alone.worker_id, claim_alone.max_jobs, claim_alone.lease_seconds
  );
  perform tickwork.skip_disk();

  return query
  select
    job.id, job.tenant_id, job.type, claim_alone.family, job.lane, job.payload, job.attempts, job.max_attempts,
    job.lease_token, job.lease_seconds, job.timeout_seconds, claim_alone.worker_id, job.correlation_id, job.trace,
    job.wait_ms
  from tickwork.claim(
    claim_alone.family, claim_alone.worker_id, claim_alone.max_jobs, claim_alone.lease_seconds, claim_alone.types,
    claim_alone.own_tenant
  ) as job;
end
$$;

comment on function tickwork.claim_alone is
  'queued -> running. A claim in a transaction of its own. Raises TWLEA, TWARG, TWBIG.';

create function tickwork.claim_jobs(family text, worker_id text, max_jobs integer, lease_seconds integer, types text[])
returns setof tickwork.claimed_job
language plpgsql
volatile
security definer -- locking a row requires the right to update it, which the worker does not have
set search_path = ''
as $$
begin
  return query
  select *
  from tickwork.claim_alone(
    claim_jobs.family, claim_jobs.worker_id, claim_jobs.max_jobs, claim_jobs.lease_seconds, claim_jobs.types, null
  );
end
$$;

create function public.claim_next_job(
  family text,
  worker_id text,
  lease_seconds integer default null,
  types text[] default null
)
returns setof tickwork.claimed_job
language sql
volatile
begin atomic
  select *
  from tickwork.claim_jobs(family, worker_id, 1, lease_seconds, types);
end;

create function public.claim_jobs(
  family text,
  worker_id text,
  max_jobs integer,
  lease_seconds integer default null,
  types text[] default null
)
returns setof tickwork.claimed_job
language sql
volatile
begin atomic
  select *
  from tickwork.claim_jobs(family, worker_id, max_jobs, lease_seconds, types);
end;

comment on function public.claim_next_job is
  'queued -> running. Leases the next due job of one family to the caller, and returns what a worker needs to know of '
  'it, with a new lease_token that nobody else is told; no row means that there is nothing to start now. Two callers '
  'never receive the same job. types are those that the caller has handlers for; null means all. Ends expired leases '
  'first. Without lease_seconds the job''s type decides. Raises TWLEA, TWARG, TWBIG.';

comment on function public.claim_jobs is
  'queued -> running. Like claim_next_job, for up to max_jobs jobs: each has a lease of its own, by its id and a '
  'lease_token that is new with every call. Raises TWLEA, TWARG, TWBIG.';
