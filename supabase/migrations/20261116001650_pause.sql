-- queued -> queued, but not to be claimed: a family, a type or a tenant is paused, a lane is held or limited.

create function tickwork.check_scope(family text, type text)
returns void
language plpgsql
stable
as $$
begin
  if check_scope.family is not null
    and not exists (select from public.job_types where job_types.family = check_scope.family)
  then
    raise exception 'family: there is no family %', quote_literal(check_scope.family)
      using
        errcode = 'TWARG',
        hint = 'The job types are of these: '
          || array_to_string(array(select distinct job_types.family from public.job_types order by 1), ', ') || '.';
  end if;

  if check_scope.type is not null
    and not exists (select from public.job_types where job_types.key = check_scope.type)
  then
    raise exception 'type: there is no job type %', quote_literal(check_scope.type)
      using
        errcode = 'TWTYP',
        hint = 'There are '
          || array_to_string(array(select job_types.key from public.job_types order by job_types.key), ', ') || '.';
  end if;
end
$$;

comment on function tickwork.check_scope is
  'Returns if there is such a family or type. Raises TWARG or TWTYP, with a hint that lists those that exist.';

create function tickwork.scope_of(family text, type text, tenant_id uuid)
returns text
language plpgsql
stable
as $$
declare
  paused_scope constant text := coalesce(
    'family ' || scope_of.family, 'type ' || scope_of.type, 'tenant ' || scope_of.tenant_id
  );
begin
  if num_nonnulls(scope_of.family, scope_of.type, scope_of.tenant_id) <> 1 then
    raise exception 'give one of family, type and tenant_id, not %',
      num_nonnulls(scope_of.family, scope_of.type, scope_of.tenant_id)
      using errcode = 'TWARG', hint = 'For two things call it twice.';
  end if;

  if scope_of.tenant_id is not null then
    perform tickwork.check_caller(scope_of.tenant_id);
  end if;

  -- Its types may have been deleted while it was paused: it must still be possible to resume it.
  if not exists (select from tickwork.pauses where pauses.scope = paused_scope) then
    perform tickwork.check_scope(scope_of.family, scope_of.type);
  end if;

  return paused_scope;
end
$$;

create function tickwork.follow_pauses()
returns void
language sql
volatile
as $$
  update tickwork.family_types
  set is_paused = not family_types.is_paused
  where family_types.is_paused <> exists (
    select
    from tickwork.pauses
    where pauses.scope in ('family ' || family_types.family, 'type ' || family_types.type)
  );

  update tickwork.tenants
  set is_paused = not tenants.is_paused
  where tenants.is_paused <> exists (
    select
    from tickwork.pauses
    where pauses.scope = 'tenant ' || tenants.tenant_id
  );
$$;

comment on function tickwork.follow_pauses is 'Tells claims what is paused now.';

create function tickwork.pause_jobs(family text, type text, tenant_id uuid, reason text)
returns void
language plpgsql
volatile
security definer -- nobody may touch pauses
set search_path = ''
as $$
begin
  perform tickwork.wait_for_disk();

  insert into tickwork.pauses (scope, reason)
  values (
    tickwork.scope_of(pause_jobs.family, pause_jobs.type, pause_jobs.tenant_id),
    coalesce(left(pause_jobs.reason, 500), '')
  )
  on conflict (scope) do update
  set reason = excluded.reason;

  perform tickwork.follow_pauses();
end
$$;

create function public.pause_jobs(
  family text default null,
  type text default null,
  tenant_id uuid default null,
  reason text default null
)
returns void
language sql
volatile
set search_path = ''
as $$
  select tickwork.pause_jobs(pause_jobs.family, pause_jobs.type, pause_jobs.tenant_id, pause_jobs.reason);
$$;

comment on function public.pause_jobs is
  'queued -> queued. No job of the family, the type or the tenant starts until resume_jobs; running jobs go on. '
  'Pausing twice only changes the reason. Raises TWARG (also for an unknown family), TWTYP, TWTNT.';

create function tickwork.resume_jobs(family text, type text, tenant_id uuid)
returns void
language plpgsql
volatile
security definer -- nobody may touch pauses
set search_path = ''
as $$
begin
  perform tickwork.wait_for_disk();

  delete from tickwork.pauses
  where pauses.scope = tickwork.scope_of(resume_jobs.family, resume_jobs.type, resume_jobs.tenant_id);

  perform tickwork.follow_pauses();

  perform pg_notify('tickwork', resumed.family)
  from (
    select distinct family_types.family
    from tickwork.family_types
    where family_types.family = coalesce(resume_jobs.family, family_types.family)
      and family_types.type = coalesce(resume_jobs.type, family_types.type)
  ) as resumed;
end
$$;

create function public.resume_jobs(family text default null, type text default null, tenant_id uuid default null)
returns void
language sql
volatile
set search_path = ''
as $$
  select tickwork.resume_jobs(resume_jobs.family, resume_jobs.type, resume_jobs.tenant_id);
$$;

comment on function public.resume_jobs is
  'queued -> queued. Ends a pause, even if there is no such type any more; if nothing is paused it changes nothing. '
  'Raises TWARG, TWTYP, TWTNT.';

create function tickwork.count_paused(scope text, most integer)
returns integer
language sql
volatile
as $$
  select count(*)::integer
  from (
    select
    from tickwork.family_types
    join tickwork.tenants
      on count_paused.scope in (
        'family ' || family_types.family, 'type ' || family_types.type, 'tenant ' || tenants.tenant_id
      )
    cross join lateral (
      (
        select
        from tickwork.waiting
        where waiting.family = family_types.family
          and waiting.type = family_types.type
          and waiting.tenant_number = tenants.number
        limit count_paused.most
      )
      union all
      (
        select
        from tickwork.parked
        where parked.family = family_types.family
          and parked.type = family_types.type
          and parked.tenant_number = tenants.number
          and parked.wake_at = 'infinity'
        limit count_paused.most
      )
    ) as behind
    -- Nobody needs to know how many thousands there are.
    limit count_paused.most
  ) as counted;
$$;

create function tickwork.list_holds()
returns table (scope text, held_until timestamptz, reason text, created_at timestamptz, waiting integer)
language sql
volatile
security definer -- nobody may read pauses and rules of lanes
set search_path = ''
as $$
  select pauses.scope, null, pauses.reason, pauses.created_at, tickwork.count_paused(pauses.scope, 100)
  from tickwork.pauses
  union all
  select
    'tenant ' || lane_rules.tenant_id || ' family ' || lane_rules.family || ' lane ' || lane_rules.lane,
    -- Not every language can read infinity.
    nullif(lane_rules.held_until, 'infinity'),
    lane_rules.reason,
    lane_rules.held_since,
    (
      select count(*)::integer
      from (
        select
        from tickwork.tenants
        join tickwork.parked on parked.tenant_number = tenants.number
        where tenants.tenant_id = lane_rules.tenant_id
          and parked.family = lane_rules.family
          and parked.lane = lane_rules.lane
          and parked.wake_at = 'infinity'
        limit 100
      ) as behind
    )
  from tickwork.lane_rules
  where lane_rules.held_until > clock_timestamp()
  order by 1;
$$;

create function public.list_holds()
returns table (scope text, held_until timestamptz, reason text, created_at timestamptz, waiting integer)
language sql
volatile
set search_path = ''
as $$
  select *
  from tickwork.list_holds();
$$;

comment on function public.list_holds is
  'Reads what is paused and held, until when (null is until it is ended), since when and why, and how many due jobs '
  'wait behind it, counted up to 100.';
