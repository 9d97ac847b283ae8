-- How many jobs may start. Running ones are counted where they are, under a lock: there is no counter that could leak.

create type tickwork.rule as (
  kind text,
  scope text,
  max_running integer,
  starts_per_minute integer
);

create function tickwork.rules_of(spot tickwork.spot)
returns setof tickwork.rule
language plpgsql
stable
set search_path = ''
as $$
declare
  job_type public.job_types;
  tenant public.organizations;
  lane tickwork.lanes;
begin
  select * into job_type from public.job_types where job_types.key = spot.type;
  select * into tenant from public.organizations where organizations.id = spot.tenant_id;

  select * into lane
  from tickwork.lanes
  where lanes.family = spot.family
    and lanes.tenant_id = spot.tenant_id
    and lanes.lane = spot.lane;

  return query
  select rule.kind, rule.scope, rule.max_running, rule.starts_per_minute
  from (
    values
      (1, 'type', tickwork.type_scope(spot.type), job_type.max_running, null),
      (2, 'tenant', tickwork.tenant_scope(spot.tenant_id), tenant.max_running, null),
      (
        3, 'tenant_type', tickwork.tenant_type_scope(spot.tenant_id, spot.type),
        job_type.max_running_per_tenant, job_type.starts_per_minute
      ),
      (
        4, 'lane', tickwork.lane_scope(spot.family, spot.tenant_id, spot.lane),
        lane.max_running, lane.starts_per_minute
      )
  ) as rule(number, kind, scope, max_running, starts_per_minute)
  where num_nonnulls(rule.max_running, rule.starts_per_minute) > 0
  order by rule.number;
end
$$;

comment on function tickwork.rules_of is 'The limits that hold at the spot, in the order in which they are locked.';

create function tickwork.admit(spot tickwork.spot, wanted integer, may_wait boolean)
returns integer
language plpgsql
volatile
set search_path = ''
as $$
declare
  rule tickwork.rule;
  room integer := admit.wanted;
  closed_until timestamptz;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'limits cannot be counted in a % transaction', current_setting('transaction_isolation')
      using errcode = 'TWARG', hint = 'Claim in a transaction of its own, at read committed.';
  end if;

  for rule in
    select *
    from tickwork.rules_of(admit.spot)
  loop
    -- All in one order. Who holds locks for another spot does not wait, or two could wait for each other.
    if admit.may_wait then
      perform pg_advisory_xact_lock(hashtextextended(rule.scope, 0));
    elsif not pg_try_advisory_xact_lock(hashtextextended(rule.scope, 0)) then
      return 0;
    end if;

    if rule.max_running is not null then
      room := least(room, rule.max_running - tickwork.count_running(rule.kind, admit.spot));
      -- A job that ends wakes the spot. The time is for the one that ended while nobody was looking.
      closed_until := clock_timestamp() + interval '1 second';
    end if;

    if room > 0 and rule.starts_per_minute is not null then
      room := least(room, floor(tickwork.tokens_left(rule)));
      closed_until := clock_timestamp()
        + make_interval(secs => (1 - tickwork.tokens_left(rule)) * 60 / rule.starts_per_minute);
    end if;

    if room <= 0 then
      perform tickwork.shut(admit.spot, rule.kind, rule.scope, closed_until);
      return 0;
    end if;
  end loop;

  return room;
end
$$;

comment on function tickwork.admit is
  'How many jobs may start at the spot, at most so many. Where none may, it is closed until one might.';

create function tickwork.count_running(kind text, spot tickwork.spot)
returns integer
language plpgsql
volatile
set search_path = ''
as $$
declare
  running integer;
begin
  case count_running.kind
    when 'type' then
      select count(*) into running
      from public.jobs
      where jobs.status = 'running'
        and jobs.type = spot.type;
    when 'tenant_type' then
      select count(*) into running
      from public.jobs
      where jobs.status = 'running'
        and jobs.type = spot.type
        and jobs.tenant_id = spot.tenant_id;
    when 'tenant' then
      select count(*) into running
      from public.job_types
      join public.jobs on jobs.type = job_types.key
      where jobs.status = 'running'
        and jobs.tenant_id = spot.tenant_id;
    when 'lane' then
      select count(*) into running
      from public.job_types
      join public.jobs on jobs.type = job_types.key
      where jobs.status = 'running'
        and jobs.family = spot.family
        and jobs.tenant_id = spot.tenant_id
        and jobs.lane = spot.lane;
  end case;

  return running;
end
$$;

comment on function tickwork.count_running is
  'How many jobs run that such a rule counts. Exact for whoever holds its lock: nobody else starts one.';

create function tickwork.tokens_left(rule tickwork.rule)
returns double precision
language plpgsql
volatile
set search_path = ''
as $$
declare
  bucket tickwork.buckets;
begin
  select * into bucket
  from tickwork.buckets
  where buckets.scope = (tokens_left.rule).scope;

  -- Nobody has started anything yet, or the limit was lowered: the bucket is full, and no fuller.
  return least(
    (tokens_left.rule).starts_per_minute,
    bucket.tokens
      + extract(epoch from clock_timestamp() - bucket.filled_at) * (tokens_left.rule).starts_per_minute / 60
  );
end
$$;

create function tickwork.spend_tokens(spot tickwork.spot, starts integer)
returns void
language plpgsql
volatile
set search_path = ''
as $$
begin
  insert into tickwork.buckets (scope, tokens, filled_at)
  select rule.scope, tickwork.tokens_left(rule) - spend_tokens.starts, clock_timestamp()
  from tickwork.rules_of(spend_tokens.spot) as rule
  where rule.starts_per_minute is not null
  on conflict (scope) do update
  set
    tokens = excluded.tokens,
    filled_at = excluded.filled_at;
end
$$;

create function tickwork.shut(spot tickwork.spot, kind text, scope text, until timestamptz)
returns void
language plpgsql
volatile
set search_path = ''
as $$
begin
  case shut.kind
    when 'type' then
      with free as (
        select served_types.family, served_types.type
        from tickwork.served_types
        where served_types.family = spot.family
          and served_types.type = spot.type
        for no key update skip locked
      )
      update tickwork.served_types
      set full_until = shut.until
      from free
      where served_types.family = free.family
        and served_types.type = free.type;

      return;
    when 'lane' then
      perform tickwork.shut_line(spot.line_id, shut.scope);
    else
      perform tickwork.shut_turn(spot.turn_id, shut.scope);
  end case;

  if isfinite(shut.until) then
    insert into tickwork.wakes (family, type, priority, tenant_id, lane, is_for_line, wake_at)
    values (
      spot.family, spot.type, spot.priority, spot.tenant_id, spot.lane, shut.kind = 'lane', shut.until
    );
  end if;
end
$$;

comment on function tickwork.shut is
  'Closes the line, the turn or the type that the scope stands for, until a time or until a wake.';

revoke execute on function
  tickwork.rules_of,
  tickwork.admit,
  tickwork.count_running,
  tickwork.tokens_left,
  tickwork.spend_tokens,
  tickwork.shut
from public, anon, authenticated, service_role;

grant execute on function
  tickwork.rules_of,
  tickwork.admit,
  tickwork.count_running,
  tickwork.tokens_left,
  tickwork.spend_tokens,
  tickwork.shut
to tickwork_owner;
