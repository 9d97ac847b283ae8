-- What is looked at before jobs are stored: their tenants, the rules, and what must not be shown.

create function tickwork.check_jobs(requests tickwork.job_request[], types text[])
returns tickwork.job_request[]
language plpgsql
volatile
as $$
declare
  are_valid boolean;
  have_secrets boolean;
  candidate tickwork.job_request;
  candidate_type public.job_types;
begin
  with known as materialized (
    select job_types.key, job_types.is_active, job_types.payload_schema, job_types.redacted
    from public.job_types
    where job_types.key = any (check_jobs.types)
  )
  select
    bool_and(
      tickwork.broken_rule(
        job_type.is_active, request.priority, request.run_at, request.idempotency_key, request.dedupe_key, request.lane,
        request.max_attempts, request.correlation_id, request.traceparent
      ) is null
      and tickwork.broken_payload_rule(request.payload, request.as_text) is null
      and not request.payload ? 'artifact_ref'
      and (job_type.payload_schema is null
        or tickwork.schema_mismatch(request.payload, job_type.payload_schema) is null)
      and request.after is null
    ),
    bool_or(job_type.redacted <> '{}') or tickwork.may_hold_secrets(string_agg(request.as_text, ' '))
  into are_valid, have_secrets
  from (
    select request.*, request.payload::text as as_text
    from unnest(check_jobs.requests) as request
    offset 0
  ) as request
  left join lateral (select * from known where known.key = request.type limit 1) as job_type on true;

  if are_valid and not have_secrets then
    return check_jobs.requests;
  end if;

  -- What is wrong with the first of them is found out one by one, and so is what takes a lookup.
  for place in 1 .. cardinality(check_jobs.requests) loop
    candidate := requests[place];

    select * into candidate_type
    from public.job_types
    where job_types.key = candidate.type;

    if not are_valid then
      perform
        tickwork.check_job(candidate, candidate_type),
        tickwork.on_artifact(candidate.id, candidate.tenant_id, candidate.payload);
    end if;

    if tickwork.is_to_redact(candidate_type.redacted, candidate.payload::text) then
      candidate.payload := tickwork.keep_payload(candidate.id, candidate.tenant_id, candidate_type, candidate.payload);
      candidate.is_redacted := true;
      requests[place] := candidate;
    end if;
  end loop;

  return requests;
end
$$;

comment on function tickwork.check_jobs is
  'Raises what enqueue_job raises unless all of the jobs may be stored. Returns them as everybody may see them, and '
  'keeps their whole payloads for the workers.';

create function tickwork.hold_tenants(tenant_ids uuid[])
returns void
language plpgsql
volatile
as $$
declare
  -- Whoever deletes one of them waits for this transaction. Nobody waits for whoever deletes: it is as good as gone.
  held constant uuid[] := array(
    select tenants.tenant_id
    from tickwork.tenants
    where tenants.tenant_id = any (hold_tenants.tenant_ids)
    for key share skip locked
  );
begin
  if cardinality(held) < cardinality(hold_tenants.tenant_ids) then
    perform tickwork.raise_no_tenant(tenant.id)
    from unnest(hold_tenants.tenant_ids) as tenant(id)
    where tenant.id is null
      or tenant.id <> all (held);
  end if;
end
$$;

comment on function tickwork.hold_tenants is
  'Keeps tenants, each named once, from being deleted until the end of the transaction. Raises TWTNT.';
