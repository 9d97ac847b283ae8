-- The short way for one job without a key: 20 % less server time (docs/decisions.md).

create function tickwork.insert_job(request tickwork.job_request)
returns tickwork.enqueued_jobs
language plpgsql
volatile
as $$
declare
  due_by constant timestamptz := clock_timestamp();
  job_type public.job_types;
  job tickwork.enqueued_jobs;
  as_text text;
  is_redacted boolean := false;
begin
  select * into job_type
  from public.job_types
  where job_types.key = (request).type;

  request.payload := coalesce((request).payload, '{}');
  as_text := (request).payload;

  if (
    job_type.is_active
    and tickwork.is_plain_match((request).payload, job_type.payload_schema)
    and tickwork.is_plain((request).payload, as_text)
    and tickwork.is_plain_job(request)
  ) is not true then
    perform tickwork.check_job(request, job_type);
    perform tickwork.on_artifact((request).id, (request).tenant_id, (request).payload);
    request.correlation_id := coalesce((request).correlation_id, tickwork.correlation_id_of((request).after));
  end if;

  if job_type.redacted <> '{}' or tickwork.may_hold_secrets(as_text) then
    is_redacted := true;
    request.payload := tickwork.keep_payload((request).id, (request).tenant_id, job_type, (request).payload);
  end if;

  insert into public.jobs (
    id, tenant_id, type, family, payload, priority, run_at, lane, max_attempts, correlation_id, traceparent,
    trace_link, notify, source, source_ref, created_by, after, after_when, is_redacted
  )
  values (
    (request).id, (request).tenant_id, (request).type, job_type.family, (request).payload,
    coalesce((request).priority, job_type.priority), coalesce((request).run_at, due_by), (request).lane,
    coalesce((request).max_attempts, job_type.max_attempts), (request).correlation_id,
    coalesce((request).traceparent, case (request).source when 'manual' then tickwork.caller_traceparent() end),
    (request).trace_link, coalesce((request).notify, false), coalesce((request).source, 'manual'), (request).source_ref,
    tickwork.caller_id(), (request).after, case when (request).after is not null then (request).after_when end,
    is_redacted
  )
  returning jobs.*, false into job;

  if job.after is not null then
    perform tickwork.file_awaiting(array[job.id]);
  elsif job.lane is not null or job.run_at > due_by then
    perform tickwork.file_jobs(array[job.id]);
  else
    insert into tickwork.waiting (family, type, tenant_number, priority, run_at, job_id)
    select job.family, job.type, tenants.number, job.priority, job.run_at, job.id
    from tickwork.tenants
    where tenants.tenant_id = job.tenant_id;
  end if;

  perform tickwork.wait_for_disk();
  perform tickwork.take_allowance(job.tenant_id, 1);
  perform tickwork.announce(
    case when job.run_at <= clock_timestamp() and job.after is null then array[job.family] end
  );

  if job.after is not null then
    perform tickwork.check_awaited(tickwork.tenant_number_of(job.tenant_id));

    select jobs.*, false into job
    from public.jobs
    where jobs.id = job.id;
  end if;

  return job;
end
$$;

comment on function tickwork.insert_job is '-> queued. Like insert_jobs, for one job without a key.';
