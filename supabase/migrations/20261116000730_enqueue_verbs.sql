-- The verbs.

create function public.enqueue_job(
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
  after uuid[] default null,
  after_when text default 'all_done',
  traceparent text default null
)
returns tickwork.enqueued_jobs
language sql
volatile
-- Parsed at its definition, it is inlined into the statement that calls it.
return tickwork.enqueue_job(tickwork.new_job(
  tenant_id, type, payload, priority, run_at, idempotency_key, dedupe_key, lane, max_attempts, correlation_id, notify,
  id => null, after => after, after_when => after_when, traceparent => traceparent
));

comment on function public.enqueue_job is
  '-> queued. Returns the job''s row and whether it already existed (deduplicated): a repeated idempotency_key of the '
  'tenant and type, or a dedupe_key that a queued or running job of the tenant holds, adds nothing. With notify, the '
  'end of the job is announced on the channel tickwork_done. With after, it cannot start before those jobs have got '
  'as far as after_when says: all_done (if one of them ends otherwise, the job is cancelled), all_ended (however they '
  'end) or any_ended (one of them). It continues the trace of traceparent, or of that header if the call came by '
  'HTTP. Durable when it returns. Raises TWTNT, TWMEM, TWENQ, TWTYP, TWPAY, TWBIG, TWKEY, TWPRI, TWRUN, TWATT, TWDUP, '
  'TWFUL, TWJOB, TWARG.';

create function tickwork.requests_from(
  jobs jsonb, tenant_id uuid default null, source text default 'manual', source_ref text default null,
  correlation_id text default null, traceparent text default null
)
returns tickwork.job_request[]
language plpgsql
volatile
as $$
declare
  -- Counting up from one id is faster than generating each of them.
  first_id constant text := left(tickwork.new_id()::text, 32);
begin
  perform tickwork.check_objects('jobs', requests_from.jobs, array[
    'tenant_id', 'type', 'payload', 'priority', 'run_at', 'idempotency_key', 'dedupe_key', 'lane',
    'max_attempts', 'correlation_id', 'notify', 'after', 'after_when', 'traceparent'
  ]);

  return array(
    select tickwork.new_job(
      coalesce(requests_from.tenant_id, request.tenant_id), request.type, request.payload, request.priority,
      request.run_at, request.idempotency_key, request.dedupe_key, request.lane, request.max_attempts,
      coalesce(request.correlation_id, requests_from.correlation_id), request.notify,
      requests_from.source, requests_from.source_ref, (first_id || lpad(to_hex(request.ordinality), 4, '0'))::uuid,
      request.after, request.after_when, coalesce(request.traceparent, requests_from.traceparent)
    )
    from rows from (
      jsonb_populate_recordset(null::tickwork.job_request, requests_from.jobs)
    ) with ordinality as request
  );
end
$$;

comment on function tickwork.requests_from is
  'Reads an array of objects whose fields are the parameters of enqueue_job. Raises TWARG, TWBIG.';

create function tickwork.enqueue_jobs(jobs jsonb)
returns setof tickwork.enqueued_jobs
language plpgsql
volatile
security definer -- for the same reason as enqueue_job
set search_path = ''
as $$
declare
  requests constant tickwork.job_request[] := tickwork.requests_from(enqueue_jobs.jobs);
begin
  if not tickwork.caller_is_service() then
    perform tickwork.check_enqueuer(tenant.id, tenant.types)
    from (
      select request.tenant_id, array_agg(distinct request.type)
      from unnest(requests) as request
      group by request.tenant_id
    ) as tenant(id, types);
  end if;

  return query
  select *
  from tickwork.insert_jobs(requests);
end
$$;

create function public.enqueue_jobs(jobs jsonb)
returns setof tickwork.enqueued_jobs
language sql
volatile
begin atomic
  select *
  from tickwork.enqueue_jobs(jobs);
end;

comment on function public.enqueue_jobs is
  '-> queued. Takes an array of objects whose fields are the parameters of enqueue_job, and returns one row for each, '
  'in their order. All of them are enqueued, or none. Of two with the same key the first wins. Raises TWARG and what '
  'enqueue_job raises.';
