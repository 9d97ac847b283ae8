-- Who owns what: organizations are the tenants, memberships say who may act for them.

create table public.organizations (
  id uuid primary key default gen_random_uuid(),
  name text not null,
  weight integer not null default 1,
  max_running integer,
  max_queued integer not null default 100000,
  created_at timestamptz not null default clock_timestamp(),
  constraint name_is_not_empty check (name <> ''),
  constraint weight_is_1_to_100 check (weight between 1 and 100),
  constraint max_running_is_1_or_more check (max_running >= 1),
  constraint max_queued_is_0_or_more check (max_queued >= 0)
);

create table public.memberships (
  tenant_id uuid not null references public.organizations (id) on delete cascade,
  user_id uuid not null,
  role text not null default 'member',
  created_at timestamptz not null default clock_timestamp(),
  primary key (tenant_id, user_id),
  constraint role_is_known check (role in ('member', 'admin', 'owner'))
);

create index memberships_of_a_user on public.memberships (user_id);

create table tickwork.platform_admins (
  user_id uuid primary key,
  created_at timestamptz not null default clock_timestamp()
);

comment on table public.organizations is 'The tenants.';
comment on column public.organizations.weight is
  'How many jobs the tenant may start each time it is its turn.';
comment on column public.organizations.max_running is
  'How many of its jobs run at once, in all families; null is any number.';
comment on column public.organizations.max_queued is
  'How many of its jobs may be queued; an enqueue beyond is refused.';
comment on table public.memberships is 'Which user acts for which tenant.';
comment on table tickwork.platform_admins is 'Users who may look at, cancel and retry the jobs of every tenant.';


-- The caller, as everything below sees him.

create function tickwork.caller_id()
returns uuid
language sql
stable
-- What auth.uid() reads, without needing a right on the schema auth.
return coalesce(
  nullif(current_setting('request.jwt.claim.sub', true), ''),
  nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'sub'
)::uuid;

create function tickwork.caller_is_service()
returns boolean
language sql
stable
-- The server itself keeps `role`: inside a definer function it still names who called.
-- 'usage' and not 'member', because Supabase's authenticator could become service_role but has not.
return pg_has_role(
  case current_setting('role') when 'none' then session_user else current_setting('role')::name end,
  'service_role',
  'usage'
);

create function tickwork.caller_tenants()
returns setof uuid
language sql
stable
security definer -- reads memberships, whose own policy asks this function
set search_path = ''
as $$
  select memberships.tenant_id
  from public.memberships
  where memberships.user_id = tickwork.caller_id();
$$;

create function tickwork.caller_is_platform_admin()
returns boolean
language sql
stable
security definer -- the list of platform admins is nobody's to read
set search_path = ''
as $$
  select exists (
    select
    from tickwork.platform_admins
    where platform_admins.user_id = tickwork.caller_id()
  );
$$;

create function tickwork.check_caller(tenant_id uuid)
returns void
language plpgsql
stable
security definer -- tells the service an unknown tenant from a known one
set search_path = ''
as $$
begin
  if tickwork.caller_is_service() then
    if not exists (select from public.organizations where organizations.id = check_caller.tenant_id) then
      raise exception 'tenant_id: there is no tenant %', coalesce(check_caller.tenant_id::text, 'null')
        using errcode = 'TWTNT', hint = 'Insert a row into organizations first.';
    end if;
    return;
  end if;

  -- The same answer for a foreign and a missing tenant: ids are nobody else's business.
  if not exists (select from tickwork.caller_tenants() as own(id) where own.id = check_caller.tenant_id)
    and not tickwork.caller_is_platform_admin()
  then
    raise exception 'tenant_id: you are not a member of tenant %', coalesce(check_caller.tenant_id::text, 'null')
      using errcode = 'TWMEM', hint = 'Sign in as a member of the tenant, or ask its admin for a membership.';
  end if;
end
$$;

comment on function tickwork.caller_id is
  'The signed-in user, from the verified token''s claims; null when there is none.';
comment on function tickwork.caller_is_service is
  'Whether the statement was issued by the service role or one that holds its rights. Never true by a missing setting.';
comment on function tickwork.caller_tenants is
  'The tenants that the signed-in user is a member of.';
comment on function tickwork.caller_is_platform_admin is
  'Whether the signed-in user is a platform admin.';
comment on function tickwork.check_caller is
  'Returns if the caller may act for the tenant. Raises TWTNT (service, unknown tenant) or TWMEM (anybody else).';

alter function tickwork.caller_tenants owner to tickwork_owner;
alter function tickwork.caller_is_platform_admin owner to tickwork_owner;
alter function tickwork.check_caller owner to tickwork_owner;

revoke execute on function
  tickwork.caller_id,
  tickwork.caller_is_service,
  tickwork.caller_tenants,
  tickwork.caller_is_platform_admin,
  tickwork.check_caller
from public, anon, authenticated, service_role;

grant execute on function
  tickwork.caller_id,
  tickwork.caller_is_service,
  tickwork.caller_tenants,
  tickwork.caller_is_platform_admin,
  tickwork.check_caller
to authenticated, service_role, tickwork_owner;


-- Row-level security.

alter table public.organizations enable row level security;
alter table public.organizations force row level security;
alter table public.memberships enable row level security;
alter table public.memberships force row level security;
alter table tickwork.platform_admins enable row level security;
alter table tickwork.platform_admins force row level security;

create policy members_see_their_tenants on public.organizations
for select to authenticated
using (
  id in (select tickwork.caller_tenants())
  or (select tickwork.caller_is_platform_admin())
);

create policy members_see_their_colleagues on public.memberships
for select to authenticated
using (
  tenant_id in (select tickwork.caller_tenants())
  or (select tickwork.caller_is_platform_admin())
);

create policy the_queue_reads_tenants on public.organizations
for select to tickwork_owner
using (true);

create policy the_queue_reads_memberships on public.memberships
for select to tickwork_owner
using (true);

create policy the_queue_reads_platform_admins on tickwork.platform_admins
for select to tickwork_owner
using (true);

revoke all on public.organizations, public.memberships, tickwork.platform_admins
from public, anon, authenticated, service_role;

grant select on public.organizations, public.memberships to authenticated, tickwork_owner;
grant select on tickwork.platform_admins to tickwork_owner;
grant select, insert, update, delete on public.organizations, public.memberships, tickwork.platform_admins
to service_role;
