-- The tenants. Left out where the application has a table of them already: `tickwork migrate --tenants`.

create table public.organizations (
  id uuid primary key default gen_random_uuid(),
  name text not null,
  created_at timestamptz not null default clock_timestamp(),
  constraint name_is_not_empty check (name <> '')
);

comment on table public.organizations is 'The tenants.';

select tickwork.guard_table('public.organizations', service => 'select, insert, update, delete', queue => null);

-- Its rows are the tenants: its id is what other tables call tenant_id.
grant select on public.organizations to authenticated;

create policy members_see_their_tenants on public.organizations
for select to authenticated
using (
  id in (select tickwork.caller_tenants())
  or (select tickwork.caller_reads_all())
);
