-- What happens to every job that is inserted, by a client or by the queue itself.

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

revoke execute on function
  tickwork.fill_in_job,
  tickwork.announce_jobs
from public, anon, authenticated, service_role;
