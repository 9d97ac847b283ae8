-- The record: one row per job, for people and programs to read. The queue itself works on other tables.

create table public.jobs (
  -- First what stays as it is: of an update, the log holds what is between the first and the last column that differ.
  id uuid primary key default gen_random_uuid(),
  -- No foreign key: it would look up and lock the tenant once for every job. Instead, an enqueue holds the tenants of
  -- its jobs, and forget_tenant deletes jobs.
  tenant_id uuid not null,
  type text not null,
  family text not null,
  lane text,
  after uuid[],
  after_when text,
  priority integer not null default 0,
  payload jsonb not null default '{}',
  max_attempts integer not null,
  idempotency_key text,
  dedupe_key text,
  correlation_id text,
  traceparent text,
  trace_link text,
  source text not null default 'manual',
  source_ref text,
  notify boolean not null default false,
  is_redacted boolean not null default false,
  is_awaited boolean not null default false,
  created_by uuid,
  -- After the transaction has got its number, by which the rollup knows which jobs may still turn up (roll_up).
  created_at timestamptz not null default case when pg_current_xact_id() is not null then clock_timestamp() end,
  run_at timestamptz not null default clock_timestamp(),
  ready_at timestamptz,
  cancel_requested_at timestamptz,
  lease_seconds integer,
  timeout_seconds integer,
  worker_id text,
  attempts integer not null default 0,
  started_at timestamptz,
  status text not null default 'queued',
  lease_expires_at timestamptz,
  progress double precision,
  progress_message text,
  updated_at timestamptz not null default clock_timestamp(),
  finished_at timestamptz,
  error_code text,
  error_message text,
  result jsonb
)
-- Every job is updated a few times and then never again. With room on its page, and no index on columns that change, an
-- update writes nothing but that page. There is enough room for a batch to rewrite all rows of a page at once: with
-- less, some rows would move to other pages, and the table would be no smaller.
with (
  fillfactor = 38,
  autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_scale_factor = 0.05,
  autovacuum_vacuum_cost_delay = 0,
  autovacuum_analyze_scale_factor = 0.05
);

comment on table public.jobs is
  'The jobs, for everybody to read. Clients insert; every other change goes through a function.';
comment on column public.jobs.run_at is 'The job does not start before this time. A retry moves it.';
comment on column public.jobs.attempts is 'Counted at the claim, so that a crash counts too.';
comment on column public.jobs.lease_seconds is 'What a heartbeat extends the lease by.';
comment on column public.jobs.timeout_seconds is
  'How long the handler may run, as set by the type at the time of the claim.';
comment on column public.jobs.worker_id is 'The worker that has, or last had, the job. For display only.';
comment on column public.jobs.traceparent is
  'The W3C trace context of whoever enqueued it, which the job continues. Without one its id is that of its trace.';
comment on column public.jobs.trace_link is
  'The trace context of what made a trigger or a schedule start it. The job has a trace of its own, with this link.';
comment on column public.jobs.notify is 'Whether its end is announced on the channel tickwork_done, with its id.';
comment on column public.jobs.is_awaited is 'Whether another job has waited for it since it was created.';
comment on column public.jobs.is_redacted is
  'Whether something in its payload is redacted, or its type names values that are.';
comment on column public.jobs.after is 'The jobs that it waits for before it can start.';
comment on column public.jobs.after_when is 'all_done, all_ended or any_ended: when those have got far enough.';
comment on column public.jobs.ready_at is 'When they had got far enough. Null until then, and for jobs without after.';
comment on column public.jobs.started_at is 'When the current or last attempt started.';

-- Only on columns that never change in the life of a job. search_jobs lists jobs in the order of these four: those of a
-- tenant, of a type (so do count_jobs, the rollup and those who purge), in a lane and from a source. An index with a
-- condition costs nothing that could be measured for jobs that do not meet it; each of the other two costs about a
-- microsecond and 103 bytes of WAL.
create index jobs_of_a_tenant on public.jobs (tenant_id, created_at, id);
create index jobs_of_a_type on public.jobs (type, created_at, id);
create index jobs_in_a_lane on public.jobs (tenant_id, lane, created_at, id) where lane is not null;
create index jobs_from_a_source on public.jobs (tenant_id, source, created_at, id) where source <> 'manual';
-- The first one keeps keys unique. jobs_by_key finds jobs by the beginning of a key in any of the three, and
-- jobs_of_correlation those with one correlation_id.
create unique index jobs_idempotency_key on public.jobs (tenant_id, idempotency_key text_pattern_ops, type)
where idempotency_key is not null;
create index jobs_by_dedupe_key on public.jobs (tenant_id, dedupe_key text_pattern_ops)
where dedupe_key is not null;
create index jobs_by_correlation_id on public.jobs (tenant_id, correlation_id text_pattern_ops)
where correlation_id is not null;

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
  error jsonb,
  pid integer,
  exit_code integer,
  stdout_tail text,
  stderr_tail text,
  logs text,
  primary key (job_id, number)
);

comment on table tickwork.attempts is
  'How each attempt ended, written once, when it ended. A successful attempt that logged nothing and ran no command is '
  'only in the job''s own row.';

-- What the tenant must not read: it may quote a path, a query or a name of our network.

create table tickwork.exceptions (
  job_id uuid not null,
  number integer not null,
  tenant_id uuid not null,
  exception text not null,
  primary key (job_id, number)
);

comment on table tickwork.exceptions is
  'For the operator: the exceptions that ended attempts, as their workers saw them. Members cannot read it.';

-- The few jobs that people look for among millions of successful ones.

create table tickwork.unsuccessful (
  job_id uuid primary key,
  tenant_id uuid not null,
  family text not null,
  type text not null,
  status text not null,
  error_code text,
  created_at timestamptz not null,
  finished_at timestamptz not null
);

create index unsuccessful_of_a_tenant on tickwork.unsuccessful (tenant_id, status, created_at, job_id);
create index unsuccessful_by_status on tickwork.unsuccessful (status, created_at, job_id);
create index unsuccessful_by_error on tickwork.unsuccessful (error_code, tenant_id, created_at, job_id);
create index unsuccessful_by_end on tickwork.unsuccessful (tenant_id, finished_at);

comment on table tickwork.unsuccessful is 'The failed, dead and cancelled jobs, so that they are found quickly.';

create view public.job_attempts
with (security_invoker = true)
as
select
  attempts.job_id, attempts.number, attempts.tenant_id, attempts.worker_id, attempts.started_at, attempts.finished_at,
  attempts.status, attempts.error_code, attempts.error_message, attempts.error, attempts.pid,
  attempts.exit_code, attempts.stdout_tail, attempts.stderr_tail, attempts.logs
from tickwork.attempts
union all
select
  jobs.id, jobs.attempts, jobs.tenant_id, jobs.worker_id, jobs.started_at, jobs.finished_at, jobs.status,
  null, null, null, null, null, null, null, null
from public.jobs
where jobs.status in ('running', 'done')
  and jobs.worker_id is not null
  and not exists (
    select
    from tickwork.attempts
    where attempts.job_id = jobs.id
      and attempts.number = jobs.attempts
  );

comment on view public.job_attempts is 'The attempts of each job, and how they ended.';
comment on column public.job_attempts.status is 'running, done, failed, timeout, cancelled or lease_expired.';
comment on column public.job_attempts.error is 'Further details of the error, besides its code and message.';
comment on column public.job_attempts.pid is 'The process of a command, on the machine of its worker.';
comment on column public.job_attempts.exit_code is 'That of a command; 128 and more: the signal that ended it.';
comment on column public.job_attempts.stdout_tail is 'The end of what a command printed, up to 8000 characters.';
comment on column public.job_attempts.logs is 'The last lines the handler logged.';

-- No foreign key: it would look up and lock the job that was just settled, once for every attempt.

create function tickwork.forget_jobs()
returns trigger
language plpgsql
security definer -- those who delete a tenant may not write these tables
set search_path = ''
as $$
declare
  ids constant uuid[] := array(select gone.id from gone);
begin
  if ids = '{}' then
    return null;
  end if;

  perform tickwork.count_early(array(select tickwork.state_of(gone) from gone), true);

  -- By key, whatever the statistics say: a join might start with a scan of all attempts.
  delete from tickwork.attempts where attempts.job_id = any (ids);
  delete from tickwork.exceptions where exceptions.job_id = any (ids);
  delete from tickwork.redacted_values where redacted_values.job_id = any (ids);
  delete from tickwork.unsuccessful where unsuccessful.job_id = any (ids);
  delete from tickwork.leases where leases.job_id = any (ids);
  delete from tickwork.steps where steps.job_id = any (ids);
  delete from tickwork.waits where waits.job_id = any (ids);
  delete from tickwork.arrivals where arrivals.job_id = any (ids);

  delete from tickwork.taken_keys
  where taken_keys.ctid = any (array(
    select held.place
    from gone
    cross join lateral (
      select taken_keys.ctid as place
      from tickwork.taken_keys
      where taken_keys.tenant_id = gone.tenant_id
        and taken_keys.dedupe_key = gone.dedupe_key
        and taken_keys.job_id = gone.id
      limit 1
    ) as held
  ));

  perform tickwork.unfile_jobs(array(
    select row(
      gone.id, gone.tenant_id, gone.family, gone.type, gone.lane, gone.priority, gone.run_at
    )::tickwork.filed_job
    from gone
    where gone.status = 'queued'
  ));

  perform tickwork.after_delete(ids);
  perform tickwork.note_awaited_end(array(select gone.id from gone where gone.is_awaited));
  return null;
end
$$;

create trigger forget_jobs
after delete on public.jobs
referencing old table as gone
for each statement
execute function tickwork.forget_jobs();

select tickwork.guard_table('public.jobs', members => 'select', service => 'select');
select tickwork.guard_table('tickwork.attempts', members => 'select', service => 'select');
select tickwork.guard_table('tickwork.exceptions', service => 'select');
select tickwork.guard_table('tickwork.unsuccessful', members => 'select', service => 'select');

revoke all on public.job_attempts from public, anon, authenticated, service_role;
grant select on public.job_attempts to authenticated, service_role;

-- The columns that a client may set. A trigger fills in the rest.
grant insert (
  tenant_id, type, payload, priority, run_at, idempotency_key, dedupe_key, lane, correlation_id, traceparent,
  notify, after, after_when
) on public.jobs to authenticated, service_role;
