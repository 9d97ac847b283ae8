-- queued -> queued, but not to be claimed: a family, a type or a tenant is paused, a lane is held or limited.

create function tickwork.scope_of(family text, type text, tenant_id uuid)
returns text
language plpgsql
stable
as $$
declare
  paused_scope constant text := coalesce(
    'family ' || scope_of.family, 'type ' || scope_of.type, 'tenant ' || scope_of.tenant_id
  );
  known text[];
begin
  if num_nonnulls(scope_of.family, scope_of.type, scope_of.tenant_id) <> 1 then
    raise exception 'exactly one of family, type and tenant_id must be given, not %',
      num_nonnulls(scope_of.family, scope_of.type, scope_of.tenant_id)
      using errcode = 'TWARG', hint = 'To pause or resume two things, call it twice.';
  end if;

  if scope_of.tenant_id is not null then
    perform tickwork.check_manager(scope_of.tenant_id);
    return paused_scope;
  end if;

  perform tickwork.check_platform_admin('pause and resume families and types');

  known := array(
    select distinct case when scope_of.family is null then job_types.key else job_types.family end
    from public.job_types
    order by 1
  );

  -- The types of a paused family may have been deleted: it must still be possible to resume it.
  if coalesce(scope_of.family, scope_of.type) <> all (known)
    and not exists (select from tickwork.pauses where pauses.scope = paused_scope)
  then
    raise exception '%',
      coalesce(
        'family: there is no family ' || quote_literal(scope_of.family),
        'type: there is no job type ' || quote_literal(scope_of.type)
      )
      using
        errcode = case when scope_of.type is null then 'TWARG' else 'TWTYP' end,
        hint = case when scope_of.type is null then 'The job types are of these: ' else 'There are ' end
          || array_to_string(known, ', ') || '.';
  end if;

  return paused_scope;
end
$$;

comment on function tickwork.scope_of is
  'The name of a pause of one of them that the caller may set. Raises TWARG, TWTYP or TWTNT, with a hint that lists '
  'what exists, TWMEM, TWADM.';

create function tickwork.follow_pauses(changed text default null)
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
  )
    and (
      follow_pauses.changed is null
      or follow_pauses.changed in ('family ' || family_types.family, 'type ' || family_types.type)
    );

  update tickwork.tenants
  set is_paused = not tenants.is_paused
  where tenants.is_paused <> exists (
    select
    from tickwork.pauses
    where pauses.scope = 'tenant ' || tenants.tenant_id
  )
    and (follow_pauses.changed is null or follow_pauses.changed = 'tenant ' || tenants.tenant_id);
$$;

comment on function tickwork.follow_pauses is
  'Makes claims skip what is paused now: all of it, or what has that scope.';

create function tickwork.pause_jobs(family text, type text, tenant_id uuid, reason text)
returns void
language plpgsql
volatile
security definer -- nobody may write pauses
set search_path = ''
as $$
declare
  chosen constant text := tickwork.scope_of(pause_jobs.family, pause_jobs.type, pause_jobs.tenant_id);
begin
  perform tickwork.wait_for_disk();

  insert into tickwork.pauses (scope, reason)
  values (chosen, coalesce(left(pause_jobs.reason, 500), ''))
  on conflict (scope) do update
  set reason = excluded.reason;

  perform tickwork.follow_pauses(chosen);
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
return tickwork.pause_jobs(family, type, tenant_id, reason);

comment on function public.pause_jobs is
  'queued -> queued. No job of the family, the type or the tenant starts until resume_jobs is called; running jobs '
  'continue. Pausing again only changes the reason. A tenant is paused by its admins, families and types by platform '
  'admins. Raises TWARG (also for an unknown family), TWTYP, TWTNT, TWMEM, TWADM.';

create function tickwork.resume_jobs(family text, type text, tenant_id uuid)
returns void
language plpgsql
volatile
security definer -- nobody may write pauses
set search_path = ''
as $$
declare
  chosen constant text := tickwork.scope_of(resume_jobs.family, resume_jobs.type, resume_jobs.tenant_id);
begin
  perform tickwork.wait_for_disk();

  delete from tickwork.pauses
  where pauses.scope = chosen;

  perform tickwork.follow_pauses(chosen);

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
return tickwork.resume_jobs(family, type, tenant_id);

comment on function public.resume_jobs is
  'queued -> queued. Ends a pause, even of a type that no longer exists; does nothing if there is no pause. For '
  'those who may pause it. Raises TWARG, TWTYP, TWTNT, TWMEM, TWADM.';

create function tickwork.list_holds()
returns table (scope text, held_until timestamptz, reason text, created_at timestamptz, waiting integer)
language sql
volatile
security definer -- nobody may read pauses and lane rules
set search_path = ''
as $$
  -- Above a hundred the exact number does not matter.
  select
    pauses.scope, null, pauses.reason, pauses.created_at,
    -- How many jobs others have is for those who see them.
    case when pauses.scope like 'tenant %' or (select tickwork.may_act_for(null)) then (
      select count(*)::integer
      from (
        select
        from tickwork.unfinished
        where unfinished.wake_at = 'infinity'
          and pauses.scope in (
            'family ' || unfinished.family, 'type ' || unfinished.type, 'tenant ' || unfinished.tenant_id
          )
        limit 100
      ) as behind
    ) end
  from tickwork.pauses
  where pauses.scope not like 'tenant %'
    or tickwork.may_act_for(substring(pauses.scope from 8)::uuid)
  union all
  select
    'tenant ' || lane_rules.tenant_id || ' family ' || lane_rules.family || ' lane ' || lane_rules.lane,
    -- Not every language can read infinity.
    nullif(lane_rules.held_until, 'infinity'), lane_rules.reason, lane_rules.held_since,
    (
      select count(*)::integer
      from (
        select
        from tickwork.unfinished
        where unfinished.wake_at = 'infinity'
          and unfinished.tenant_id = lane_rules.tenant_id
          and unfinished.family = lane_rules.family
          and unfinished.lane = lane_rules.lane
        limit 100
      ) as behind
    )
  from tickwork.lane_rules
  where lane_rules.held_until > clock_timestamp()
    and tickwork.may_act_for(lane_rules.tenant_id)
  order by 1;
$$;

create function public.list_holds()
returns table (scope text, held_until timestamptz, reason text, created_at timestamptz, waiting integer)
language sql
volatile
return tickwork.list_holds();

comment on function public.list_holds is
  'Reads what is paused and held, until when (null means until somebody ends it), since when and why, and how many due '
  'jobs are waiting behind it, counted up to 100; behind a family or a type only for those who see every tenant.';
