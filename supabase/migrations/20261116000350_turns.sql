-- Whose turn it is. Jobs of one family, type, priority, tenant and lane wait in one line, the oldest due one first.
-- A claim serves lines: tenants take turns, and within a tenant its lines do. Only claims write turns and lines, and
-- never wait for each other's; everybody else leaves a wake for the next claim to find.

create function tickwork.turn_id(family text, type text, priority integer, tenant_id uuid)
returns bigint
language sql
immutable
-- A body that is parsed here and now needs no search path, and can be part of an index.
return hashtextextended(type, hashtextextended(family, uuid_hash_extended(tenant_id, priority)));

create function tickwork.line_id(family text, type text, priority integer, tenant_id uuid, lane text)
returns bigint
language sql
immutable
return hashtextextended(coalesce(lane, ''), tickwork.turn_id(family, type, priority, tenant_id));

comment on function tickwork.turn_id is
  'The key of the turn that a job belongs to.';
comment on function tickwork.line_id is
  'The key of the line that a job waits in.';

create table tickwork.turns (
  id bigint primary key,
  family text not null,
  type text not null,
  priority integer not null,
  tenant_id uuid not null,
  is_open boolean not null default true,
  gate text,
  weight integer not null,
  lease_seconds integer not null,
  timeout_seconds integer,
  is_limited boolean not null,
  has_lanes boolean not null default false,
  turn timestamptz not null default clock_timestamp(),
  served_at timestamptz not null default clock_timestamp(),
  starts bigint not null default 0
)
with (fillfactor = 50, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0.1);

comment on table tickwork.turns is
  'A tenant''s place among the others of one family, type and priority.';
comment on column tickwork.turns.is_open is
  'Whether a claim should look here. True a little too long is harmless, false too long is not.';
comment on column tickwork.turns.is_limited is
  'Whether its type or tenant has limits to ask for. Like weight and lease it follows job_types and organizations.';
comment on column tickwork.turns.gate is 'The limit or hold that closed it, if one did.';
comment on column tickwork.turns.turn is 'Who waits longest is next. A tenant served goes to the end.';
comment on column tickwork.turns.starts is 'Jobs started, as counted by whoever found the row free.';

create index turns_open on tickwork.turns (family, type, priority desc, turn) where is_open;
create index turns_gated on tickwork.turns (gate) where gate is not null;

create table tickwork.lines (
  id bigint primary key,
  turn_id bigint not null,
  lane text,
  is_open boolean not null default true,
  gate text,
  is_limited boolean not null default false,
  served_at timestamptz not null default clock_timestamp()
)
with (fillfactor = 50, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0.1);

comment on table tickwork.lines is
  'The lanes of a turn that have, or had, jobs waiting. A missing one is a closed one.';

create index lines_open on tickwork.lines (turn_id, served_at) where is_open;
create index lines_gated on tickwork.lines (gate) where gate is not null;

create table tickwork.wakes (
  id bigint generated always as identity primary key,
  family text not null,
  type text not null,
  priority integer not null,
  tenant_id uuid not null,
  lane text,
  is_for_line boolean not null default true,
  wake_at timestamptz not null
)
with (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0.1);

comment on table tickwork.wakes is
  'Lines to open at a time: a job became due there, or what closed it is over. Taken by the next claim.';
comment on column tickwork.wakes.is_for_line is 'False opens the turn and leaves its lines as they are.';

create index wakes_due on tickwork.wakes (family, wake_at);

create table tickwork.served_types (
  family text not null,
  type text not null,
  is_alone boolean not null default true,
  is_held boolean not null default false,
  full_until timestamptz not null default '-infinity',
  reap_at timestamptz not null default '-infinity',
  primary key (family, type)
)
with (fillfactor = 50);

create index served_types_full on tickwork.served_types (full_until);

comment on table tickwork.served_types is
  'The types that a family has turns of: whether they are paused or full, and when to look for expired leases again.';


-- What is in the way of jobs on purpose: a family, type or tenant that is paused, a lane that is held.

create table tickwork.holds (
  scope text primary key,
  until timestamptz not null default 'infinity',
  reason text not null default '',
  created_at timestamptz not null default clock_timestamp()
);

create function tickwork.family_scope(family text)
returns text
language sql
immutable
return 'family ' || family;

create function tickwork.type_scope(type text)
returns text
language sql
immutable
return 'type ' || type;

create function tickwork.tenant_scope(tenant_id uuid)
returns text
language sql
immutable
return 'tenant ' || tenant_id::text;

create function tickwork.tenant_type_scope(tenant_id uuid, type text)
returns text
language sql
immutable
return 'tenant ' || tenant_id::text || ' type ' || type;

create function tickwork.lane_scope(family text, tenant_id uuid, lane text)
returns text
language sql
immutable
return 'tenant ' || tenant_id::text || ' family ' || family || ' lane ' || lane;

comment on table tickwork.holds is 'Scopes that are paused or held, until when and why.';


-- Limits of a lane, and the start rates: a bucket has room for the starts of one minute and fills evenly.

create table tickwork.lanes (
  family text not null,
  tenant_id uuid not null references public.organizations (id) on delete cascade,
  lane text not null,
  max_running integer,
  starts_per_minute integer,
  primary key (family, tenant_id, lane),
  constraint max_running_is_1_or_more check (max_running >= 1),
  constraint starts_per_minute_are_1_or_more check (starts_per_minute >= 1)
);

create table tickwork.buckets (
  scope text primary key,
  tokens double precision not null,
  filled_at timestamptz not null
)
with (fillfactor = 50);

comment on table tickwork.lanes is 'The lanes that have limits of their own.';
comment on table tickwork.buckets is 'How many starts a rate limit has left, as of filled_at.';


-- How many more jobs a tenant may enqueue before somebody has to count what is queued. In parts, so that enqueues of
-- one tenant need not wait for each other.

create table tickwork.allowances (
  tenant_id uuid not null,
  jobs_left integer not null
)
with (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0.1);

create index allowances_of_a_tenant on tickwork.allowances (tenant_id);

comment on table tickwork.allowances is
  'Queued jobs of the tenant and the allowances together never exceed its max_queued.';

create function tickwork.forget_tenant()
returns trigger
language plpgsql
security definer -- who deletes a tenant may not touch these tables
set search_path = ''
as $$
begin
  delete from tickwork.lines
  using tickwork.turns
  where turns.id = lines.turn_id
    and turns.tenant_id = old.id;

  delete from tickwork.turns
  where turns.tenant_id = old.id;

  delete from tickwork.wakes
  where wakes.tenant_id = old.id;

  delete from tickwork.allowances
  where allowances.tenant_id = old.id;

  delete from tickwork.holds
  where starts_with(holds.scope, tickwork.tenant_scope(old.id));

  delete from tickwork.buckets
  where starts_with(buckets.scope, tickwork.tenant_scope(old.id));

  return null;
end
$$;

create trigger forget_tenant
after delete on public.organizations
for each row
execute function tickwork.forget_tenant();

alter function tickwork.forget_tenant owner to tickwork_owner;

do $$
declare
  inner_table text;
begin
  foreach inner_table in array array[
    'turns', 'lines', 'wakes', 'served_types', 'holds', 'lanes', 'buckets', 'allowances'
  ]
  loop
    execute format('alter table tickwork.%I enable row level security', inner_table);
    execute format('alter table tickwork.%I force row level security', inner_table);
    execute format(
      'create policy the_queue_keeps_%1$s on tickwork.%1$I for all to tickwork_owner using (true) with check (true)',
      inner_table
    );
    execute format('revoke all on tickwork.%I from public, anon, authenticated, service_role', inner_table);
    execute format('grant select, insert, update, delete on tickwork.%I to tickwork_owner', inner_table);
  end loop;
end
$$;

revoke execute on function
  tickwork.forget_tenant,
  tickwork.turn_id,
  tickwork.line_id,
  tickwork.family_scope,
  tickwork.type_scope,
  tickwork.tenant_scope,
  tickwork.tenant_type_scope,
  tickwork.lane_scope
from public, anon, authenticated, service_role;

-- They are part of an index on jobs: who inserts evaluates them.
grant execute on function tickwork.turn_id, tickwork.line_id to authenticated, service_role, tickwork_owner;

grant execute on function
  tickwork.family_scope,
  tickwork.type_scope,
  tickwork.tenant_scope,
  tickwork.tenant_type_scope,
  tickwork.lane_scope
to tickwork_owner;
