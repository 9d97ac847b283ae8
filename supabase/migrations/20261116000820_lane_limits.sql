-- Limits of a lane.

create function tickwork.room_in_lane(rule tickwork.lane_rules)
returns integer
language plpgsql
volatile
as $$
begin
  if (room_in_lane.rule).held_until > clock_timestamp() then
    return 0;
  end if;

  if num_nonnulls((room_in_lane.rule).max_running, (room_in_lane.rule).starts_per_minute) = 0 then
    return null;
  end if;

  return greatest(0, least(
    (room_in_lane.rule).max_running - (
      select count(*)
      from tickwork.family_types
      join tickwork.leases on leases.family = family_types.family and leases.type = family_types.type
      where family_types.family = (room_in_lane.rule).family
        and leases.tenant_id = (room_in_lane.rule).tenant_id
        and leases.lane = (room_in_lane.rule).lane
    ),
    floor(tickwork.tokens_left(
      (room_in_lane.rule).tenant_id, tickwork.lane_scope(room_in_lane.rule), (room_in_lane.rule).starts_per_minute
    ))
  ));
end
$$;

comment on function tickwork.room_in_lane is
  'How many jobs of the lane may start; null means any number. Exact while the caller holds the lock on the lane.';

create function tickwork.lane_scope(rule tickwork.lane_rules)
returns text
language sql
immutable
return 'family ' || (rule).family || ' lane ' || (rule).lane;

create function tickwork.lane_opens_at(rule tickwork.lane_rules)
returns timestamptz
language sql
volatile
as $$
  select greatest(
    (lane_opens_at.rule).held_until,
    clock_timestamp() + interval '1 second' * ((lane_opens_at.rule).max_running is not null)::integer,
    tickwork.next_token_at(
      (lane_opens_at.rule).tenant_id, tickwork.lane_scope(lane_opens_at.rule), (lane_opens_at.rule).starts_per_minute
    )
  );
$$;
