-- Jobs that wait for other jobs.

-- Nobody waits for anybody here. Whoever enqueues a job that waits marks the awaited jobs under their locks: whoever
-- ends one of them is then told to check what waits for it. A record that somebody else has locked is checked later:
-- it stays in to_check, and an alarm rings. So does a job that waits and that somebody else is deciding about.

create function tickwork.file_awaiting(ids uuid[])
returns bigint[]
language plpgsql
volatile
as $$
declare
  owners bigint[];
begin
  insert into tickwork.awaiting (job_id, family, type, tenant_number, lane)
  select jobs.id, jobs.family, jobs.type, tenants.number, jobs.lane
  from unnest(file_awaiting.ids) as filed(id)
  cross join lateral (select * from public.jobs where jobs.id = filed.id limit 1) as jobs
  join tickwork.tenants on tenants.tenant_id = jobs.tenant_id;

  with added as (
    insert into tickwork.awaited (awaited_id, job_id, tenant_number)
    select distinct awaited.id, jobs.id, tenants.number
    from unnest(file_awaiting.ids) as filed(id)
    cross join lateral (select * from public.jobs where jobs.id = filed.id limit 1) as jobs
    join tickwork.tenants on tenants.tenant_id = jobs.tenant_id
    cross join unnest(jobs.after) as awaited(id)
    returning awaited.tenant_number, awaited.awaited_id
  ),
  noted as (
    insert into tickwork.to_check (tenant_number, job_id)
    select distinct added.tenant_number, added.awaited_id
    from added
    returning to_check.tenant_number
  )
  select array_agg(distinct noted.tenant_number)
  into owners
  from noted;

  return owners;
end
$$;

comment on function tickwork.file_awaiting is
  'Puts queued jobs where no claim finds them until those that they wait for have ended. Returns the numbers of their '
  'tenants, for which the caller must call check_awaited at the end: some may have ended already.';

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
      select awaited.tenant_number
      from tickwork.awaited
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

  perform tickwork.check_awaited(owners);
end
$$;

comment on function tickwork.note_awaited_end is
  'queued -> queued, cancelled. What follows for others when jobs have ended, or were deleted, that others wait for.';

create function tickwork.check_awaited(tenant_numbers bigint[])
returns void
language plpgsql
volatile
as $$
begin
  perform tickwork.check_portions(owner.number)
  from unnest(check_awaited.tenant_numbers) as owner(number);

  perform
    tickwork.set_alarm(later.family, later.tenant_number, clock_timestamp()), pg_notify('tickwork', later.family)
  from (
    select distinct first_one.family, owner.number as tenant_number
    from unnest(check_awaited.tenant_numbers) as owner(number)
    cross join lateral (
      select to_check.job_id
      from tickwork.to_check
      where to_check.tenant_number = owner.number
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
