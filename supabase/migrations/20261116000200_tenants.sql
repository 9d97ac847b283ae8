-- Who owns what: organizations are the tenants, memberships say who may act for them.

create table public.organizations (
  id uuid primary key default gen_random_uuid(),
  name text not null,
  weight integer not null default 1,
  max_running integer,
  max_queued integer not null default 100000,
  max_lanes integer not null default 1000,
  keep_done_days integer default 30,
  keep_failed_days integer default 90,
  keep_dead_days integer default 90,
  keep_cancelled_days integer default 30,
  created_at timestamptz not null default clock_timestamp(),
  constraint name_is_not_empty check (name <> ''),
  constraint weight_is_1_to_100 check (weight between 1 and 100),
  constraint max_running_is_1_or_more check (max_running >= 1),
  constraint max_queued_is_0_or_more check (max_queued >= 0),
  constraint max_lanes_is_0_or_more check (max_lanes >= 0),
  constraint days_are_0_to_36500 check (
    least(keep_done_days, keep_failed_days, keep_dead_days, keep_cancelled_days) >= 0
    and greatest(keep_done_days, keep_failed_days, keep_dead_days, keep_cancelled_days) <= 36500
  )
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
  'How many jobs the tenant may start in each of its turns.';
comment on column public.organizations.max_running is
  'How many of its jobs may run at once, across all families; null means no limit.';
comment on column public.organizations.max_queued is
  'How many of its jobs may be queued; an enqueue beyond that is refused.';
comment on column public.organizations.max_lanes is 'How many held or limited lanes it may have.';
comment on column public.organizations.keep_done_days is
  'How long done jobs are kept; null means forever. The keep_days of a type take precedence.';
comment on table public.memberships is 'Which user may act for which tenant.';
comment on table tickwork.platform_admins is 'Users who may act as an admin of every tenant.';


-- Who the caller is.

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

create function tickwork.caller_tenants()
returns setof uuid
language sql
stable
security definer -- reads memberships, whose own policy calls this function
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
security definer -- nobody may read the list of platform admins
set search_path = ''
as $$
  select exists (
    select
    from tickwork.platform_admins
    where platform_admins.user_id = tickwork.caller_id()
  );
$$;

create function tickwork.may_act_for(tenant_id uuid)
returns boolean
language sql
stable
set search_path = ''
as $$
  select tickwork.caller_is_service()
    or tickwork.caller_is_platform_admin()
    or may_act_for.tenant_id in (select tickwork.caller_tenants());
$$;

create function tickwork.may_manage(tenant_id uuid)
returns boolean
language sql
stable
security definer -- reads memberships, whose own policy depends on the caller's tenants
set search_path = ''
as $$
  select tickwork.caller_is_service()
    or tickwork.caller_is_platform_admin()
    or exists (
      select
      from public.memberships
      where memberships.tenant_id = may_manage.tenant_id
        and memberships.user_id = tickwork.caller_id()
        and memberships.role in ('admin', 'owner')
    );
$$;

create function tickwork.check_caller(tenant_id uuid)
returns void
language plpgsql
stable
security definer -- must be able to tell an unknown tenant from a known one
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

  -- The same error for a foreign tenant as for a missing one, so that nobody learns which ids exist.
  if not exists (select from tickwork.caller_tenants() as own(id) where own.id = check_caller.tenant_id)
    and not tickwork.caller_is_platform_admin()
  then
    raise exception 'tenant_id: you are not a member of tenant %', coalesce(check_caller.tenant_id::text, 'null')
      using errcode = 'TWMEM', hint = 'Sign in as a member of the tenant, or ask one of its admins to add you.';
  end if;
end
$$;

comment on function tickwork.caller_id is
  'The signed-in user, from the claims of the verified token; null if there is none.';
comment on function tickwork.caller_is_service is
  'Whether the service role, or a role with its rights, issued the statement. A missing setting never makes it true.';
comment on function tickwork.caller_tenants is
  'The tenants that the signed-in user is a member of.';
comment on function tickwork.caller_is_platform_admin is
  'Whether the signed-in user is a platform admin.';
comment on function tickwork.may_act_for is
  'Whether the caller is a member of the tenant, a platform admin or the service.';
comment on function tickwork.may_manage is
  'Whether the caller is an admin or owner of the tenant, a platform admin or the service.';
comment on function tickwork.check_caller is
  'Returns if the caller may act for the tenant. Raises TWTNT (service, unknown tenant) or TWMEM (anybody else).';


-- Who may access a table, in one place. A worker reaches the rows of the tenant whose job it holds, members reach the
-- rows of their tenants, and every signed-in user reaches the rows of a table that is the same for all.

create function tickwork.guard_table(
  target regclass,
  members text default null,
  worker text default null,
  service text default null,
  signed_in text default null,
  queue text default 'select, insert, update, delete'
)
returns void
language plpgsql
volatile
as $$
declare
  part record;
begin
  execute format('alter table %s enable row level security', target);
  execute format('alter table %s force row level security', target);
  execute format(
    'revoke all on %s from public, anon, authenticated, service_role, tickwork_worker, tickwork_owner', target
  );

  for part in
    select *
    from (
      values
        (queue, 'tickwork_owner', 'the_queue_reaches_all', 'all', 'true'),
        (service, 'service_role', null, null, null),
        (
          members, 'authenticated', 'members_reach_their_own', 'all',
          'tenant_id in (select tickwork.caller_tenants()) or (select tickwork.caller_is_platform_admin())'
        ),
        (
          worker, 'tickwork_worker', 'the_worker_reaches_the_held_tenant', 'all',
          'tenant_id = (select tickwork.held_tenant())'
        ),
        (signed_in, 'authenticated, tickwork_worker', 'everybody_signed_in_reads', 'select', 'true')
    ) as given(rights, roles, policy, command, condition)
    where given.rights is not null
  loop
    execute format('grant %s on %s to %s', part.rights, target, part.roles);

    -- Rows that may be read may also be written, as far as the role has the right.
    if part.policy is not null then
      execute format(
        'create policy %I on %s for %s to %s using (%s)', part.policy, target, part.command, part.roles, part.condition
      );
    end if;
  end loop;
end
$$;

comment on function tickwork.guard_table is
  'Enables row-level security on a table and grants what each role may do: members on the rows of their tenants (by '
  'tenant_id), the worker on the rows of the tenant whose job it holds, signed_in on every row. Nobody else has any '
  'right.';

select tickwork.guard_table(
  'public.memberships', members => 'select', service => 'select, insert, update, delete', queue => 'select'
);
select tickwork.guard_table('tickwork.platform_admins', service => 'select, insert, update, delete', queue => 'select');
select tickwork.guard_table('public.organizations', service => 'select, insert, update, delete', queue => 'select');

-- Its rows are the tenants: its id is what other tables call tenant_id.
grant select on public.organizations to authenticated;

create policy members_see_their_tenants on public.organizations
for select to authenticated
using (
  id in (select tickwork.caller_tenants())
  or (select tickwork.caller_is_platform_admin())
);


-- What the queue itself keeps about a tenant. Its number is its place in the order of turns.

create table tickwork.tenants (
  number bigint generated always as identity primary key,
  tenant_id uuid not null unique references public.organizations (id) on delete cascade,
  weight integer not null,
  is_limited boolean not null,
  is_paused boolean not null default false
);

comment on table tickwork.tenants is 'The tenants as a claim sees them. Kept in step with organizations and pauses.';

select tickwork.guard_table('tickwork.tenants');

create function tickwork.follow_tenant()
returns trigger
language plpgsql
security definer -- nobody may write tenants
set search_path = ''
as $$
begin
  if tg_op = 'INSERT' then
    insert into tickwork.tenants (tenant_id, weight, is_limited)
    values (new.id, new.weight, new.max_running is not null);
  else
    update tickwork.tenants
    set
      weight = new.weight,
      is_limited = new.max_running is not null
    where tenants.tenant_id = new.id;
  end if;

  perform tickwork.unblock(new.id);
  return null;
end
$$;

create trigger follow_tenant after insert or update of weight, max_running on public.organizations
for each row execute function tickwork.follow_tenant();
