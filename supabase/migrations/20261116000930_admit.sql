-- What limits and lanes say to the jobs that a claim is about to start.

create function tickwork.spend_starts(places tid[])
returns void
language sql
volatile
as $$
  select tickwork.spend_tokens(
    spent.tenant_id, 'type ' || spent.type, job_types.starts_per_minute, spent.starts::integer
  )
  from (
    select tenants.tenant_id, waiting.type, count(distinct picked.place) as starts
    from unnest(spend_starts.places) as picked(place)
    cross join lateral (select * from tickwork.waiting where waiting.ctid = picked.place limit 1) as waiting
    cross join lateral (select * from tickwork.tenants where tenants.number = waiting.tenant_number limit 1) as tenants
    group by tenants.tenant_id, waiting.type
  ) as spent
  join public.job_types on job_types.key = spent.type
  where job_types.starts_per_minute is not null;
$$;

comment on function tickwork.spend_starts is 'Takes the starts of these waiting jobs from the rates of their types.';

create function tickwork.admit_to_lanes(picked tickwork.picked_jobs, has_locks boolean)
returns tickwork.picked_jobs
language plpgsql
volatile
as $$
declare
  busy record;
  room integer;
begin
  for busy in
    select
      lane_rules as rule, tenants.number as tenant_number,
      array_agg(job.place) as places, array_agg(job.record) as records
    from unnest((picked).places, (picked).records) as job(place, record)
    -- Each by its ctid or key, whatever the statistics say.
    cross join lateral (select * from tickwork.waiting where waiting.ctid = job.place limit 1) as waiting
    cross join lateral (select * from tickwork.tenants where tenants.number = waiting.tenant_number limit 1) as tenants
    join tickwork.lane_rules
      on lane_rules.tenant_id = tenants.tenant_id
      and lane_rules.family = (picked).family
      and lane_rules.lane = waiting.lane
    group by lane_rules.*, tenants.number
  loop
    room := 0;

    -- If somebody else is removing the rule or starting jobs of the lane right now, skip it for now.
    if pg_try_advisory_xact_lock_shared(7464, (busy.tenant_number & 1023)::integer)
      and (
        num_nonnulls((busy.rule).max_running, (busy.rule).starts_per_minute) = 0
        or tickwork.lock_limit(
          format('tenant %s %s', (busy.rule).tenant_id, tickwork.lane_scope(busy.rule)), may_wait => not has_locks
        )
      )
    then
      has_locks := true;
      room := least(cardinality(busy.places), tickwork.room_in_lane(busy.rule));

      perform tickwork.spend_tokens(
        (busy.rule).tenant_id, tickwork.lane_scope(busy.rule), (busy.rule).starts_per_minute, room
      );

      if room < cardinality(busy.places) then
        perform tickwork.park_jobs(busy.places[room + 1:]);
        perform tickwork.wake_lane(busy.rule, tickwork.lane_opens_at(busy.rule), busy.tenant_number);
      end if;
    end if;

    picked.places := array(
      select kept.place from unnest((picked).places) as kept(place) where kept.place <> all (busy.places[room + 1:])
    );
    picked.records := array(
      select kept.place from unnest((picked).records) as kept(place) where kept.place <> all (busy.records[room + 1:])
    );

    -- Others of the lane take the places of those that start.
    perform tickwork.fill_lane((picked).family, busy.tenant_number, (busy.rule).lane);
  end loop;

  picked.records := nullif((picked).records, '{}');
  return picked;
end
$$;

comment on function tickwork.admit_to_lanes is
  'The jobs that their lanes allow to start. The others are parked until their lane has room.';
