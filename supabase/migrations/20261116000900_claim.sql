-- queued -> running

create type tickwork.claim_request as (
  family text,
  worker_id text,
  lease_seconds integer
);

-- What a worker needs to know about a job.

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
  correlation_id text,
  trace text,
  wait_ms bigint
);

comment on type tickwork.claimed_job is
  'trace is the traceparent of the job, or its trace_link after the word link: one column, because each takes almost a '
  'hundredth of the time of a claim. wait_ms is how long it has been due.';

create function tickwork.waited_ms(run_at timestamptz, ready_at timestamptz, started_at timestamptz)
returns bigint
language sql
immutable
return date_part('epoch', started_at - greatest(run_at, ready_at)) * 1000;

create type tickwork.claimed_so_far as (
  jobs tickwork.claimed_job[],
  pointer tickwork.pointer,
  has_locks boolean
);

create type tickwork.picked_jobs as (
  places tid[],
  records tid[],
  has_lanes boolean
);

comment on type tickwork.picked_jobs is 'Where the rows of the jobs to start are: in waiting, and in jobs.';

create function tickwork.claim(family text, worker_id text, max_jobs integer, lease_seconds integer, types text[])
returns tickwork.claimed_job[]
language plpgsql
volatile
as $$
declare
  request constant tickwork.claim_request := row(claim.family, claim.worker_id, claim.lease_seconds);
  served tickwork.family_types[];
  so_far tickwork.claimed_so_far;
  low_starts integer;
  low_priority integer;
  has_low_starts boolean := true;
  turn bigint;
begin
  if claim.max_jobs = 1 then
    so_far.jobs := tickwork.claim_one(request, claim.types);

    if so_far.jobs is not null then
      return so_far.jobs;
    end if;
  end if;

  -- Types with the highest priority first.
  served := tickwork.keep_up(claim.family, claim.types);

  if served is null then
    return array[]::tickwork.claimed_job[];
  end if;

  turn := tickwork.read_turn(claim.family);
  so_far := row(array[]::tickwork.claimed_job[], tickwork.unpacked(turn), false)::tickwork.claimed_so_far;
  low_starts := tickwork.low_starts((so_far.pointer).starts, claim.max_jobs);

  -- One start in ten goes to types, or to jobs, that are less urgent.
  if low_starts > 0 then
    low_priority := (served[1 + (so_far.pointer).starts / 10 % cardinality(served)]).priority;

    if low_priority < (served[1]).priority then
      so_far := tickwork.claim_at(request, served, low_priority, low_starts, false, so_far);
      has_low_starts := false;
    end if;
  end if;

  for number in 1 .. cardinality(served) loop
    exit when cardinality(so_far.jobs) >= claim.max_jobs;
    continue when (served[number]).priority = (served[number - 1]).priority;

    so_far := tickwork.claim_at(
      request, served, (served[number]).priority, claim.max_jobs, has_low_starts, so_far
    );
  end loop;

  turn := setval(tickwork.turn_of(claim.family), tickwork.packed(
    (so_far.pointer).tenant_number, (so_far.pointer).starts_left,
    (so_far.pointer).starts + cardinality(so_far.jobs)
  ));

  return so_far.jobs;
end
$$;

comment on function tickwork.claim is
  'queued -> running. Starts jobs: types with the highest priority first, for the tenants whose turn it is, and for '
  'each tenant the most urgent and oldest jobs.';
