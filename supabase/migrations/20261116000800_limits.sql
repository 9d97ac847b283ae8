-- How many jobs may start. Running jobs are counted in leases, under a lock of the limit alone: there is no counter
-- that could leak.

create type tickwork.limit_rule as (
  scope text,
  max_running integer,
  starts_per_minute integer
);

create function tickwork.limits_of(tenant_id uuid, type text)
returns setof tickwork.limit_rule
language plpgsql
stable
as $$
declare
  job_type public.job_types;
  tenant public.organizations;
begin
  select * into job_type from public.job_types where job_types.key = limits_of.type;
  select * into tenant from public.organizations where organizations.id = limits_of.tenant_id;

  return query
  select rule.scope, rule.max_running, rule.starts_per_minute
  from (
    values
      (1, 'type', job_type.max_running, null),
      (2, 'tenant', tenant.max_running, null),
      (3, 'tenant and type', job_type.max_running_per_tenant, job_type.starts_per_minute)
  ) as rule(number, scope, max_running, starts_per_minute)
  where num_nonnulls(rule.max_running, rule.starts_per_minute) > 0
  order by rule.number;
end
$$;

comment on function tickwork.limits_of is
  'The limits that apply to a tenant''s jobs of a type, in the order in which they are locked.';

create function tickwork.limit_key(scope text, tenant_id uuid, type text)
returns text
language sql
immutable
return case scope
  when 'type' then concat_ws(' ', 'type', type)
  when 'tenant' then concat_ws(' ', 'tenant', tenant_id)
  else concat_ws(' ', 'tenant', tenant_id, 'type', type)
end;

-- From which of a tenant's waiting jobs to take how many.

create type tickwork.claim_target as (
  type text,
  tenant_number bigint,
  tenant_id uuid,
  max_priority integer,
  room integer,
  is_limited boolean
);

create function tickwork.room_for(
  tenant_id uuid,
  type text,
  wanted integer,
  planned tickwork.claim_target[],
  may_wait boolean
)
returns integer
language plpgsql
volatile
as $$
declare
  rule tickwork.limit_rule;
  room integer := room_for.wanted;
  taken integer;
begin
  perform tickwork.check_isolation();

  for rule in
    select *
    from tickwork.limits_of(room_for.tenant_id, room_for.type)
  loop
    if not tickwork.lock_limit(
      tickwork.limit_key(rule.scope, room_for.tenant_id, room_for.type), room_for.may_wait
    ) then
      return 0;
    end if;

    -- What the same claim is about to start counts as well.
    taken := (
      select coalesce(sum(target.room), 0)
      from unnest(room_for.planned) as target
      where (rule.scope = 'tenant' or target.type = room_for.type)
        and (rule.scope = 'type' or target.tenant_id = room_for.tenant_id)
    );
    room := least(
      room,
      rule.max_running - tickwork.count_running(rule.scope, room_for.tenant_id, room_for.type) - taken,
      floor(tickwork.tokens_left(room_for.tenant_id, 'type ' || room_for.type, rule.starts_per_minute)) - taken
    );

    if room <= 0 then
      -- Whether what is planned really starts is not known yet.
      if taken = 0 then
        perform tickwork.block(room_for.tenant_id, room_for.type, rule);
      end if;

      return 0;
    end if;
  end loop;

  return room;
end
$$;

comment on function tickwork.room_for is
  'How many jobs of the type the tenant may start beside those that are planned, at most `wanted`. If none, claims '
  'skip the two for a while.';

create function tickwork.check_isolation()
returns void
language plpgsql
stable
as $$
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'limits cannot be counted in a % transaction', current_setting('transaction_isolation')
      using errcode = 'TWARG', hint = 'Claim in a transaction of its own, at read committed.';
  end if;
end
$$;

create function tickwork.lock_limit(key text, may_wait boolean)
returns boolean
language plpgsql
volatile
as $$
begin
  -- A claim that already holds such a lock does not wait for another, or two claims could deadlock.
  if lock_limit.may_wait then
    perform pg_advisory_xact_lock(hashtextextended(lock_limit.key, 7465));
    return true;
  end if;

  return pg_try_advisory_xact_lock(hashtextextended(lock_limit.key, 7465));
end
$$;

create function tickwork.count_running(scope text, tenant_id uuid, type text)
returns integer
language plpgsql
volatile
as $$
declare
  running integer;
begin
  -- Each by the index: one condition for all of them would read all that runs.
  case count_running.scope
    when 'type' then
      select count(*) into running
      from tickwork.family_types
      join tickwork.leases on leases.family = family_types.family and leases.type = family_types.type
      where family_types.type = count_running.type;
    when 'tenant' then
      select count(*) into running
      from tickwork.family_types
      join tickwork.leases on leases.family = family_types.family and leases.type = family_types.type
      where leases.tenant_id = count_running.tenant_id;
    else
      select count(*) into running
      from tickwork.family_types
      join tickwork.leases on leases.family = family_types.family and leases.type = family_types.type
      where family_types.type = count_running.type
        and leases.tenant_id = count_running.tenant_id;
  end case;

  return running;
end
$$;

comment on function tickwork.count_running is
  'How many running jobs such a limit counts. Nobody else starts one while the caller holds the lock of the limit.';

create function tickwork.tokens_left(tenant_id uuid, scope text, starts_per_minute integer)
returns double precision
language plpgsql
volatile
as $$
declare
  bucket tickwork.buckets;
begin
  if tokens_left.starts_per_minute is null then
    return null;
  end if;

  select * into bucket
  from tickwork.buckets
  where buckets.tenant_id = tokens_left.tenant_id
    and buckets.scope = tokens_left.scope;

  -- Nobody has started anything yet, or the limit was lowered: the bucket is full, and no fuller.
  return least(
    tokens_left.starts_per_minute,
    bucket.tokens
      + extract(epoch from clock_timestamp() - bucket.filled_at) * tokens_left.starts_per_minute / 60
  );
end
$$;

create function tickwork.spend_tokens(tenant_id uuid, scope text, starts_per_minute integer, starts integer)
returns void
language sql
volatile
as $$
  insert into tickwork.buckets (tenant_id, scope, tokens, filled_at)
  select
    spend_tokens.tenant_id, spend_tokens.scope,
    tickwork.tokens_left(spend_tokens.tenant_id, spend_tokens.scope, spend_tokens.starts_per_minute)
      - spend_tokens.starts,
    clock_timestamp()
  where spend_tokens.starts_per_minute is not null
  on conflict on constraint buckets_pkey do update
  set
    tokens = excluded.tokens,
    filled_at = excluded.filled_at;
$$;

create function tickwork.next_token_at(tenant_id uuid, scope text, starts_per_minute integer)
returns timestamptz
language sql
volatile
as $$
  select clock_timestamp() + make_interval(secs => (
    (1 - tickwork.tokens_left(next_token_at.tenant_id, next_token_at.scope, next_token_at.starts_per_minute))
    * 60 / next_token_at.starts_per_minute
  ));
$$;


-- What is at a limit is skipped for a second, or until there is a token. A job that ends clears that.

create function tickwork.block(tenant_id uuid, type text, rule tickwork.limit_rule)
returns void
language plpgsql
volatile
as $$
declare
  until constant timestamptz := greatest(
    clock_timestamp() + interval '1 second' * ((block.rule).max_running is not null)::integer,
    tickwork.next_token_at(block.tenant_id, 'type ' || block.type, (block.rule).starts_per_minute)
  );
begin
  if (block.rule).scope = 'type' then
    with free as (
      select family_types.ctid as place
      from tickwork.family_types
      where family_types.type = block.type
      for no key update skip locked
    )
    update tickwork.family_types
    set full_until = until
    from free
    where family_types.ctid = free.place;

    return;
  end if;

  with over as (
    select blocked.ctid as place
    from tickwork.tenants
    join tickwork.blocked on blocked.tenant_number = tenants.number
    where tenants.tenant_id = block.tenant_id
      and blocked.until < clock_timestamp()
    for update of blocked skip locked
  )
  delete from tickwork.blocked
  using over
  where blocked.ctid = over.place;

  insert into tickwork.blocked (tenant_number, family, type, until)
  select tenants.number, family_types.family, family_types.type, until
  from tickwork.tenants
  cross join tickwork.family_types
  where tenants.tenant_id = block.tenant_id
    and (family_types.type = block.type or (block.rule).scope = 'tenant');
end
$$;

create function tickwork.unblock(tenant_id uuid, type text default null)
returns void
language plpgsql
volatile
as $$
begin
  with free as (
    select blocked.ctid as place
    from tickwork.blocked
    where blocked.tenant_number = (
      select tenants.number
      from tickwork.tenants
      where tenants.tenant_id = unblock.tenant_id
    )
    for update skip locked
  )
  delete from tickwork.blocked
  using free
  where blocked.ctid = free.place;

  with full_types as (
    select family_types.ctid as place
    from tickwork.family_types
    where family_types.type = unblock.type
      and family_types.full_until > clock_timestamp()
    for no key update skip locked
  )
  update tickwork.family_types
  set full_until = default
  from full_types
  where family_types.ctid = full_types.place;
end
$$;

comment on function tickwork.block is 'Makes claims skip a tenant or type that is at a limit.';
comment on function tickwork.unblock is
  'Ends that for a tenant and a type: one of their jobs has ended, or a limit has changed.';


-- Limits of a lane.

create function tickwork.lock_lane(rule tickwork.lane_rules, may_wait boolean)
returns boolean
language plpgsql
volatile
as $$
begin
  if num_nonnulls((lock_lane.rule).max_running, (lock_lane.rule).starts_per_minute) = 0 then
    return true;
  end if;

  perform tickwork.check_isolation();

  return tickwork.lock_limit(
    concat_ws(' ', 'tenant', (lock_lane.rule).tenant_id, tickwork.lane_scope(lock_lane.rule)), lock_lane.may_wait
  );
end
$$;

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
  'How many jobs of the lane may start; null is any number. Exact while the caller holds the lock of the lane.';

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
