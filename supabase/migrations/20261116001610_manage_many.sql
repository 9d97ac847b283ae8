-- What people do to many jobs at once: cancel, retry, reschedule, by the same filters as list_jobs. Nobody waits for a
-- job that somebody else is changing: it is skipped, and so is one that cannot be changed.

create type tickwork.change as (
  verb text,
  statuses text[],
  run_at timestamptz,
  step interval,
  max_attempts integer
);

comment on column tickwork.change.step is 'How much later than the one before it a job is due.';

create type tickwork.changed_jobs as (
  changed integer,
  has_more boolean
);

create function tickwork.check_change(wanted tickwork.change, tenant_id uuid, status text, max_jobs integer)
returns void
language plpgsql
stable
set search_path = ''
as $$
begin
  if check_change.max_jobs is null or check_change.max_jobs not between 1 and 10000 then
    raise exception 'max_jobs: % is out of range, 1 to 10000 are allowed', coalesce(check_change.max_jobs::text, 'null')
      using errcode = 'TWARG', hint = 'Call it again while it returns has_more.';
  end if;

  if check_change.status <> all ((check_change.wanted).statuses) then
    raise exception 'status: no job that is % can be %: only % jobs can', check_change.status,
      (check_change.wanted).verb, array_to_string((check_change.wanted).statuses, ', ')
      using errcode = 'TWARG', hint = 'The state chart is in supabase/README.md.';
  end if;

  if check_change.tenant_id is not null then
    perform tickwork.check_caller(check_change.tenant_id);
  end if;

  -- A member may cancel what he enqueued himself.
  if (check_change.wanted).verb <> 'cancelled' and not tickwork.manages_any(check_change.tenant_id) then
    raise exception 'tenant_id: only admins of a tenant may do that to its jobs'
      using errcode = 'TWADM', hint = 'Ask an admin or owner of the tenant.';
  end if;
end
$$;

create function tickwork.manages_any(tenant_id uuid)
returns boolean
language sql
stable
set search_path = ''
as $$
  select case
    when manages_any.tenant_id is not null then tickwork.may_manage(manages_any.tenant_id)
    else tickwork.caller_is_service()
      or tickwork.caller_is_platform_admin()
      or exists (select from tickwork.caller_tenants() as own(id) where tickwork.may_manage(own.id))
  end;
$$;

comment on function tickwork.manages_any is
  'Whether the caller may change the jobs of that tenant; without one, those of any.';

create function tickwork.change_jobs(change tickwork.change, wanted tickwork.job_filter, max_jobs integer)
returns tickwork.changed_jobs
language plpgsql
volatile
set search_path = ''
as $$
declare
  changed integer := 0;
  status text;
  page tickwork.job_filter;
  ids uuid[];
begin
  perform tickwork.wait_for_disk();

  foreach status in array (change_jobs.change).statuses loop
    page := change_jobs.wanted;
    page.status := status;

    loop
      -- One more than may be changed tells whether there is more.
      ids := tickwork.find_jobs(page, change_jobs.max_jobs - changed + 1);
      exit when ids = '{}';

      for place in 1 .. cardinality(ids) loop
        if changed = change_jobs.max_jobs then
          return row(changed, true)::tickwork.changed_jobs;
        end if;

        if tickwork.change_job(change_jobs.change, status, ids[place]) then
          changed := changed + 1;
          -- One after the other, in their order; and found one by one again, should somebody cancel them.
          change.run_at := (change_jobs.change).run_at + (change_jobs.change).step;
        end if;
      end loop;

      select (tickwork.filter_after(page, jobs.created_at, jobs.id)).*
      into page
      from public.jobs
      where jobs.id = ids[cardinality(ids)];
    end loop;
  end loop;

  return row(changed, false)::tickwork.changed_jobs;
end
$$;

comment on function tickwork.change_jobs is
  'Changes the jobs that match, in their order, at most so many. Those that cannot be changed do not count, so that '
  'whoever calls again while there is more comes to an end.';

create function tickwork.change_job(change tickwork.change, status text, job_id uuid)
returns boolean
language plpgsql
volatile
set search_path = ''
as $$
declare
  job public.jobs;
begin
  select * into job
  from public.jobs
  where jobs.id = change_job.job_id
    and jobs.status = change_job.status
    and (
      tickwork.may_manage(jobs.tenant_id)
      or (change_job.change).verb = 'cancelled' and jobs.created_by = tickwork.caller_id()
    )
  for no key update skip locked;

  if not found then
    return false;
  end if;

  case
    when (change_job.change).verb = 'cancelled' and job.status = 'queued' then
      perform tickwork.end_queued(job, 'cancelled', null, null);
      return true;
    when (change_job.change).verb = 'cancelled' then
      return tickwork.ask_to_stop(job);
    -- What is so already would be found, and changed, time and again.
    when job.status = 'queued' and job.run_at = (change_job.change).run_at then
      return false;
    when not tickwork.may_take_key(job) then
      return false;
    else
      perform tickwork.requeue(job, (change_job.change).run_at, (change_job.change).max_attempts);
      return true;
  end case;
end
$$;

create function tickwork.ask_to_stop(job public.jobs)
returns boolean
language plpgsql
volatile
set search_path = ''
as $$
begin
  update public.jobs
  set
    cancel_requested_at = clock_timestamp(),
    updated_at = clock_timestamp()
  where jobs.id = (ask_to_stop.job).id
    and jobs.cancel_requested_at is null;

  return found;
end
$$;

create function tickwork.may_take_key(job public.jobs)
returns boolean
language plpgsql
volatile
set search_path = ''
as $$
begin
  if (may_take_key.job).dedupe_key is null then
    return true;
  end if;

  insert into tickwork.taken_keys (tenant_id, dedupe_key, job_id)
  values ((may_take_key.job).tenant_id, (may_take_key.job).dedupe_key, (may_take_key.job).id)
  on conflict do nothing;

  return exists (
    select
    from tickwork.taken_keys
    where taken_keys.tenant_id = (may_take_key.job).tenant_id
      and taken_keys.dedupe_key = (may_take_key.job).dedupe_key
      and taken_keys.job_id = (may_take_key.job).id
  );
end
$$;

comment on function tickwork.may_take_key is
  'Takes the dedupe key of a job that is to be queued again. False if another job has it.';


create function tickwork.cancel_jobs(
  tenant_id uuid,
  family text,
  type text,
  status text,
  lane text,
  error_code text,
  created_after timestamptz,
  created_before timestamptz,
  max_jobs integer
)
returns tickwork.changed_jobs
language plpgsql
volatile
security definer -- members may not update jobs themselves
set search_path = ''
as $$
declare
  change tickwork.change := row('cancelled', array['queued', 'running'], null, null, null);
begin
  perform tickwork.check_change(change, cancel_jobs.tenant_id, cancel_jobs.status, cancel_jobs.max_jobs);

  change.statuses := case
    when cancel_jobs.status is not null then array[cancel_jobs.status]
    else array['queued', 'running']
  end;

  return tickwork.change_jobs(
    change,
    tickwork.new_filter(
      tickwork.tenants_to_read(cancel_jobs.tenant_id),
      cancel_jobs.family,
      cancel_jobs.type,
      null,
      cancel_jobs.lane,
      null,
      cancel_jobs.error_code,
      null,
      cancel_jobs.created_after,
      cancel_jobs.created_before,
      null,
      null,
      false,
      null
    ),
    cancel_jobs.max_jobs
  );
end
$$;

create function public.cancel_jobs(
  tenant_id uuid default null,
  family text default null,
  type text default null,
  status text default null,
  lane text default null,
  error_code text default null,
  created_after timestamptz default null,
  created_before timestamptz default null,
  max_jobs integer default 1000
)
returns table (changed integer, has_more boolean)
language sql
volatile
set search_path = ''
as $$
  select *
  from tickwork.cancel_jobs(
    cancel_jobs.tenant_id, cancel_jobs.family, cancel_jobs.type, cancel_jobs.status, cancel_jobs.lane,
    cancel_jobs.error_code, cancel_jobs.created_after, cancel_jobs.created_before, cancel_jobs.max_jobs
  );
$$;

comment on function public.cancel_jobs is
  'queued -> cancelled; running -> running with cancel asked for. As cancel_job, for at most max_jobs of the jobs that '
  'match, the newest first: admins all of them, members what they enqueued themselves. Returns how many were changed, '
  'and whether there are more. Raises TWTNT, TWMEM, TWARG.';

create function tickwork.retry_jobs(
  tenant_id uuid,
  family text,
  type text,
  status text,
  lane text,
  error_code text,
  created_after timestamptz,
  created_before timestamptz,
  run_at timestamptz,
  max_attempts integer,
  max_jobs integer
)
returns tickwork.changed_jobs
language plpgsql
volatile
security definer -- members may not update jobs themselves
set search_path = ''
as $$
declare
  change tickwork.change := row(
    'retried', array['failed', 'dead', 'cancelled'], coalesce(retry_jobs.run_at, clock_timestamp()),
    interval '1 microsecond', retry_jobs.max_attempts
  );
begin
  perform tickwork.check_change(change, retry_jobs.tenant_id, retry_jobs.status, retry_jobs.max_jobs);
  perform tickwork.check_further_attempts(retry_jobs.max_attempts);
  perform tickwork.check_run_at(change.run_at);

  change.statuses := case
    when retry_jobs.status is not null then array[retry_jobs.status]
    else array['failed', 'dead']
  end;

  return tickwork.change_jobs(
    change,
    tickwork.new_filter(
      tickwork.tenants_to_read(retry_jobs.tenant_id),
      retry_jobs.family,
      retry_jobs.type,
      null,
      retry_jobs.lane,
      null,
      retry_jobs.error_code,
      null,
      retry_jobs.created_after,
      retry_jobs.created_before,
      null,
      null,
      true,
      null
    ),
    retry_jobs.max_jobs
  );
end
$$;

create function public.retry_jobs(
  tenant_id uuid default null,
  family text default null,
  type text default null,
  status text default null,
  lane text default null,
  error_code text default null,
  created_after timestamptz default null,
  created_before timestamptz default null,
  run_at timestamptz default null,
  max_attempts integer default null,
  max_jobs integer default 1000
)
returns table (changed integer, has_more boolean)
language sql
volatile
set search_path = ''
as $$
  select *
  from tickwork.retry_jobs(
    retry_jobs.tenant_id, retry_jobs.family, retry_jobs.type, retry_jobs.status, retry_jobs.lane,
    retry_jobs.error_code, retry_jobs.created_after, retry_jobs.created_before, retry_jobs.run_at,
    retry_jobs.max_attempts, retry_jobs.max_jobs
  );
$$;

comment on function public.retry_jobs is
  'failed, dead, cancelled -> queued. As retry_job, for at most max_jobs of the jobs that match, the oldest first: '
  'those that are failed or dead, or cancelled if that is the status asked for. One whose dedupe_key is taken is '
  'skipped. By admins. Returns how many were changed, and whether there are more. '
  'Raises TWTNT, TWMEM, TWADM, TWARG, TWRUN, TWATT.';

create function tickwork.reschedule_jobs(
  tenant_id uuid,
  family text,
  type text,
  status text,
  lane text,
  error_code text,
  created_after timestamptz,
  created_before timestamptz,
  run_at timestamptz,
  max_jobs integer
)
returns tickwork.changed_jobs
language plpgsql
volatile
security definer -- members may not update jobs themselves
set search_path = ''
as $$
declare
  change tickwork.change := row(
    'rescheduled', array['queued', 'failed', 'dead', 'cancelled'], reschedule_jobs.run_at, interval '0', null
  );
begin
  perform tickwork.check_change(change, reschedule_jobs.tenant_id, reschedule_jobs.status, reschedule_jobs.max_jobs);
  perform tickwork.check_run_at(change.run_at);

  change.statuses := case
    when reschedule_jobs.status is not null then array[reschedule_jobs.status]
    else array['queued']
  end;

  return tickwork.change_jobs(
    change,
    tickwork.new_filter(
      tickwork.tenants_to_read(reschedule_jobs.tenant_id),
      reschedule_jobs.family,
      reschedule_jobs.type,
      null,
      reschedule_jobs.lane,
      null,
      reschedule_jobs.error_code,
      null,
      reschedule_jobs.created_after,
      reschedule_jobs.created_before,
      null,
      null,
      false,
      null
    ),
    reschedule_jobs.max_jobs
  );
end
$$;

create function public.reschedule_jobs(
  run_at timestamptz,
  tenant_id uuid default null,
  family text default null,
  type text default null,
  status text default null,
  lane text default null,
  error_code text default null,
  created_after timestamptz default null,
  created_before timestamptz default null,
  max_jobs integer default 1000
)
returns table (changed integer, has_more boolean)
language sql
volatile
set search_path = ''
as $$
  select *
  from tickwork.reschedule_jobs(
    reschedule_jobs.tenant_id, reschedule_jobs.family, reschedule_jobs.type, reschedule_jobs.status,
    reschedule_jobs.lane, reschedule_jobs.error_code, reschedule_jobs.created_after, reschedule_jobs.created_before,
    reschedule_jobs.run_at, reschedule_jobs.max_jobs
  );
$$;

comment on function public.reschedule_jobs is
  'queued, failed, dead, cancelled -> queued, due at another time. As reschedule_job, for at most max_jobs of the jobs '
  'that match, the newest first: those that are queued, or have the status asked for. One that is due at that very '
  'time already, or whose dedupe_key is taken, is skipped. By admins. Returns how many were changed, and whether there '
  'are more: call it again with the same run_at. Raises TWTNT, TWMEM, TWADM, TWARG, TWRUN.';
