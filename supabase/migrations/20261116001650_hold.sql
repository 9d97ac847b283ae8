-- What people do to many jobs at once: pause a family, a type or a tenant, hold a lane, limit a lane.

-- Turns that exist already follow; those to come read what they are made of. Whoever makes one waits meanwhile.

create function tickwork.remake_turns(only_type text, only_tenant_id uuid)
returns void
language plpgsql
volatile
set search_path = ''
as $$
begin
  perform pg_advisory_xact_lock(7465);

  update tickwork.served_types
  set
    is_held = tickwork.is_held(tickwork.type_scope(served_types.type))
      or tickwork.is_held(tickwork.family_scope(served_types.family)),
    full_until = '-infinity'
  where served_types.type = coalesce(remake_turns.only_type, served_types.type);

  if num_nonnulls(remake_turns.only_type, remake_turns.only_tenant_id) = 0 then
    return;
  end if;

  -- In the order in which claims lock them.
  perform
  from tickwork.turns
  where turns.type = coalesce(remake_turns.only_type, turns.type)
    and turns.tenant_id = coalesce(remake_turns.only_tenant_id, turns.tenant_id)
  order by turns.id
  for no key update;

  update tickwork.turns
  set
    weight = made_of.weight,
    lease_seconds = made_of.lease_seconds,
    timeout_seconds = made_of.timeout_seconds,
    is_limited = made_of.is_limited,
    -- What a limit has closed is looked at again: it may have been raised.
    is_open = not tenant.is_held and (turns.is_open or turns.gate is not null),
    gate = case when tenant.is_held then tickwork.tenant_scope(turns.tenant_id) end
  from tickwork.turns as same
  cross join lateral tickwork.what_turns_are_made_of(same.type, same.tenant_id) as made_of
  cross join lateral tickwork.is_held(tickwork.tenant_scope(same.tenant_id)) as tenant(is_held)
  where turns.id = same.id
    and turns.type = coalesce(remake_turns.only_type, turns.type)
    and turns.tenant_id = coalesce(remake_turns.only_tenant_id, turns.tenant_id);
end
$$;

comment on function tickwork.remake_turns is
  'Brings the turns of one type or of one tenant, and all types, up to what their tables and holds say now.';

create function tickwork.follow_type()
returns trigger
language plpgsql
security definer -- nobody may touch turns
set search_path = ''
as $$
begin
  perform tickwork.remake_turns(new.key, null);
  return null;
end
$$;

create trigger follow_type
after update of lease_seconds, timeout_seconds, max_running, max_running_per_tenant, starts_per_minute
on public.job_types
for each row
execute function tickwork.follow_type();

create function tickwork.follow_tenant()
returns trigger
language plpgsql
security definer -- nobody may touch turns
set search_path = ''
as $$
begin
  perform tickwork.remake_turns(null, new.id);
  return null;
end
$$;

create trigger follow_tenant
after update of weight, max_running
on public.organizations
for each row
execute function tickwork.follow_tenant();


-- queued -> queued, but not to be claimed

create function tickwork.scope_of(family text, type text, tenant_id uuid)
returns text
language plpgsql
stable
set search_path = ''
as $$
begin
  if num_nonnulls(scope_of.family, scope_of.type, scope_of.tenant_id) <> 1 then
    raise exception 'give one of family, type and tenant_id, not %',
      num_nonnulls(scope_of.family, scope_of.type, scope_of.tenant_id)
      using errcode = 'TWARG', hint = 'To pause two things call it twice.';
  end if;

  if scope_of.type is not null
    and not exists (select from public.job_types where job_types.key = scope_of.type)
  then
    raise exception 'type: there is no job type %', quote_literal(scope_of.type)
      using errcode = 'TWTYP', hint = 'Insert it into job_types, or correct the spelling.';
  end if;

  if scope_of.tenant_id is not null then
    perform tickwork.check_caller(scope_of.tenant_id);
  end if;

  return coalesce(
    tickwork.family_scope(scope_of.family),
    tickwork.type_scope(scope_of.type),
    tickwork.tenant_scope(scope_of.tenant_id)
  );
end
$$;

create function tickwork.pause_jobs(family text, type text, tenant_id uuid, reason text)
returns void
language plpgsql
volatile
security definer -- nobody may touch holds
set search_path = ''
as $$
begin
  perform tickwork.wait_for_disk();

  insert into tickwork.holds (scope, reason)
  values (
    tickwork.scope_of(pause_jobs.family, pause_jobs.type, pause_jobs.tenant_id),
    coalesce(left(pause_jobs.reason, 500), '')
  )
  on conflict (scope) do update
  set
    until = excluded.until,
    reason = excluded.reason;

  perform tickwork.remake_turns(pause_jobs.type, pause_jobs.tenant_id);
end
$$;

create function public.pause_jobs(
  family text default null,
  type text default null,
  tenant_id uuid default null,
  reason text default null
)
returns void
language sql
volatile
set search_path = ''
as $$
  select tickwork.pause_jobs(pause_jobs.family, pause_jobs.type, pause_jobs.tenant_id, pause_jobs.reason);
$$;

comment on function public.pause_jobs is
  'queued -> queued. No job of the family, the type or the tenant starts until resume_jobs; those that run go on. '
  'Pausing twice changes the reason only. Raises TWARG, TWTYP, TWTNT.';

create function tickwork.resume_jobs(family text, type text, tenant_id uuid)
returns void
language plpgsql
volatile
security definer -- nobody may touch holds
set search_path = ''
as $$
begin
  perform tickwork.wait_for_disk();

  delete from tickwork.holds
  where holds.scope = tickwork.scope_of(resume_jobs.family, resume_jobs.type, resume_jobs.tenant_id);

  perform tickwork.remake_turns(resume_jobs.type, resume_jobs.tenant_id);

  perform pg_notify('tickwork', served.family)
  from (
    select distinct served_types.family
    from tickwork.served_types
    where served_types.family = coalesce(resume_jobs.family, served_types.family)
      and served_types.type = coalesce(resume_jobs.type, served_types.type)
  ) as served;
end
$$;

create function public.resume_jobs(family text default null, type text default null, tenant_id uuid default null)
returns void
language sql
volatile
set search_path = ''
as $$
  select tickwork.resume_jobs(resume_jobs.family, resume_jobs.type, resume_jobs.tenant_id);
$$;

comment on function public.resume_jobs is
  'queued -> queued. Ends what pause_jobs began; without that it changes nothing. Raises TWARG, TWTYP, TWTNT.';


-- A lane can be told to wait, and can have limits of its own.

create function tickwork.check_lane(family text, tenant_id uuid, lane text)
returns void
language plpgsql
stable
set search_path = ''
as $$
begin
  if coalesce(check_lane.family, '') = '' then
    raise exception 'family: must not be empty'
      using errcode = 'TWARG', hint = 'A lane is one of a family and a tenant.';
  end if;

  perform tickwork.check_caller(check_lane.tenant_id);
  perform tickwork.check_key('lane', coalesce(check_lane.lane, ''));
end
$$;

create function tickwork.wake_lane(family text, tenant_id uuid, lane text, wake_at timestamptz)
returns void
language sql
volatile
set search_path = ''
as $$
  insert into tickwork.wakes (family, type, priority, tenant_id, lane, wake_at)
  select turns.family, turns.type, turns.priority, turns.tenant_id, lines.lane, wake_lane.wake_at
  from tickwork.lines
  join tickwork.turns on turns.id = lines.turn_id
  where lines.gate = tickwork.lane_scope(wake_lane.family, wake_lane.tenant_id, wake_lane.lane);
$$;

create function tickwork.shut_lane(family text, tenant_id uuid, lane text, held_until timestamptz, reason text)
returns void
language plpgsql
volatile
set search_path = ''
as $$
declare
  held_scope constant text := tickwork.lane_scope(shut_lane.family, shut_lane.tenant_id, shut_lane.lane);
begin
  perform tickwork.wait_for_disk();
  perform pg_advisory_xact_lock(7465);

  insert into tickwork.holds (scope, until, reason)
  values (held_scope, shut_lane.held_until, coalesce(left(shut_lane.reason, 500), ''))
  on conflict (scope) do update
  set
    until = excluded.until,
    reason = excluded.reason;

  if shut_lane.held_until <= clock_timestamp() then
    perform tickwork.wake_lane(shut_lane.family, shut_lane.tenant_id, shut_lane.lane, clock_timestamp());
    return;
  end if;

  update tickwork.lines
  set
    is_open = false,
    gate = held_scope
  from tickwork.turns
  where turns.id = lines.turn_id
    and turns.family = shut_lane.family
    and turns.tenant_id = shut_lane.tenant_id
    and lines.lane = shut_lane.lane;

  if isfinite(shut_lane.held_until) then
    perform tickwork.wake_lane(shut_lane.family, shut_lane.tenant_id, shut_lane.lane, shut_lane.held_until);
  end if;
end
$$;

create function tickwork.hold_lane(family text, tenant_id uuid, lane text, held_until timestamptz, reason text)
returns void
language plpgsql
volatile
security definer -- nobody may touch holds
set search_path = ''
as $$
begin
  perform tickwork.check_lane(hold_lane.family, hold_lane.tenant_id, hold_lane.lane);

  if hold_lane.held_until is null then
    raise exception 'held_until: must be a point in time'
      using errcode = 'TWRUN', hint = 'Give infinity to hold the lane until release_lane.';
  end if;

  perform tickwork.shut_lane(
    hold_lane.family, hold_lane.tenant_id, hold_lane.lane, hold_lane.held_until, hold_lane.reason
  );
end
$$;

create function public.hold_lane(
  family text,
  tenant_id uuid,
  lane text,
  held_until timestamptz,
  reason text default null
)
returns void
language sql
volatile
set search_path = ''
as $$
  select tickwork.hold_lane(
    hold_lane.family, hold_lane.tenant_id, hold_lane.lane, hold_lane.held_until, hold_lane.reason
  );
$$;

comment on function public.hold_lane is
  'queued -> queued. No job of the lane starts before that time; they spend no attempts, and explain_job says why. '
  'A second hold takes the place of the first. Raises TWARG, TWKEY, TWBIG, TWRUN, TWTNT.';

create function tickwork.hold_lane_of_job(job_id uuid, lease_token uuid, delay_seconds double precision, reason text)
returns void
language plpgsql
volatile
security definer -- nobody may touch holds
set search_path = ''
as $$
declare
  job public.jobs;
begin
  select * into job
  from public.jobs
  where jobs.id = hold_lane_of_job.job_id
    and jobs.lease_token = hold_lane_of_job.lease_token;

  if not found then
    perform tickwork.raise_lease_lost(hold_lane_of_job.job_id);
  end if;

  if job.lane is null then
    raise exception 'job % is in no lane', job.id
      using errcode = 'TWARG', hint = 'Name a lane when the job is enqueued.';
  end if;

  perform tickwork.shut_lane(
    job.family,
    job.tenant_id,
    job.lane,
    clock_timestamp()
      + make_interval(secs => coalesce(tickwork.check_delay('delay_seconds', hold_lane_of_job.delay_seconds), 60)),
    hold_lane_of_job.reason
  );
end
$$;

create function public.hold_lane_of_job(
  job_id uuid,
  lease_token uuid,
  delay_seconds double precision default 60,
  reason text default null
)
returns void
language sql
volatile
set search_path = ''
as $$
  select tickwork.hold_lane_of_job(
    hold_lane_of_job.job_id, hold_lane_of_job.lease_token, hold_lane_of_job.delay_seconds, hold_lane_of_job.reason
  );
$$;

comment on function public.hold_lane_of_job is
  'running -> running. What a worker does when its job has learnt that the whole lane has to wait: as hold_lane, for '
  'so many seconds. Raises TWLSE, TWARG.';

create function tickwork.release_lane(family text, tenant_id uuid, lane text)
returns void
language plpgsql
volatile
security definer -- nobody may touch holds
set search_path = ''
as $$
begin
  perform tickwork.check_lane(release_lane.family, release_lane.tenant_id, release_lane.lane);
  perform tickwork.wait_for_disk();
  perform pg_advisory_xact_lock(7465);

  delete from tickwork.holds
  where holds.scope = tickwork.lane_scope(release_lane.family, release_lane.tenant_id, release_lane.lane);

  perform tickwork.wake_lane(release_lane.family, release_lane.tenant_id, release_lane.lane, clock_timestamp());
  perform pg_notify('tickwork', release_lane.family);
end
$$;

create function public.release_lane(family text, tenant_id uuid, lane text)
returns void
language sql
volatile
set search_path = ''
as $$
  select tickwork.release_lane(release_lane.family, release_lane.tenant_id, release_lane.lane);
$$;

comment on function public.release_lane is
  'queued -> queued. Ends what hold_lane began; without that it changes nothing. Raises TWARG, TWKEY, TWBIG, TWTNT.';

create function tickwork.limit_lane(
  family text,
  tenant_id uuid,
  lane text,
  max_running integer,
  starts_per_minute integer
)
returns void
language plpgsql
volatile
security definer -- nobody may touch lanes
set search_path = ''
as $$
begin
  perform tickwork.check_lane(limit_lane.family, limit_lane.tenant_id, limit_lane.lane);

  if least(limit_lane.max_running, limit_lane.starts_per_minute) < 1 then
    raise exception 'max_running and starts_per_minute must be 1 or more'
      using errcode = 'TWARG', hint = 'Leave a limit out to lift it; hold_lane stops a lane.';
  end if;

  perform tickwork.wait_for_disk();
  perform pg_advisory_xact_lock(7465);

  delete from tickwork.lanes
  where lanes.family = limit_lane.family
    and lanes.tenant_id = limit_lane.tenant_id
    and lanes.lane = limit_lane.lane;

  insert into tickwork.lanes (family, tenant_id, lane, max_running, starts_per_minute)
  select
    limit_lane.family, limit_lane.tenant_id, limit_lane.lane, limit_lane.max_running, limit_lane.starts_per_minute
  where num_nonnulls(limit_lane.max_running, limit_lane.starts_per_minute) > 0;

  update tickwork.lines
  set is_limited = num_nonnulls(limit_lane.max_running, limit_lane.starts_per_minute) > 0
  from tickwork.turns
  where turns.id = lines.turn_id
    and turns.family = limit_lane.family
    and turns.tenant_id = limit_lane.tenant_id
    and lines.lane = limit_lane.lane;

  perform tickwork.wake_lane(limit_lane.family, limit_lane.tenant_id, limit_lane.lane, clock_timestamp());
end
$$;

create function public.limit_lane(
  family text,
  tenant_id uuid,
  lane text,
  max_running integer default null,
  starts_per_minute integer default null
)
returns void
language sql
volatile
set search_path = ''
as $$
  select tickwork.limit_lane(
    limit_lane.family, limit_lane.tenant_id, limit_lane.lane, limit_lane.max_running, limit_lane.starts_per_minute
  );
$$;

comment on function public.limit_lane is
  'queued -> queued. From now on so many jobs of the lane run at once, and so many start in a minute; null is any '
  'number. Takes the place of earlier limits. Raises TWARG, TWKEY, TWBIG, TWTNT.';

create function tickwork.list_holds()
returns table (scope text, held_until timestamptz, reason text, created_at timestamptz)
language sql
stable
security definer -- nobody may read holds
set search_path = ''
as $$
  -- Not every language can read infinity.
  select holds.scope, case when isfinite(holds.until) then holds.until end, holds.reason, holds.created_at
  from tickwork.holds
  where holds.until > now()
  order by holds.scope;
$$;

create function public.list_holds()
returns table (scope text, held_until timestamptz, reason text, created_at timestamptz)
language sql
stable
set search_path = ''
as $$
  select *
  from tickwork.list_holds();
$$;

comment on function public.list_holds is
  'Reads what is paused and held, until when (null is until it is ended), since when and why.';

do $$
declare
  verb text;
begin
  foreach verb in array array[
    'follow_type', 'follow_tenant', 'pause_jobs', 'resume_jobs', 'hold_lane', 'hold_lane_of_job', 'release_lane',
    'limit_lane', 'list_holds'
  ]
  loop
    execute format('alter function tickwork.%I owner to tickwork_owner', verb);
  end loop;
end
$$;

revoke execute on function
  tickwork.remake_turns,
  tickwork.follow_type,
  tickwork.follow_tenant,
  tickwork.scope_of,
  tickwork.check_lane,
  tickwork.wake_lane,
  tickwork.shut_lane,
  tickwork.pause_jobs,
  tickwork.resume_jobs,
  tickwork.hold_lane,
  tickwork.hold_lane_of_job,
  tickwork.release_lane,
  tickwork.limit_lane,
  tickwork.list_holds,
  public.pause_jobs,
  public.resume_jobs,
  public.hold_lane,
  public.hold_lane_of_job,
  public.release_lane,
  public.limit_lane,
  public.list_holds
from public, anon, authenticated, service_role;

grant execute on function
  tickwork.remake_turns,
  tickwork.scope_of,
  tickwork.check_lane,
  tickwork.wake_lane,
  tickwork.shut_lane
to tickwork_owner;

grant execute on function
  public.pause_jobs,
  public.resume_jobs,
  public.hold_lane,
  public.release_lane,
  public.limit_lane,
  public.list_holds,
  tickwork.pause_jobs,
  tickwork.resume_jobs,
  tickwork.hold_lane,
  tickwork.release_lane,
  tickwork.limit_lane,
  tickwork.list_holds
to service_role;

grant execute on function public.hold_lane_of_job, tickwork.hold_lane_of_job to tickwork_worker, service_role;
