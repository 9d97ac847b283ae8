-- What people do to many jobs at once: pause a family, a type or a tenant.

-- Turns that exist already follow; those to come read what they are made of. Whoever makes one waits meanwhile.

create function tickwork.remake_turns(only_type text, only_tenant_id uuid)
returns void
language plpgsql
volatile
set search_path = ''
as $$
begin
  perform pg_advisory_xact_lock(7465);

  update tickwork.served_types
  set
    is_held = tickwork.is_held(tickwork.type_scope(served_types.type))
      or tickwork.is_held(tickwork.family_scope(served_types.family)),
    full_until = '-infinity'
  where served_types.type = coalesce(remake_turns.only_type, served_types.type);

  if num_nonnulls(remake_turns.only_type, remake_turns.only_tenant_id) = 0 then
    return;
  end if;

  -- In the order in which claims lock them.
  perform
  from tickwork.turns
  where turns.type = coalesce(remake_turns.only_type, turns.type)
    and turns.tenant_id = coalesce(remake_turns.only_tenant_id, turns.tenant_id)
  order by turns.id
  for no key update;

  update tickwork.turns
  set
    weight = made_of.weight,
    lease_seconds = made_of.lease_seconds,
    timeout_seconds = made_of.timeout_seconds,
    is_limited = made_of.is_limited,
    -- What a limit has closed is looked at again: it may have been raised.
    is_open = not tenant.is_held and (turns.is_open or turns.gate is not null),
    gate = case when tenant.is_held then tickwork.tenant_scope(turns.tenant_id) end
  from tickwork.turns as same
  cross join lateral tickwork.what_turns_are_made_of(same.type, same.tenant_id) as made_of
  cross join lateral tickwork.is_held(tickwork.tenant_scope(same.tenant_id)) as tenant(is_held)
  where turns.id = same.id
    and turns.type = coalesce(remake_turns.only_type, turns.type)
    and turns.tenant_id = coalesce(remake_turns.only_tenant_id, turns.tenant_id);
end
$$;

comment on function tickwork.remake_turns is
  'Brings the turns of one type or of one tenant, and all types, up to what their tables and holds say now.';

create function tickwork.follow_type()
returns trigger
language plpgsql
security definer -- nobody may touch turns
set search_path = ''
as $$
begin
  perform tickwork.remake_turns(new.key, null);
  return null;
end
$$;

create trigger follow_type
after update of lease_seconds, timeout_seconds, max_running, max_running_per_tenant, starts_per_minute
on public.job_types
for each row
execute function tickwork.follow_type();

create function tickwork.follow_tenant()
returns trigger
language plpgsql
security definer -- nobody may touch turns
set search_path = ''
as $$
begin
  perform tickwork.remake_turns(null, new.id);
  return null;
end
$$;

create trigger follow_tenant
after update of weight, max_running
on public.organizations
for each row
execute function tickwork.follow_tenant();


-- queued -> queued, but not to be claimed

create function tickwork.check_scope(family text, type text)
returns void
language plpgsql
stable
set search_path = ''
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
  'Returns if there is such a family or type. Raises TWARG or TWTYP, with a hint that names those there are.';

create function tickwork.scope_of(family text, type text, tenant_id uuid)
returns text
language plpgsql
stable
set search_path = ''
as $$
declare
  held_scope constant text := coalesce(
    tickwork.family_scope(scope_of.family),
    tickwork.type_scope(scope_of.type),
    tickwork.tenant_scope(scope_of.tenant_id)
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

  -- Its types may have been deleted while it was paused: it must be possible to end that.
  if not exists (select from tickwork.holds where holds.scope = held_scope) then
    perform tickwork.check_scope(scope_of.family, scope_of.type);
  end if;

  return held_scope;
end
$$;

create function tickwork.pause_jobs(family text, type text, tenant_id uuid, reason text)
returns void
language plpgsql
volatile
security definer -- nobody may touch holds
set search_path = ''
as $$
begin
  perform tickwork.wait_for_disk();

  insert into tickwork.holds (scope, reason)
  values (
    tickwork.scope_of(pause_jobs.family, pause_jobs.type, pause_jobs.tenant_id),
    coalesce(left(pause_jobs.reason, 500), '')
  )
  on conflict (scope) do update
  set
    until = excluded.until,
    reason = excluded.reason;

  perform tickwork.remake_turns(pause_jobs.type, pause_jobs.tenant_id);
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
  'queued -> queued. No job of the family, the type or the tenant starts until resume_jobs; those that run go on. '
  'Pausing twice changes the reason only. Raises TWARG (also of an unknown family), TWTYP, TWTNT.';

create function tickwork.resume_jobs(family text, type text, tenant_id uuid)
returns void
language plpgsql
volatile
security definer -- nobody may touch holds
set search_path = ''
as $$
begin
  perform tickwork.wait_for_disk();

  delete from tickwork.holds
  where holds.scope = tickwork.scope_of(resume_jobs.family, resume_jobs.type, resume_jobs.tenant_id);

  perform tickwork.remake_turns(resume_jobs.type, resume_jobs.tenant_id);

  perform pg_notify('tickwork', served.family)
  from (
    select distinct served_types.family
    from tickwork.served_types
    where served_types.family = coalesce(resume_jobs.family, served_types.family)
      and served_types.type = coalesce(resume_jobs.type, served_types.type)
  ) as served;
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
  'queued -> queued. Ends what pause_jobs began, even if there is no such type any more; without that it changes '
  'nothing. Raises TWARG, TWTYP, TWTNT.';

create function tickwork.list_holds()
returns table (scope text, held_until timestamptz, reason text, created_at timestamptz, waiting integer)
language sql
volatile
security definer -- nobody may read holds
set search_path = ''
as $$
  with held_lines as materialized (
    select holds.scope, line.tenant_id, line.line_id
    from tickwork.queued_lines() as line
    cross join lateral (
      values
        (tickwork.family_scope(line.family)),
        (tickwork.type_scope(line.type)),
        (tickwork.tenant_scope(line.tenant_id)),
        (tickwork.lane_scope(line.family, line.tenant_id, line.lane))
    ) as behind(scope)
    join tickwork.holds on holds.scope = behind.scope
    where holds.until > now()
  ),
  waiting as (
    select held_lines.scope, sum(due.jobs) as jobs
    from held_lines
    cross join lateral (
      select count(*) as jobs
      from (
        select
        from public.jobs
        where jobs.tenant_id = held_lines.tenant_id
          and tickwork.line_id(jobs.family, jobs.type, jobs.priority, jobs.tenant_id, jobs.lane) = held_lines.line_id
          and jobs.status = 'queued'
          and jobs.run_at <= now()
        -- Nobody needs to know how many thousands there are.
        limit 100
      ) as head
    ) as due
    group by held_lines.scope
  )
  select
    holds.scope,
    -- Not every language can read infinity.
    case when isfinite(holds.until) then holds.until end,
    holds.reason,
    holds.created_at,
    least(coalesce(waiting.jobs, 0), 100)::integer
  from tickwork.holds
  left join waiting on waiting.scope = holds.scope
  where holds.until > now()
  order by holds.scope;
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

alter function tickwork.follow_type owner to tickwork_owner;
alter function tickwork.follow_tenant owner to tickwork_owner;
alter function tickwork.pause_jobs owner to tickwork_owner;
alter function tickwork.resume_jobs owner to tickwork_owner;
alter function tickwork.list_holds owner to tickwork_owner;

revoke execute on function
  tickwork.remake_turns,
  tickwork.follow_type,
  tickwork.follow_tenant,
  tickwork.check_scope,
  tickwork.scope_of,
  tickwork.pause_jobs,
  tickwork.resume_jobs,
  tickwork.list_holds,
  public.pause_jobs,
  public.resume_jobs,
  public.list_holds
from public, anon, authenticated, service_role;

grant execute on function
  tickwork.remake_turns,
  tickwork.check_scope,
  tickwork.scope_of
to tickwork_owner;

grant execute on function
  public.pause_jobs,
  public.resume_jobs,
  public.list_holds,
  tickwork.pause_jobs,
  tickwork.resume_jobs,
  tickwork.list_holds
to service_role;
