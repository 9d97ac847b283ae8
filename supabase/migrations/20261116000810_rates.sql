-- Start rates, and the tenants and types that claims skip because they are at a limit.

create function tickwork.tokens_left(tenant_id uuid, scope text, starts_per_minute integer)
returns double precision
language plpgsql
volatile
as $$
begin
  if tokens_left.starts_per_minute is null then
    return null;
  end if;

  -- If nothing has started yet, or the limit was lowered, the bucket is full but never more than full.
  return least(tokens_left.starts_per_minute, (
    select
      buckets.tokens
        + extract(epoch from clock_timestamp() - buckets.filled_at) * tokens_left.starts_per_minute / 60
    from tickwork.buckets
    where buckets.tenant_id = tokens_left.tenant_id
      and buckets.scope = tokens_left.scope
  ));
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
    update tickwork.family_types
    set full_until = until
    where family_types.ctid = any (array(
      select free.ctid
      from tickwork.family_types as free
      where free.type = block.type
      for no key update skip locked
    ));

    return;
  end if;

  delete from tickwork.blocked
  where blocked.ctid = any (array(
    select over.ctid
    from tickwork.tenants
    join tickwork.blocked as over on over.tenant_number = tenants.number
    where tenants.tenant_id = block.tenant_id
      and over.until < clock_timestamp()
    for update of over skip locked
  ));

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
  delete from tickwork.blocked
  where blocked.ctid = any (array(
    select free.ctid
    from tickwork.tenants
    join tickwork.blocked as free on free.tenant_number = tenants.number
    where tenants.tenant_id = unblock.tenant_id
    for update of free skip locked
  ));

  update tickwork.family_types
  set full_until = default
  where family_types.ctid = any (array(
    select free.ctid
    from tickwork.family_types as free
    where free.type = unblock.type
      and free.full_until > clock_timestamp()
    for no key update skip locked
  ));
end
$$;

comment on function tickwork.block is
  'Makes claims skip a tenant or type that is at a limit: for a second, until there is a token or until a job ends.';
comment on function tickwork.unblock is
  'Stops claims from skipping a tenant and a type: one of their jobs has ended, or a limit has changed.';
