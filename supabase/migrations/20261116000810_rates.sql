-- Start rates, and the tenants and types that claims skip because they are at a limit.

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

  -- If nothing has started yet, or the limit was lowered, the bucket is full but never more than full.
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


-- A tenant or type at a limit is skipped for a second, or until there is a token. When a job ends, that is cleared.

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
  'Stops claims from skipping a tenant and a type: one of their jobs has ended, or a limit has changed.';
