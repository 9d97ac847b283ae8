-- The verbs for lanes, for the operator and for workers.

create function tickwork.check_lane(family text, tenant_id uuid, lane text)
returns void
language plpgsql
volatile
security definer -- must be able to tell an unknown tenant from a known one
set search_path = ''
as $$
begin
  if coalesce(check_lane.family, '') = '' then
    raise exception 'family: must not be empty'
      using errcode = 'TWARG', hint = 'A lane belongs to a family and a tenant.';
  end if;

  perform tickwork.check_caller(check_lane.tenant_id);
  perform tickwork.check_key('lane', coalesce(check_lane.lane, ''));
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
begin atomic
  select tickwork.check_lane(family, tenant_id, lane);
  select tickwork.hold_lane(family, tenant_id, lane, held_until, reason);
end;

comment on function public.hold_lane is
  'queued -> queued. No job of the lane starts before that time. No attempts are used up, and explain_job tells why '
  'the jobs are waiting. A second hold replaces the first. Raises TWARG, TWKEY, TWBIG, TWRUN, TWTNT, TWLAN.';

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

  perform tickwork.hold_lane(
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

create function public.release_lane(family text, tenant_id uuid, lane text)
returns void
language sql
volatile
begin atomic
  select tickwork.check_lane(family, tenant_id, lane);
  select tickwork.release_lane(family, tenant_id, lane);
end;

comment on function public.release_lane is
  'queued -> queued. Ends a hold; does nothing if the lane is not held. Raises TWARG, TWKEY, TWBIG, TWTNT.';

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
begin atomic
  select tickwork.check_lane(family, tenant_id, lane);
  select tickwork.limit_lane(family, tenant_id, lane, max_running, starts_per_minute);
end;

comment on function public.limit_lane is
  'queued -> queued. From now on at most max_running jobs of the lane run at once, and at most starts_per_minute start '
  'per minute; null means no limit. Replaces earlier limits. Raises TWARG, TWKEY, TWBIG, TWTNT, TWLAN.';
