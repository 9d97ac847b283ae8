-- A lane can be told to wait, and can have limits of its own.

create function tickwork.check_lane(family text, tenant_id uuid, lane text)
returns void
language plpgsql
stable
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

create function tickwork.add_lane_rule(family text, tenant_id uuid, lane text)
returns void
language plpgsql
volatile
as $$
declare
  most constant integer := (
    select organizations.max_lanes
    from public.organizations
    where organizations.id = add_lane_rule.tenant_id
  );
begin
  perform tickwork.wait_for_disk();

  insert into tickwork.lane_rules (family, tenant_id, lane)
  values (add_lane_rule.family, add_lane_rule.tenant_id, add_lane_rule.lane)
  on conflict do nothing;

  if found and most < (
    select count(*)
    from (
      select
      from tickwork.lane_rules
      where lane_rules.tenant_id = add_lane_rule.tenant_id
      limit most::bigint + 1
    ) as counted
  ) then
    raise exception 'lane: tenant % has % lanes that are held or limited, which is all it may have',
      add_lane_rule.tenant_id, most
      using errcode = 'TWLAN', hint = 'Release some of them, or raise max_lanes of the tenant.';
  end if;
end
$$;

create function tickwork.follow_lane_rule(family text, tenant_id uuid, lane text)
returns void
language plpgsql
volatile
as $$
declare
  number constant bigint := (
    select tenants.number
    from tickwork.tenants
    where tenants.tenant_id = follow_lane_rule.tenant_id
  );
begin
  -- Without a rule, or with one that is about to be forgotten, its jobs may all stand where they are.
  if not tickwork.has_lane_rule(follow_lane_rule.tenant_id, follow_lane_rule.family, follow_lane_rule.lane) then
    return;
  end if;

  perform tickwork.park_lane(follow_lane_rule.family, number, follow_lane_rule.lane);
  perform tickwork.fill_lane(follow_lane_rule.family, number, follow_lane_rule.lane);
end
$$;

comment on function tickwork.follow_lane_rule is
  'Keeps as many jobs of the lane in waiting as its rule allows now, and parks the others.';

create function tickwork.shut_lane(family text, tenant_id uuid, lane text, held_until timestamptz, reason text)
returns void
language plpgsql
volatile
as $$
begin
  perform tickwork.add_lane_rule(shut_lane.family, shut_lane.tenant_id, shut_lane.lane);

  update tickwork.lane_rules
  set
    held_until = shut_lane.held_until,
    reason = coalesce(left(shut_lane.reason, 500), ''),
    -- A hold that is over was another one.
    held_since = case
      when lane_rules.held_until > clock_timestamp() then lane_rules.held_since
      else clock_timestamp()
    end
  where lane_rules.tenant_id = shut_lane.tenant_id
    and lane_rules.family = shut_lane.family
    and lane_rules.lane = shut_lane.lane;

  perform tickwork.follow_lane_rule(shut_lane.family, shut_lane.tenant_id, shut_lane.lane);
end
$$;

create function tickwork.free_lane(family text, tenant_id uuid, lane text)
returns void
language plpgsql
volatile
as $$
begin
  perform tickwork.wait_for_disk();

  update tickwork.lane_rules
  set held_until = null
  where lane_rules.tenant_id = free_lane.tenant_id
    and lane_rules.family = free_lane.family
    and lane_rules.lane = free_lane.lane;

  perform tickwork.follow_lane_rule(free_lane.family, free_lane.tenant_id, free_lane.lane);
  perform pg_notify('tickwork', free_lane.family);
end
$$;

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
as $$
begin
  if num_nonnulls(bound_lane.max_running, bound_lane.starts_per_minute) > 0 then
    perform tickwork.add_lane_rule(bound_lane.family, bound_lane.tenant_id, bound_lane.lane);
  end if;

  update tickwork.lane_rules
  set
    max_running = bound_lane.max_running,
    starts_per_minute = bound_lane.starts_per_minute
  where lane_rules.tenant_id = bound_lane.tenant_id
    and lane_rules.family = bound_lane.family
    and lane_rules.lane = bound_lane.lane;

  perform tickwork.follow_lane_rule(bound_lane.family, bound_lane.tenant_id, bound_lane.lane);
end
$$;

create function tickwork.hasten_lane(family text, tenant_id uuid, lane text)
returns void
language plpgsql
volatile
as $$
declare
  due_by constant timestamptz := clock_timestamp();
  number constant bigint := (
    select tenants.number
    from tickwork.tenants
    where tenants.tenant_id = hasten_lane.tenant_id
  );
begin
  with hastened as (
    update tickwork.parked
    set
      run_at = due_by,
      wake_at = due_by
    where parked.ctid = any (array(
      select behind.ctid
      from tickwork.parked as behind
      join public.jobs on jobs.id = behind.job_id
      where behind.family = hasten_lane.family
        and behind.tenant_number = number
        and behind.lane = hasten_lane.lane
        and behind.run_at > due_by
      -- One that somebody changes at this moment is left to him: to wait for it might be a deadlock.
      for update of behind skip locked
      for no key update of jobs skip locked
    ))
    returning parked.job_id
  )
  update public.jobs
  set
    run_at = due_by,
    updated_at = due_by
  where jobs.id = any (array(select hastened.job_id from hastened));

  if found then
    perform tickwork.set_alarm(hasten_lane.family, number, due_by);
  end if;
end
$$;

comment on function tickwork.hasten_lane is
  'queued -> queued. For families: makes everything that waits in a lane for its time due now.';

create function tickwork.cancel_lane(
  family text,
  tenant_id uuid,
  lane text,
  error_code text,
  error_message text
)
returns void
language plpgsql
volatile
as $$
declare
  number constant bigint := (
    select tenants.number
    from tickwork.tenants
    where tenants.tenant_id = cancel_lane.tenant_id
  );
  cancelled uuid[];
begin
  -- One that is being claimed right now runs, and one that somebody is changing stays: waiting for it might deadlock.
  with standing as (
    delete from tickwork.waiting
    where waiting.ctid = any (array(
      select ahead.ctid
      from tickwork.waiting as ahead
      join public.jobs on jobs.id = ahead.job_id
      where ahead.family = cancel_lane.family
        and ahead.tenant_number = number
        and ahead.lane = cancel_lane.lane
      for update of ahead skip locked
      for no key update of jobs skip locked
    ))
    returning waiting.job_id
  ),
  sleeping as (
    delete from tickwork.parked
    where parked.ctid = any (array(
      select behind.ctid
      from tickwork.parked as behind
      join public.jobs on jobs.id = behind.job_id
      where behind.family = cancel_lane.family
        and behind.tenant_number = number
        and behind.lane = cancel_lane.lane
      for update of behind skip locked
      for no key update of jobs skip locked
    ))
    returning parked.job_id
  ),
  ended as (
    update public.jobs
    set
      status = 'cancelled',
      error_code = cancel_lane.error_code,
      error_message = cancel_lane.error_message,
      updated_at = clock_timestamp(),
      finished_at = clock_timestamp()
    where jobs.id = any (array(
      select standing.job_id from standing
      union all
      select sleeping.job_id from sleeping
    ))
    returning jobs.id
  )
  select array_agg(ended.id)
  into cancelled
  from ended;

  perform tickwork.note_unsuccessful_end(cancelled);

  if tickwork.has_lane_rule(cancel_lane.tenant_id, cancel_lane.family, cancel_lane.lane) then
    perform tickwork.fill_lane(cancel_lane.family, number, cancel_lane.lane);
  end if;
end
$$;

comment on function tickwork.cancel_lane is
  'queued -> cancelled. For families: cancels everything that waits in a lane, with the same error.';


-- The verbs.

create function tickwork.hold_lane(family text, tenant_id uuid, lane text, held_until timestamptz, reason text)
returns void
language plpgsql
volatile
security definer -- nobody may touch the rules of lanes
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
  'A second hold replaces the first. Raises TWARG, TWKEY, TWBIG, TWRUN, TWTNT, TWLAN.';

create function tickwork.hold_lane_of_job(job_id uuid, lease_token uuid, delay_seconds double precision, reason text)
returns void
language plpgsql
volatile
security definer -- nobody may touch the rules of lanes
set search_path = ''
as $$
declare
  lease tickwork.leases;
  longer timestamptz;
begin
  select * into lease
  from tickwork.leases
  where leases.job_id = hold_lane_of_job.job_id
    and leases.token = hold_lane_of_job.lease_token;

  if not found then
    perform tickwork.raise_lease_lost(hold_lane_of_job.job_id);
  end if;

  if lease.lane is null then
    raise exception 'job % is in no lane', lease.job_id
      using errcode = 'TWARG', hint = 'Name a lane when the job is enqueued.';
  end if;

  -- Another job may have been told to wait longer.
  select lane_rules.held_until into longer
  from tickwork.lane_rules
  where lane_rules.tenant_id = lease.tenant_id
    and lane_rules.family = lease.family
    and lane_rules.lane = lease.lane
  for no key update;

  perform tickwork.shut_lane(
    lease.family,
    lease.tenant_id,
    lease.lane,
    greatest(
      clock_timestamp()
        + make_interval(secs => coalesce(tickwork.check_delay('delay_seconds', hold_lane_of_job.delay_seconds), 60)),
      longer
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
  'running -> running. What a worker calls when its job has learnt that the whole lane has to wait: as hold_lane, for '
  'delay_seconds; a longer hold stays. Raises TWLSE, TWARG, TWLAN.';

create function tickwork.release_lane(family text, tenant_id uuid, lane text)
returns void
language plpgsql
volatile
security definer -- nobody may touch the rules of lanes
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
  'queued -> queued. Ends a hold; if the lane is not held it changes nothing. Raises TWARG, TWKEY, TWBIG, TWTNT.';

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
security definer -- nobody may touch the rules of lanes
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
  'queued -> queued. From now on at most max_running jobs of the lane run at once, and starts_per_minute start in a '
  'minute; null is no limit. Replaces earlier limits. Raises TWARG, TWKEY, TWBIG, TWTNT, TWLAN.';
