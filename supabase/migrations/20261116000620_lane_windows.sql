-- Lanes that are held or have limits. Only those of their jobs that may start are in waiting, so that the others cost
-- a claim nothing.

create function tickwork.has_lane_rule(tenant_id uuid, family text, lane text)
returns boolean
language plpgsql
stable
as $$
begin
  return has_lane_rule.lane is not null
    and exists (
      select
      from tickwork.lane_rules
      where lane_rules.tenant_id = has_lane_rule.tenant_id
        and lane_rules.family = has_lane_rule.family
        and lane_rules.lane = has_lane_rule.lane
    );
end
$$;

create function tickwork.fill_lane(family text, tenant_number bigint, lane text)
returns void
language plpgsql
volatile
as $$
declare
  rule tickwork.lane_rules;
  room integer;
  filled_from timestamptz;
begin
  select * into rule
  from tickwork.lane_rules
  where lane_rules.tenant_id = tickwork.tenant_id_of(fill_lane.tenant_number)
    and lane_rules.family = fill_lane.family
    and lane_rules.lane = fill_lane.lane;

  room := least(100, tickwork.room_in_lane(rule));

  if room = 0 and exists (
    select
    from tickwork.parked
    where parked.family = fill_lane.family
      and parked.tenant_number = fill_lane.tenant_number
      and parked.lane = fill_lane.lane
      and parked.wake_at = 'infinity'
  ) then
    perform tickwork.wake_lane(rule, tickwork.lane_opens_at(rule), fill_lane.tenant_number);
    return;
  end if;

  if rule.wake_at is not null then
    perform tickwork.wake_lane(rule, 'infinity', fill_lane.tenant_number);
  end if;

  room := room - (
    select count(*)
    from (
      select
      from tickwork.waiting
      where waiting.family = fill_lane.family
        and waiting.tenant_number = fill_lane.tenant_number
        and waiting.lane = fill_lane.lane
      limit room
    ) as before
  );

  with taken as (
    delete from tickwork.parked
    where parked.ctid = any (array(
      select head.ctid
      from tickwork.parked as head
      where head.family = fill_lane.family
        and head.tenant_number = fill_lane.tenant_number
        and head.lane = fill_lane.lane
        and head.wake_at = 'infinity'
      order by head.family, head.tenant_number, head.lane, head.priority desc, head.run_at
      limit greatest(room, 0)
      for update skip locked
    ))
    returning parked.*
  ),
  filled as (
    insert into tickwork.waiting (family, type, tenant_number, priority, run_at, job_id, lane)
    select taken.family, taken.type, taken.tenant_number, taken.priority, taken.run_at, taken.job_id, taken.lane
    from taken
  )
  select min(taken.run_at) into filled_from
  from taken;

  perform tickwork.lower_front(fill_lane.family, filled_from);

  -- Forgotten only when its alarm rings. That takes a lock that others wait for, and whoever settles or enqueues may
  -- still have to wait for them.
  if filled_from is null and tickwork.is_needless(rule) then
    perform tickwork.wake_lane(rule, clock_timestamp(), fill_lane.tenant_number);
  end if;
end
$$;

comment on function tickwork.fill_lane is
  'Moves as many parked jobs of a lane to waiting as may start. If none may start now, it is called again when one '
  'may.';

create function tickwork.wake_lane(rule tickwork.lane_rules, wake_at timestamptz, tenant_number bigint)
returns void
language plpgsql
volatile
as $$
begin
  update tickwork.lane_rules
  set wake_at = nullif(wake_lane.wake_at, 'infinity')
  where lane_rules.ctid = (
    select free.ctid
    from tickwork.lane_rules as free
    where free.tenant_id = (wake_lane.rule).tenant_id
      and free.family = (wake_lane.rule).family
      and free.lane = (wake_lane.rule).lane
    for no key update skip locked
  );

  perform tickwork.set_alarm((wake_lane.rule).family, wake_lane.tenant_number, wake_lane.wake_at);
end
$$;

comment on function tickwork.wake_lane is 'Makes sure that a lane is filled at that time, if not earlier.';

create function tickwork.is_needless(rule tickwork.lane_rules)
returns boolean
language sql
stable
return (rule).lane is not null
  and num_nonnulls((rule).max_running, (rule).starts_per_minute) = 0
  and coalesce((rule).held_until, '-infinity') <= clock_timestamp();

create function tickwork.forget_lane_rule(rule tickwork.lane_rules, tenant_number bigint)
returns void
language plpgsql
volatile
as $$
begin
  if not tickwork.is_needless(forget_lane_rule.rule) then
    return;
  end if;

  -- There may be a job that is not visible yet.
  if not tickwork.sees_all_parked(forget_lane_rule.tenant_number) then
    perform tickwork.wake_lane(
      forget_lane_rule.rule, clock_timestamp() + interval '1 second', forget_lane_rule.tenant_number
    );
    return;
  end if;

  -- A lane that is neither limited nor held needs no rule any more once none of its jobs is parked.
  with free as (
    select lane_rules.ctid as place
    from tickwork.lane_rules
    where lane_rules.tenant_id = (forget_lane_rule.rule).tenant_id
      and lane_rules.family = (forget_lane_rule.rule).family
      and lane_rules.lane = (forget_lane_rule.rule).lane
      and tickwork.is_needless(lane_rules)
      and not exists (
        select
        from tickwork.parked
        where parked.family = (forget_lane_rule.rule).family
          and parked.tenant_number = forget_lane_rule.tenant_number
          and parked.lane = (forget_lane_rule.rule).lane
          and parked.wake_at = 'infinity'
      )
    for update skip locked
  )
  delete from tickwork.lane_rules
  using free
  where lane_rules.ctid = free.place;
end
$$;

create function tickwork.park_lane(family text, tenant_number bigint, lane text)
returns void
language plpgsql
volatile
as $$
begin
  perform tickwork.park_jobs(array(
    select waiting.ctid
    from tickwork.waiting
    where waiting.family = park_lane.family
      and waiting.tenant_number = park_lane.tenant_number
      and waiting.lane = park_lane.lane
    for update skip locked
  ));
end
$$;

comment on function tickwork.park_lane is
  'Moves the jobs of a lane from waiting to parked. A job that is being claimed right now still runs.';

create function tickwork.park_jobs(places tid[])
returns void
language sql
volatile
as $$
  with taken as (
    delete from tickwork.waiting
    where waiting.ctid = any (park_jobs.places)
    returning waiting.*
  )
  insert into tickwork.parked (family, type, tenant_number, priority, run_at, job_id, lane, wake_at)
  select
    taken.family, taken.type, taken.tenant_number, taken.priority, taken.run_at, taken.job_id, taken.lane, 'infinity'
  from taken;
$$;
