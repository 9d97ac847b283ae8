-- What people can do to many jobs at once, by the filters of list_jobs. Nobody waits for a job that somebody else is
-- changing: it is skipped, and so is a job that cannot be changed.

create type tickwork.changed_jobs as (
  changed integer,
  has_more boolean
);

create function tickwork.change_matching(
  verb text,
  wanted tickwork.job_filter,
  max_jobs integer,
  run_at timestamptz default null,
  max_attempts integer default null
)
returns tickwork.changed_jobs
language plpgsql
volatile
as $$
declare
  change tickwork.change := tickwork.new_change(
    change_matching.verb, change_matching.run_at, change_matching.max_attempts, null
  );
  changed integer := 0;
  now_changed integer;
  status text;
  page tickwork.job_filter;
  ids uuid[];
  locked public.jobs[];
  last_id uuid;
begin
  perform tickwork.check_change(change, wanted, change_matching.max_jobs);
  perform tickwork.wait_for_disk();

  foreach status in array
    case when (wanted).status is null then change.default_statuses else array[(wanted).status] end
  loop
    page := tickwork.resolve_filter(wanted);
    page.status := status;
    page.oldest_first := change.verb = 'retried';

    loop
      -- Jobs that cannot be changed are skipped a thousand at a time, however few are asked for.
      ids := tickwork.find_jobs(page, greatest(change_matching.max_jobs - changed, 1000));
      exit when ids = '{}';

      if changed = change_matching.max_jobs then
        return row(changed, true)::tickwork.changed_jobs;
      end if;

      locked := tickwork.lock_jobs(ids, status, change.verb, change_matching.max_jobs - changed);
      -- There may be more after the last one that was changed.
      last_id := case
        when cardinality(locked) = change_matching.max_jobs - changed then (locked[cardinality(locked)]).id
        else ids[cardinality(ids)]
      end;
      now_changed := tickwork.apply_change(change, locked);
      changed := changed + now_changed;
      change.run_at := change.run_at + change.step * now_changed;

      select jobs.created_at, jobs.id into page.after_at, page.after_id
      from public.jobs
      where jobs.id = last_id;
    end loop;
  end loop;

  return row(changed, false)::tickwork.changed_jobs;
end
$$;

create function tickwork.change_jobs(
  verb text,
  wanted tickwork.job_filter,
  max_jobs integer,
  run_at timestamptz default null,
  max_attempts integer default null
)
returns tickwork.changed_jobs
language plpgsql
volatile
security definer -- members may not update jobs directly
set search_path = ''
as $$
declare
  done constant tickwork.changed_jobs := tickwork.change_matching(
    change_jobs.verb, wanted, change_jobs.max_jobs, change_jobs.run_at, change_jobs.max_attempts
  );
  resolved constant tickwork.job_filter := tickwork.resolve_filter(wanted);
begin
  if done.changed > 0 then
    perform tickwork.note_audit(
      'jobs.' || change_jobs.verb,
      case when cardinality(resolved.tenant_ids) = 1 then resolved.tenant_ids[1] end,
      done.changed || ' jobs',
      after => jsonb_strip_nulls(to_jsonb(wanted)) || jsonb_build_object('changed', done.changed)
    );
  end if;

  return done;
end
$$;

comment on function tickwork.change_jobs is
  'Changes the jobs that match, in their order, at most max_jobs. Jobs that cannot be changed do not count, so that '
  'calling it again while there are more comes to an end.';

create function tickwork.check_change(change tickwork.change, wanted tickwork.job_filter, max_jobs integer)
returns void
language plpgsql
stable
as $$
begin
  if check_change.max_jobs is null or check_change.max_jobs not between 1 and 10000 then
    raise exception 'max_jobs: % is out of range, it must be 1 to 10000', coalesce(check_change.max_jobs::text, 'null')
      using errcode = 'TWARG', hint = 'Call it again as long as has_more is true.';
  end if;

  if (wanted).status <> all ((change).statuses) then
    raise exception 'status: % jobs cannot be %, only % jobs can', (wanted).status, (change).verb,
      array_to_string((change).statuses, ', ')
      using errcode = 'TWARG', hint = 'The state chart is in supabase/README.md.';
  end if;

  if (wanted).tenant_id is not null then
    perform tickwork.check_caller((wanted).tenant_id);
  end if;

  -- Members may cancel jobs that they enqueued themselves.
  if (change).verb <> 'cancelled' and not exists (
    select
    from tickwork.resolve_filter(wanted) as resolved
    left join lateral unnest(resolved.tenant_ids) as tenant(id) on true
    where case
      when resolved.tenant_ids is null then tickwork.caller_may_do_all()
      else tickwork.may_manage(tenant.id)
    end
  ) then
    raise exception 'tenant_id: only admins of a tenant may do that to its jobs'
      using errcode = 'TWADM', hint = 'Ask an admin or owner of the tenant.';
  end if;
end
$$;

create function tickwork.lock_jobs(ids uuid[], status text, verb text, max_jobs integer)
returns public.jobs[]
language plpgsql
volatile
as $$
begin
  return array(
    select locked.job
    -- In their order, and no more than are wanted: sorting them would lock them all.
    from unnest(lock_jobs.ids) as wanted(id)
    cross join lateral (
      select jobs as job
      from public.jobs
      where jobs.id = wanted.id
        and jobs.status = lock_jobs.status
        and tickwork.may_change(jobs, lock_jobs.verb)
      for no key update skip locked
    ) as locked
    limit lock_jobs.max_jobs
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
  max_jobs integer default 1000,
  correlation_id text default null
)
returns table (changed integer, has_more boolean)
language sql
volatile
return tickwork.change_jobs(
  'cancelled',
  tickwork.new_filter(
    tenant_id, family, type, status, lane, error_code, created_after, created_before, correlation_id => correlation_id
  ),
  max_jobs
);

comment on function public.cancel_jobs is
  'queued -> cancelled; running -> running with cancel requested. Like cancel_job, for at most max_jobs of the jobs '
  'that match, the newest first: by correlation_id a whole chain. Admins cancel all of them, members the jobs that '
  'they enqueued themselves. Returns how many were changed, and whether there are more. Raises TWTNT, TWMEM, TWARG.';

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
  max_jobs integer default 1000,
  correlation_id text default null
)
returns table (changed integer, has_more boolean)
language sql
volatile
return tickwork.change_jobs(
  'retried',
  tickwork.new_filter(
    tenant_id, family, type, status, lane, error_code, created_after, created_before, correlation_id => correlation_id
  ),
  max_jobs, run_at, max_attempts
);

comment on function public.retry_jobs is
  'failed, dead, cancelled -> queued. Like retry_job, for at most max_jobs of the jobs that match, the oldest first: '
  'failed and dead jobs, or cancelled ones if that status is asked for. A job whose dedupe_key is taken is skipped. '
  'For admins. Returns how many were changed, and whether there are more. Raises TWTNT, TWMEM, TWADM, TWARG, TWRUN, '
  'TWATT.';

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
  max_jobs integer default 1000,
  correlation_id text default null
)
returns table (changed integer, has_more boolean)
language sql
volatile
return tickwork.change_jobs(
  'rescheduled',
  tickwork.new_filter(
    tenant_id, family, type, status, lane, error_code, created_after, created_before, correlation_id => correlation_id
  ),
  max_jobs, run_at
);

comment on function public.reschedule_jobs is
  'queued, failed, dead, cancelled -> queued, due at another time. Like reschedule_job, for at most max_jobs of the '
  'jobs that match, the newest first: queued jobs, or those with the status asked for. A job that is already due at '
  'exactly that time, or whose dedupe_key is taken, is skipped. For admins. Returns how many were changed, and whether '
  'there are more: if so, call it again with the same run_at. Raises TWTNT, TWMEM, TWADM, TWARG, TWRUN.';
