-- running -> done, queued, failed, dead or cancelled, and queued -> running: one round trip, one commit

-- What a worker goes by, and no more: every column of every job is written and read as text.

create type tickwork.claimed_job as (
  id uuid,
  tenant_id uuid,
  type text,
  family text,
  lane text,
  payload jsonb,
  attempts integer,
  max_attempts integer,
  lease_token uuid,
  lease_seconds integer,
  timeout_seconds integer,
  worker_id text,
  correlation_id text
);

create function tickwork.as_claimed(job public.jobs)
returns tickwork.claimed_job
language sql
immutable
return row(
  (job).id, (job).tenant_id, (job).type, (job).family, (job).lane, (job).payload, (job).attempts, (job).max_attempts,
  (job).lease_token, (job).lease_seconds, (job).timeout_seconds, (job).worker_id, (job).correlation_id
)::tickwork.claimed_job;

create type tickwork.settled_and_claimed as (
  settled json,
  claimed json
);

create function tickwork.settle_and_claim(
  outcomes jsonb,
  family text,
  worker_id text,
  max_jobs integer,
  lease_seconds integer
)
returns tickwork.settled_and_claimed
language plpgsql
volatile
security definer -- the worker may not update jobs itself
set search_path = ''
as $$
declare
  settled json;
  jobs public.jobs[];
  claimed json;
  done text;
begin
  done := tickwork.check_claim(
    settle_and_claim.family, settle_and_claim.worker_id, settle_and_claim.max_jobs, settle_and_claim.lease_seconds
  )::text;

  settled := array_to_json(tickwork.settle_given(settle_and_claim.outcomes));

  jobs := tickwork.claim(
    settle_and_claim.family, settle_and_claim.worker_id, settle_and_claim.max_jobs, settle_and_claim.lease_seconds
  );

  if cardinality(jobs) = 1 then
    claimed := array_to_json(array[tickwork.as_claimed(jobs[1])]);
  else
    select coalesce(json_agg(tickwork.as_claimed(job)), '[]')
    into claimed
    from unnest(jobs) as job;
  end if;

  return row(settled, claimed)::tickwork.settled_and_claimed;
end
$$;

create function public.settle_and_claim(
  outcomes jsonb,
  family text,
  worker_id text,
  max_jobs integer default 1,
  lease_seconds integer default null
)
returns tickwork.settled_and_claimed
language sql
volatile
-- Parsed here and now, it becomes part of the statement that calls it.
return tickwork.settle_and_claim(outcomes, family, worker_id, max_jobs, lease_seconds);

comment on function public.settle_and_claim is
  'running -> done, queued, failed, dead or cancelled, and queued -> running. What settle_jobs and claim_jobs do, in '
  'one transaction: settled holds what the former answers, claimed what a worker goes by of the rows of the latter. '
  'Durable when it returns. '
  'Raises TWARG, TWBIG, TWLEA.';

alter function tickwork.settle_and_claim owner to tickwork_owner;

revoke execute on function
  tickwork.as_claimed,
  tickwork.settle_and_claim,
  public.settle_and_claim
from public, anon, authenticated, service_role;

grant execute on function tickwork.as_claimed to tickwork_owner;
grant execute on function public.settle_and_claim, tickwork.settle_and_claim to tickwork_worker, service_role;
