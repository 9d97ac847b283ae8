-- Events that jobs wait for, on their way to the steps of these jobs. Whoever rings an alarm turns them into steps, and
-- waits for nobody: what somebody else has locked is tried again a second later. A running job gets them itself, or
-- when it is given back.

-- Whoever emits an event only adds a row. No unique key, so that nobody waits for it.

create table tickwork.arrivals (
  tenant_number bigint not null,
  job_id uuid not null,
  name text not null,
  event jsonb not null
);

comment on table tickwork.arrivals is
  'Events that jobs wait for. The next claim, tick or attempt of the job turns each into a step of its job.';

create index arrivals_of_a_tenant on tickwork.arrivals (tenant_number);
create index arrivals_of_a_job on tickwork.arrivals (job_id, name);

select tickwork.guard_table('tickwork.arrivals');

create function tickwork.has_arrivals(tenant_number bigint)
returns boolean
language sql
volatile
return exists (
  select
  from tickwork.arrivals
  left join public.jobs on jobs.id = arrivals.job_id
  where arrivals.tenant_number = has_arrivals.tenant_number
    and jobs.status is distinct from 'running'
);

create function tickwork.take_arrivals(tenant_number bigint)
returns void
language plpgsql
volatile
as $$
declare
  arrival record;
  job public.jobs;
begin
  -- The lock of those who park jobs: with it, filing a job waits for nobody.
  if not tickwork.has_arrivals(take_arrivals.tenant_number)
    or current_setting('transaction_isolation') <> 'read committed'
    or not pg_try_advisory_xact_lock_shared(7464, (take_arrivals.tenant_number & 1023)::integer)
  then
    return;
  end if;

  for arrival in
    select arrivals.ctid as place, arrivals.job_id, arrivals.name, arrivals.event, jobs.id is null as is_lost
    from tickwork.arrivals
    left join public.jobs on jobs.id = arrivals.job_id
    where arrivals.tenant_number = take_arrivals.tenant_number
      and jobs.status is distinct from 'running'
    limit 100
    for update of arrivals skip locked
  loop
    select * into job
    from public.jobs
    where jobs.id = arrival.job_id
      and jobs.status <> 'running'
    for no key update skip locked;

    continue when not found and not arrival.is_lost;

    if found then
      perform tickwork.end_wait(job, arrival.name, arrival.event);
    end if;

    delete from tickwork.arrivals
    where arrivals.ctid = arrival.place;
  end loop;
end
$$;

comment on function tickwork.take_arrivals is
  'queued -> queued. Ends waits of the tenant whose events have happened. Jobs that were given back for them are due.';

create function tickwork.end_wait(job public.jobs, name text, event jsonb)
returns void
language plpgsql
volatile
as $$
declare
  wait tickwork.waits;
begin
  delete from tickwork.waits
  where waits.job_id = (job).id
    and waits.name = end_wait.name
  returning * into wait;

  if not found or (job).status = 'done' then
    return;
  end if;

  perform tickwork.put_step(job, end_wait.name, 'wait', end_wait.event);

  if tickwork.is_waiting(job, wait) then
    if (job).status = 'queued' then
      perform tickwork.unfile_jobs(array[tickwork.filed(job)]);
    end if;

    -- A job that was cancelled meanwhile is due as soon as it is retried.

    update public.jobs
    set
      run_at = clock_timestamp(),
      updated_at = clock_timestamp()
    where jobs.id = (job).id;

    perform tickwork.file_again(array[(job).id]);
    perform tickwork.wake_families(array[(job).family]);
  end if;
end
$$;

comment on function tickwork.end_wait is
  'queued -> queued. Stores the event as a step of a job that the caller has locked and that is not running. If it was '
  'given back for that, it is due.';

create function tickwork.is_waiting(job public.jobs, wait tickwork.waits)
returns boolean
language sql
volatile
return (job).run_at > clock_timestamp()
  -- Otherwise its last attempt did not get that far: it failed, and backs off.
  and (wait).waited_at >= (job).started_at;

comment on function tickwork.is_waiting is 'Whether the last attempt gave the job back for this wait.';

create function tickwork.note_arrived_earlier(ids uuid[])
returns void
language sql
volatile
as $$
  select tickwork.set_alarm(arrived.family, arrived.tenant_number, clock_timestamp())
  from (
    select distinct jobs.family, arrivals.tenant_number
    from tickwork.arrivals
    join public.jobs on jobs.id = arrivals.job_id
    where arrivals.job_id = any (note_arrived_earlier.ids)
  ) as arrived;
$$;

comment on function tickwork.note_arrived_earlier is
  'Lets an alarm ring for those of the jobs, which are queued again, whose events happened while they were running.';
