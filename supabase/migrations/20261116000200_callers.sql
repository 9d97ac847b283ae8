-- Who the caller is, and what they may do for which tenant: everything else asks here.

create table tickwork.platform_admins (
  user_id uuid primary key,
  created_at timestamptz not null default clock_timestamp()
);

comment on table tickwork.platform_admins is 'Users who may act as an admin of every tenant.';

create function tickwork.caller_id()
returns uuid
language sql
stable
-- The same as auth.uid(), without needing any right on the schema auth.
return coalesce(
  nullif(current_setting('request.jwt.claim.sub', true), ''),
  nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'sub'
)::uuid;

create function tickwork.caller_is_service()
returns boolean
language sql
stable
-- The setting `role` is kept by the server: inside a definer function it still names the caller.
-- 'usage' rather than 'member': Supabase's authenticator may switch to service_role but has not done so.
return pg_has_role(
  case current_setting('role') when 'none' then session_user else current_setting('role')::name end,
  'service_role',
  'usage'
);

-- The place to adapt: an application that keeps its members otherwise replaces this body.

create function tickwork.caller_memberships()
returns table (tenant_id uuid, role text)
language plpgsql
stable
security definer -- reads memberships, whose own policy depends on the caller's tenants
set search_path = ''
as $$
begin
  return query
  select memberships.tenant_id, memberships.role
  from tickwork.memberships
  where memberships.user_id = tickwork.caller_id();
end
$$;

create function tickwork.caller_tenants()
returns setof uuid
language sql
stable
set search_path = ''
as $$
  select caller_memberships.tenant_id
  from tickwork.caller_memberships();
$$;

create function tickwork.caller_is_platform_admin()
returns boolean
language sql
stable
security definer -- nobody may read the list of platform admins
set search_path = ''
as $$
  select exists (
    select
    from tickwork.platform_admins
    where platform_admins.user_id = tickwork.caller_id()
  );
$$;

create function tickwork.caller_may_do_all()
returns boolean
language sql
stable
return tickwork.caller_is_service() or tickwork.caller_is_platform_admin();

create function tickwork.may_act_for(tenant_id uuid)
returns boolean
language sql
stable
return tickwork.caller_may_do_all() or tenant_id in (select tickwork.caller_tenants());

create function tickwork.may_manage(tenant_id uuid)
returns boolean
language sql
stable
return tickwork.caller_may_do_all() or exists (
  select
  from tickwork.caller_memberships() as membership
  where membership.tenant_id = may_manage.tenant_id
    and membership.role in ('admin', 'owner')
);

create function tickwork.check_caller(tenant_id uuid)
returns void
language plpgsql
stable
security definer -- must be able to tell an unknown tenant from a known one
set search_path = ''
as $$
begin
  if tickwork.caller_is_service() then
    if not exists (
      select
      from public.tenant_settings
      where tenant_settings.tenant_id = check_caller.tenant_id
    ) then
      raise exception 'tenant_id: there is no tenant %', coalesce(check_caller.tenant_id::text, 'null')
        using
          errcode = 'TWTNT',
          hint = 'Insert it into the table of tenants first: organizations, or the one that the application has.';
    end if;
    return;
  end if;

  -- The same error for a foreign tenant as for a missing one, so that nobody learns which ids exist.
  if not exists (select from tickwork.caller_tenants() as own(id) where own.id = check_caller.tenant_id)
    and not tickwork.caller_is_platform_admin()
  then
    raise exception 'tenant_id: you are not a member of tenant %', coalesce(check_caller.tenant_id::text, 'null')
      using errcode = 'TWMEM', hint = 'Sign in as a member of the tenant, or ask one of its admins to add you.';
  end if;
end
$$;

create function tickwork.check_manager(tenant_id uuid)
returns void
language plpgsql
stable
as $$
begin
  perform tickwork.check_caller(check_manager.tenant_id);

  if not tickwork.may_manage(check_manager.tenant_id) then
    raise exception 'tenant_id: only admins of the tenant may do that'
      using errcode = 'TWADM', hint = 'Ask an admin or owner of the tenant.';
  end if;
end
$$;

comment on function tickwork.caller_id is
  'The signed-in user, from the claims of the verified token; null if there is none.';
comment on function tickwork.caller_is_service is
  'Whether the service role, or a role with its rights, issued the statement. A missing setting never makes it true.';
comment on function tickwork.caller_memberships is
  'Which tenants the signed-in user belongs to, and as what: admins and owners manage the tenant, everybody else is a '
  'member. The one function to replace where members are kept in another way.';
comment on function tickwork.caller_tenants is
  'The tenants that the signed-in user is a member of.';
comment on function tickwork.caller_is_platform_admin is
  'Whether the signed-in user is a platform admin.';
comment on function tickwork.caller_may_do_all is
  'Whether the caller is the service or a platform admin, who may act for every tenant.';
comment on function tickwork.may_act_for is
  'Whether the caller is a member of the tenant, a platform admin or the service.';
comment on function tickwork.may_manage is
  'Whether the caller is an admin or owner of the tenant, a platform admin or the service.';
comment on function tickwork.check_manager is
  'Returns if the caller may manage the tenant. Raises TWTNT, TWMEM, TWADM.';
comment on function tickwork.check_caller is
  'Returns if the caller may act for the tenant. Raises TWTNT (service, unknown tenant) or TWMEM (anybody else).';
