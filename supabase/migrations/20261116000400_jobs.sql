-- The queue: one row per job, one row per attempt that did not end well or logged something.

create table public.jobs (
  id uuid primary key default gen_random_uuid(),
  tenant_id uuid not null references public.organizations (id) on delete cascade,
  type text not null,
  family text not null,
  lane text,
  status text not null default 'queued',
  priority integer not null default 0,
  payload jsonb not null default '{}',
  result jsonb,
  run_at timestamptz not null default clock_timestamp(),
  attempts integer not null default 0,
  max_attempts integer not null,
  lease_token uuid,
  lease_expires_at timestamptz,
  lease_seconds integer,
  timeout_seconds integer,
  worker_id text,
  progress double precision,
  progress_message text,
  cancel_requested_at timestamptz,
  idempotency_key text,
  dedupe_key text,
  correlation_id text,
  source text not null default 'manual',
  source_ref text,
  error_code text,
  error_message text,
  created_by uuid,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  started_at timestamptz,
  finished_at timestamptz
)
-- Every job is rewritten a few times and then rests: leave room for heartbeats on the page, and vacuum early.
with (
  fillfactor = 70,
  autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_cost_delay = 0,
  autovacuum_analyze_scale_factor = 0.05
);

comment on table public.jobs is
  'The queue. Clients insert and read; every other change goes through a function.';
comment on column public.jobs.run_at is 'Not before this time. A retry moves it.';
comment on column public.jobs.attempts is 'Counted at the claim, so that a crash counts too.';
comment on column public.jobs.lease_token is 'The fence: fresh for every claim, asked for by every later call.';
comment on column public.jobs.lease_seconds is 'What a heartbeat extends the lease by.';
comment on column public.jobs.timeout_seconds is 'How long the handler may run, as its type said at the claim.';
comment on column public.jobs.worker_id is 'Who has, or last had, the job. For display only.';
comment on column public.jobs.started_at is 'When the current or last attempt started.';

-- No index holds a lease or heartbeat column: heartbeats stay heap-only updates.
create index jobs_due on public.jobs (tenant_id, tickwork.line_id(family, type, priority, tenant_id, lane), run_at)
where status = 'queued';
-- With the start at its end every entry is a new one: among equal ones the dead would be looked through at each insert.
create index jobs_running on public.jobs (type, tenant_id, lane, started_at) where status = 'running';
create index jobs_out_of_attempts on public.jobs (family) where status = 'queued' and attempts >= max_attempts;
create index jobs_of_a_tenant on public.jobs (tenant_id, created_at, id);
create index jobs_finished on public.jobs (finished_at) where finished_at is not null;

create unique index jobs_idempotency_key on public.jobs (tenant_id, type, idempotency_key)
where idempotency_key is not null;

create unique index jobs_dedupe_key on public.jobs (tenant_id, dedupe_key)
where dedupe_key is not null and status in ('queued', 'running');

create table tickwork.attempts (
  job_id uuid not null,
  number integer not null,
  tenant_id uuid not null,
  worker_id text not null,
  started_at timestamptz not null,
  finished_at timestamptz not null,
  status text not null,
  error_code text,
  error_message text,
  logs text,
  primary key (job_id, number)
);

comment on table tickwork.attempts is
  'How each attempt ended, written once, when it did. The running attempt is in the job''s own row, and so is one that '
  'ended well and logged nothing.';

create view public.job_attempts
with (security_invoker = true)
as
select
  attempts.job_id, attempts.number, attempts.tenant_id, attempts.worker_id, attempts.started_at, attempts.finished_at,
  attempts.status, attempts.error_code, attempts.error_message, attempts.logs
from tickwork.attempts
union all
select
  jobs.id, jobs.attempts, jobs.tenant_id, jobs.worker_id, jobs.started_at, jobs.finished_at, jobs.status,
  null, null, null
from public.jobs
where jobs.status = 'done'
  and jobs.worker_id is not null
  and not exists (
    select
    from tickwork.attempts
    where attempts.job_id = jobs.id
      and attempts.number = jobs.attempts
  );

comment on view public.job_attempts is 'How each attempt ended.';
comment on column public.job_attempts.status is 'done, failed, lease_expired or cancelled.';
comment on column public.job_attempts.logs is 'The last lines the handler logged.';

-- No foreign key: it would look up, and lock, the job that was just settled, once for every attempt.

create function tickwork.forget_attempts()
returns trigger
language plpgsql
security definer -- who deletes a tenant may not delete attempts himself
set search_path = ''
as $$
begin
  delete from tickwork.attempts
  using gone
  where attempts.job_id = gone.id;

  return null;
end
$$;

create trigger forget_attempts
after delete on public.jobs
referencing old table as gone
for each statement
execute function tickwork.forget_attempts();

alter function tickwork.forget_attempts owner to tickwork_owner;
revoke execute on function tickwork.forget_attempts from public, anon, authenticated, service_role;

alter table public.jobs enable row level security;
alter table public.jobs force row level security;
alter table tickwork.attempts enable row level security;
alter table tickwork.attempts force row level security;

create policy members_see_their_jobs on public.jobs
for select to authenticated
using (
  tenant_id in (select tickwork.caller_tenants())
  or (select tickwork.caller_is_platform_admin())
);

create policy members_insert_for_their_tenants on public.jobs
for insert to authenticated
with check (
  tenant_id in (select tickwork.caller_tenants())
  or (select tickwork.caller_is_platform_admin())
);

create policy members_see_their_attempts on tickwork.attempts
for select to authenticated
using (
  tenant_id in (select tickwork.caller_tenants())
  or (select tickwork.caller_is_platform_admin())
);

create policy the_queue_keeps_jobs on public.jobs
for all to tickwork_owner
using (true)
with check (true);

create policy the_queue_keeps_attempts on tickwork.attempts
for all to tickwork_owner
using (true)
with check (true);

revoke all on public.jobs, public.job_attempts, tickwork.attempts from public, anon, authenticated, service_role;

grant select on public.jobs, public.job_attempts, tickwork.attempts to authenticated, service_role;
grant select, insert, update, delete on public.jobs, tickwork.attempts to tickwork_owner;

-- What a client owns of a job. A trigger fills in the rest.
grant insert (
  tenant_id, type, payload, priority, run_at, idempotency_key, dedupe_key, lane, correlation_id
) on public.jobs to authenticated, service_role;
