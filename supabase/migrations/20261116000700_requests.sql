-- -> queued

-- A job that a caller asks for. Its id is chosen beforehand, so that the row can be found again after the insert.

create type tickwork.job_request as (
  id uuid,
  tenant_id uuid,
  type text,
  payload jsonb,
  priority integer,
  run_at timestamptz,
  idempotency_key text,
  dedupe_key text,
  lane text,
  max_attempts integer,
  correlation_id text,
  notify boolean,
  source text,
  source_ref text,
  after uuid[],
  after_when text,
  traceparent text,
  trace_link text
);

-- Ids begin with the time, as in UUID version 7: jobs that come and go together are on the same pages.

create function tickwork.new_id()
returns uuid
language sql
volatile
return (
  overlay(lpad(to_hex((extract(epoch from clock_timestamp()) * 1000)::bigint), 12, '0') placing '-' from 9 for 0)
  || '-7' || substr(gen_random_uuid()::text, 16)
)::uuid;

create function tickwork.new_job(
  tenant_id uuid,
  type text,
  payload jsonb default '{}',
  priority integer default null,
  run_at timestamptz default null,
  idempotency_key text default null,
  dedupe_key text default null,
  lane text default null,
  max_attempts integer default null,
  correlation_id text default null,
  notify boolean default false,
  source text default 'manual',
  source_ref text default null,
  id uuid default gen_random_uuid(),
  after uuid[] default null,
  after_when text default null,
  traceparent text default null,
  trace_link text default null
)
returns tickwork.job_request
language sql
volatile
return row(
  id, tenant_id, type, payload, priority, run_at, idempotency_key, dedupe_key, lane, max_attempts, correlation_id,
  notify, source, source_ref, nullif(after, '{}'), coalesce(after_when, 'all_done'), traceparent, trace_link
)::tickwork.job_request;

comment on function tickwork.new_job is 'A job request, with defaults for everything that is not given.';

create function tickwork.is_traceparent(value text)
returns boolean
language sql
immutable
return value ~ '^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$'
  and value !~ '^00-(0{32}|[0-9a-f]{32}-0{16})';

create function tickwork.valid_traceparent(value text)
returns text
language sql
immutable
return case when tickwork.is_traceparent(value) then value end;

create function tickwork.trace_of(job_id uuid, traceparent text)
returns text
language sql
immutable
return coalesce(
  traceparent,
  '00-' || replace(job_id::text, '-', '') || '-' || right(replace(job_id::text, '-', ''), 16) || '-01'
);

comment on function tickwork.trace_of is 'The trace context of what a job causes: one without a trace has its own.';

create function tickwork.caller_traceparent()
returns text
language sql
stable
-- By its text and not as JSON: whatever the header is, it is no error.
return substring(
  current_setting('request.headers', true)
  from '"traceparent" ?: ?"(00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2})"'
);

comment on function tickwork.caller_traceparent is
  'The header traceparent of the request that PostgREST or the API is serving; null if it is missing or invalid.';

create function tickwork.check_job(request tickwork.job_request, job_type public.job_types)
returns void
language plpgsql
stable
as $$
begin
  if (check_job.job_type).key is null then
    raise exception 'type: there is no job type %', coalesce(quote_literal((check_job.request).type), 'null')
      using errcode = 'TWTYP', hint = 'Check the spelling, or insert it into job_types.';
  end if;

  if not (check_job.job_type).is_active then
    raise exception 'type: job type % is inactive and accepts no new jobs', quote_literal((check_job.request).type)
      using errcode = 'TWTYP', hint = 'Set is_active in job_types to accept jobs again.';
  end if;

  if (check_job.request).payload ? 'artifact_ref' then
    -- What it refers to is checked by the handler's model.
    perform tickwork.check_payload((check_job.request).payload, null);
    perform tickwork.check_artifact_ref((check_job.request).payload, check_job.job_type);
  else
    perform tickwork.check_payload(coalesce((check_job.request).payload, '{}'), (check_job.job_type).payload_schema);
  end if;

  perform tickwork.check_run_at(coalesce((check_job.request).run_at, clock_timestamp()));
  perform tickwork.check_key('idempotency_key', (check_job.request).idempotency_key);
  perform tickwork.check_key('dedupe_key', (check_job.request).dedupe_key);
  perform tickwork.check_key('lane', (check_job.request).lane);
  perform tickwork.check_key('correlation_id', (check_job.request).correlation_id);

  if (check_job.request).priority not between 0 and 100 then
    raise exception 'priority: % is out of range, it must be 0 to 100', (check_job.request).priority
      using errcode = 'TWPRI', hint = 'A higher priority runs first. Leave it out to use that of the type.';
  end if;

  if (check_job.request).max_attempts not between 1 and 25 then
    raise exception 'max_attempts: % is out of range, it must be 1 to 25', (check_job.request).max_attempts
      using errcode = 'TWATT', hint = 'Leave it out to use that of the job''s type.';
  end if;

  if not tickwork.is_traceparent((check_job.request).traceparent) then
    raise exception 'traceparent: must be 00-<32 hex digits>-<16 hex digits>-<2 hex digits>, not %',
      quote_literal(left((check_job.request).traceparent, 100))
      using errcode = 'TWARG', hint = 'Pass on the header of the request as it came, or leave it out.';
  end if;

  perform tickwork.check_after(check_job.request);
end
$$;

create function tickwork.check_after(request tickwork.job_request)
returns void
language plpgsql
stable
as $$
declare
  stranger text;
begin
  if (check_after.request).after_when not in ('all_done', 'all_ended', 'any_ended') then
    raise exception 'after_when: must be all_done, all_ended or any_ended, not %',
      quote_literal((check_after.request).after_when)
      using errcode = 'TWARG', hint = 'Leave it out to start the job when all jobs of after are done.';
  end if;

  if cardinality((check_after.request).after) > 1000 then
    raise exception 'after: % jobs are too many, the maximum is 1000', cardinality((check_after.request).after)
      using errcode = 'TWBIG', hint = 'Enqueue several jobs that wait for a part each, and one that waits for these.';
  end if;

  -- The same error for a foreign job as for a missing one, so that nobody learns which ids exist.
  select coalesce(awaited.id::text, 'null') into stranger
  from unnest((check_after.request).after) as awaited(id)
  where not exists (
    select
    from public.jobs
    where jobs.id = awaited.id
      and jobs.tenant_id = (check_after.request).tenant_id
  )
  limit 1;

  if found then
    raise exception 'after: there is no job %', stranger
      using errcode = 'TWJOB', hint = 'A job can only wait for jobs of its own tenant that exist already.';
  end if;
end
$$;

comment on function tickwork.check_after is
  'Raises TWARG, TWBIG or TWJOB unless the job may wait for those that it names. All of them must exist, so that no '
  'two jobs can wait for each other.';

create function tickwork.correlation_id_of(after uuid[])
returns text
language plpgsql
stable
as $$
begin
  return (select jobs.correlation_id from public.jobs where jobs.id = correlation_id_of.after[1]);
end
$$;

comment on function tickwork.correlation_id_of is 'The correlation_id of the first of the jobs; null if there is none.';

create function tickwork.is_plain_job(request tickwork.job_request)
returns boolean
language sql
immutable
return coalesce((request).priority, 0) between 0 and 100
  and coalesce((request).run_at between '1900-01-01 00:00Z' and '9998-12-31 00:00Z', true)
  and coalesce((request).max_attempts, 1) between 1 and 25
  and octet_length(coalesce((request).idempotency_key, '-')) between 1 and 200
  and octet_length(coalesce((request).dedupe_key, '-')) between 1 and 200
  and octet_length(coalesce((request).lane, '-')) between 1 and 200
  and octet_length(coalesce((request).correlation_id, '-')) between 1 and 200
  and ((request).traceparent is null or tickwork.is_traceparent((request).traceparent))
  and (request).after is null;

comment on function tickwork.is_plain_job is
  'True only if check_job would accept the job, whatever its payload. It may accept others too.';

create function tickwork.check_enqueuer(tenant_id uuid, types text[])
returns void
language plpgsql
stable
as $$
declare
  refused public.job_types;
begin
  perform tickwork.check_caller(check_enqueuer.tenant_id, '{enqueue, operate}');

  -- A key that enqueues for every tenant is the application's backend.
  if tickwork.caller_is_service()
    or tickwork.caller_has_key() and tickwork.key_serves_all('{enqueue, operate}')
  then
    return;
  end if;

  select * into refused
  from public.job_types
  where job_types.key = any (check_enqueuer.types)
    and not case job_types.enqueued_by
      when 'member' then true
      when 'admin' then tickwork.may_manage(check_enqueuer.tenant_id)
      else tickwork.caller_is_platform_admin()
    end
  limit 1;

  if found then
    raise exception 'type: % may only be enqueued by %', quote_literal(refused.key),
      case refused.enqueued_by when 'admin' then 'admins of the tenant' else 'the service' end
      using errcode = 'TWENQ', hint = 'job_types.enqueued_by sets who may: service, admin or member.';
  end if;
end
$$;

comment on function tickwork.check_enqueuer is
  'Returns if the caller may enqueue jobs of these types for the tenant. Raises TWTNT, TWMEM, TWENQ, TWAUT.';
