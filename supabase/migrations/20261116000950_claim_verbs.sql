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
      using errcode = 'TWARG', hint = 'Name the worker, such as its host and process, or its function and instance.';
  end if;

  perform tickwork.check_size('worker_id', check_claim.worker_id, 200);

  if check_claim.max_jobs is null or check_claim.max_jobs not between 1 and 1000 then
    raise exception 'max_jobs: % is out of range, it must be 1 to 1000', coalesce(check_claim.max_jobs::text, 'null')
      using errcode = 'TWARG', hint = 'Claim only what can be started within the lease.';
  end if;

  if check_claim.lease_seconds not between 10 and 3600 then
    raise exception 'lease_seconds: % is out of range, it must be 10 to 3600', check_claim.lease_seconds
      using errcode = 'TWLEA', hint = 'Leave it out to use the lease_seconds of each job''s type.';
  end if;
end
$$;

create function tickwork.claim_jobs(family text, worker_id text, max_jobs integer, lease_seconds integer, types text[])
returns setof tickwork.claimed_job
language plpgsql
volatile
security definer -- locking a row requires the right to update it, which the worker does not have
set search_path = ''
as $$
begin
  if tickwork.is_plain_claim(
    claim_jobs.family, claim_jobs.worker_id, claim_jobs.max_jobs, claim_jobs.lease_seconds
  ) is not true then
    perform tickwork.check_claim(
      claim_jobs.family, claim_jobs.worker_id, claim_jobs.max_jobs, claim_jobs.lease_seconds
    );
  end if;

  perform tickwork.skip_disk();

  return query
  select *
  from tickwork.claim(
    claim_jobs.family, claim_jobs.worker_id, claim_jobs.max_jobs, claim_jobs.lease_seconds, claim_jobs.types
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
  'queued -> running. Like claim_next_job, for up to max_jobs jobs, each under its own lease_token. Raises TWLEA, '
  'TWARG, TWBIG.';
