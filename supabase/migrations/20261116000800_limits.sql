-- How many jobs may start. Running jobs are counted in leases, under a lock on that limit alone: there is no counter
-- that could get out of step.

create type tickwork.limit_rule as (
  scope text,
  key text,
  max_running integer,
  starts_per_minute integer
);

create function tickwork.limits_of(tenant_id uuid, type text)
returns setof tickwork.limit_rule
language sql
stable
as $$
  select rule.scope, rule.key, rule.max_running, rule.starts_per_minute
  from (values ('type ' || limits_of.type, 'tenant ' || limits_of.tenant_id)) as key(of_type, of_tenant)
  left join public.job_types on job_types.key = limits_of.type
  left join public.tenant_settings on tenant_settings.tenant_id = limits_of.tenant_id
  cross join lateral (
    values
      (1, 'type', key.of_type, job_types.max_running, null),
      (2, 'tenant', key.of_tenant, tenant_settings.max_running, null),
      (
        3, 'tenant and type', key.of_tenant || ' ' || key.of_type, job_types.max_running_per_tenant,
        job_types.starts_per_minute
      )
  ) as rule(number, scope, key, max_running, starts_per_minute)
  where num_nonnulls(rule.max_running, rule.starts_per_minute) > 0
  order by rule.number;
$$;

comment on function tickwork.limits_of is
  'The limits that apply to a tenant''s jobs of a type, in the order in which they are locked.';

-- How many jobs a claim is going to start, of which types and tenants.

create type tickwork.claim_targets as (
  types text[],
  numbers bigint[],
  max_priorities integer[],
  rooms integer[],
  open_types integer[]
);

comment on type tickwork.claim_targets is
  'How many jobs to take from which of a tenant''s waiting jobs. open_types is of how many types each turn may start '
  'jobs, if there are limits.';

create function tickwork.room_for(
  tenant_number bigint, type text, wanted integer, planned tickwork.claim_targets, may_wait boolean
)
returns integer
language plpgsql
volatile
as $$
declare
  tenant_id constant uuid := tickwork.tenant_id_of(room_for.tenant_number);
  rule tickwork.limit_rule;
  room integer := room_for.wanted;
  taken integer;
begin
  for rule in
    select *
    from tickwork.limits_of(tenant_id, room_for.type)
  loop
    if not tickwork.lock_limit(rule.key, room_for.may_wait) then
      return 0;
    end if;

    -- Jobs that the same claim is about to start count as well.
    taken := (
      select coalesce(sum(target.room), 0)
      from unnest(planned.types, planned.numbers, planned.rooms) as target(type, number, room)
      where (rule.scope = 'tenant' or target.type = room_for.type)
        and (rule.scope = 'type' or target.number = room_for.tenant_number)
    );
    room := least(
      room,
      rule.max_running - tickwork.count_running(rule.scope, tenant_id, room_for.type) - taken,
      floor(tickwork.tokens_left(tenant_id, 'type ' || room_for.type, rule.starts_per_minute)) - taken
    );

    if room <= 0 then
      -- It is not known yet whether the planned jobs really start.
      if taken = 0 then
        perform tickwork.block(tenant_id, room_for.type, rule);
      end if;

      return 0;
    end if;
  end loop;

  return room;
end
$$;

comment on function tickwork.room_for is
  'How many jobs of the type the tenant may start besides those already planned, at most `wanted`. If none, claims '
  'skip this tenant and type for a while.';

create function tickwork.lock_limit(key text, may_wait boolean)
returns boolean
language plpgsql
volatile
as $$
begin
  -- Whoever counts running jobs under the lock has to see what others commit.
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'limits cannot be counted in a % transaction', current_setting('transaction_isolation')
      using errcode = 'TWARG', hint = 'Claim in a separate transaction, at read committed.';
  end if;

  -- A claim that already holds such a lock does not wait for another, or two claims could deadlock.
  if lock_limit.may_wait then
    perform pg_advisory_xact_lock(hashtextextended(lock_limit.key, 7465));
    return true;
  end if;

  return pg_try_advisory_xact_lock(hashtextextended(lock_limit.key, 7465));
end
$$;

comment on function tickwork.lock_limit is
  'Whether nobody else starts jobs under the limit until the end of the transaction. Raises TWARG.';

create function tickwork.count_running(scope text, tenant_id uuid, type text)
returns integer
language plpgsql
volatile
as $$
begin
  -- Both use the index: one condition for all scopes would read all running jobs.
  if count_running.scope = 'type' then
    return (
      select count(*)
      from tickwork.family_types
      join tickwork.leases on leases.family = family_types.family and leases.type = family_types.type
      where family_types.type = count_running.type
    );
  end if;

  return (
    select count(*)
    from tickwork.family_types
    join tickwork.leases on leases.family = family_types.family and leases.type = family_types.type
    where leases.tenant_id = count_running.tenant_id
      and (count_running.scope = 'tenant' or family_types.type = count_running.type)
  );
end
$$;

comment on function tickwork.count_running is
  'How many running jobs such a limit counts. Nobody else starts one while the caller holds the lock on the limit.';
