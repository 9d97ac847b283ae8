-- -> queued, many at once

create function tickwork.requests_from(jobs jsonb, tenant_id uuid, source text, source_ref text, correlation_id text)
returns tickwork.job_request[]
language plpgsql
volatile
set search_path = ''
as $$
begin
  perform tickwork.check_objects('jobs', requests_from.jobs, array[
    'tenant_id', 'type', 'payload', 'priority', 'run_at', 'idempotency_key', 'dedupe_key', 'lane',
    'max_attempts', 'correlation_id'
  ]);

  return array(
    select row(
      gen_random_uuid(),
      coalesce(requests_from.tenant_id, request.tenant_id),
      request.type,
      request.payload,
      request.priority,
      request.run_at,
      request.idempotency_key,
      request.dedupe_key,
      request.lane,
      request.max_attempts,
      coalesce(request.correlation_id, requests_from.correlation_id),
      requests_from.source,
      requests_from.source_ref
    )::tickwork.job_request
    from rows from (
      jsonb_populate_recordset(null::tickwork.job_request, requests_from.jobs)
    ) with ordinality as request
    order by request.ordinality
  );
end
$$;

create function tickwork.enqueue_jobs(jobs jsonb)
returns setof tickwork.enqueued_jobs
language plpgsql
volatile
security definer -- as enqueue_job
set search_path = ''
as $$
declare
  requests tickwork.job_request[] := tickwork.requests_from(enqueue_jobs.jobs, null, 'manual', null, null);
begin
  perform tickwork.check_caller(tenant.id)
  from (select distinct request.tenant_id from unnest(requests) as request) as tenant(id);

  return query
  select *
  from tickwork.insert_jobs(requests);
end
$$;

create function public.enqueue_jobs(jobs jsonb)
returns setof tickwork.enqueued_jobs
language sql
volatile
set search_path = ''
as $$
  select *
  from tickwork.enqueue_jobs(enqueue_jobs.jobs);
$$;

comment on function public.enqueue_jobs is
  '-> queued. Takes an array of objects whose fields are the parameters of enqueue_job, and answers one row for each, '
  'in their order. All of them or none. Of two with the same key the first one wins. '
  'Raises TWARG and what enqueue_job raises.';

alter function tickwork.enqueue_jobs owner to tickwork_owner;

revoke execute on function
  tickwork.requests_from,
  tickwork.enqueue_jobs,
  public.enqueue_jobs
from public, anon, authenticated, service_role;

grant execute on function tickwork.requests_from to tickwork_owner;
grant execute on function public.enqueue_jobs, tickwork.enqueue_jobs to service_role;
