-- queued -> running

create function tickwork.claim_jobs(family text, worker_id text, max_jobs integer, lease_seconds integer)
returns setof public.jobs
language plpgsql
volatile
security definer -- locking a row needs the right to update it, which the worker does not have
set search_path = ''
as $$
declare
  due_by timestamptz;
  current_priority integer := 101;
  wanted integer := claim_jobs.max_jobs;
  claimed integer;
begin
  perform tickwork.check_claim(
    claim_jobs.family, claim_jobs.worker_id, claim_jobs.max_jobs, claim_jobs.lease_seconds
  );
  perform tickwork.skip_disk();
  perform tickwork.reap(claim_jobs.family, 100);

  -- A variable, because the index takes no volatile function for its bound.
  due_by := clock_timestamp();

  -- From one priority down to the next, so that future jobs of a high one are stepped over and not walked through.
  while wanted > 0 loop
    select jobs.priority into current_priority
    from public.jobs
    where jobs.family = claim_jobs.family
      and jobs.status = 'queued'
      and jobs.priority < current_priority
    order by jobs.priority desc
    limit 1;

    exit when not found;

    return query
    with due as (
      select jobs.id, jobs.type
      from public.jobs
      where jobs.family = claim_jobs.family
        and jobs.status = 'queued'
        and jobs.priority = current_priority
        and jobs.run_at <= due_by
        and jobs.attempts < jobs.max_attempts
      order by jobs.run_at
      limit wanted
      for no key update skip locked
    )
    update public.jobs
    set
      status = 'running',
      attempts = jobs.attempts + 1,
      lease_token = gen_random_uuid(),
      lease_seconds = coalesce(claim_jobs.lease_seconds, job_types.lease_seconds, 60),
      lease_expires_at = clock_timestamp()
        + make_interval(secs => coalesce(claim_jobs.lease_seconds, job_types.lease_seconds, 60)),
      timeout_seconds = job_types.timeout_seconds,
      worker_id = claim_jobs.worker_id,
      progress = null,
      progress_message = null,
      started_at = clock_timestamp(),
      updated_at = clock_timestamp()
    from due
    left join public.job_types on job_types.key = due.type
    where jobs.id = due.id
    returning jobs.*;

    get diagnostics claimed = row_count;
    wanted := wanted - claimed;
  end loop;
end
$$;

create function tickwork.check_claim(family text, worker_id text, max_jobs integer, lease_seconds integer)
returns void
language plpgsql
immutable
set search_path = ''
as $$
begin
  if coalesce(check_claim.family, '') = '' then
    raise exception 'family: must not be empty'
      using errcode = 'TWARG', hint = 'Each family has a function of its own, such as extract.';
  end if;

  if coalesce(check_claim.worker_id, '') = '' then
    raise exception 'worker_id: must not be empty'
      using errcode = 'TWARG', hint = 'Say who works: a host and a process, or a function and its instance.';
  end if;

  perform tickwork.check_size('worker_id', check_claim.worker_id, 200);

  if check_claim.max_jobs is null or check_claim.max_jobs not between 1 and 1000 then
    raise exception 'max_jobs: % is out of range, 1 to 1000 are allowed', coalesce(check_claim.max_jobs::text, 'null')
      using errcode = 'TWARG', hint = 'Claim only what can be started within the lease.';
  end if;

  if check_claim.lease_seconds not between 10 and 3600 then
    raise exception 'lease_seconds: % is out of range, 10 to 3600 are allowed', check_claim.lease_seconds
      using errcode = 'TWLEA', hint = 'Leave it out to take the lease of each job''s type.';
  end if;
end
$$;

create function public.claim_next_job(family text, worker_id text, lease_seconds integer default null)
returns setof public.jobs
language sql
volatile
set search_path = ''
as $$
  select *
  from tickwork.claim_jobs(claim_next_job.family, claim_next_job.worker_id, 1, claim_next_job.lease_seconds);
$$;

create function public.claim_jobs(family text, worker_id text, max_jobs integer, lease_seconds integer default null)
returns setof public.jobs
language sql
volatile
set search_path = ''
as $$
  select *
  from tickwork.claim_jobs(claim_jobs.family, claim_jobs.worker_id, claim_jobs.max_jobs, claim_jobs.lease_seconds);
$$;

comment on function public.claim_next_job is
  'queued -> running. Leases the next due job of one family to the caller, under a fresh lease_token; no row means '
  'that nothing is due. Two callers never receive the same job. Gives back expired leases first. '
  'Without lease_seconds the job''s type decides. Raises TWLEA, TWARG, TWBIG.';

comment on function public.claim_jobs is
  'queued -> running. As claim_next_job, for up to max_jobs jobs, each under its own lease_token. '
  'Raises TWLEA, TWARG, TWBIG.';

alter function tickwork.claim_jobs owner to tickwork_owner;

revoke execute on function
  tickwork.claim_jobs,
  tickwork.check_claim,
  public.claim_next_job,
  public.claim_jobs
from public, anon, authenticated, service_role;

grant execute on function tickwork.check_claim to tickwork_owner;
grant execute on function public.claim_next_job, public.claim_jobs, tickwork.claim_jobs
to tickwork_worker, service_role;
