-- Filters, and where jobs can be found besides the record.

create type tickwork.job_filter as (
  tenant_id uuid,
  family text,
  type text,
  status text,
  lane text,
  error_code text,
  created_after timestamptz,
  created_before timestamptz,
  source text,
  key_starts_with text,
  finished_after timestamptz,
  finished_before timestamptz,
  after_id uuid,
  oldest_first boolean,
  correlation_id text,
  payload jsonb,
  error_message text,
  after_at timestamptz,
  tenant_ids uuid[]
);

comment on type tickwork.job_filter is
  'The conditions that jobs must meet; null matches everything. payload is a part of theirs, error_message what '
  'normalised_error makes of theirs. Callers pass the fields up to error_message, resolve_filter adds the others.';

create function tickwork.normalised_error(message text)
returns text
language sql
immutable
parallel safe
return regexp_replace(
  regexp_replace(
    left(message, 500),
    '[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|''[^'']*''|"[^"]*"|0x[0-9a-fA-F]+|'
    -- Such as the end of a worker's id: eight digits and letters or more, with some of each.
    || '\m(?=[0-9]*[a-fA-F])(?=[a-fA-F]*[0-9])[0-9a-fA-F]{8,}\M',
    '…',
    'g'
  ),
  '[0-9]+([.,:][0-9]+)*', '#', 'g'
);

comment on function tickwork.normalised_error is
  'A message without what differs from job to job: ids, quoted text and numbers.';

create function tickwork.new_filter(
  tenant_id uuid,
  family text,
  type text,
  status text,
  lane text,
  error_code text,
  created_after timestamptz,
  created_before timestamptz,
  source text default null,
  key_starts_with text default null,
  finished_after timestamptz default null,
  finished_before timestamptz default null,
  after_id uuid default null,
  oldest_first boolean default false,
  correlation_id text default null
)
returns tickwork.job_filter
language sql
immutable
return row(
  tenant_id, family, type, status, lane, error_code, created_after, created_before, source, key_starts_with,
  finished_after, finished_before, after_id, oldest_first, correlation_id, null, null, null, null
)::tickwork.job_filter;

create function tickwork.resolve_filter(wanted tickwork.job_filter)
returns tickwork.job_filter
language plpgsql
stable
as $$
begin
  if wanted.status not in ('queued', 'running', 'done', 'failed', 'dead', 'cancelled') then
    raise exception 'status: there is no status %', quote_literal(wanted.status)
      using errcode = 'TWARG', hint = 'Use queued, running, done, failed, dead or cancelled.';
  end if;

  wanted.tenant_ids := case
    when wanted.tenant_id is not null then array(select wanted.tenant_id where tickwork.may_act_for(wanted.tenant_id))
    when not tickwork.caller_is_service() and not tickwork.caller_reads_all() then
      array(select tickwork.caller_tenants())
  end;
  wanted.key_starts_with := nullif(wanted.key_starts_with, '');
  wanted.oldest_first := coalesce(wanted.oldest_first, false);
  -- A job that finished before a time was created before it.
  wanted.created_before := least(wanted.created_before, wanted.finished_before);
  wanted.after_at := (
    select jobs.created_at
    from public.jobs
    where jobs.id = wanted.after_id
      and tickwork.may_act_for(jobs.tenant_id)
  );

  if wanted.after_id is not null and wanted.after_at is null then
    raise exception 'after_id: there is no job %', wanted.after_id
      using errcode = 'TWJOB', hint = 'It was purged, or you may not see it. Start again without after_id.';
  end if;

  return wanted;
end
$$;

comment on function tickwork.resolve_filter is
  'The filter completed for this caller: the tenants whose jobs they may see (null is every tenant), and when the job '
  'after_id was created. Raises TWARG, TWJOB.';


-- The queued and running jobs, wherever they are filed. With family, type or tenant given, they are found by index.

create view tickwork.unfinished
with (security_invoker = true)
as
select
  'queued' as status, tenants.tenant_id, family_types.family, family_types.type, waiting.lane, waiting.run_at,
  timestamptz 'infinity' as wake_at, waiting.job_id
from tickwork.family_types
cross join tickwork.tenants
join tickwork.waiting on waiting.family = family_types.family
  and waiting.type = family_types.type
  and waiting.tenant_number = tenants.number
union all
select
  'queued', tenants.tenant_id, family_types.family, family_types.type, parked.lane, parked.run_at,
  parked.wake_at, parked.job_id
from tickwork.family_types
cross join tickwork.tenants
join tickwork.parked on parked.family = family_types.family
  and parked.type = family_types.type
  and parked.tenant_number = tenants.number
union all
select
  'queued', tenants.tenant_id, family_types.family, family_types.type, awaiting.lane, null, null, awaiting.job_id
from tickwork.family_types
cross join tickwork.tenants
join tickwork.awaiting on awaiting.family = family_types.family
  and awaiting.type = family_types.type
  and awaiting.tenant_number = tenants.number
union all
select 'running', leases.tenant_id, leases.family, leases.type, leases.lane, null, null, leases.job_id
from tickwork.leases;

comment on view tickwork.unfinished is 'The queued and running jobs.';
comment on column tickwork.unfinished.wake_at is
  'When the job becomes due. Infinity: it already is. Null: it waits for other jobs, or is running.';

-- The failed, dead and cancelled jobs, with columns that only the record has.

create view tickwork.unsuccessful_jobs
with (security_invoker = true)
as
select
  unsuccessful.job_id as id, unsuccessful.tenant_id, unsuccessful.family, unsuccessful.type, unsuccessful.status,
  unsuccessful.error_code, unsuccessful.created_at, unsuccessful.finished_at, jobs.lane, jobs.source,
  jobs.idempotency_key, jobs.dedupe_key, jobs.correlation_id, jobs.payload, jobs.error_message
from tickwork.unsuccessful
join public.jobs on jobs.id = unsuccessful.job_id;

comment on view tickwork.unsuccessful_jobs is 'The failed, dead and cancelled jobs.';

revoke all on tickwork.unfinished, tickwork.unsuccessful_jobs from public, anon, authenticated, service_role;
grant select on tickwork.unfinished, tickwork.unsuccessful_jobs to tickwork_owner;
