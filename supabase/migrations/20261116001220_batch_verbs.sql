-- Many at once.

create function tickwork.settle_jobs(outcomes jsonb)
returns setof tickwork.settled_job
language plpgsql
volatile
security definer -- the worker may not update jobs directly
set search_path = ''
as $$
begin
  return query
  select *
  from unnest(tickwork.settle_given(settle_jobs.outcomes));
end
$$;

create function public.settle_jobs(outcomes jsonb)
returns table (job_id uuid, is_held boolean, status text)
language sql
volatile
begin atomic
  select *
  from tickwork.settle_jobs(outcomes);
end;

comment on function public.settle_jobs is
  'running -> done, queued, failed, dead or cancelled. Completes, fails and releases many jobs in one statement: an '
  'array of {job_id, lease_token, status: done | failed | released} with the parameters of complete_job, fail_job or '
  'release_job. A lost lease does not raise: is_held is false. Durable when it returns. Raises TWARG, TWBIG.';

create type tickwork.settled_and_claimed as (
  settled json,
  claimed json
);

-- What became of the jobs that a worker had, and what it needs to know about the next ones.

create type tickwork.worked_job as (
  statuses text[],
  id uuid,
  tenant_id uuid,
  type text,
  lane text,
  payload jsonb,
  attempts integer,
  max_attempts integer,
  lease_token uuid,
  lease_seconds integer,
  timeout_seconds integer,
  correlation_id text,
  trace text,
  wait_ms bigint
);

create function tickwork.outcomes_of(job_ids uuid[], lease_tokens uuid[], results jsonb[], endings jsonb)
returns jsonb
language sql
immutable
return (
  select jsonb_agg(
    coalesce(nullif(endings -> (number - 1), 'null'), '{"status": "done"}')
      || jsonb_build_object('job_id', job_ids[number], 'lease_token', lease_tokens[number], 'result', results[number])
    order by number
  )
  from generate_subscripts(job_ids, 1) as number
);

create function tickwork.settle_and_claim(
  job_ids uuid[],
  lease_tokens uuid[],
  results jsonb[],
  endings jsonb,
  family text,
  worker_id text,
  max_jobs integer,
  lease_seconds integer,
  types text[]
)
returns setof tickwork.worked_job
language plpgsql
volatile
security definer -- the worker may not update jobs directly
set search_path = ''
as $$
declare
  statuses text[];
  started tickwork.claimed_job[];
begin
  if settle_and_claim.max_jobs > 0 and tickwork.is_plain_claim(
    settle_and_claim.family, settle_and_claim.worker_id, settle_and_claim.max_jobs, settle_and_claim.lease_seconds
  ) is not true then
    perform tickwork.check_claim(
      settle_and_claim.family, settle_and_claim.worker_id, settle_and_claim.max_jobs, settle_and_claim.lease_seconds
    );
  end if;

  if settle_and_claim.job_ids <> '{}' then
    statuses := array(
      select settled.status
      from unnest(tickwork.settle_given(tickwork.outcomes_of(
        settle_and_claim.job_ids, settle_and_claim.lease_tokens, settle_and_claim.results, settle_and_claim.endings
      ))) with ordinality as settled
      order by settled.ordinality
    );
  else
    perform tickwork.skip_disk();
  end if;

  if settle_and_claim.max_jobs > 0 then
    started := tickwork.claim(
      settle_and_claim.family, settle_and_claim.worker_id, settle_and_claim.max_jobs, settle_and_claim.lease_seconds,
      settle_and_claim.types
    );
  end if;

  return query
  select
    case when job.ordinality = 1 then statuses end,
    job.id, job.tenant_id, job.type, job.lane, job.payload, job.attempts, job.max_attempts, job.lease_token,
    job.lease_seconds, job.timeout_seconds, job.correlation_id, job.trace, job.wait_ms
  from unnest(started) with ordinality as job;

  if not found and statuses is not null then
    return next row(
      statuses, null, null, null, null, null, null, null, null, null, null, null, null, null
    )::tickwork.worked_job;
  end if;
end
$$;

create function public.settle_and_claim(
  job_ids uuid[],
  lease_tokens uuid[],
  results jsonb[],
  endings jsonb,
  family text,
  worker_id text,
  max_jobs integer default 1,
  lease_seconds integer default null,
  types text[] default null
)
returns setof tickwork.worked_job
language sql
volatile
begin atomic
  select *
  from tickwork.settle_and_claim(
    job_ids, lease_tokens, results, endings, family, worker_id, max_jobs, lease_seconds, types
  );
end;

comment on function public.settle_and_claim is
  'running -> done, queued, failed, dead or cancelled, and queued -> running. Does what settle_jobs and claim_jobs do, '
  'in one transaction: job_ids, lease_tokens and results are arrays of what is to be settled; results is null if there '
  'are none. endings is null if all jobs are done, else an array with null for those that are, and the object of '
  'settle_jobs for the others. The first row has statuses, what became of each, null where the lease was lost; the '
  'rows with an id are jobs that were claimed. With max_jobs 0 it only settles, with empty arrays it only claims. '
  'Durable when it returns. Raises TWARG, TWBIG, TWLEA.';
