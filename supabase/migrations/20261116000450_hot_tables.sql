-- What the queue works on: which jobs are waiting, which are running under which lease, which keys are taken. Small
-- tables that hold only current data. rebuild_queue rebuilds those that hold jobs from the record.

create table tickwork.waiting (
  family text collate "C" not null,
  type text collate "C" not null,
  tenant_number bigint not null,
  priority integer not null,
  run_at timestamptz not null,
  job_id uuid not null,
  lane text collate "C"
)
with (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0.1, autovacuum_vacuum_cost_delay = 0);

comment on table tickwork.waiting is
  'Queued jobs that are due and not held back by a lane: the ones that a claim can take.';

create index waiting_in_order on tickwork.waiting (family, type, tenant_number, priority desc, run_at);
create index waiting_in_a_lane on tickwork.waiting (family, tenant_number, lane) where lane is not null;

create table tickwork.parked (
  like tickwork.waiting,
  wake_at timestamptz not null
)
with (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0.1, autovacuum_vacuum_cost_delay = 0);

comment on table tickwork.parked is
  'Queued jobs that are not due yet, or whose lane is held or full. They move to waiting at wake_at, or when there is '
  'room in their lane.';

create index parked_by_time on tickwork.parked (family, tenant_number, wake_at);
create index parked_in_a_lane on tickwork.parked (family, tenant_number, lane, priority desc, run_at)
where lane is not null;

create table tickwork.awaiting (
  job_id uuid primary key,
  family text collate "C" not null,
  type text collate "C" not null,
  tenant_number bigint not null,
  lane text collate "C"
)
with (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0.1, autovacuum_vacuum_cost_delay = 0);

comment on table tickwork.awaiting is
  'Queued jobs that wait for other jobs. They move to waiting, or to parked, when those have ended.';

create index awaiting_of_a_tenant on tickwork.awaiting (family, tenant_number);

create table tickwork.awaited (
  awaited_id uuid not null,
  job_id uuid not null,
  tenant_number bigint not null,
  primary key (awaited_id, job_id)
)
with (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0.1, autovacuum_vacuum_cost_delay = 0);

comment on table tickwork.awaited is
  'Which jobs the jobs of awaiting still wait for. Only those who have locked the record of job_id remove a row.';

create index awaited_by_a_job on tickwork.awaited (job_id);

-- No unique key, so that nobody waits for it.

create table tickwork.to_check (
  tenant_number bigint not null,
  job_id uuid not null
)
with (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0.1, autovacuum_vacuum_cost_delay = 0);

comment on table tickwork.to_check is
  'Awaited jobs that have ended, or may have: what waits for them is checked next.';

create index to_check_of_a_tenant on tickwork.to_check (tenant_number);

create table tickwork.alarms (
  family text collate "C" not null,
  tenant_number bigint not null,
  wake_at timestamptz not null
)
with (fillfactor = 50, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0.1);

comment on table tickwork.alarms is
  'When to look at the parked jobs of a tenant again, and at those of to_check and arrivals. Usually one row for each '
  'family and tenant with parked jobs; two transactions that park jobs at the same moment may leave two.';

create index alarms_by_time on tickwork.alarms (family, wake_at);
create index alarms_of_a_tenant on tickwork.alarms (family, tenant_number, wake_at);

create table tickwork.leases (
  job_id uuid primary key,
  token uuid not null,
  family text collate "C" not null,
  type text collate "C" not null,
  tenant_id uuid not null,
  lane text collate "C",
  lease_seconds integer not null,
  expires_at timestamptz not null,
  is_watched boolean not null
)
with (
  fillfactor = 70,
  autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0.1, autovacuum_vacuum_cost_delay = 0
);

comment on table tickwork.leases is 'The running jobs. Whoever deletes a row under its token has settled the job.';
comment on column tickwork.leases.is_watched is
  'Whether its end affects others: it has a lane, a dedupe key, limits or notify. So has a job whose values are '
  'redacted, whose result may be redacted too.';

create index leases_of_a_type on tickwork.leases (family, type, tenant_id);

create table tickwork.taken_keys (
  tenant_id uuid not null,
  dedupe_key text not null,
  job_id uuid not null,
  primary key (tenant_id, dedupe_key)
);

comment on table tickwork.taken_keys is 'The dedupe keys of queued and running jobs.';

-- Tenants that may not start anything now although they have waiting jobs. No unique key, so that nobody waits for it.

create table tickwork.blocked (
  tenant_number bigint not null,
  family text collate "C" not null,
  type text collate "C" not null,
  until timestamptz not null
)
with (fillfactor = 50);

comment on table tickwork.blocked is
  'Tenants that are at a limit with a type: claims skip them until that time, or until one of their jobs ends.';

create index blocked_tenants on tickwork.blocked (tenant_number, family, type);

-- Lanes that are held or have limits. Other lanes have no row anywhere.

create table tickwork.lane_rules (
  family text collate "C" not null,
  tenant_id uuid not null references public.tenant_settings (tenant_id) on delete cascade,
  lane text collate "C" not null,
  max_running integer,
  starts_per_minute integer,
  held_until timestamptz,
  reason text not null default '',
  held_since timestamptz,
  wake_at timestamptz,
  primary key (tenant_id, family, lane),
  constraint max_running_is_1_or_more check (max_running >= 1),
  constraint starts_per_minute_are_1_or_more check (starts_per_minute >= 1)
);

comment on table tickwork.lane_rules is 'The lanes that are held or have limits of their own.';
comment on column tickwork.lane_rules.wake_at is 'When to check again whether its jobs may start.';

create index lane_rules_by_time on tickwork.lane_rules (tenant_id, family, wake_at) where wake_at is not null;

-- Start rates: a bucket has room for the starts of one minute and fills evenly.

create table tickwork.buckets (
  tenant_id uuid not null references public.tenant_settings (tenant_id) on delete cascade,
  scope text not null,
  tokens double precision not null,
  filled_at timestamptz not null,
  primary key (tenant_id, scope)
)
with (fillfactor = 50);

comment on table tickwork.buckets is 'How many starts a rate limit has left, as of filled_at.';

create table tickwork.allowances (
  tenant_id uuid not null,
  jobs_left integer not null
)
with (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0.1);

comment on table tickwork.allowances is
  'How many more jobs a tenant may enqueue before its queued jobs are counted again. Split into several rows, so that '
  'concurrent enqueues of one tenant need not wait for each other. Queued jobs and allowances together never exceed '
  'max_queued, except when jobs are retried.';

create index allowances_of_a_tenant on tickwork.allowances (tenant_id);

select tickwork.guard_table(hot_table)
from unnest(array[
  'tickwork.waiting', 'tickwork.parked', 'tickwork.awaiting', 'tickwork.awaited', 'tickwork.to_check',
  'tickwork.alarms', 'tickwork.leases', 'tickwork.taken_keys', 'tickwork.blocked', 'tickwork.buckets',
  'tickwork.allowances'
]::regclass[]) as hot_table;

select tickwork.guard_table('tickwork.lane_rules', service => 'select');

create function tickwork.forget_tenant()
returns trigger
language plpgsql
security definer -- those who delete a tenant may not write these tables
set search_path = ''
as $$
begin
  -- With an older snapshot, jobs that were being enqueued would stay: nothing here could see them.
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'a tenant can only be deleted in a transaction that is read committed'
      using errcode = 'invalid_transaction_state', hint = 'Begin the transaction with isolation level read committed.';
  end if;

  -- Those that were being enqueued are there by now: whoever enqueues holds the tenant. What whoever changes a job has
  -- filed is there when the job is locked.
  delete from public.jobs where jobs.tenant_id = old.tenant_id;
  delete from tickwork.allowances where allowances.tenant_id = old.tenant_id;
  delete from tickwork.blocked where blocked.tenant_number = old.number;
  delete from tickwork.pauses where pauses.scope = 'tenant ' || old.tenant_id;
  delete from tickwork.to_check where to_check.tenant_number = old.number;

  delete from tickwork.waiting
  using tickwork.family_types
  where waiting.family = family_types.family
    and waiting.type = family_types.type
    and waiting.tenant_number = old.number;

  delete from tickwork.parked
  using tickwork.family_types
  where parked.family = family_types.family
    and parked.tenant_number = old.number;

  delete from tickwork.alarms
  using tickwork.family_types
  where alarms.family = family_types.family
    and alarms.tenant_number = old.number;

  return null;
end
$$;

create trigger forget_tenant after delete on tickwork.tenants
for each row execute function tickwork.forget_tenant();
