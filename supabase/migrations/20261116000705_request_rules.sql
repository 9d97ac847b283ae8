-- The rules of a job request, and who may make one.

create function tickwork.schema_mismatch(payload jsonb, schema jsonb)
returns text
language plpgsql
stable
as $$
declare
  is_valid boolean;
begin
  if not tickwork.knows_json_schema() then
    return tickwork.payload_problem(schema_mismatch.payload, schema_mismatch.schema, 'payload');
  end if;

  -- By format rather than as a constant: a linter would look for the function on servers that do not have it.
  execute format('select %I.jsonb_matches_schema($1, $2)', 'extensions')
  into is_valid
  using schema_mismatch.schema::json, schema_mismatch.payload;

  return case when not is_valid then 'payload: does not match the schema of its type' end;
end
$$;

comment on function tickwork.schema_mismatch is
  'Null if the payload matches the schema, which must not be null; otherwise what is wrong.';

create function tickwork.broken_rule(
  is_active boolean, priority integer, run_at timestamptz, idempotency_key text, dedupe_key text, lane text,
  max_attempts integer, correlation_id text, traceparent text
)
returns text
language sql
immutable
return case
  when is_active is not true then 'type'
  when not tickwork.is_run_at(run_at) then 'run_at'
  when not tickwork.is_key(idempotency_key) then 'idempotency_key'
  when not tickwork.is_key(dedupe_key) then 'dedupe_key'
  when not tickwork.is_key(lane) then 'lane'
  when not tickwork.is_key(correlation_id) then 'correlation_id'
  when priority not between 0 and 100 then 'priority'
  when max_attempts not between 1 and 25 then 'max_attempts'
  when not tickwork.is_traceparent(traceparent) then 'traceparent'
end;

comment on function tickwork.broken_rule is
  'Null if a job request keeps the rules, apart from those of its payload and of after; otherwise the parameter that '
  'breaks one. is_active is that of its type, null if there is none.';

create function tickwork.check_job(request tickwork.job_request, job_type public.job_types)
returns void
language plpgsql
stable
as $$
declare
  broken constant text := tickwork.broken_rule(
    job_type.is_active, request.priority, request.run_at, request.idempotency_key, request.dedupe_key, request.lane,
    request.max_attempts, request.correlation_id, request.traceparent
  );
  has_artifact constant boolean := request.payload ? 'artifact_ref';
  stranger text;
begin
  if job_type.key is null then
    raise exception 'type: there is no job type %', coalesce(quote_literal(request.type), 'null')
      using errcode = 'TWTYP', hint = 'Check the spelling, or insert it into job_types.';
  elsif broken = 'type' then
    raise exception 'type: job type % is inactive and accepts no new jobs', quote_literal(request.type)
      using errcode = 'TWTYP', hint = 'Set is_active in job_types to accept jobs again.';
  end if;

  -- What an artifact holds is checked by the handler's model.
  perform tickwork.check_payload(request.payload, case when not has_artifact then job_type.payload_schema end);

  if has_artifact then
    perform tickwork.check_artifact_ref(request.payload, job_type);
  end if;

  if broken is not null then
    case broken
      when 'run_at' then
        perform tickwork.check_run_at(request.run_at);
      when 'priority' then
        raise exception 'priority: % is out of range, it must be 0 to 100', request.priority
          using errcode = 'TWPRI', hint = 'A higher priority runs first. Leave it out to use that of the type.';
      when 'max_attempts' then
        raise exception 'max_attempts: % is out of range, it must be 1 to 25', request.max_attempts
          using errcode = 'TWATT', hint = 'Leave it out to use that of the job''s type.';
      when 'traceparent' then
        raise exception 'traceparent: must be 00-<32 hex digits>-<16 hex digits>-<2 hex digits>, not %',
          quote_literal(left(request.traceparent, 100))
          using errcode = 'TWARG', hint = 'Pass on the header of the request as it came, or leave it out.';
      else
        perform tickwork.check_key(broken, to_jsonb(request) ->> broken);
    end case;
  end if;

  if request.after_when not in ('all_done', 'all_ended', 'any_ended') then
    raise exception 'after_when: must be all_done, all_ended or any_ended, not %', quote_literal(request.after_when)
      using errcode = 'TWARG', hint = 'Leave it out to start the job when all jobs of after are done.';
  elsif cardinality(request.after) > 1000 then
    raise exception 'after: % jobs are too many, the maximum is 1000', cardinality(request.after)
      using errcode = 'TWBIG', hint = 'Enqueue several jobs that wait for a part each, and one that waits for these.';
  end if;

  -- All of them must exist, so that no two jobs can wait for each other. The same error for a foreign job as for a
  -- missing one, so that nobody learns which ids exist.
  select coalesce(awaited.id::text, 'null') into stranger
  from unnest(request.after) as awaited(id)
  where not exists (
    select
    from public.jobs
    where jobs.id = awaited.id
      and jobs.tenant_id = request.tenant_id
  )
  limit 1;

  if found then
    raise exception 'after: there is no job %', stranger
      using errcode = 'TWJOB', hint = 'A job can only wait for jobs of its own tenant that exist already.';
  end if;
end
$$;

comment on function tickwork.check_job is
  'Raises what enqueue_job raises about a job, unless it keeps every rule. Its type is given; null if there is none.';

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
