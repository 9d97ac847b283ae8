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
  trace_link text,
  is_redacted boolean
);

-- Ids begin with the time, as in UUID version 7: jobs that come and go together are on the same pages. Those of
-- one session differ by their time and by random(), whose seed anybody may set; those of two sessions by the process
-- too. Random bytes of the operating system would take ten times as long.

create function tickwork.new_id()
returns uuid
language sql
volatile
return (
  overlay(lpad(to_hex((date_part('epoch', clock_timestamp()) * 4096000)::bigint), 15, '0') placing '7' from 13 for 0)
  || to_hex(-9223372036854775808 | ((pg_backend_pid() & 4194303)::bigint << 40) | (random() * 1099511627775)::bigint)
)::uuid;

comment on function tickwork.new_id is
  'An id for a job: milliseconds, the version, the rest of the microsecond, the variant, the process, 40 random bits.';

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
  id, tenant_id, type, coalesce(payload, '{}'), priority, run_at, idempotency_key, dedupe_key, lane, max_attempts,
  correlation_id, notify, source, source_ref, nullif(after, '{}'), coalesce(after_when, 'all_done'), traceparent,
  trace_link, false
)::tickwork.job_request;

comment on function tickwork.new_job is 'A job request, with defaults for everything that is not given.';

create function tickwork.is_traceparent(value text)
returns boolean
language sql
immutable
return value ~ '^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$'
  and value !~ '^00-(0{32}|[0-9a-f]{32}-0{16})';

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
