-- -> queued

-- What a caller asks for. The id is chosen beforehand, so that the row can be found again after the insert.

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
  source_ref text
);

-- Ids begin with the time, as in UUID version 7: jobs that come and go together are found on the same pages.

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
  id uuid default gen_random_uuid()
)
returns tickwork.job_request
language sql
volatile
return row(
  id, tenant_id, type, payload, priority, run_at, idempotency_key, dedupe_key, lane, max_attempts, correlation_id,
  notify, source, source_ref
)::tickwork.job_request;

comment on function tickwork.new_job is 'A job to ask for, with defaults for what is not given.';

create function tickwork.check_job(request tickwork.job_request, job_type public.job_types)
returns void
language plpgsql
stable
as $$
begin
  if (check_job.job_type).key is null then
    raise exception 'type: there is no job type %', coalesce(quote_literal((check_job.request).type), 'null')
      using errcode = 'TWTYP', hint = 'Insert it into job_types, or correct the spelling.';
  end if;

  if not (check_job.job_type).is_active then
    raise exception 'type: job type % is inactive and takes no new jobs', quote_literal((check_job.request).type)
      using errcode = 'TWTYP', hint = 'Set is_active in job_types to take jobs again.';
  end if;

  perform tickwork.check_payload(coalesce((check_job.request).payload, '{}'), (check_job.job_type).payload_schema);
  perform tickwork.check_run_at(coalesce((check_job.request).run_at, clock_timestamp()));
  perform tickwork.check_key('idempotency_key', (check_job.request).idempotency_key);
  perform tickwork.check_key('dedupe_key', (check_job.request).dedupe_key);
  perform tickwork.check_key('lane', (check_job.request).lane);
  perform tickwork.check_key('correlation_id', (check_job.request).correlation_id);

  if (check_job.request).priority not between 0 and 100 then
    raise exception 'priority: % is out of range, 0 to 100 are allowed', (check_job.request).priority
      using errcode = 'TWPRI', hint = 'Higher runs first; the default is that of the type.';
  end if;

  if (check_job.request).max_attempts not between 1 and 25 then
    raise exception 'max_attempts: % is out of range, 1 to 25 are allowed', (check_job.request).max_attempts
      using errcode = 'TWATT', hint = 'Leave it out to take the number of the job''s type.';
  end if;
end
$$;

create function tickwork.is_plain_job(request tickwork.job_request)
returns boolean
language sql
immutable
return jsonb_typeof((request).payload) = 'object'
  and tickwork.is_plain((request).payload::text)
  and coalesce((request).priority, 0) between 0 and 100
  and coalesce((request).run_at between '1900-01-01 00:00Z' and '9998-12-31 00:00Z', true)
  and coalesce((request).max_attempts, 1) between 1 and 25
  and octet_length(coalesce((request).idempotency_key, '-')) between 1 and 200
  and octet_length(coalesce((request).dedupe_key, '-')) between 1 and 200
  and octet_length(coalesce((request).lane, '-')) between 1 and 200
  and octet_length(coalesce((request).correlation_id, '-')) between 1 and 200;

comment on function tickwork.is_plain_job is
  'True only if check_job would accept the job, whatever the schema of its type; it may accept others too.';

create function tickwork.check_enqueuer(tenant_id uuid, types text[])
returns void
language plpgsql
stable
as $$
declare
  refused public.job_types;
begin
  perform tickwork.check_caller(check_enqueuer.tenant_id);

  if tickwork.caller_is_service() then
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
    raise exception 'type: % is enqueued by % only', quote_literal(refused.key),
      case refused.enqueued_by when 'admin' then 'admins of the tenant' else 'the service' end
      using errcode = 'TWENQ', hint = 'job_types.enqueued_by says who may: service, admin or member.';
  end if;
end
$$;

comment on function tickwork.check_enqueuer is
  'Returns if the caller may enqueue jobs of these types for the tenant. Raises TWTNT, TWMEM, TWENQ.';

-- Only its row type is used: a job's row, and whether it was already there.

create view tickwork.enqueued_jobs
with (security_invoker = true)
as
select
  jobs.*,
  null::boolean as deduplicated
from public.jobs;

revoke all on tickwork.enqueued_jobs from public, anon, authenticated, service_role;

create function tickwork.insert_jobs(requests tickwork.job_request[])
returns setof tickwork.enqueued_jobs
language plpgsql
volatile
as $$
declare
  has_keys constant boolean := exists (
    select
    from unnest(insert_jobs.requests) as request
    where request.idempotency_key is not null or request.dedupe_key is not null
  );
  ids uuid[];
begin
  if not has_keys then
    return query
    select inserted.*, false
    from tickwork.insert_new_jobs(insert_jobs.requests) as inserted;

    return;
  end if;

  -- Two batches with the same keys in another order could deadlock.
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
    perform tickwork.insert_missing_jobs(insert_jobs.requests);

    ids := array(
      select tickwork.job_asked_for(insert_jobs.requests[request.ordinality])
      from unnest(insert_jobs.requests) with ordinality as request
      order by request.ordinality
    );

    exit when array_position(ids, null) is null;
  end loop;

  if array_position(ids, null) is not null then
    raise exception 'dedupe_key: jobs that hold it come and go too fast'
      using errcode = 'TWDUP', hint = 'Try again.';
  end if;

  return query
  select jobs.*, jobs.id <> insert_jobs.requests[enqueued.ordinality].id
  from unnest(ids) with ordinality as enqueued(id, ordinality)
  cross join lateral (select * from public.jobs where jobs.id = enqueued.id limit 1) as jobs
  order by enqueued.ordinality;
end
$$;

comment on function tickwork.insert_jobs is
  '-> queued. The one way into the queue: checks, stores and files the jobs, except those whose key is taken. Returns '
  'one row for each, in their order. Callers have checked who may enqueue. Raises what enqueue_job raises.';

create function tickwork.job_asked_for(request tickwork.job_request)
returns uuid
language sql
volatile
as $$
  select coalesce(
    (select own.id from public.jobs as own where own.id = (job_asked_for.request).id),
    (
      select same.id
      from public.jobs as same
      where same.tenant_id = (job_asked_for.request).tenant_id
        and same.type = (job_asked_for.request).type
        and same.idempotency_key = (job_asked_for.request).idempotency_key
    ),
    (
      select taken_keys.job_id
      from tickwork.taken_keys
      where taken_keys.tenant_id = (job_asked_for.request).tenant_id
        and taken_keys.dedupe_key = (job_asked_for.request).dedupe_key
    )
  );
$$;

create function tickwork.insert_missing_jobs(requests tickwork.job_request[])
returns void
language plpgsql
volatile
as $$
declare
  wanted tickwork.job_request[];
begin
  -- A repeat returns its job even if the type takes no new jobs any more. Of two with the same key the first one wins.
  wanted := array(
    select insert_missing_jobs.requests[listed.ordinality]
    from (
      select
        request.*,
        row_number() over (
          partition by request.tenant_id, request.type, request.idempotency_key order by request.ordinality
        ) as place_by_idempotency_key,
        row_number() over (
          partition by request.tenant_id, request.dedupe_key order by request.ordinality
        ) as place_by_dedupe_key
      from unnest(insert_missing_jobs.requests) with ordinality as request
    ) as listed
    where (listed.idempotency_key is null or listed.place_by_idempotency_key = 1)
      and (listed.dedupe_key is null or listed.place_by_dedupe_key = 1)
      and tickwork.job_asked_for(insert_missing_jobs.requests[listed.ordinality]) is null
    order by listed.ordinality
  );

  -- A call that waits here for another with the same key finds it taken, or free after a rollback.
  with taken as (
    insert into tickwork.taken_keys (tenant_id, dedupe_key, job_id)
    select request.tenant_id, request.dedupe_key, request.id
    from unnest(wanted) as request
    join tickwork.tenants on tenants.tenant_id = request.tenant_id
    where request.dedupe_key is not null
    order by request.tenant_id, request.dedupe_key
    on conflict do nothing
    returning taken_keys.job_id
  )
  select coalesce(array_agg(wanted[request.ordinality] order by request.ordinality), '{}')
  into wanted
  from unnest(wanted) with ordinality as request
  where request.dedupe_key is null
    or request.id in (select taken.job_id from taken);

  perform tickwork.insert_new_jobs(wanted);

  -- One whose idempotency key somebody else has taken meanwhile is not there and keeps no other key.
  delete from tickwork.taken_keys
  using unnest(wanted) as request
  where taken_keys.tenant_id = request.tenant_id
    and taken_keys.dedupe_key = request.dedupe_key
    and taken_keys.job_id = request.id
    and not exists (select from public.jobs where jobs.id = request.id);
end
$$;

create function tickwork.insert_new_jobs(requests tickwork.job_request[])
returns setof public.jobs
language plpgsql
volatile
as $$
declare
  due_by constant timestamptz := clock_timestamp();
  inserted public.jobs[];
begin
  with inserted_jobs as (
    insert into public.jobs (
      id, tenant_id, type, family, payload, priority, run_at, idempotency_key, dedupe_key, lane, max_attempts,
      correlation_id, notify, source, source_ref, created_by
    )
    select
      request.id, request.tenant_id, request.type, job_types.family, coalesce(request.payload, '{}'),
      coalesce(request.priority, job_types.priority), coalesce(request.run_at, due_by), request.idempotency_key,
      request.dedupe_key, request.lane, coalesce(request.max_attempts, job_types.max_attempts), request.correlation_id,
      coalesce(request.notify, false), coalesce(request.source, 'manual'), request.source_ref, tickwork.caller_id()
    from unnest(insert_new_jobs.requests) with ordinality as request
    left join public.job_types on job_types.key = request.type
    where case
      when job_types.is_active
        and tickwork.is_plain_match(coalesce(request.payload, '{}'), job_types.payload_schema)
        and tickwork.is_plain_job(insert_new_jobs.requests[request.ordinality])
      then true
      -- Raises, and says what is wrong.
      else tickwork.check_job(insert_new_jobs.requests[request.ordinality], job_types)::text = ''
    end
    order by request.ordinality
    on conflict do nothing
    returning jobs as job
  ),
  filed as (
    insert into tickwork.waiting (family, type, tenant_number, priority, run_at, job_id)
    select
      (inserted_jobs.job).family, (inserted_jobs.job).type, tenants.number, (inserted_jobs.job).priority,
      (inserted_jobs.job).run_at, (inserted_jobs.job).id
    from inserted_jobs
    join tickwork.tenants on tenants.tenant_id = (inserted_jobs.job).tenant_id
    where (inserted_jobs.job).lane is null
      and (inserted_jobs.job).run_at <= due_by
  )
  select array_agg(inserted_jobs.job)
  into inserted
  from inserted_jobs;

  perform tickwork.note_enqueued(inserted, due_by);

  return query
  select *
  from unnest(inserted);
end
$$;

comment on function tickwork.insert_new_jobs is
  '-> queued. As insert_jobs, for jobs that hold their dedupe keys already. One whose idempotency key is taken is left '
  'out.';

-- The short way for one job without a key: half the time (make bench, enqueue).

create function tickwork.insert_job(request tickwork.job_request)
returns tickwork.enqueued_jobs
language plpgsql
volatile
as $$
declare
  due_by constant timestamptz := clock_timestamp();
  job_type public.job_types;
  job tickwork.enqueued_jobs;
begin
  select * into job_type
  from public.job_types
  where job_types.key = (request).type;

  request.payload := coalesce((request).payload, '{}');

  if (
    job_type.is_active
    and tickwork.is_plain_match((request).payload, job_type.payload_schema)
    and tickwork.is_plain_job(request)
  ) is not true then
    perform tickwork.check_job(request, job_type);
  end if;

  insert into public.jobs (
    id, tenant_id, type, family, payload, priority, run_at, lane, max_attempts, correlation_id, notify, source,
    source_ref, created_by
  )
  values (
    (request).id, (request).tenant_id, (request).type, job_type.family, (request).payload,
    coalesce((request).priority, job_type.priority), coalesce((request).run_at, due_by), (request).lane,
    coalesce((request).max_attempts, job_type.max_attempts), (request).correlation_id,
    coalesce((request).notify, false), coalesce((request).source, 'manual'), (request).source_ref,
    tickwork.caller_id()
  )
  returning jobs.*, false into job;

  if job.lane is not null or job.run_at > due_by then
    perform tickwork.file_jobs(array[job.id]);
  else
    insert into tickwork.waiting (family, type, tenant_number, priority, run_at, job_id)
    select job.family, job.type, tenants.number, job.priority, job.run_at, job.id
    from tickwork.tenants
    where tenants.tenant_id = job.tenant_id;
  end if;

  perform tickwork.wait_for_disk();
  perform tickwork.take_allowance(job.tenant_id, 1);
  perform tickwork.announce(case when job.run_at <= clock_timestamp() then array[job.family] end);
  return job;
end
$$;

comment on function tickwork.insert_job is '-> queued. As insert_jobs, for one job that has no key.';

create function tickwork.note_enqueued(jobs public.jobs[], filed_by timestamptz)
returns void
language plpgsql
volatile
as $$
declare
  due_by constant timestamptz := clock_timestamp();
  others uuid[];
begin
  if note_enqueued.jobs is null then
    return;
  end if;

  perform tickwork.wait_for_disk();

  others := array(
    select job.id
    from unnest(note_enqueued.jobs) as job
    where job.lane is not null or job.run_at > note_enqueued.filed_by
  );

  if others <> '{}' then
    perform tickwork.file_jobs(others);
  end if;

  -- All jobs of a tenant at once, and tenants in a fixed order, so that no two calls deadlock.
  perform tickwork.take_allowance(tenant.id, tenant.jobs)
  from (
    select job.tenant_id, count(*)::integer
    from unnest(note_enqueued.jobs) as job
    group by job.tenant_id
    order by job.tenant_id
  ) as tenant(id, jobs);

  perform tickwork.announce(array(
    select distinct job.family
    from unnest(note_enqueued.jobs) as job
    where job.run_at <= due_by
  ));
end
$$;

comment on function tickwork.note_enqueued is
  'Files the new jobs that a claim must not find at once, counts all of them against max_queued, and announces those '
  'that are due.';

create function tickwork.announce(families text[])
returns void
language plpgsql
volatile
as $$
declare
  family text;
begin
  -- From now on this transaction holds what others may have to wait for.
  perform set_config('tickwork.has_enqueued', 'yes', true);

  foreach family in array coalesce(announce.families, '{}') loop
    perform pg_notify('tickwork', family);
  end loop;
end
$$;

comment on function tickwork.announce is 'Wakes the workers of families that have jobs which are due.';


-- The same for what clients insert themselves.

create function tickwork.fill_in_job()
returns trigger
language plpgsql
security definer -- whoever inserts may not call the queue's own functions
set search_path = ''
as $$
declare
  job_type public.job_types;
begin
  perform tickwork.check_enqueuer(new.tenant_id, array[new.type]);

  select * into job_type
  from public.job_types
  where job_types.key = new.type;

  new.family := job_type.family;
  new.max_attempts := coalesce(new.max_attempts, job_type.max_attempts);
  new.payload := coalesce(new.payload, '{}');
  new.priority := coalesce(new.priority, job_type.priority);
  new.run_at := coalesce(new.run_at, clock_timestamp());
  new.notify := coalesce(new.notify, false);
  new.created_by := tickwork.caller_id();

  perform tickwork.check_job(
    tickwork.new_job(
      new.tenant_id, new.type, new.payload, new.priority, new.run_at, new.idempotency_key, new.dedupe_key, new.lane,
      new.max_attempts, new.correlation_id
    ),
    job_type
  );

  perform tickwork.check_state(new.status, new.lease_token, new.lease_expires_at, new.finished_at);
  return new;
end
$$;

alter table public.jobs alter column priority drop default;

create trigger fill_in_job
before insert on public.jobs
for each row
-- The queue's own functions have checked and filled in already, many rows at once.
when (current_user <> 'tickwork_owner')
execute function tickwork.fill_in_job();

create function tickwork.note_inserted()
returns trigger
language plpgsql
security definer -- nobody else may touch the queue's tables
set search_path = ''
as $$
begin
  perform tickwork.take_keys(array(select inserted.id from inserted));
  perform tickwork.note_enqueued(array(select inserted::public.jobs from inserted), '-infinity');
  return null;
end
$$;

create trigger note_inserted
after insert on public.jobs
referencing new table as inserted
for each statement
when (current_user <> 'tickwork_owner')
execute function tickwork.note_inserted();

create function tickwork.take_keys(ids uuid[])
returns void
language sql
volatile
as $$
  insert into tickwork.taken_keys (tenant_id, dedupe_key, job_id)
  select jobs.tenant_id, jobs.dedupe_key, jobs.id
  from unnest(take_keys.ids) as taker(id)
  cross join lateral (select * from public.jobs where jobs.id = taker.id limit 1) as jobs
  where jobs.dedupe_key is not null
    and jobs.status in ('queued', 'running')
  order by jobs.tenant_id, jobs.dedupe_key;
$$;

comment on function tickwork.take_keys is
  'Takes the dedupe keys of jobs that are queued or running. Raises unique_violation if another job has one.';

-- Called by the triggers that check what clients insert and people edit. A constraint would be read and compiled again
-- by every statement of the queue's own functions, which keep it true anyway.

create function tickwork.check_state(
  state text,
  lease_token uuid,
  lease_expires_at timestamptz,
  finished_at timestamptz
)
returns void
language plpgsql
immutable
as $$
begin
  if not (case check_state.state
    when 'queued' then check_state.lease_token is null and check_state.finished_at is null
    when 'running' then
      check_state.lease_token is not null
      and check_state.lease_expires_at is not null
      and check_state.finished_at is null
    else
      check_state.state in ('done', 'failed', 'dead', 'cancelled')
      and check_state.lease_token is null
      and check_state.finished_at is not null
  end) then
    raise exception 'status: % does not go with what else is set', quote_nullable(check_state.state)
      using errcode = 'check_violation',
        hint = 'A running job has a lease_token, one that is done, failed, dead or cancelled a finished_at.';
  end if;
end
$$;


-- The verbs.

create function tickwork.enqueue_job(request tickwork.job_request)
returns tickwork.enqueued_jobs
language plpgsql
volatile
security definer -- max_attempts is not a column that clients may insert
set search_path = ''
as $$
declare
  enqueued tickwork.enqueued_jobs;
begin
  perform tickwork.check_enqueuer((enqueue_job.request).tenant_id, array[(enqueue_job.request).type]);

  -- Not for callers to choose: under the id of another job they would be given that one.
  request.id := tickwork.new_id();
  request.source := 'manual';
  request.source_ref := null;

  if num_nonnulls((enqueue_job.request).idempotency_key, (enqueue_job.request).dedupe_key) = 0 then
    return tickwork.insert_job(enqueue_job.request);
  end if;

  select * into enqueued
  from tickwork.insert_jobs(array[enqueue_job.request]);

  return enqueued;
end
$$;

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
  notify boolean default false
)
returns tickwork.enqueued_jobs
language sql
volatile
-- Parsed here and now, it becomes part of the statement that calls it.
return tickwork.enqueue_job(tickwork.new_job(
  tenant_id, type, payload, priority, run_at, idempotency_key, dedupe_key, lane, max_attempts, correlation_id, notify,
  id => null
));

comment on function public.enqueue_job is
  '-> queued. Returns the job''s row and whether it was there already (deduplicated): a repeated idempotency_key '
  'of the tenant and type, or a dedupe_key that a queued or running job of the tenant holds, adds nothing. With notify '
  'the end of the job is announced on the channel tickwork_done. Durable when it returns. '
  'Raises TWTNT, TWMEM, TWENQ, TWTYP, TWPAY, TWBIG, TWKEY, TWPRI, TWRUN, TWATT, TWDUP, TWFUL.';

create function tickwork.requests_from(jobs jsonb, tenant_id uuid, source text, source_ref text, correlation_id text)
returns tickwork.job_request[]
language plpgsql
volatile
as $$
declare
  -- To count on from one id is faster than to make as many.
  first_id constant text := left(tickwork.new_id()::text, 28);
begin
  perform tickwork.check_objects('jobs', requests_from.jobs, array[
    'tenant_id', 'type', 'payload', 'priority', 'run_at', 'idempotency_key', 'dedupe_key', 'lane',
    'max_attempts', 'correlation_id', 'notify'
  ]);

  return array(
    select tickwork.new_job(
      coalesce(requests_from.tenant_id, request.tenant_id), request.type, request.payload, request.priority,
      request.run_at, request.idempotency_key, request.dedupe_key, request.lane, request.max_attempts,
      coalesce(request.correlation_id, requests_from.correlation_id), request.notify,
      requests_from.source, requests_from.source_ref, (first_id || lpad(to_hex(request.ordinality), 8, '0'))::uuid
    )
    from rows from (
      jsonb_populate_recordset(null::tickwork.job_request, requests_from.jobs)
    ) with ordinality as request
    order by request.ordinality
  );
end
$$;

comment on function tickwork.requests_from is
  'Reads an array of objects whose fields are the parameters of enqueue_job. Raises TWARG, TWBIG.';

create function tickwork.enqueue_jobs(jobs jsonb)
returns setof tickwork.enqueued_jobs
language plpgsql
volatile
security definer -- as enqueue_job
set search_path = ''
as $$
declare
  requests constant tickwork.job_request[] := tickwork.requests_from(enqueue_jobs.jobs, null, 'manual', null, null);
begin
  perform tickwork.check_enqueuer(tenant.id, tenant.types)
  from (
    select request.tenant_id, array_agg(distinct request.type)
    from unnest(requests) as request
    group by request.tenant_id
  ) as tenant(id, types);

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
  '-> queued. Takes an array of objects whose fields are the parameters of enqueue_job, and returns one row for each, '
  'in their order. All of them or none. Of two with the same key the first one wins. '
  'Raises TWARG and what enqueue_job raises.';
