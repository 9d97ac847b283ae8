-- The verbs of workers that come with an API key: those of the other workers, with worker_ before their names.

create function tickwork.worker_claim_jobs(
  family text, worker_id text, max_jobs integer, lease_seconds integer, types text[]
)
returns setof tickwork.claimed_job
language plpgsql
volatile
security definer -- a caller with a key may do nothing but what his scopes say
set search_path = ''
as $$
declare
  own_tenant constant uuid := tickwork.check_worker(worker_claim_jobs.family);
begin
  perform tickwork.check_claim(
    worker_claim_jobs.family, worker_claim_jobs.worker_id, worker_claim_jobs.max_jobs, worker_claim_jobs.lease_seconds
  );
  perform tickwork.note_use(tickwork.caller_key_id());
  perform tickwork.skip_disk();

  return query
  select
    job.id, job.tenant_id, job.type, worker_claim_jobs.family, job.lane, job.payload, job.attempts, job.max_attempts,
    job.lease_token, job.lease_seconds, job.timeout_seconds, worker_claim_jobs.worker_id, job.correlation_id, job.trace,
    job.wait_ms
  from tickwork.claim(
    worker_claim_jobs.family, worker_claim_jobs.worker_id, worker_claim_jobs.max_jobs, worker_claim_jobs.lease_seconds,
    worker_claim_jobs.types, own_tenant, gen_random_uuid()
  ) as job;
end
$$;

create function public.worker_claim_jobs(
  family text,
  worker_id text,
  max_jobs integer default 1,
  lease_seconds integer default null,
  types text[] default null
)
returns setof tickwork.claimed_job
language sql
volatile
begin atomic
  select *
  from tickwork.worker_claim_jobs(family, worker_id, max_jobs, lease_seconds, types);
end;

comment on function public.worker_claim_jobs is
  'queued -> running. Like claim_jobs, for a key with the scope worker:<family>; the key of a tenant gets jobs of that '
  'tenant only. Raises TWAUT, TWADM, TWLEA, TWARG, TWBIG.';

create function tickwork.worker_heartbeat_job(
  job_id uuid, lease_token uuid, progress double precision, message text
)
returns boolean
language plpgsql
volatile
security definer -- a caller with a key may do nothing but what his scopes say
set search_path = ''
as $$
begin
  perform tickwork.check_lease(worker_heartbeat_job.job_id, worker_heartbeat_job.lease_token);

  return tickwork.heartbeat_job(
    worker_heartbeat_job.job_id, worker_heartbeat_job.lease_token, worker_heartbeat_job.progress,
    worker_heartbeat_job.message
  );
end
$$;

create function public.worker_heartbeat_job(
  job_id uuid,
  lease_token uuid,
  progress double precision default null,
  message text default null
)
returns boolean
language sql
volatile
return tickwork.worker_heartbeat_job(job_id, lease_token, progress, message);

comment on function public.worker_heartbeat_job is
  'running -> running. Like heartbeat_job, for a key with the scope worker:<family>. Raises TWLSE, TWAUT, TWADM, '
  'TWARG.';

create function tickwork.worker_settle_one(outcome jsonb)
returns public.jobs
language plpgsql
volatile
security definer -- a caller with a key may do nothing but what his scopes say
set search_path = ''
as $$
begin
  perform tickwork.check_lease(
    (worker_settle_one.outcome ->> 'job_id')::uuid, (worker_settle_one.outcome ->> 'lease_token')::uuid
  );

  return tickwork.settle_one(worker_settle_one.outcome);
end
$$;

create function public.worker_complete_job(
  job_id uuid,
  lease_token uuid,
  result jsonb default null,
  follow_ups jsonb default null,
  logs text default null
)
returns public.jobs
language sql
volatile
return tickwork.worker_settle_one(jsonb_build_object(
  'job_id', job_id, 'lease_token', lease_token, 'status', 'done',
  'result', result, 'follow_ups', follow_ups, 'logs', logs
));

comment on function public.worker_complete_job is
  'running -> done. Like complete_job, for a key with the scope worker:<family>. Raises TWLSE, TWAUT, TWADM, TWBIG, '
  'TWARG and what enqueue_job raises for a follow-up.';

create function public.worker_fail_job(
  job_id uuid,
  lease_token uuid,
  error jsonb,
  retryable boolean default true,
  retry_after_seconds double precision default null,
  logs text default null,
  pid integer default null,
  exit_code integer default null,
  stdout_tail text default null,
  stderr_tail text default null,
  exception text default null
)
returns public.jobs
language sql
volatile
return tickwork.worker_settle_one(jsonb_build_object(
  'job_id', job_id, 'lease_token', lease_token, 'status', 'failed',
  'error', error, 'retryable', coalesce(retryable, true),
  'retry_after_seconds', retry_after_seconds, 'logs', logs,
  'pid', pid, 'exit_code', exit_code, 'stdout_tail', stdout_tail, 'stderr_tail', stderr_tail,
  'exception', exception
));

comment on function public.worker_fail_job is
  'running -> queued, failed, dead or cancelled. Like fail_job, for a key with the scope worker:<family>. Raises '
  'TWLSE, TWAUT, TWADM, TWARG.';

create function public.worker_release_job(job_id uuid, lease_token uuid, delay_seconds double precision default 0)
returns public.jobs
language sql
volatile
return tickwork.worker_settle_one(jsonb_build_object(
  'job_id', job_id, 'lease_token', lease_token, 'status', 'released',
  'delay_seconds', delay_seconds
));

comment on function public.worker_release_job is
  'running -> queued, or cancelled if cancel was requested. Like release_job, for a key with the scope '
  'worker:<family>. Raises TWLSE, TWAUT, TWADM, TWARG.';

create type tickwork.settled_and_claimed as (
  settled json,
  claimed json
);

create function tickwork.worker_settle_and_claim(
  outcomes jsonb, family text, worker_id text, max_jobs integer, lease_seconds integer, types text[]
)
returns tickwork.settled_and_claimed
language plpgsql
volatile
security definer -- a caller with a key may do nothing but what his scopes say
set search_path = ''
as $$
declare
  own_tenant constant uuid := tickwork.check_worker(worker_settle_and_claim.family);
  settled json;
begin
  perform tickwork.check_endings(worker_settle_and_claim.outcomes);

  -- A lease that is lost is reported. One of another family or tenant is none that this caller was ever given.
  perform tickwork.raise_lease_lost(leases.job_id)
  from jsonb_to_recordset(worker_settle_and_claim.outcomes) as outcome(job_id uuid, lease_token uuid)
  join tickwork.leases on leases.job_id = outcome.job_id and leases.token = outcome.lease_token
  where leases.family <> worker_settle_and_claim.family
    or leases.tenant_id <> own_tenant;

  settled := array_to_json(array(
    select settled_job from tickwork.settle_jobs(worker_settle_and_claim.outcomes) as settled_job
  ));

  return row(
    settled,
    array_to_json(array(
      select claimed
      from tickwork.worker_claim_jobs(
        worker_settle_and_claim.family, worker_settle_and_claim.worker_id, worker_settle_and_claim.max_jobs,
        worker_settle_and_claim.lease_seconds, worker_settle_and_claim.types
      ) as claimed
    ))
  )::tickwork.settled_and_claimed;
end
$$;

create function public.worker_settle_and_claim(
  outcomes jsonb,
  family text,
  worker_id text,
  max_jobs integer default 1,
  lease_seconds integer default null,
  types text[] default null
)
returns tickwork.settled_and_claimed
language sql
volatile
return tickwork.worker_settle_and_claim(outcomes, family, worker_id, max_jobs, lease_seconds, types);

comment on function public.worker_settle_and_claim is
  'running -> done, queued, failed, dead or cancelled, and queued -> running. Like settle_and_claim, for a key with '
  'the scope worker:<family>, for jobs of that family. Raises TWAUT, TWADM, TWLSE, TWARG, TWBIG, TWLEA.';
