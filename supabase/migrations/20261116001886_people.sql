-- Reads: who belongs to a tenant, and which tenants there are.

create function tickwork.list_members(tenant_id uuid)
returns setof tickwork.memberships
language plpgsql
stable
security definer -- members may be kept in tables of the application
set search_path = ''
as $$
begin
  perform tickwork.check_caller(list_members.tenant_id);

  return query
  select memberships.tenant_id, memberships.user_id, memberships.role
  from tickwork.memberships
  where memberships.tenant_id = list_members.tenant_id
  order by memberships.role, memberships.user_id;
end
$$;

create function public.list_members(tenant_id uuid)
returns table (tenant_id uuid, user_id uuid, role text)
language sql
stable
set search_path = ''
as $$
  select *
  from tickwork.list_members(list_members.tenant_id);
$$;

comment on function public.list_members is
  'Reads who belongs to a tenant, and as what. For its members. Raises TWTNT, TWMEM.';

create function tickwork.find_tenants(words text, max_tenants integer, tenant_ids uuid[])
returns table (tenant_id uuid, name text)
language sql
stable
security definer -- tenants may be kept in a table of the application
set search_path = ''
as $$
  select organizations.id, organizations.name
  from tickwork.organizations
  where (
      find_tenants.words is null
      or position(lower(find_tenants.words) in lower(organizations.name)) > 0
      or lower(find_tenants.words) = organizations.id::text
    )
    and (find_tenants.tenant_ids is null or organizations.id = any (find_tenants.tenant_ids))
    and ((select tickwork.may_act_for(null)) or organizations.id in (select tickwork.caller_tenants()))
  -- Whoever types all of a name means that one.
  order by
    lower(organizations.name) = lower(find_tenants.words) desc, lower(organizations.name), organizations.id
  limit greatest(least(find_tenants.max_tenants, 1000), 0);
$$;

create function public.find_tenants(words text default null, max_tenants integer default 20)
returns table (tenant_id uuid, name text)
language sql
stable
set search_path = ''
as $$
  select *
  from tickwork.find_tenants(find_tenants.words, find_tenants.max_tenants, null);
$$;

comment on function tickwork.find_tenants is
  'The same as the public function, and also only among some tenants: for the names of those that a page is about.';
comment on function public.find_tenants is
  'Reads which of the tenants that the caller may see have these words in their name, or this id: the one with exactly '
  'this name first, then by name. At most 1000.';

revoke execute on function
  public.list_members, tickwork.list_members, public.find_tenants, tickwork.find_tenants
from public, anon;
grant execute on function
  public.list_members, tickwork.list_members, public.find_tenants, tickwork.find_tenants
to authenticated, service_role;
