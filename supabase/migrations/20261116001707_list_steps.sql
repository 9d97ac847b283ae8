-- The steps of a job, for people: what it has done, and what it waits for.

create type tickwork.listed_step as (
  number integer,
  name text,
  kind text,
  is_stored boolean,
  result jsonb,
  attempt integer,
  stored_at timestamptz,
  event_name text,
  ends_at timestamptz
);

create function tickwork.list_steps(job_id uuid)
returns setof tickwork.listed_step
language plpgsql
volatile
security definer -- nobody may read steps directly, since they hold what is redacted
set search_path = ''
as $$
begin
  perform
  from public.jobs
  where jobs.id = list_steps.job_id
    and tickwork.may_act_for(jobs.tenant_id);

  if not found then
    perform tickwork.raise_no_job(list_steps.job_id);
  end if;

  return query
  select
    steps.number, steps.name, steps.kind, true, coalesce(steps.shown, steps.result), steps.attempt, steps.stored_at,
    null, null::timestamptz
  from tickwork.steps
  where steps.job_id = list_steps.job_id
  union all
  select null, waits.name, 'wait', false, null, null, null, waits.event_name, waits.ends_at
  from tickwork.waits
  where waits.job_id = list_steps.job_id
  order by 1, 9, 2;
end
$$;

create function public.list_steps(job_id uuid)
returns setof tickwork.listed_step
language sql
volatile
begin atomic
  select *
  from tickwork.list_steps(job_id);
end;

comment on function public.list_steps is
  'Reads the stored steps of a job in their order, and then what it waits for (is_stored is false). The result of a '
  'wait is the event, or null if its time was over first. Values are redacted as in a result. Raises TWJOB.';
