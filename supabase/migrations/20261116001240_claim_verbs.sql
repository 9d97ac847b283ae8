-- queued -> running, without a settle

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
  select
    job.id, job.tenant_id, job.type, family, job.lane, job.payload, job.attempts, job.max_attempts, job.lease_token,
    job.lease_seconds, job.timeout_seconds, worker_id, job.correlation_id, job.trace, job.wait_ms
  from tickwork.settle_and_claim(
    null, null, null, null, family, worker_id, 1, lease_seconds, types, null
  ) as job;
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
  select
    job.id, job.tenant_id, job.type, family, job.lane, job.payload, job.attempts, job.max_attempts, job.lease_token,
    job.lease_seconds, job.timeout_seconds, worker_id, job.correlation_id, job.trace, job.wait_ms
  from tickwork.settle_and_claim(
    null, null, null, null, family, worker_id, max_jobs, lease_seconds, types, null
  ) as job;
end;

comment on function public.claim_next_job is
  'queued -> running. Leases the next due job of one family to the caller, and returns what a worker needs to know of '
  'it, with a new lease_token that nobody else is told; no row means that there is nothing to start now. Two callers '
  'never receive the same job. types are those that the caller has handlers for; null means all. Ends expired leases '
  'first. Without lease_seconds the job''s type decides. Raises TWLEA, TWARG, TWBIG.';

comment on function public.claim_jobs is
  'queued -> running. Like claim_next_job, for up to max_jobs jobs: each has a lease of its own, by its id and a '
  'lease_token that is new with every call. Raises TWLEA, TWARG, TWBIG.';
