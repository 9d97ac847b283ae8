-- Jobs that wait for an event or for a time in the middle of their work. Such a job is queued, and due when the wait
-- ends at the latest. An event makes it due at once.

create table tickwork.waits (
  job_id uuid not null,
  name text not null,
  tenant_id uuid not null,
  event_name text,
  condition text,
  ends_at timestamptz not null,
  waited_at timestamptz,
  primary key (job_id, name)
);

comment on table tickwork.waits is
  'What jobs wait for, from the first time that they asked for it. Deleted when it has happened or its time is over.';
comment on column tickwork.waits.event_name is 'As that of a trigger; null waits for the time only.';
comment on column tickwork.waits.waited_at is
  'When an attempt last gave the job back because of it; null if that went on without waiting.';

-- Every event of the tenant looks here.
create index waits_by_event on tickwork.waits (tenant_id, event_name) where event_name is not null;

select tickwork.guard_table('tickwork.waits');

create type tickwork.held_wait as (
  is_over boolean,
  event jsonb,
  seconds_left double precision
);

create function tickwork.open_held_wait(
  name text,
  event_name text,
  condition text,
  timeout_seconds double precision,
  ends_at timestamptz,
  gives_back boolean
)
returns tickwork.held_wait
language plpgsql
volatile
security definer -- the worker may not write waits directly
set search_path = ''
as $$
declare
  job constant public.jobs := tickwork.job_that_is_held();
  wait tickwork.waits;
  arrived jsonb;
begin
  perform tickwork.wait_for_disk();
  perform tickwork.check_wait(
    open_held_wait.event_name, open_held_wait.condition, open_held_wait.timeout_seconds, open_held_wait.ends_at
  );
  perform tickwork.check_room_for_step(job.id, open_held_wait.name, 0);

  select steps.result into arrived
  from tickwork.steps
  where steps.job_id = job.id
    and steps.name = open_held_wait.name;

  if found then
    return row(true, arrived, 0)::tickwork.held_wait;
  end if;

  insert into tickwork.waits (job_id, name, tenant_id, event_name, condition, ends_at, waited_at)
  values (
    job.id, open_held_wait.name, job.tenant_id, open_held_wait.event_name, open_held_wait.condition,
    coalesce(open_held_wait.ends_at, clock_timestamp() + make_interval(secs => open_held_wait.timeout_seconds)),
    case when open_held_wait.gives_back then clock_timestamp() end
  )
  on conflict on constraint waits_pkey do update
  set
    -- The handler may be another one by now. Its time has been running since the first time.
    event_name = excluded.event_name,
    condition = excluded.condition,
    waited_at = coalesce(excluded.waited_at, waits.waited_at)
  returning * into wait;

  select arrivals.event into arrived
  from tickwork.arrivals
  where arrivals.job_id = job.id
    and arrivals.name = open_held_wait.name
  limit 1;

  if arrived is null and (wait.ends_at > clock_timestamp() or not open_held_wait.gives_back) then
    return row(
      false, null, greatest(extract(epoch from wait.ends_at - clock_timestamp()), 0)
    )::tickwork.held_wait;
  end if;

  perform tickwork.put_step(job, wait.name, 'wait', arrived);

  -- Without it, further arrivals mean nothing.
  delete from tickwork.waits
  where waits.job_id = job.id
    and waits.name = wait.name;

  return row(true, arrived, 0)::tickwork.held_wait;
end
$$;

create function public.open_held_wait(
  name text,
  event_name text default null,
  condition text default null,
  timeout_seconds double precision default 86400,
  ends_at timestamptz default null,
  gives_back boolean default true
)
returns tickwork.held_wait
language sql
volatile
return tickwork.open_held_wait(name, event_name, condition, timeout_seconds, ends_at, gives_back);

comment on function public.open_held_wait is
  'running -> running. From now on the job held by hold_job in this transaction waits for an event, as a trigger '
  'would, or for a time. is_over says whether that has come: then it is stored as a step, and event is null if the '
  'time was over first. Otherwise the caller gives the job back for seconds_left, by release_job, unless gives_back is '
  'false: then only events from now on count. Called again under the same name, it goes on with the same wait. Raises '
  'TWLSE, TWARG, TWBIG, TWKEY, TWRUN.';

create function tickwork.check_wait(
  event_name text,
  condition text,
  timeout_seconds double precision,
  ends_at timestamptz
)
returns void
language plpgsql
stable
as $$
begin
  if (check_wait.timeout_seconds between 0 and 31536000) is not true and check_wait.ends_at is null then
    raise exception 'timeout_seconds: must be 0 to 31536000 (a year), not %',
      coalesce(check_wait.timeout_seconds::text, 'null')
      using errcode = 'TWARG', hint = 'A job that has to wait longer can wait again, under another name.';
  end if;

  if check_wait.ends_at is not null then
    perform tickwork.check_run_at(check_wait.ends_at);
  end if;

  if check_wait.event_name is not null then
    perform tickwork.check_wait_for_event(check_wait.event_name, check_wait.condition);
  end if;
end
$$;
