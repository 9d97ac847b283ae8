-- What a handler that runs in steps has done so far, kept with the job: its next attempt skips that. Only jobs whose
-- handlers ask for it have rows here, and neither a claim nor a settle reads them.

create table tickwork.steps (
  job_id uuid not null,
  name text not null,
  tenant_id uuid not null,
  number integer not null,
  kind text not null,
  result jsonb,
  shown jsonb,
  bytes integer not null,
  attempt integer not null,
  stored_at timestamptz not null default clock_timestamp(),
  primary key (job_id, name),
  constraint kind_of_step_is_known check (kind in ('step', 'wait'))
);

comment on table tickwork.steps is
  'The results of the steps of jobs, and what ended their waits. Deleted with the job. list_steps shows them.';
comment on column tickwork.steps.result is
  'What the step returned, for the worker; for a wait the event, or null if its time was over first.';
comment on column tickwork.steps.shown is 'The result as everybody may see it; null if that is all of it.';

select tickwork.guard_table('tickwork.steps');

create function tickwork.job_that_is_held()
returns public.jobs
language plpgsql
stable
as $$
declare
  job public.jobs;
begin
  perform tickwork.tenant_of_held_job();

  select * into job
  from public.jobs
  where jobs.id = tickwork.held_job();

  return job;
end
$$;

comment on function tickwork.job_that_is_held is 'The job held by hold_job in this transaction. Raises TWLSE.';

create function tickwork.check_room_for_step(job_id uuid, name text, bytes integer)
returns void
language plpgsql
stable
as $$
declare
  stored integer;
  stored_bytes bigint;
begin
  perform tickwork.check_key('name', coalesce(check_room_for_step.name, ''));

  select count(*), coalesce(sum(steps.bytes), 0)
  into stored, stored_bytes
  from tickwork.steps
  where steps.job_id = check_room_for_step.job_id;

  if stored + (select count(*) from tickwork.waits where waits.job_id = check_room_for_step.job_id) >= 1000 then
    raise exception 'name: the job has 1000 steps and waits, which is the maximum'
      using errcode = 'TWBIG', hint = 'Do more in one step, or let a follow-up job do the rest.';
  end if;

  if stored_bytes + check_room_for_step.bytes > 4194304 then
    raise exception 'result: with it the steps of the job would have % bytes, the maximum is 4194304',
      stored_bytes + check_room_for_step.bytes
      using errcode = 'TWBIG', hint = 'Store large data elsewhere and return a reference to it.';
  end if;
end
$$;

comment on function tickwork.check_room_for_step is 'Raises TWBIG if a job has as many steps as it may, TWKEY.';

create function tickwork.put_step(job public.jobs, name text, kind text, result jsonb)
returns boolean
language plpgsql
volatile
as $$
begin
  insert into tickwork.steps (job_id, name, tenant_id, number, kind, result, shown, bytes, attempt)
  select
    (job).id, put_step.name, (job).tenant_id, count(*) + 1, put_step.kind, put_step.result,
    tickwork.shown_step(job, put_step.result), coalesce(octet_length(put_step.result::text), 0), (job).attempts
  from tickwork.steps
  where steps.job_id = (job).id
  on conflict on constraint steps_pkey do nothing;

  return found;
end
$$;

comment on function tickwork.put_step is 'Stores a result, unless there is one. Returns whether there was none.';

create function tickwork.shown_step(job public.jobs, result jsonb)
returns jsonb
language plpgsql
volatile
as $$
declare
  shown jsonb;
begin
  if ((job).is_redacted or tickwork.may_hold_secrets(shown_step.result::text)) is not true then
    return null;
  end if;

  select tickwork.redacted(
    'result', shown_step.result, job_types.redacted, job_types.not_redacted, tickwork.hidden_values((job).id)
  )
  into shown
  from (values ((job).type)) as kind(of_job)
  left join public.job_types on job_types.key = kind.of_job;

  if shown = shown_step.result then
    return null;
  end if;

  -- From now on it is left out of errors, logs, messages and the result of the job, too.
  insert into tickwork.redacted_values (job_id, tenant_id)
  values ((job).id, (job).tenant_id)
  on conflict do nothing;

  update tickwork.leases
  set is_watched = true
  where leases.job_id = (job).id
    and not leases.is_watched;

  update public.jobs
  set is_redacted = true
  where jobs.id = (job).id
    and not jobs.is_redacted;

  return shown;
end
$$;

comment on function tickwork.shown_step is
  'The result of a step as everybody may see it, without what is redacted in a result of the type; null if nothing is.';


-- What handlers call, in a transaction that holds their job: a worker that has lost its lease stores nothing.

create type tickwork.held_step as (
  name text,
  kind text,
  result jsonb
);

create function tickwork.read_held_steps()
returns setof tickwork.held_step
language plpgsql
volatile
security definer -- the worker may not read steps directly
set search_path = ''
as $$
declare
  job constant public.jobs := tickwork.job_that_is_held();
begin
  return query
  select steps.name, steps.kind, steps.result
  from tickwork.steps
  where steps.job_id = job.id;
end
$$;

create function public.read_held_steps()
returns setof tickwork.held_step
language sql
volatile
begin atomic
  select *
  from tickwork.read_held_steps();
end;

comment on function public.read_held_steps is
  'Reads the stored steps of the job held by hold_job in this transaction, whole, and how its waits ended. Raises '
  'TWLSE.';

create type tickwork.stored_step as (
  is_new boolean,
  result jsonb
);

create function tickwork.store_held_step(name text, result jsonb)
returns tickwork.stored_step
language plpgsql
volatile
security definer -- the worker may not write steps directly
set search_path = ''
as $$
declare
  job constant public.jobs := tickwork.job_that_is_held();
  stored tickwork.stored_step;
begin
  perform tickwork.wait_for_disk();
  perform tickwork.check_size('result', store_held_step.result::text, 65536);
  perform tickwork.check_room_for_step(
    job.id, store_held_step.name, coalesce(octet_length(store_held_step.result::text), 0)
  );

  stored.is_new := tickwork.put_step(job, store_held_step.name, 'step', store_held_step.result);

  select steps.result into stored.result
  from tickwork.steps
  where steps.job_id = job.id
    and steps.name = store_held_step.name;

  return stored;
end
$$;

create function public.store_held_step(name text, result jsonb default null)
returns tickwork.stored_step
language sql
volatile
return tickwork.store_held_step(name, result);

comment on function public.store_held_step is
  'running -> running. Stores the result of a step of the job held by hold_job in this transaction, unless one is '
  'stored, and returns the stored one. What else the transaction writes is committed with it, or not at all: if it is '
  'not new, roll that back. Durable when committed. Raises TWLSE, TWBIG, TWKEY.';
