-- A change to every job that matches a filter: a job that makes it in batches, as the person who asked for it.

insert into public.job_types (key, family, description, timeout_seconds, max_attempts, backoff)
values (
  'change_jobs', 'manage', 'Retry, cancel or reschedule every job that matches a filter', 3600, 15, '[10, 60, 300]'
);

create function tickwork.tenant_to_charge(tenant_id uuid)
returns uuid
language plpgsql
stable
as $$
declare
  found uuid := coalesce(
    tenant_to_charge.tenant_id, (select platform_tenant.tenant_id from tickwork.platform_tenant)
  );
begin
  if found is null or not tickwork.may_act_for(found) then
    found := tickwork.only_tenant();
  end if;

  return found;
end
$$;

comment on function tickwork.tenant_to_charge is
  'The tenant that a job for several of them belongs to: the one that is named, the platform''s own, or the caller''s '
  'only one. Raises TWARG.';

create function tickwork.change_matching_jobs(
  action text,
  filter jsonb,
  reason text,
  run_at timestamptz,
  max_attempts integer
)
returns public.jobs
language plpgsql
volatile
security definer -- nobody may enqueue that type
set search_path = ''
as $$
declare
  verb constant text := case change_matching_jobs.action
    when 'retry' then 'retried' when 'cancel' then 'cancelled' when 'reschedule' then 'rescheduled'
  end;
  wanted constant tickwork.job_filter := tickwork.filter_of(change_matching_jobs.filter);
  -- What comes or ends later is not part of what was asked for, and nothing is retried twice.
  until_now constant jsonb := jsonb_build_object(
    case verb when 'retried' then 'finished_before' else 'created_before' end,
    least(case verb when 'retried' then wanted.finished_before else wanted.created_before end, clock_timestamp())
  );
  tenant_id uuid;
  job_id uuid;
  job public.jobs;
begin
  if verb is null or tickwork.caller_id() is null then
    raise exception 'action: a user or a key asks to retry, cancel or reschedule jobs'
      using errcode = 'TWARG', hint = 'The service calls retry_jobs, cancel_jobs or reschedule_jobs.';
  end if;

  if (char_length(change_matching_jobs.reason) between 1 and 1000) is not true then
    raise exception 'reason: say why, in 1 to 1000 characters'
      using errcode = 'TWARG', hint = 'It is kept in the audit log.';
  end if;

  perform tickwork.check_change(
    tickwork.new_change(verb, change_matching_jobs.run_at, change_matching_jobs.max_attempts, null), wanted, 1
  );
  -- Also to cancel: members cancel their own jobs, but start no job that does it.
  perform tickwork.check_change(
    tickwork.new_change('buried', null, null, null),
    tickwork.new_filter(wanted.tenant_id, null, null, null, null, null, null, null),
    1
  );
  tenant_id := tickwork.tenant_to_charge(wanted.tenant_id);

  select inserted.id into job_id
  from tickwork.insert_jobs(array[tickwork.new_job(
    tenant_id,
    'change_jobs',
    jsonb_strip_nulls(jsonb_build_object(
      'action', change_matching_jobs.action,
      'filter', change_matching_jobs.filter || until_now,
      'reason', change_matching_jobs.reason,
      'run_at', change_matching_jobs.run_at,
      'max_attempts', change_matching_jobs.max_attempts,
      'matching', cardinality(
        tickwork.find_matching_jobs(change_matching_jobs.filter || until_now, 100000, null, false)
      )
    ))
  )]) as inserted;

  select * into job
  from public.jobs
  where jobs.id = job_id;

  perform tickwork.note_audit(
    'jobs.change_requested', tenant_id, 'jobs ' || job.id, after => job.payload,
    detail => change_matching_jobs.reason
  );
  return job;
end
$$;

create function public.change_matching_jobs(
  action text,
  filter jsonb,
  reason text,
  run_at timestamptz default null,
  max_attempts integer default null
)
returns public.jobs
language sql
volatile
return tickwork.change_matching_jobs(action, filter, reason, run_at, max_attempts);

comment on function public.change_matching_jobs is
  '-> queued: a job that retries, cancels or reschedules every job that matches a filter of find_matching_jobs and was '
  'there by now, a thousand at a time, with the rights that the caller has then. Its progress says how many; '
  'cancelling it stops it. For admins. The reason is kept in the audit log. Raises TWTNT, TWMEM, TWADM, '
  'TWARG, TWRUN, TWATT.';

create function tickwork.change_some_jobs(max_jobs integer)
returns tickwork.changed_jobs
language plpgsql
volatile
security definer -- acts as the person who asked for it
set search_path = ''
as $$
declare
  tenant_id constant uuid := tickwork.tenant_of_held_job();
  job public.jobs;
  key_hash text;
  done tickwork.changed_jobs;
begin
  select * into job
  from public.jobs
  where jobs.id = nullif(current_setting('tickwork.job_id', true), '')::uuid
    and jobs.type = 'change_jobs';

  if not found then
    raise exception 'the held job is not one that changes others'
      using errcode = 'TWARG', hint = 'Call it in a job of the type change_jobs.';
  end if;

  select api_keys.secret_hash into key_hash
  from tickwork.api_keys
  where api_keys.id = job.created_by;

  -- Until the end of this function, the caller is whoever asked: with the rights that they have now.
  perform set_config(
    'request.jwt.claims',
    case
      when key_hash is null then jsonb_build_object('sub', job.created_by)
      else jsonb_build_object('tickwork_key', key_hash)
    end::text,
    true
  );
  done := tickwork.change_jobs(
    case job.payload ->> 'action' when 'retry' then 'retried' when 'cancel' then 'cancelled' else 'rescheduled' end,
    tickwork.filter_of(job.payload -> 'filter'),
    change_some_jobs.max_jobs,
    (job.payload ->> 'run_at')::timestamptz,
    (job.payload ->> 'max_attempts')::integer
  );
  perform set_config('request.jwt.claims', '', true);
  return done;
end
$$;

create function public.change_some_jobs(max_jobs integer default 1000)
returns table (changed integer, has_more boolean)
language sql
volatile
return tickwork.change_some_jobs(max_jobs);

comment on function public.change_some_jobs is
  'Sets the next jobs to the status that the held job was asked to give them, at most max_jobs, as the person who '
  'asked for it. For the handler of change_jobs. Returns how many were changed, and whether there are more. Raises '
  'TWLSE, TWADM, TWARG.';

select tickwork.open_verbs('authenticated', array['change_matching_jobs']);
select tickwork.open_verbs('tickwork_worker', array['change_some_jobs']);
