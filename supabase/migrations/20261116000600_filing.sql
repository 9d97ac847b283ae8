-- Where a queued job waits: among those that can be claimed, or parked until a time or until its lane has room.

-- What says where a job is: without its payload, which may be large, and thousands of them larger than an array can be.

create type tickwork.filed_job as (
  id uuid,
  tenant_id uuid,
  family text,
  type text,
  lane text,
  priority integer,
  run_at timestamptz
);

create function tickwork.filed(job public.jobs)
returns tickwork.filed_job
language sql
immutable
return row(
  (job).id, (job).tenant_id, (job).family, (job).type, (job).lane, (job).priority, (job).run_at
)::tickwork.filed_job;

create function tickwork.file_jobs(ids uuid[])
returns void
language plpgsql
volatile
as $$
declare
  due_by constant timestamptz := clock_timestamp();
  place record;
begin
  -- Until the end of this transaction no lane rule that is read here is removed.
  perform pg_advisory_xact_lock_shared(7464, (tenant.number & 1023)::integer)
  from (
    select distinct tenants.number
    from unnest(file_jobs.ids) as filed(id)
    cross join lateral (select * from public.jobs where jobs.id = filed.id limit 1) as jobs
    join tickwork.tenants on tenants.tenant_id = jobs.tenant_id
    where jobs.lane is not null
  ) as tenant(number);

  for place in
    -- Judged once: a rule that somebody adds meanwhile must not have the job in both places.
    with judged as materialized (
      select
        jobs.family, jobs.type, tenants.number, jobs.priority, jobs.run_at, jobs.id, jobs.lane,
        case
          when jobs.run_at > due_by then jobs.run_at
          -- Of a lane that waits it is the lane that is woken.
          when tickwork.has_lane_rule(jobs.tenant_id, jobs.family, jobs.lane) then 'infinity'
        end as wake_at
      from unnest(file_jobs.ids) as filed(id)
      cross join lateral (select * from public.jobs where jobs.id = filed.id limit 1) as jobs
      join tickwork.tenants on tenants.tenant_id = jobs.tenant_id
    ),
    waiting_jobs as (
      insert into tickwork.waiting (family, type, tenant_number, priority, run_at, job_id, lane)
      select judged.family, judged.type, judged.number, judged.priority, judged.run_at, judged.id, judged.lane
      from judged
      where judged.wake_at is null
    ),
    parked_jobs as (
      insert into tickwork.parked (family, type, tenant_number, priority, run_at, job_id, lane, wake_at)
      select
        judged.family, judged.type, judged.number, judged.priority, judged.run_at, judged.id, judged.lane,
        judged.wake_at
      from judged
      where judged.wake_at is not null
      returning parked.family, parked.tenant_number, parked.lane, parked.wake_at
    )
    select
      parked_jobs.family,
      parked_jobs.tenant_number,
      case when parked_jobs.wake_at = 'infinity' then parked_jobs.lane end as lane,
      min(parked_jobs.wake_at) as wake_at
    from parked_jobs
    group by 1, 2, 3
    order by 1, 2, 3
  loop
    if place.lane is null then
      perform tickwork.set_alarm(place.family, place.tenant_number, place.wake_at);
    else
      perform tickwork.fill_lane(place.family, place.tenant_number, place.lane);
    end if;
  end loop;
end
$$;

comment on function tickwork.file_jobs is
  'Puts queued jobs where a claim finds them: at once, at their time, or when their lane has room.';

-- Alarms. Whoever parks a job holds a shared lock of its tenant until the commit: meanwhile an alarm is put off by a
-- second and never removed. A claim that rings an alarm only tries that lock.

create function tickwork.set_alarm(family text, tenant_number bigint, wake_at timestamptz)
returns void
language plpgsql
volatile
as $$
begin
  if not isfinite(set_alarm.wake_at) then
    return;
  end if;

  perform pg_advisory_xact_lock_shared(7464, (set_alarm.tenant_number & 1023)::integer);

  perform
  from tickwork.alarms
  where alarms.family = set_alarm.family
    and alarms.tenant_number = set_alarm.tenant_number
    and alarms.wake_at <= set_alarm.wake_at;

  -- An older snapshot does not tell whether the alarm is still there.
  if found and current_setting('transaction_isolation') = 'read committed' then
    return;
  end if;

  -- One that somebody else is changing is left alone.
  update tickwork.alarms
  set wake_at = set_alarm.wake_at
  where alarms.ctid = (
    select later.ctid
    from tickwork.alarms as later
    where later.family = set_alarm.family
      and later.tenant_number = set_alarm.tenant_number
      and later.wake_at > set_alarm.wake_at
    limit 1
    for no key update skip locked
  );

  if not found then
    insert into tickwork.alarms (family, tenant_number, wake_at)
    values (set_alarm.family, set_alarm.tenant_number, set_alarm.wake_at);
  end if;
end
$$;

comment on function tickwork.set_alarm is
  'Makes sure that the parked jobs of the tenant are looked at by that time. Infinity needs no alarm.';

create function tickwork.ring_alarms(family text, max_alarms integer)
returns void
language plpgsql
volatile
as $$
declare
  due_by constant timestamptz := clock_timestamp();
  due record;
begin
  for due in
    select alarms.ctid as place, alarms.tenant_number
    from tickwork.alarms
    where alarms.family = ring_alarms.family
      and alarms.wake_at <= due_by
    order by alarms.family, alarms.wake_at
    limit ring_alarms.max_alarms
    for update skip locked
  loop
    perform tickwork.wake_parked(ring_alarms.family, due.tenant_number);
    perform tickwork.reset_alarm(due.place, ring_alarms.family, due.tenant_number);
  end loop;
end
$$;

comment on function tickwork.ring_alarms is
  'Wakes parked jobs of a family that are due, for up to max_alarms tenants and a portion of each.';

create function tickwork.wake_parked(family text, tenant_number bigint)
returns void
language plpgsql
volatile
as $$
declare
  due_by constant timestamptz := clock_timestamp();
  owner_id constant uuid := tickwork.tenant_id_of(wake_parked.tenant_number);
  ruled_lane text;
begin
  with taken as (
    delete from tickwork.parked
    where parked.ctid = any (array(
      select due.ctid
      from tickwork.parked as due
      where due.family = wake_parked.family
        and due.tenant_number = wake_parked.tenant_number
        and due.wake_at <= due_by
      order by due.family, due.tenant_number, due.wake_at
      limit 100
      for update skip locked
    ))
    returning parked.*
  ),
  judged as materialized (
    select taken.*, tickwork.has_lane_rule(owner_id, taken.family, taken.lane) as is_ruled
    from taken
  ),
  woken as (
    insert into tickwork.waiting (family, type, tenant_number, priority, run_at, job_id, lane)
    select judged.family, judged.type, judged.tenant_number, judged.priority, judged.run_at, judged.job_id, judged.lane
    from judged
    where not judged.is_ruled
  ),
  parked_again as (
    insert into tickwork.parked (family, type, tenant_number, priority, run_at, job_id, lane, wake_at)
    select
      judged.family, judged.type, judged.tenant_number, judged.priority, judged.run_at, judged.job_id, judged.lane,
      'infinity'
    from judged
    where judged.is_ruled
  )
  update tickwork.lane_rules
  set wake_at = due_by
  where lane_rules.tenant_id = owner_id
    and lane_rules.family = wake_parked.family
    and lane_rules.lane = any (array(select judged.lane from judged where judged.is_ruled));

  for ruled_lane in
    select lane_rules.lane
    from tickwork.lane_rules
    where lane_rules.tenant_id = owner_id
      and lane_rules.family = wake_parked.family
      and lane_rules.wake_at <= clock_timestamp()
    order by lane_rules.wake_at
    limit 20
  loop
    perform tickwork.fill_lane(wake_parked.family, wake_parked.tenant_number, ruled_lane);
  end loop;
end
$$;

comment on function tickwork.wake_parked is
  'Moves a portion of the tenant''s parked jobs that are due to waiting, and fills lanes that have room.';

create function tickwork.sees_all_parked(tenant_number bigint)
returns boolean
language sql
volatile
return current_setting('transaction_isolation') = 'read committed'
  and pg_try_advisory_xact_lock(7464, (tenant_number & 1023)::integer);

comment on function tickwork.sees_all_parked is
  'False while somebody is parking a job of the tenant, or if this transaction sees only what was there at its start.';

create function tickwork.reset_alarm(place tid, family text, tenant_number bigint)
returns void
language plpgsql
volatile
as $$
declare
  next_at timestamptz;
begin
  if tickwork.sees_all_parked(reset_alarm.tenant_number) then
    next_at := least(
      (
        select parked.wake_at
        from tickwork.parked
        where parked.family = reset_alarm.family
          and parked.tenant_number = reset_alarm.tenant_number
        order by parked.family, parked.tenant_number, parked.wake_at
        limit 1
      ),
      (
        select lane_rules.wake_at
        from tickwork.lane_rules
        where lane_rules.tenant_id = tickwork.tenant_id_of(reset_alarm.tenant_number)
          and lane_rules.family = reset_alarm.family
          and lane_rules.wake_at is not null
        order by lane_rules.tenant_id, lane_rules.family, lane_rules.wake_at
        limit 1
      )
    );
  else
    -- There may be a job that cannot be seen.
    next_at := clock_timestamp() + interval '1 second';
  end if;

  if next_at < 'infinity' then
    update tickwork.alarms
    -- Where more is due already, other tenants come first.
    set wake_at = greatest(next_at, clock_timestamp())
    where alarms.ctid = reset_alarm.place;
  else
    delete from tickwork.alarms
    where alarms.ctid = reset_alarm.place;
  end if;
end
$$;

comment on function tickwork.reset_alarm is 'Sets an alarm that has rung to its next time, or removes it.';

create function tickwork.tenant_id_of(tenant_number bigint)
returns uuid
language sql
stable
return (select tenants.tenant_id from tickwork.tenants where tenants.number = tenant_id_of.tenant_number);


-- Lanes that are held or have limits. Only as many of their jobs as may start are in waiting, so that the others cost
-- claims nothing.

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
  )
  insert into tickwork.waiting (family, type, tenant_number, priority, run_at, job_id, lane)
  select taken.family, taken.type, taken.tenant_number, taken.priority, taken.run_at, taken.job_id, taken.lane
  from taken;

  if not found and rule.lane is not null then
    perform tickwork.forget_lane_rule(rule, fill_lane.tenant_number);
  end if;
end
$$;

comment on function tickwork.fill_lane is
  'Moves parked jobs of a lane to waiting, as many as may start; if none may, it is called again when one may.';

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

create function tickwork.forget_lane_rule(rule tickwork.lane_rules, tenant_number bigint)
returns void
language plpgsql
volatile
as $$
begin
  if num_nonnulls((forget_lane_rule.rule).max_running, (forget_lane_rule.rule).starts_per_minute) > 0 then
    return;
  end if;

  -- There may be a job that cannot be seen.
  if not tickwork.sees_all_parked(forget_lane_rule.tenant_number) then
    perform tickwork.wake_lane(
      forget_lane_rule.rule, clock_timestamp() + interval '1 second', forget_lane_rule.tenant_number
    );
    return;
  end if;

  -- Once nothing is parked there, a lane that is neither limited nor held any more needs no rule.
  with free as (
    select lane_rules.ctid as place
    from tickwork.lane_rules
    where lane_rules.tenant_id = (forget_lane_rule.rule).tenant_id
      and lane_rules.family = (forget_lane_rule.rule).family
      and lane_rules.lane = (forget_lane_rule.rule).lane
      and lane_rules.max_running is null
      and lane_rules.starts_per_minute is null
      and coalesce(lane_rules.held_until, '-infinity') <= clock_timestamp()
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
language sql
volatile
as $$
  with taken as (
    delete from tickwork.waiting
    where waiting.ctid = any (array(
      select standing.ctid
      from tickwork.waiting as standing
      where standing.family = park_lane.family
        and standing.tenant_number = park_lane.tenant_number
        and standing.lane = park_lane.lane
      for update skip locked
    ))
    returning waiting.*
  )
  insert into tickwork.parked (family, type, tenant_number, priority, run_at, job_id, lane, wake_at)
  select
    taken.family, taken.type, taken.tenant_number, taken.priority, taken.run_at, taken.job_id, taken.lane, 'infinity'
  from taken;
$$;

comment on function tickwork.park_lane is
  'Moves the jobs of a lane from waiting to parked. One that a claim is taking right now still runs.';
