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
    reason = excluded.reason,
    -- One that is over was another hold.
    created_at = case when holds.until > clock_timestamp() then holds.created_at else excluded.created_at end;

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

  perform pg_advisory_xact_lock(7465);

  perform tickwork.shut_lane(
    job.family,
    job.tenant_id,
    job.lane,
    greatest(
      clock_timestamp()
        + make_interval(secs => coalesce(tickwork.check_delay('delay_seconds', hold_lane_of_job.delay_seconds), 60)),
      -- Another job may have been told to wait longer.
      (
        select holds.until
        from tickwork.holds
        where holds.scope = tickwork.lane_scope(job.family, job.tenant_id, job.lane)
      )
    ),
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
  'so many seconds; a longer hold stays. Raises TWLSE, TWARG.';

create function tickwork.free_lane(family text, tenant_id uuid, lane text)
returns void
language plpgsql
volatile
set search_path = ''
as $$
begin
  perform tickwork.wait_for_disk();
  perform pg_advisory_xact_lock(7465);

  delete from tickwork.holds
  where holds.scope = tickwork.lane_scope(free_lane.family, free_lane.tenant_id, free_lane.lane);

  perform tickwork.wake_lane(free_lane.family, free_lane.tenant_id, free_lane.lane, clock_timestamp());
  perform pg_notify('tickwork', free_lane.family);
end
$$;

create function tickwork.release_lane(family text, tenant_id uuid, lane text)
returns void
language plpgsql
volatile
security definer -- nobody may touch holds
set search_path = ''
as $$
begin
  perform tickwork.check_lane(release_lane.family, release_lane.tenant_id, release_lane.lane);
  perform tickwork.free_lane(release_lane.family, release_lane.tenant_id, release_lane.lane);
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

create function tickwork.bound_lane(
  family text,
  tenant_id uuid,
  lane text,
  max_running integer,
  starts_per_minute integer
)
returns void
language plpgsql
volatile
set search_path = ''
as $$
begin
  perform tickwork.wait_for_disk();
  perform pg_advisory_xact_lock(7465);

  delete from tickwork.lanes
  where lanes.family = bound_lane.family
    and lanes.tenant_id = bound_lane.tenant_id
    and lanes.lane = bound_lane.lane;

  insert into tickwork.lanes (family, tenant_id, lane, max_running, starts_per_minute)
  select
    bound_lane.family, bound_lane.tenant_id, bound_lane.lane, bound_lane.max_running, bound_lane.starts_per_minute
  where num_nonnulls(bound_lane.max_running, bound_lane.starts_per_minute) > 0;

  update tickwork.lines
  set is_limited = num_nonnulls(bound_lane.max_running, bound_lane.starts_per_minute) > 0
  from tickwork.turns
  where turns.id = lines.turn_id
    and turns.family = bound_lane.family
    and turns.tenant_id = bound_lane.tenant_id
    and lines.lane = bound_lane.lane;

  perform tickwork.wake_lane(bound_lane.family, bound_lane.tenant_id, bound_lane.lane, clock_timestamp());
end
$$;

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

  perform tickwork.bound_lane(
    limit_lane.family, limit_lane.tenant_id, limit_lane.lane, limit_lane.max_running, limit_lane.starts_per_minute
  );
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

alter function tickwork.hold_lane owner to tickwork_owner;
alter function tickwork.hold_lane_of_job owner to tickwork_owner;
alter function tickwork.release_lane owner to tickwork_owner;
alter function tickwork.limit_lane owner to tickwork_owner;

revoke execute on function
  tickwork.check_lane,
  tickwork.wake_lane,
  tickwork.shut_lane,
  tickwork.bound_lane,
  tickwork.free_lane,
  tickwork.hold_lane,
  tickwork.hold_lane_of_job,
  tickwork.release_lane,
  tickwork.limit_lane,
  public.hold_lane,
  public.hold_lane_of_job,
  public.release_lane,
  public.limit_lane
from public, anon, authenticated, service_role;

grant execute on function
  tickwork.check_lane,
  tickwork.wake_lane,
  tickwork.shut_lane,
  tickwork.bound_lane,
  tickwork.free_lane
to tickwork_owner;

grant execute on function
  public.hold_lane,
  public.release_lane,
  public.limit_lane,
  tickwork.hold_lane,
  tickwork.release_lane,
  tickwork.limit_lane
to service_role;

grant execute on function public.hold_lane_of_job, tickwork.hold_lane_of_job to tickwork_worker, service_role;
