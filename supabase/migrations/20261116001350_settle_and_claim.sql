-- running -> done, queued, failed, dead or cancelled, and queued -> running: one round trip, one commit

create function tickwork.settle_and_claim(
  outcomes jsonb,
  family text,
  worker_id text,
  max_jobs integer,
  lease_seconds integer
)
returns table (settled json, claimed json)
language plpgsql
volatile
security definer -- the worker may not update jobs itself
set search_path = ''
as $$
begin
  select coalesce(json_agg(settled_job), '[]')
  into settle_and_claim.settled
  from tickwork.settle_jobs(settle_and_claim.outcomes) as settled_job;

  select coalesce(json_agg(claimed_job), '[]')
  into settle_and_claim.claimed
  from tickwork.claim_jobs(
    settle_and_claim.family, settle_and_claim.worker_id, settle_and_claim.max_jobs, settle_and_claim.lease_seconds
  ) as claimed_job;

  return next;
end
$$;

create function public.settle_and_claim(
  outcomes jsonb,
  family text,
  worker_id text,
  max_jobs integer default 1,
  lease_seconds integer default null
)
returns table (settled json, claimed json)
language sql
volatile
set search_path = ''
as $$
  select *
  from tickwork.settle_and_claim(
    settle_and_claim.outcomes,
    settle_and_claim.family,
    settle_and_claim.worker_id,
    settle_and_claim.max_jobs,
    settle_and_claim.lease_seconds
  );
$$;

comment on function public.settle_and_claim is
  'running -> done, queued, failed, dead or cancelled, and queued -> running. What settle_jobs and claim_jobs do, in '
  'one transaction: settled holds what the former answers, claimed the rows of the latter. Durable when it returns. '
  'Raises TWARG, TWBIG, TWLEA.';

alter function tickwork.settle_and_claim owner to tickwork_owner;

revoke execute on function
  tickwork.settle_and_claim,
  public.settle_and_claim
from public, anon, authenticated, service_role;

grant execute on function public.settle_and_claim, tickwork.settle_and_claim to tickwork_worker, service_role;
