-- A lane can be held, and can have its own limits.

create function tickwork.tenant_number_of(tenant_id uuid)
returns bigint
language sql
stable
return (select tenants.number from tickwork.tenants where tenants.tenant_id = tenant_number_of.tenant_id);

create function tickwork.add_lane_rule(family text, tenant_id uuid, lane text)
returns void
language plpgsql
volatile
as $$
declare
  most constant integer := (
    select tenant_settings.max_lanes
    from public.tenant_settings
    where tenant_settings.tenant_id = add_lane_rule.tenant_id
  );
begin
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
    raise exception 'lane: tenant % has % lanes that are held or limited, which is its limit',
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
  number constant bigint := tickwork.tenant_number_of(follow_lane_rule.tenant_id);
begin
  perform tickwork.wait_for_disk();

  -- Without a rule, or with one that is about to be removed, its jobs may all stay where they are.
  if tickwork.has_lane_rule(follow_lane_rule.tenant_id, follow_lane_rule.family, follow_lane_rule.lane) then
    perform tickwork.park_lane(follow_lane_rule.family, number, follow_lane_rule.lane);
    perform tickwork.fill_lane(follow_lane_rule.family, number, follow_lane_rule.lane);
  end if;
end
$$;

comment on function tickwork.follow_lane_rule is
  'Keeps as many jobs of the lane in waiting as its rule currently allows, and parks the others.';


-- For families, and for the verbs.

create function tickwork.set_hold(family text, tenant_id uuid, lane text, held_until timestamptz, reason text)
returns void
language plpgsql
volatile
security definer -- nobody may write lane rules
set search_path = ''
as $$
begin
  if set_hold.held_until is null then
    raise exception 'held_until: must be a point in time'
      using errcode = 'TWRUN', hint = 'Pass infinity to hold the lane until release_lane is called.';
  end if;

  perform tickwork.add_lane_rule(set_hold.family, set_hold.tenant_id, set_hold.lane);

  update tickwork.lane_rules
  set
    held_until = set_hold.held_until,
    reason = coalesce(left(set_hold.reason, 500), ''),
    -- An expired hold was a different one.
    held_since = case
      when lane_rules.held_until > clock_timestamp() then lane_rules.held_since
      else clock_timestamp()
    end
  where lane_rules.tenant_id = set_hold.tenant_id
    and lane_rules.family = set_hold.family
    and lane_rules.lane = set_hold.lane;

  perform tickwork.follow_lane_rule(set_hold.family, set_hold.tenant_id, set_hold.lane);
end
$$;

create function tickwork.end_hold(family text, tenant_id uuid, lane text)
returns void
language plpgsql
volatile
security definer -- nobody may write lane rules
set search_path = ''
as $$
begin
  update tickwork.lane_rules
  set held_until = null
  where lane_rules.tenant_id = end_hold.tenant_id
    and lane_rules.family = end_hold.family
    and lane_rules.lane = end_hold.lane;

  perform tickwork.follow_lane_rule(end_hold.family, end_hold.tenant_id, end_hold.lane);
  perform pg_notify('tickwork', end_hold.family);
end
$$;

create function tickwork.set_limits(
  family text,
  tenant_id uuid,
  lane text,
  max_running integer,
  starts_per_minute integer
)
returns void
language plpgsql
volatile
security definer -- nobody may write lane rules
set search_path = ''
as $$
begin
  if least(set_limits.max_running, set_limits.starts_per_minute) < 1 then
    raise exception 'max_running and starts_per_minute must be 1 or more'
      using errcode = 'TWARG', hint = 'Leave a limit out to lift it; hold_lane stops a lane.';
  end if;

  if num_nonnulls(set_limits.max_running, set_limits.starts_per_minute) > 0 then
    perform tickwork.add_lane_rule(set_limits.family, set_limits.tenant_id, set_limits.lane);
  end if;

  update tickwork.lane_rules
  set
    max_running = set_limits.max_running,
    starts_per_minute = set_limits.starts_per_minute
  where lane_rules.tenant_id = set_limits.tenant_id
    and lane_rules.family = set_limits.family
    and lane_rules.lane = set_limits.lane;

  perform tickwork.follow_lane_rule(set_limits.family, set_limits.tenant_id, set_limits.lane);
end
$$;

comment on function tickwork.set_limits is
  'queued -> queued. Sets the limits of a lane; null removes one. Raises TWARG, TWLAN.';

create function tickwork.lock_jobs_of_lane(family text, tenant_id uuid, lane text, place text)
returns public.jobs[]
language plpgsql
volatile
as $$
declare
  locked public.jobs[];
begin
  -- A job that is being claimed right now runs, and one that is being changed stays: waiting for it might deadlock.
  execute format(
    $lock$
      select array(
        select jobs
        from tickwork.%I as place
        join public.jobs on jobs.id = place.job_id
        where place.family = $1
          and place.tenant_number = $2
          and place.lane = $3
        for update of place skip locked
        for no key update of jobs skip locked
      )
    $lock$,
    lock_jobs_of_lane.place
  )
  into locked
  using
    lock_jobs_of_lane.family, tickwork.tenant_number_of(lock_jobs_of_lane.tenant_id), lock_jobs_of_lane.lane;

  return locked;
end
$$;

create function tickwork.hasten_lane(family text, tenant_id uuid, lane text)
returns void
language plpgsql
volatile
as $$
declare
  parked constant public.jobs[] := tickwork.lock_jobs_of_lane(
    hasten_lane.family, hasten_lane.tenant_id, hasten_lane.lane, 'parked'
  );
begin
  perform tickwork.requeue(
    tickwork.new_change('rescheduled', clock_timestamp(), null, null),
    array(
      select parked[job.ordinality]
      from unnest(parked) with ordinality as job
      where job.run_at > clock_timestamp()
    )
  );
end
$$;

comment on function tickwork.hasten_lane is
  'queued -> queued. For families: makes all jobs of a lane that wait for their time due now.';

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
begin
  perform tickwork.end_queued(
    tickwork.lock_jobs_of_lane(cancel_lane.family, cancel_lane.tenant_id, cancel_lane.lane, 'waiting')
      || tickwork.lock_jobs_of_lane(cancel_lane.family, cancel_lane.tenant_id, cancel_lane.lane, 'parked')
      || tickwork.lock_jobs_of_lane(cancel_lane.family, cancel_lane.tenant_id, cancel_lane.lane, 'awaiting'),
    'cancelled', cancel_lane.error_code, cancel_lane.error_message
  );
end
$$;

comment on function tickwork.cancel_lane is
  'queued -> cancelled. For families: cancels all queued jobs of a lane, with the same error.';
