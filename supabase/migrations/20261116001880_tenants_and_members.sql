-- Where tenants and members are kept: in organizations and memberships, or in tables of the application, which
-- `tickwork migrate` names in the settings read here. No other chapter asks which tables they are.

create function tickwork.add_tenant_settings()
returns trigger
language plpgsql
security definer -- whoever adds a tenant need not have a right to its settings
set search_path = ''
as $$
begin
  insert into public.tenant_settings (tenant_id)
  values ((to_jsonb(new) ->> tg_argv[0])::uuid);

  return null;
end
$$;

comment on function tickwork.add_tenant_settings is
  'Gives a new tenant its settings. Its argument is the key of the table of tenants.';

-- A deletion locks the tenant before its jobs, and whoever works on a job may lock the tenant after it. So that the two
-- cannot deadlock, those who are at work are waited for first, and nobody else can begin.

create function tickwork.wait_for_work()
returns trigger
language plpgsql
security definer -- whoever deletes a tenant may not lock these rows
set search_path = ''
as $$
declare
  deleted constant uuid := to_jsonb(old) ->> tg_argv[0];
begin
  perform
  from tickwork.lane_rules
  where lane_rules.tenant_id = deleted
  order by lane_rules.family, lane_rules.lane
  for update;

  -- Claims skip what is locked. Those that are under way have their leases after this.
  perform
  from public.jobs
  where jobs.tenant_id = deleted
    and jobs.status = 'queued'
  order by jobs.id
  for update;

  perform
  from tickwork.leases
  where leases.tenant_id = deleted
  order by leases.job_id
  for update;

  return old;
end
$$;

comment on function tickwork.wait_for_work is
  'Waits for those who work on jobs of a tenant that is to be deleted, and lets nobody else begin. Its argument is the '
  'key of the table of tenants.';

-- The rows of a table become the tenants: each gets its settings, now or when it is added, and loses them with its row.

create function pg_temp.adopt_tenants(tenants regclass, key name, label name)
returns void
language plpgsql
volatile
as $$
begin
  perform pg_temp.let_queue_read(adopt_tenants.tenants);

  execute format(
    'create view tickwork.organizations with (security_invoker = true) as select %I as id, %I::text as name from %s',
    adopt_tenants.key, adopt_tenants.label, adopt_tenants.tenants
  );
  execute format(
    'alter table public.tenant_settings add constraint tenant_exists foreign key (tenant_id) references %s (%I) '
    'on delete cascade',
    adopt_tenants.tenants, adopt_tenants.key
  );
  execute format(
    'create trigger add_tenant_settings after insert on %s for each row '
    'execute function tickwork.add_tenant_settings(%L)',
    adopt_tenants.tenants, adopt_tenants.key
  );

  execute format(
    'create trigger wait_for_work before delete on %s for each row execute function tickwork.wait_for_work(%L)',
    adopt_tenants.tenants, adopt_tenants.key
  );

  grant select on tickwork.organizations to tickwork_owner, service_role;

  insert into public.tenant_settings (tenant_id)
  select organizations.id
  from tickwork.organizations;
end
$$;

-- The rows of a table or view become the memberships. Without a column for the role everybody is a member.

create function pg_temp.adopt_members(members regclass, tenant name, person name, role name)
returns void
language plpgsql
volatile
as $$
begin
  perform pg_temp.let_queue_read(adopt_members.members);

  execute format(
    'create view tickwork.memberships with (security_invoker = true) as '
    'select %I as tenant_id, %I as user_id, %s::text as role from %s',
    adopt_members.tenant, adopt_members.person,
    coalesce(quote_ident(adopt_members.role), quote_literal('member')), adopt_members.members
  );

  grant select on tickwork.memberships to tickwork_owner, service_role;
end
$$;

create function pg_temp.let_queue_read(target regclass)
returns void
language plpgsql
volatile
as $$
declare
  relation constant pg_catalog.pg_class := (select pg_class from pg_catalog.pg_class where pg_class.oid = target);
begin
  execute format('grant usage on schema %s to tickwork_owner', relation.relnamespace::regnamespace);
  execute format('grant select on %s to tickwork_owner', target);

  -- Should the application turn row-level security on, today or later, the queue still sees every row.
  if relation.relkind in ('r', 'p') then
    execute format('create policy tickwork_reads on %s for select to tickwork_owner using (true)', target);
  end if;
end
$$;

select
  pg_temp.adopt_tenants(
    coalesce(nullif(current_setting('tickwork.tenant_table', true), ''), 'public.organizations')::regclass,
    coalesce(nullif(current_setting('tickwork.tenant_key', true), ''), 'id'),
    coalesce(nullif(current_setting('tickwork.tenant_name', true), ''), 'name')
  );

select
  pg_temp.adopt_members(
    coalesce(nullif(current_setting('tickwork.member_table', true), ''), 'public.memberships')::regclass,
    coalesce(nullif(current_setting('tickwork.member_tenant', true), ''), 'tenant_id'),
    coalesce(nullif(current_setting('tickwork.member_user', true), ''), 'user_id'),
    case
      when nullif(current_setting('tickwork.member_table', true), '') is null then 'role'
      else nullif(current_setting('tickwork.member_role', true), '')
    end
  );
