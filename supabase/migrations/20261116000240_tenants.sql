-- What the queue keeps about each tenant, wherever the tenants themselves are kept. Every other table refers to
-- tenant_settings, and tenant_settings to the table of tenants: our own, or the one that `tickwork migrate --tenants`
-- names.

create table public.tenant_settings (
  tenant_id uuid primary key,
  timezone text not null default 'UTC',
  weight integer not null default 1,
  max_running integer,
  max_queued integer not null default 100000,
  max_lanes integer not null default 1000,
  keep_done_days integer default 30,
  keep_failed_days integer default 90,
  keep_dead_days integer default 90,
  keep_cancelled_days integer default 30,
  constraint weight_is_1_to_100 check (weight between 1 and 100),
  constraint max_running_is_1_or_more check (max_running >= 1),
  constraint max_queued_is_0_or_more check (max_queued >= 0),
  constraint max_lanes_is_0_or_more check (max_lanes >= 0),
  constraint days_are_0_to_36500 check (
    least(keep_done_days, keep_failed_days, keep_dead_days, keep_cancelled_days) >= 0
    and greatest(keep_done_days, keep_failed_days, keep_dead_days, keep_cancelled_days) <= 36500
  )
);

comment on table public.tenant_settings is
  'Time zone, weight, limits and retention of each tenant. A row comes and goes with its tenant.';
comment on column public.tenant_settings.timezone is 'The time zone of its schedules that name none.';
comment on column public.tenant_settings.weight is 'How many jobs the tenant may start in each of its turns.';
comment on column public.tenant_settings.max_running is
  'How many of its jobs may run at once, across all families; null means no limit.';
comment on column public.tenant_settings.max_queued is
  'How many of its jobs may be queued; an enqueue beyond that is refused.';
comment on column public.tenant_settings.max_lanes is 'How many held or limited lanes it may have.';
comment on column public.tenant_settings.keep_done_days is
  'How long done jobs are kept; null means forever. The keep_days of a type take precedence.';

select tickwork.guard_table('public.tenant_settings', members => 'select', service => 'select, update');


-- The tenants as a claim sees them.

create table tickwork.tenants (
  number bigint generated always as identity primary key,
  tenant_id uuid not null unique references public.tenant_settings (tenant_id) on delete cascade,
  weight integer not null,
  is_limited boolean not null,
  is_paused boolean not null default false
);

comment on table tickwork.tenants is
  'The tenants as a claim sees them. Kept in step with tenant_settings and pauses. The number is the place in the '
  'order of turns.';

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
    values (new.tenant_id, new.weight, new.max_running is not null);
  else
    update tickwork.tenants
    set
      weight = new.weight,
      is_limited = new.max_running is not null
    where tenants.tenant_id = new.tenant_id;
  end if;

  perform tickwork.unblock(new.tenant_id);
  return null;
end
$$;

create trigger follow_tenant after insert or update of weight, max_running on public.tenant_settings
for each row execute function tickwork.follow_tenant();
