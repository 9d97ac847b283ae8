-- When parked jobs are checked again.

-- Alarms. A transaction that parks a job holds a shared lock on its tenant until it commits. Meanwhile an alarm is put
-- off by a second and never removed. A claim that rings an alarm only tries to lock the tenant, and whoever sets one
-- while a claim has locked it adds an alarm without looking at the others. So nobody who rings waits for another.

create function tickwork.set_alarm(family text, tenant_number bigint, wake_at timestamptz)
returns void
language plpgsql
volatile
as $$
begin
  if not isfinite(set_alarm.wake_at) then
    return;
  end if;

  if pg_try_advisory_xact_lock_shared(7464, (set_alarm.tenant_number & 1023)::integer) then
    perform
    from tickwork.alarms
    where alarms.family = set_alarm.family
      and alarms.tenant_number = set_alarm.tenant_number
      and alarms.wake_at <= set_alarm.wake_at;

    -- With an older snapshot there is no telling whether the alarm still exists.
    if found and current_setting('transaction_isolation') = 'read committed' then
      return;
    end if;

    -- An alarm that somebody else is changing is left alone.
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

    if found then
      return;
    end if;
  end if;

  insert into tickwork.alarms (family, tenant_number, wake_at)
  values (set_alarm.family, set_alarm.tenant_number, set_alarm.wake_at);
end
$$;

comment on function tickwork.set_alarm is
  'Makes sure that the parked jobs of the tenant are checked by that time. Infinity needs no alarm.';

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
  woken_from timestamptz;
  rule tickwork.lane_rules;
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
  ),
  lanes as (
    update tickwork.lane_rules
    set wake_at = due_by
    where lane_rules.tenant_id = owner_id
      and lane_rules.family = wake_parked.family
      and lane_rules.lane = any (array(select judged.lane from judged where judged.is_ruled))
  )
  select min(judged.run_at) into woken_from
  from judged;

  perform tickwork.lower_front(wake_parked.family, woken_from);

  for rule in
    select *
    from tickwork.lane_rules
    where lane_rules.tenant_id = owner_id
      and lane_rules.family = wake_parked.family
      and lane_rules.wake_at <= clock_timestamp()
    order by lane_rules.wake_at
    limit 20
  loop
    perform tickwork.fill_lane(wake_parked.family, wake_parked.tenant_number, rule.lane);
    perform tickwork.forget_lane_rule(rule, wake_parked.tenant_number);
  end loop;

  if tickwork.has_to_check(wake_parked.tenant_number) then
    perform tickwork.check_portions(wake_parked.tenant_number);
  end if;

  perform tickwork.take_arrivals(wake_parked.tenant_number);
end
$$;

comment on function tickwork.wake_parked is
  'Moves a portion of the tenant''s parked jobs that are due to waiting, fills lanes that have room, and checks what '
  'waits for other jobs or for events.';

create function tickwork.sees_all_parked(tenant_number bigint)
returns boolean
language sql
volatile
return current_setting('transaction_isolation') = 'read committed'
  and pg_try_advisory_xact_lock(7464, (tenant_number & 1023)::integer);

comment on function tickwork.sees_all_parked is
  'False while somebody is parking a job of the tenant, or if this transaction sees only what existed when it started.';

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
      ),
      case
        when tickwork.has_to_check(reset_alarm.tenant_number) or tickwork.has_arrivals(reset_alarm.tenant_number) then
          clock_timestamp() + interval '1 second'
      end
    );
  else
    -- There may be a job that is not visible yet.
    next_at := clock_timestamp() + interval '1 second';
  end if;

  if next_at < 'infinity' then
    update tickwork.alarms
    -- If more jobs are already due, other tenants still come first.
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
