-- -> queued

-- A crash may forget a claim, never an enqueue or a result. The function attribute `set synchronous_commit`
-- would be undone before the commit that it is meant for; a local setting is not.

create function tickwork.wait_for_disk()
returns void
language plpgsql
volatile
set search_path = ''
as $$
begin
  if current_setting('synchronous_commit') = 'off' then
    perform set_config('synchronous_commit', 'on', true);
  end if;
end
$$;

create function tickwork.skip_disk()
returns void
language plpgsql
volatile
set search_path = ''
as $$
begin
  -- A transaction that has written something before may have promised its durability to somebody.
  if pg_current_xact_id_if_assigned() is null then
    perform set_config('synchronous_commit', 'off', true);
  end if;
end
$$;

create function tickwork.check_size(field text, value text, most integer)
returns void
language plpgsql
immutable
set search_path = ''
as $$
begin
  if octet_length(check_size.value) > check_size.most then
    raise exception '%: % bytes are too many, at most % are allowed',
      check_size.field, octet_length(check_size.value), check_size.most
      using errcode = 'TWBIG', hint = 'Keep large data elsewhere and put a reference to it into the job.';
  end if;
end
$$;

create function tickwork.check_key(field text, value text)
returns void
language plpgsql
immutable
set search_path = ''
as $$
begin
  if check_key.value = '' then
    raise exception '%: must not be empty', check_key.field
      using errcode = 'TWKEY', hint = 'Leave it out, or give it a value.';
  end if;

  perform tickwork.check_size(check_key.field, check_key.value, 200);
end
$$;

create function tickwork.knows_json_schema()
returns boolean
language sql
stable
set search_path = ''
as $$
  -- Hosted Supabase has pg_jsonschema; where it is missing, the handler's model is the check.
  select exists (
    select
    from pg_catalog.pg_proc
    join pg_catalog.pg_namespace on pg_namespace.oid = pg_proc.pronamespace
    where pg_namespace.nspname = 'extensions'
      and pg_proc.proname = 'jsonb_matches_schema'
      and has_schema_privilege(pg_namespace.oid, 'usage')
      and has_function_privilege(pg_proc.oid, 'execute')
  );
$$;

create function tickwork.check_payload(payload jsonb, schema jsonb)
returns void
language plpgsql
stable
set search_path = ''
as $$
declare
  is_valid boolean;
begin
  if jsonb_typeof(check_payload.payload) <> 'object' then
    raise exception 'payload: must be an object, not %', jsonb_typeof(check_payload.payload)
      using errcode = 'TWPAY', hint = 'Wrap the value: {"value": ...}.';
  end if;

  perform tickwork.check_size('payload', check_payload.payload::text, 65536);

  if jsonb_path_exists(check_payload.payload, 'strict $.**{32} ? (@.type() == "object" || @.type() == "array")') then
    raise exception 'payload: nested deeper than 32 levels'
      using errcode = 'TWPAY', hint = 'Flatten the payload.';
  end if;

  -- The text is looked at first, because hardly any payload has such a number.
  if check_payload.payload::text ~ '[0-9]{255}'
    and jsonb_path_exists(check_payload.payload, 'strict $.** ? (@.type() == "number" && (@ > 1e308 || @ < -1e308))')
  then
    raise exception 'payload: holds a number beyond 1e308'
      using errcode = 'TWPAY', hint = 'Hardly any language could read it. Send it as a string.';
  end if;

  if check_payload.schema is not null and tickwork.knows_json_schema() then
    execute 'select extensions.jsonb_matches_schema($1, $2)'
    into is_valid
    using check_payload.schema::json, check_payload.payload;

    if not is_valid then
      raise exception 'payload: does not match the schema of its type'
        using errcode = 'TWPAY', hint = 'See payload_schema in job_types.';
    end if;
  end if;
end
$$;

create function tickwork.check_run_at(run_at timestamptz)
returns void
language plpgsql
immutable
set search_path = ''
as $$
begin
  if check_run_at.run_at is null or not isfinite(check_run_at.run_at) then
    raise exception 'run_at: must be a point in time, not %', coalesce(check_run_at.run_at::text, 'null')
      using errcode = 'TWRUN', hint = 'Give now() to run the job as soon as possible.';
  end if;

  if check_run_at.run_at not between '1900-01-01 00:00Z' and '9998-12-31 00:00Z' then
    raise exception 'run_at: % is out of range, the years 1900 to 9998 are allowed', check_run_at.run_at
      using errcode = 'TWRUN', hint = 'Not every language can read such a date.';
  end if;
end
$$;

create function tickwork.fill_in_job()
returns trigger
language plpgsql
set search_path = ''
as $$
declare
  job_type public.job_types;
begin
  -- Inside the queue's own functions the caller was checked already.
  if current_user <> 'tickwork_owner' then
    perform tickwork.check_caller(new.tenant_id);
  end if;

  select * into job_type
  from public.job_types
  where job_types.key = new.type;

  if not found then
    raise exception 'type: there is no job type %', coalesce(quote_literal(new.type), 'null')
      using errcode = 'TWTYP', hint = 'Insert it into job_types, or correct the spelling.';
  end if;

  if not job_type.is_active then
    raise exception 'type: job type % is inactive and takes no new jobs', quote_literal(new.type)
      using errcode = 'TWTYP', hint = 'Set is_active in job_types to take jobs again.';
  end if;

  new.family := job_type.family;
  new.max_attempts := coalesce(new.max_attempts, job_type.max_attempts);
  new.payload := coalesce(new.payload, '{}');
  new.priority := coalesce(new.priority, 0);
  new.run_at := coalesce(new.run_at, clock_timestamp());
  new.created_by := tickwork.caller_id();

  perform tickwork.check_payload(new.payload, job_type.payload_schema);
  perform tickwork.check_run_at(new.run_at);
  perform tickwork.check_key('idempotency_key', new.idempotency_key);
  perform tickwork.check_key('dedupe_key', new.dedupe_key);
  perform tickwork.check_key('lane', new.lane);
  perform tickwork.check_key('correlation_id', new.correlation_id);

  if new.priority not between 0 and 100 then
    raise exception 'priority: % is out of range, 0 to 100 are allowed', new.priority
      using errcode = 'TWPRI', hint = 'Higher runs first; 0 is the default.';
  end if;

  if new.max_attempts not between 1 and 25 then
    raise exception 'max_attempts: % is out of range, 1 to 25 are allowed', new.max_attempts
      using errcode = 'TWATT', hint = 'Leave it out to take the number of the job''s type.';
  end if;

  return new;
end
$$;

create trigger fill_in_job
before insert on public.jobs
for each row
execute function tickwork.fill_in_job();

create function tickwork.announce_jobs()
returns trigger
language plpgsql
set search_path = ''
as $$
begin
  perform tickwork.wait_for_disk();

  perform pg_notify('tickwork', due.family)
  from (
    select distinct inserted.family
    from inserted
    where inserted.run_at <= clock_timestamp()
  ) as due;

  return null;
end
$$;

create trigger announce_jobs
after insert on public.jobs
referencing new table as inserted
for each statement
execute function tickwork.announce_jobs();


-- What somebody asks for. The id is chosen beforehand, so that the row can be found again after the insert.

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
  source text,
  source_ref text
);

-- Only its row type is used: a job's row, and whether it was there before it was asked for.

create view tickwork.enqueued_jobs
with (security_invoker = true)
as
select
  jobs.*,
  null::boolean as deduplicated
from public.jobs;

create function tickwork.insert_jobs(requests tickwork.job_request[])
returns setof tickwork.enqueued_jobs
language plpgsql
volatile
set search_path = ''
as $$
declare
  ids uuid[];
begin
  -- Two batches with the same keys in another order would wait for each other in a circle.
  if cardinality(insert_jobs.requests) > 1 then
    perform pg_advisory_xact_lock(hashtextextended(tenant.id::text, 0))
    from (
      select distinct request.tenant_id
      from unnest(insert_jobs.requests) as request
      where request.idempotency_key is not null or request.dedupe_key is not null
      order by request.tenant_id
    ) as tenant(id);
  end if;

  -- A second round is needed only when the job that held a key ended between the insert and the look.
  for round in 1 .. 10 loop
    insert into public.jobs (
      id, tenant_id, type, payload, priority, run_at, idempotency_key, dedupe_key, lane,
      max_attempts, correlation_id, source, source_ref
    )
    select
      request.id, request.tenant_id, request.type, request.payload, request.priority, request.run_at,
      request.idempotency_key, request.dedupe_key, request.lane,
      request.max_attempts, request.correlation_id, coalesce(request.source, 'manual'), request.source_ref
    from unnest(insert_jobs.requests) with ordinality as request
    -- A repeat is answered even when its type takes no new jobs any more.
    where not exists (
      select
      from public.jobs as same
      where same.tenant_id = request.tenant_id
        and same.type = request.type
        and same.idempotency_key = request.idempotency_key
    )
    order by request.ordinality
    on conflict do nothing;

    select array_agg(
      coalesce(
        (select own.id from public.jobs as own where own.id = request.id),
        (
          select same.id
          from public.jobs as same
          where same.tenant_id = request.tenant_id
            and same.type = request.type
            and same.idempotency_key = request.idempotency_key
        ),
        (
          select same.id
          from public.jobs as same
          where same.tenant_id = request.tenant_id
            and same.dedupe_key = request.dedupe_key
            and same.status in ('queued', 'running')
        )
      )
      order by request.ordinality
    )
    into ids
    from unnest(insert_jobs.requests) with ordinality as request;

    exit when array_position(ids, null) is null;
  end loop;

  return query
  select jobs.*, jobs.id <> insert_jobs.requests[enqueued.ordinality].id
  from unnest(ids) with ordinality as enqueued(id, ordinality)
  join public.jobs on jobs.id = enqueued.id
  order by enqueued.ordinality;
end
$$;

create function tickwork.enqueue_job(
  tenant_id uuid,
  type text,
  payload jsonb,
  priority integer,
  run_at timestamptz,
  idempotency_key text,
  dedupe_key text,
  lane text,
  max_attempts integer,
  correlation_id text
)
returns tickwork.enqueued_jobs
language plpgsql
volatile
security definer -- max_attempts is no column that a client may insert
set search_path = ''
as $$
declare
  enqueued tickwork.enqueued_jobs;
begin
  perform tickwork.check_caller(enqueue_job.tenant_id);

  select * into enqueued
  from tickwork.insert_jobs(array[row(
    gen_random_uuid(),
    enqueue_job.tenant_id,
    enqueue_job.type,
    enqueue_job.payload,
    enqueue_job.priority,
    enqueue_job.run_at,
    enqueue_job.idempotency_key,
    enqueue_job.dedupe_key,
    enqueue_job.lane,
    enqueue_job.max_attempts,
    enqueue_job.correlation_id,
    'manual',
    null
  )::tickwork.job_request]);

  return enqueued;
end
$$;

create function public.enqueue_job(
  tenant_id uuid,
  type text,
  payload jsonb default '{}',
  priority integer default 0,
  run_at timestamptz default null,
  idempotency_key text default null,
  dedupe_key text default null,
  lane text default null,
  max_attempts integer default null,
  correlation_id text default null
)
returns tickwork.enqueued_jobs
language sql
volatile
set search_path = ''
as $$
  select *
  from tickwork.enqueue_job(
    enqueue_job.tenant_id,
    enqueue_job.type,
    enqueue_job.payload,
    enqueue_job.priority,
    enqueue_job.run_at,
    enqueue_job.idempotency_key,
    enqueue_job.dedupe_key,
    enqueue_job.lane,
    enqueue_job.max_attempts,
    enqueue_job.correlation_id
  );
$$;

comment on function public.enqueue_job is
  '-> queued. Answers the job''s row and whether it was there already (deduplicated): a repeated idempotency_key '
  'of the tenant and type, or a dedupe_key that a queued or running job of the tenant holds, adds nothing. '
  'Durable when it returns. Raises TWTNT, TWMEM, TWTYP, TWPAY, TWBIG, TWKEY, TWPRI, TWRUN, TWATT.';


-- Many at once.

create function tickwork.check_objects(field text, objects jsonb, names text[])
returns void
language plpgsql
immutable
set search_path = ''
as $$
declare
  stranger text;
begin
  if jsonb_typeof(check_objects.objects) is distinct from 'array' then
    raise exception '%: must be an array of objects', check_objects.field
      using errcode = 'TWARG', hint = format('For one: [{%s: ...}].', to_json(check_objects.names[1]));
  end if;

  if jsonb_array_length(check_objects.objects) > 10000 then
    raise exception '%: % are too many, at most 10000 are allowed',
      check_objects.field, jsonb_array_length(check_objects.objects)
      using errcode = 'TWBIG', hint = 'Send them in several batches.';
  end if;

  select format(
    '%s[%s]: %s',
    check_objects.field, object.ordinality - 1, coalesce('unknown field ' || name.of_field, 'must be an object')
  )
  into stranger
  from jsonb_array_elements(check_objects.objects) with ordinality as object
  left join lateral jsonb_object_keys(
    case jsonb_typeof(object.value) when 'object' then object.value else '{}' end
  ) as name(of_field) on true
  where jsonb_typeof(object.value) <> 'object'
    or name.of_field <> all (check_objects.names)
  limit 1;

  if found then
    raise exception '%', stranger
      using errcode = 'TWARG', hint = format('The fields are %s.', array_to_string(check_objects.names, ', '));
  end if;
end
$$;

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

alter function tickwork.enqueue_job owner to tickwork_owner;
alter function tickwork.enqueue_jobs owner to tickwork_owner;

revoke all on tickwork.enqueued_jobs from public, anon, authenticated, service_role;

revoke execute on function
  tickwork.wait_for_disk,
  tickwork.skip_disk,
  tickwork.check_size,
  tickwork.check_key,
  tickwork.knows_json_schema,
  tickwork.check_payload,
  tickwork.check_run_at,
  tickwork.check_objects,
  tickwork.fill_in_job,
  tickwork.announce_jobs,
  tickwork.insert_jobs,
  tickwork.requests_from,
  tickwork.enqueue_job,
  tickwork.enqueue_jobs,
  public.enqueue_job,
  public.enqueue_jobs
from public, anon, authenticated, service_role;

-- The triggers run as whoever inserts.
grant execute on function
  tickwork.wait_for_disk,
  tickwork.check_size,
  tickwork.check_key,
  tickwork.knows_json_schema,
  tickwork.check_payload,
  tickwork.check_run_at
to authenticated, service_role, tickwork_owner;

grant execute on function
  tickwork.skip_disk,
  tickwork.check_objects,
  tickwork.insert_jobs,
  tickwork.requests_from
to tickwork_owner;

grant execute on function public.enqueue_job, tickwork.enqueue_job to authenticated, service_role;
grant execute on function public.enqueue_jobs, tickwork.enqueue_jobs to service_role;
