-- Jobs that wait for other jobs.

-- Nobody waits for anybody here. Whoever enqueues a job that waits marks the awaited jobs under their locks: whoever
-- ends one of them is then told to check what waits for it. A record that somebody else has locked is checked later:
-- it stays in to_check, and an alarm rings. So does a job that waits and that somebody else is deciding about.

create function tickwork.file_awaiting(ids uuid[])
returns void
language plpgsql
volatile
as $$
begin
  insert into tickwork.awaiting (job_id, family, type, tenant_number, lane)
  select jobs.id, jobs.family, jobs.type, tenants.number, jobs.lane
  from unnest(file_awaiting.ids) as filed(id)
  cross join lateral (select * from public.jobs where jobs.id = filed.id limit 1) as jobs
  join tickwork.tenants on tenants.tenant_id = jobs.tenant_id;

  with added as (
    insert into tickwork.awaited (awaited_id, job_id)
    select distinct awaited.id, jobs.id
    from unnest(file_awaiting.ids) as filed(id)
    cross join lateral (select * from public.jobs where jobs.id = filed.id limit 1) as jobs
    cross join unnest(jobs.after) as awaited(id)
    returning awaited.awaited_id, awaited.job_id
  )
  insert into tickwork.to_check (tenant_number, job_id)
  select distinct awaiting.tenant_number, added.awaited_id
  from added
  join tickwork.awaiting on awaiting.job_id = added.job_id;
end
$$;

comment on function tickwork.file_awaiting is
  'Puts queued jobs where no claim finds them until those that they wait for have ended. The caller must call '
  'check_awaited at the end: some may have ended already.';

create function tickwork.unfile_awaiting(ids uuid[])
returns uuid[]
language plpgsql
volatile
as $$
declare
  removed uuid[];
begin
  with gone as (
    delete from tickwork.awaiting
    where awaiting.job_id = any (unfile_awaiting.ids)
    returning awaiting.job_id
  )
  select array_agg(gone.job_id)
  into removed
  from gone;

  if removed is null then
    return unfile_awaiting.ids;
  end if;

  delete from tickwork.awaited
  where awaited.job_id = any (removed);

  return array(select unnest(unfile_awaiting.ids) except select unnest(removed));
end
$$;

comment on function tickwork.unfile_awaiting is
  'Removes jobs from awaiting that the caller has locked. Returns those that were not there.';

create function tickwork.note_awaited_end(ids uuid[])
returns void
language plpgsql
volatile
as $$
declare
  owners bigint[];
begin
  if note_awaited_end.ids = '{}' then
    return;
  end if;

  with noted as (
    insert into tickwork.to_check (tenant_number, job_id)
    select first_one.tenant_number, ended.id
    from unnest(note_awaited_end.ids) as ended(id)
    cross join lateral (
      select awaiting.tenant_number
      from tickwork.awaited
      join tickwork.awaiting on awaiting.job_id = awaited.job_id
      where awaited.awaited_id = ended.id
      limit 1
    ) as first_one
    returning to_check.tenant_number
  )
  select array_agg(distinct noted.tenant_number)
  into owners
  from noted;

  -- If a job was cancelled because another one failed, whoever did that goes on with those that wait for it.
  if current_setting('tickwork.is_checking', true) = 'yes' then
    return;
  end if;

  perform tickwork.check_awaited(owner.number)
  from unnest(owners) as owner(number);
end
$$;

comment on function tickwork.note_awaited_end is
  'queued -> queued, cancelled. What follows for others when jobs have ended, or were deleted, that others wait for.';

create function tickwork.check_awaited(tenant_number bigint)
returns void
language plpgsql
volatile
as $$
begin
  perform tickwork.check_portions(check_awaited.tenant_number);

  perform
    tickwork.set_alarm(later.family, check_awaited.tenant_number, clock_timestamp()),
    pg_notify('tickwork', later.family)
  from (
    select distinct first_one.family
    from (
      select to_check.job_id
      from tickwork.to_check
      where to_check.tenant_number = check_awaited.tenant_number
      limit 100
    ) as left_over
    cross join lateral (
      select awaiting.family
      from tickwork.awaited
      join tickwork.awaiting on awaiting.job_id = awaited.job_id
      where awaited.awaited_id = left_over.job_id
      limit 1
    ) as first_one
  ) as later;
end
$$;

comment on function tickwork.check_awaited is
  'queued -> queued, cancelled. Checks what waits for jobs that have ended. What cannot be checked now is checked when '
  'an alarm rings.';

create function tickwork.check_portions(tenant_number bigint)
returns void
language plpgsql
volatile
as $$
declare
  portion tid[];
  checked tid[] := '{}';
begin
  -- With an older snapshot there is no telling which one was the last. The lock is the one of those who park jobs.
  if current_setting('transaction_isolation') <> 'read committed'
    or not pg_try_advisory_xact_lock_shared(7464, (check_portions.tenant_number & 1023)::integer)
  then
    return;
  end if;

  -- The end of a job may be an event, and so enqueue more: that must not wait either.
  perform set_config('tickwork.has_enqueued', 'yes', true);
  perform set_config('tickwork.is_checking', 'yes', true);

  for round in 1 .. 20 loop
    portion := array(
      select to_check.ctid
      from tickwork.to_check
      where to_check.tenant_number = check_portions.tenant_number
        and to_check.ctid <> all (checked)
      limit 1000
      for update skip locked
    );
    exit when portion = '{}';

    perform tickwork.check_portion(portion);
    checked := checked || portion;
  end loop;

  perform set_config('tickwork.is_checking', '', true);
end
$$;

comment on function tickwork.check_portions is
  'queued -> queued, cancelled. Like check_awaited, without an alarm. A job that is cancelled is checked in the next '
  'round, for those that wait for it.';

create function tickwork.has_to_check(tenant_number bigint)
returns boolean
language sql
volatile
return exists (select from tickwork.to_check where to_check.tenant_number = has_to_check.tenant_number);

create function tickwork.check_portion(places tid[])
returns void
language plpgsql
volatile
as $$
declare
  ids constant uuid[] := array(
    select to_check.job_id
    from tickwork.to_check
    where to_check.ctid = any (check_portion.places)
  );
  unfinished uuid[];
  ended uuid[];
  unsuccessful uuid[];
begin
  -- Whoever ends one of these has to wait for this transaction, and then sees what waits for it.
  unfinished := array(
    select jobs.id
    from public.jobs
    where jobs.id = any (ids)
      and jobs.finished_at is null
    for no key update skip locked
  );

  update public.jobs
  set is_awaited = true
  where jobs.id = any (unfinished)
    and not jobs.is_awaited;

  select
    array_agg(known.id) filter (where jobs.id is null or jobs.finished_at is not null),
    array_agg(known.id) filter (where jobs.status in ('failed', 'dead', 'cancelled'))
  into ended, unsuccessful
  from unnest(ids) as known(id)
  left join lateral (select * from public.jobs where jobs.id = known.id limit 1) as jobs on true;

  if ended is not null then
    perform tickwork.decide_awaiting(ended, coalesce(unsuccessful, '{}'));
  end if;

  delete from tickwork.to_check
  where to_check.ctid = any (check_portion.places)
    and (
      to_check.job_id = any (unfinished)
      or to_check.job_id = any (ended)
      and not exists (select from tickwork.awaited where awaited.awaited_id = to_check.job_id)
    );
end
$$;

comment on function tickwork.check_portion is
  'queued -> queued, cancelled. Marks those of the awaited jobs that have not ended, and decides about the jobs that '
  'wait for the others. What somebody else has locked stays in to_check.';

create function tickwork.decide_awaiting(ended uuid[], unsuccessful uuid[])
returns void
language plpgsql
volatile
as $$
declare
  now_at constant timestamptz := clock_timestamp();
  -- Two that end at the same moment must not both take the other for unfinished: one of them gets the lock.
  locked constant public.jobs[] := tickwork.lock_awaiting(decide_awaiting.ended);
  ids constant uuid[] := array(select job.id from unnest(locked) as job);
  cause record;
  ready uuid[];
begin
  for cause in
    select failed.id, failed.status, array_agg(locked[job.ordinality]) as jobs
    from unnest(locked) with ordinality as job
    cross join lateral (
      select jobs.id, jobs.status
      from tickwork.awaited
      join public.jobs on jobs.id = awaited.awaited_id
      where awaited.job_id = job.id
        and awaited.awaited_id = any (decide_awaiting.unsuccessful)
      order by awaited.awaited_id
      limit 1
    ) as failed
    where job.after_when = 'all_done'
    group by failed.id, failed.status
  loop
    perform tickwork.end_queued(
      cause.jobs, 'cancelled', 'AWAITED_JOB_FAILED',
      format('Job %s, which it was waiting for, %s', cause.id, case cause.status
        when 'failed' then 'failed'
        when 'dead' then 'is dead'
        else 'was cancelled'
      end)
    );
  end loop;

  delete from tickwork.awaited
  where awaited.awaited_id = any (decide_awaiting.ended)
    and awaited.job_id = any (ids);

  ready := array(
    select awaiting.job_id
    from unnest(locked) as job
    join tickwork.awaiting on awaiting.job_id = job.id
    where job.after_when = 'any_ended'
      or not exists (select from tickwork.awaited where awaited.job_id = job.id)
  );

  if ready <> '{}' then
    perform tickwork.unfile_awaiting(ready);

    update public.jobs
    set
      ready_at = now_at,
      run_at = greatest(jobs.run_at, now_at),
      updated_at = now_at
    where jobs.id = any (ready);

    perform tickwork.file_again(ready);
    perform tickwork.wake_families(array(
      select distinct job.family from unnest(locked) as job where job.id = any (ready)
    ));
  end if;
end
$$;

comment on function tickwork.decide_awaiting is
  'queued -> queued, cancelled. Jobs that wait for nothing else can be claimed from now on; jobs that were to run only '
  'if all others are done are cancelled if one is not.';

create function tickwork.lock_awaiting(ended uuid[])
returns public.jobs[]
language plpgsql
volatile
as $$
begin
  return array(
    select locked.job
    from (
      select distinct portion.job_id
      from (
        select awaited.job_id
        from tickwork.awaited
        where awaited.awaited_id = any (lock_awaiting.ended)
        limit 1000
      ) as portion
    ) as found
    cross join lateral (
      select jobs as job
      from public.jobs
      where jobs.id = found.job_id
        and jobs.status = 'queued'
        and jobs.ready_at is null
      for no key update skip locked
    ) as locked
    limit 100
  );
end
$$;

comment on function tickwork.lock_awaiting is
  'Locks and returns the jobs that wait for one of these, at most 100, without those that somebody else has locked.';

create function tickwork.awaited_again(after uuid[], after_when text)
returns uuid[]
language plpgsql
stable
as $$
declare
  unfinished constant uuid[] := array(
    select awaited.id
    from unnest(awaited_again.after) as awaited(id)
    where exists (
      select
      from public.jobs
      where jobs.id = awaited.id
        and jobs.finished_at is null
    )
  );
begin
  if awaited_again.after_when = 'any_ended' and cardinality(unfinished) < cardinality(awaited_again.after) then
    return null;
  end if;

  return nullif(unfinished, '{}');
end
$$;

comment on function tickwork.awaited_again is
  'What a job that is queued again waits for: the jobs that have not ended. Those that have no longer matter to it.';
