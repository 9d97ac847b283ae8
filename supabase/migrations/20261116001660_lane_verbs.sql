-- The verbs for lanes, for those who manage the tenant and for workers.

create function tickwork.check_lane(family text, tenant_id uuid, lane text)
returns void
language plpgsql
volatile
as $$
begin
  if coalesce(check_lane.family, '') = '' then
    raise exception 'family: must not be empty'
      using errcode = 'TWARG', hint = 'A lane belongs to a family and a tenant.';
  end if;

  perform tickwork.check_manager(check_lane.tenant_id);
  perform tickwork.check_key('lane', coalesce(check_lane.lane, ''));
end
$$;

create function tickwork.hold_lane(family text, tenant_id uuid, lane text, held_until timestamptz, reason text)
returns void
language plpgsql
volatile
security definer -- nobody may write lane rules
set search_path = ''
as $$
begin
  perform tickwork.check_lane(hold_lane.family, hold_lane.tenant_id, hold_lane.lane);
  perform tickwork.set_hold(
    hold_lane.family, hold_lane.tenant_id, hold_lane.lane, hold_lane.held_until, hold_lane.reason
  );
  perform tickwork.note_audit(
    'lanes.held', hold_lane.tenant_id, 'lanes ' || hold_lane.family || ' ' || hold_lane.lane,
    after => jsonb_build_object('held_until', hold_lane.held_until, 'reason', hold_lane.reason)
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
return tickwork.hold_lane(family, tenant_id, lane, held_until, reason);

comment on function public.hold_lane is
  'queued -> queued. No job of the lane starts before that time. No attempts are used up, and explain_job tells why '
  'the jobs are waiting. A second hold replaces the first. For admins. Raises TWARG, TWKEY, TWBIG, TWRUN, TWTNT, '
  'TWMEM, TWADM, TWLAN.';

create function tickwork.hold_lane_of_job(job_id uuid, lease_token uuid, delay_seconds double precision, reason text)
returns void
language plpgsql
volatile
security definer -- nobody may write lane rules
set search_path = ''
as $$
declare
  until constant timestamptz := clock_timestamp() + make_interval(
    secs => coalesce(tickwork.check_delay('delay_seconds', hold_lane_of_job.delay_seconds), 60)
  );
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
    raise exception 'job % is not in a lane', lease.job_id
      using errcode = 'TWARG', hint = 'Set lane when the job is enqueued.';
  end if;

  -- Another job may have been told to wait longer.
  select lane_rules.held_until into longer
  from tickwork.lane_rules
  where lane_rules.tenant_id = lease.tenant_id
    and lane_rules.family = lease.family
    and lane_rules.lane = lease.lane
  for no key update;

  perform tickwork.set_hold(
    lease.family, lease.tenant_id, lease.lane, greatest(until, longer), hold_lane_of_job.reason
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
return tickwork.hold_lane_of_job(job_id, lease_token, delay_seconds, reason);

comment on function public.hold_lane_of_job is
  'running -> running. For a worker whose job has found out that the whole lane has to wait: like hold_lane, for '
  'delay_seconds. A longer hold stays. Raises TWLSE, TWARG, TWLAN.';

create function tickwork.release_lane(family text, tenant_id uuid, lane text)
returns void
language plpgsql
volatile
security definer -- nobody may write lane rules
set search_path = ''
as $$
begin
  perform tickwork.check_lane(release_lane.family, release_lane.tenant_id, release_lane.lane);
  perform tickwork.end_hold(
    release_lane.family, release_lane.tenant_id, release_lane.lane
  );
  perform tickwork.note_audit(
    'lanes.released', release_lane.tenant_id, 'lanes ' || release_lane.family || ' ' || release_lane.lane
  );
end
$$;

create function public.release_lane(family text, tenant_id uuid, lane text)
returns void
language sql
volatile
return tickwork.release_lane(family, tenant_id, lane);

comment on function public.release_lane is
  'queued -> queued. Ends a hold; does nothing if the lane is not held. For admins. Raises TWARG, TWKEY, TWBIG, '
  'TWTNT, TWMEM, TWADM.';

create function tickwork.limit_lane(
  family text, tenant_id uuid, lane text, max_running integer, starts_per_minute integer
)
returns void
language plpgsql
volatile
security definer -- nobody may write lane rules
set search_path = ''
as $$
begin
  perform tickwork.check_lane(limit_lane.family, limit_lane.tenant_id, limit_lane.lane);

  -- How many run at once is what these rely on.
  if limit_lane.lane ~ '^(connector|endpoint):' then
    perform tickwork.check_platform_admin('limit the lanes of connectors and endpoints');
  end if;

  perform tickwork.set_limits(
    limit_lane.family, limit_lane.tenant_id, limit_lane.lane, limit_lane.max_running, limit_lane.starts_per_minute
  );
  perform tickwork.note_audit(
    'lanes.limited', limit_lane.tenant_id, 'lanes ' || limit_lane.family || ' ' || limit_lane.lane,
    after => jsonb_build_object(
      'max_running', limit_lane.max_running, 'starts_per_minute', limit_lane.starts_per_minute
    )
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
return tickwork.limit_lane(family, tenant_id, lane, max_running, starts_per_minute);

comment on function public.limit_lane is
  'queued -> queued. From now on at most max_running jobs of the lane run at once, and at most starts_per_minute start '
  'per minute; null means no limit. Replaces earlier limits. For admins. Raises TWARG, TWKEY, TWBIG, TWTNT, '
  'TWMEM, TWADM, TWLAN.';

create function tickwork.list_lanes(tenant_id uuid)
returns table (
  tenant_id uuid, family text, lane text, max_running integer, starts_per_minute integer, is_held boolean,
  held_until timestamptz, reason text
)
language sql
stable
security definer -- nobody may read lane rules
set search_path = ''
as $$
  select
    lane_rules.tenant_id, lane_rules.family, lane_rules.lane, lane_rules.max_running, lane_rules.starts_per_minute,
    -- A hold that has ended stays in its row. Not every language can read infinity.
    coalesce(lane_rules.held_until > now(), false),
    case when lane_rules.held_until > now() then nullif(lane_rules.held_until, 'infinity') end,
    case when lane_rules.held_until > now() then lane_rules.reason end
  from tickwork.lane_rules
  where (list_lanes.tenant_id is null or lane_rules.tenant_id = list_lanes.tenant_id)
    and (lane_rules.held_until > now() or num_nonnulls(lane_rules.max_running, lane_rules.starts_per_minute) > 0)
    and ((select tickwork.may_act_for(null)) or lane_rules.tenant_id in (select tickwork.caller_tenants()))
  order by lane_rules.tenant_id, lane_rules.family, lane_rules.lane
  limit 1000;
$$;

create function public.list_lanes(tenant_id uuid default null)
returns table (
  tenant_id uuid, family text, lane text, max_running integer, starts_per_minute integer, is_held boolean,
  held_until timestamptz, reason text
)
language sql
stable
return tickwork.list_lanes(tenant_id);

comment on function public.list_lanes is
  'Reads the lanes that are held or limited, with their limits (null means none), and whether, until when (null means '
  'until somebody releases them) and why they are held. At most 1000.';
