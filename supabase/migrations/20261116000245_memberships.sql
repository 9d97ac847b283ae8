-- Who acts for a tenant. Left out where the application has a table of that already: `tickwork migrate --members`.

create table public.memberships (
  tenant_id uuid not null references public.tenant_settings (tenant_id) on delete cascade,
  user_id uuid not null,
  role text not null default 'member',
  created_at timestamptz not null default clock_timestamp(),
  primary key (tenant_id, user_id),
  constraint role_is_known check (role in ('member', 'admin', 'owner'))
);

create index memberships_of_a_user on public.memberships (user_id);

comment on table public.memberships is 'Which user may act for which tenant.';

select tickwork.guard_table('public.memberships', members => 'select', service => 'select, insert, update, delete');

-- Admins manage members; only owners, platform admins and the service manage owners.

create function tickwork.check_member_change(tenant_id uuid, user_id uuid, role text)
returns void
language plpgsql
volatile
as $$
declare
  old_role text;
begin
  perform tickwork.check_person();
  perform tickwork.check_manager(check_member_change.tenant_id);

  -- One at a time, so that two owners cannot remove each other.
  perform
  from public.memberships
  where memberships.tenant_id = check_member_change.tenant_id
    and memberships.role = 'owner'
  order by memberships.user_id
  for update;

  if tickwork.caller_may_do_all() then
    return;
  end if;

  select memberships.role into old_role
  from public.memberships
  where memberships.tenant_id = check_member_change.tenant_id
    and memberships.user_id = check_member_change.user_id;

  if 'owner' in (old_role, check_member_change.role) and not exists (
    select
    from public.memberships
    where memberships.tenant_id = check_member_change.tenant_id
      and memberships.user_id = tickwork.caller_id()
      and memberships.role = 'owner'
  ) then
    raise exception 'only owners of the tenant may add, change or remove owners'
      using errcode = 'TWADM', hint = 'Ask an owner of the tenant.';
  end if;

  if old_role = 'owner' and check_member_change.role is distinct from 'owner' and not exists (
    select
    from public.memberships
    where memberships.tenant_id = check_member_change.tenant_id
      and memberships.user_id <> check_member_change.user_id
      and memberships.role = 'owner'
  ) then
    raise exception 'user_id: the tenant would have no owner left'
      using errcode = 'TWSTA', hint = 'Make somebody else an owner first.';
  end if;
end
$$;

comment on function tickwork.check_member_change is
  'Returns if the caller may give the user this role in the tenant; null removes him. Raises TWTNT, TWMEM, TWADM, '
  'TWSTA.';

create function tickwork.set_member(tenant_id uuid, user_id uuid, role text)
returns public.memberships
language plpgsql
volatile
security definer -- nobody but the service may write memberships directly
set search_path = ''
as $$
declare
  member public.memberships;
begin
  if set_member.user_id is null or (set_member.role in ('member', 'admin', 'owner')) is not true then
    raise exception 'role: % is no role, or there is no user_id', quote_nullable(left(set_member.role, 100))
      using errcode = 'TWARG', hint = 'Use member, admin or owner.';
  end if;

  perform tickwork.check_member_change(set_member.tenant_id, set_member.user_id, set_member.role);

  insert into public.memberships (tenant_id, user_id, role)
  values (set_member.tenant_id, set_member.user_id, set_member.role)
  on conflict on constraint memberships_pkey do update
  set role = excluded.role
  returning * into member;

  return member;
end
$$;

create function public.set_member(tenant_id uuid, user_id uuid, role text default 'member')
returns public.memberships
language sql
volatile
return tickwork.set_member(tenant_id, user_id, role);

comment on function public.set_member is
  'Sets the role of a user in a tenant: member, admin or owner. For admins, and for owners if it concerns an owner; '
  'the last owner stays one. Not with a key. Only where members are kept in memberships. Raises TWTNT, TWMEM, TWADM, '
  'TWSTA, TWARG.';

create function tickwork.remove_member(tenant_id uuid, user_id uuid)
returns boolean
language plpgsql
volatile
security definer -- nobody but the service may write memberships directly
set search_path = ''
as $$
begin
  perform tickwork.check_member_change(remove_member.tenant_id, remove_member.user_id, null);

  delete from public.memberships
  where memberships.tenant_id = remove_member.tenant_id
    and memberships.user_id = remove_member.user_id;

  return found;
end
$$;

create function public.remove_member(tenant_id uuid, user_id uuid)
returns boolean
language sql
volatile
return tickwork.remove_member(tenant_id, user_id);

comment on function public.remove_member is
  'Sets a user free of a tenant, and returns whether he was a member. The next statement of the user is refused. For '
  'admins, and for owners if it concerns an owner; the last owner stays. Not with a key. Only where members are kept '
  'in memberships. Raises TWTNT, TWMEM, TWADM, TWSTA.';
