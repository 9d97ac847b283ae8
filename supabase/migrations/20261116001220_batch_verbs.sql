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

create function tickwork.settle_and_claim(
  outcomes jsonb,
  family text,
  worker_id text,
  max_jobs integer,
  lease_seconds integer,
  types text[]
)
returns tickwork.settled_and_claimed
language plpgsql
volatile
security definer -- the worker may not update jobs directly
set search_path = ''
as $$
declare
  settled tickwork.settled_job[];
begin
  if tickwork.is_plain_claim(
    settle_and_claim.family, settle_and_claim.worker_id, settle_and_claim.max_jobs, settle_and_claim.lease_seconds
  ) is not true then
    perform tickwork.check_claim(
      settle_and_claim.family, settle_and_claim.worker_id, settle_and_claim.max_jobs, settle_and_claim.lease_seconds
    );
  end if;

  settled := tickwork.settle_given(settle_and_claim.outcomes);

  return row(
    array_to_json(settled),
    array_to_json(array(
      select claimed
      from tickwork.claim(
        settle_and_claim.family, settle_and_claim.worker_id, settle_and_claim.max_jobs,
        settle_and_claim.lease_seconds, settle_and_claim.types
      ) as claimed
    ))
  )::tickwork.settled_and_claimed;
end
$$;

create function public.settle_and_claim(
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
-- Parsed at its definition, it is inlined into the statement that calls it.
return tickwork.settle_and_claim(outcomes, family, worker_id, max_jobs, lease_seconds, types);

comment on function public.settle_and_claim is
  'running -> done, queued, failed, dead or cancelled, and queued -> running. Does what settle_jobs and claim_jobs do, '
  'in one transaction: settled is what the former returns, claimed has those columns of the latter that a worker '
  'needs. Durable when it returns. Raises TWARG, TWBIG, TWLEA.';
