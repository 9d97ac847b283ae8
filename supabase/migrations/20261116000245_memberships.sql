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

select tickwork.guard_table(
  'public.memberships', members => 'select', service => 'select, insert, update, delete', queue => null
);
