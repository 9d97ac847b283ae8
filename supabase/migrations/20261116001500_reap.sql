-- running -> queued or dead: the lease has expired

create function tickwork.reap(family text, max_jobs integer)
returns integer
language plpgsql
volatile
as $$
declare
  expired record;
begin
  update tickwork.family_types
  -- Looking for expired leases reads all running jobs: once per second is often enough.
  set reaped_at = clock_timestamp()
  where family_types.ctid = any (array(
    select free.ctid
    from tickwork.family_types as free
    where free.family = reap.family
    for no key update skip locked
  ));

  -- Whoever is settling a job or renewing its lease at this moment was faster.
  with lapsed as (
    select leases.job_id
    from tickwork.leases
    where leases.family = reap.family
      and leases.expires_at < clock_timestamp()
    limit reap.max_jobs
    for update skip locked
  ),
  -- Nor is anybody waited for who is cancelling the job.
  held as (
    select jobs.id, jobs.worker_id
    from lapsed
    cross join lateral (
      select *
      from public.jobs
      where jobs.id = lapsed.job_id
      limit 1
      for no key update skip locked
    ) as jobs
  ),
  ended as (
    delete from tickwork.leases
    where leases.job_id = any (array(select held.id from held))
    returning leases.job_id, leases.is_watched
  )
  select
    array_agg(ended.job_id) as ids,
    array_agg(row(
      ended.job_id, 'lease_expired', 'LEASE_EXPIRED',
      format(
        '%s stopped renewing the lease: it crashed, hung or lost its connection', coalesce(held.worker_id, 'Its worker')
      ),
      null, true, 0, null, null, null, null, null, null, null
    )::tickwork.outcome) as outcomes,
    bool_or(ended.is_watched) as are_watched
  into expired
  from ended
  join held on held.id = ended.job_id;

  if expired.ids is null then
    return 0;
  end if;

  perform tickwork.wait_for_disk();
  expired.are_watched := tickwork.note_outcomes(expired.outcomes, expired.ids) or expired.are_watched;

  if expired.are_watched then
    perform tickwork.free_what_was_held(expired.ids);
  end if;

  perform tickwork.note_end(row(expired.ids, false, expired.are_watched, true)::tickwork.ended_attempts);
  return cardinality(expired.ids);
end
$$;

comment on function tickwork.reap is
  'running -> queued, dead or cancelled. Ends attempts of one family whose lease has expired, at most max_jobs.';


-- The tables that the queue works on are kept in step with the record: when it is edited, and when they are rebuilt.

create function tickwork.follow_jobs(ids uuid[])
returns void
language plpgsql
volatile
as $$
begin
  insert into tickwork.leases (job_id, token, family, type, tenant_id, lane, lease_seconds, expires_at, is_watched)
  select
    jobs.id, gen_random_uuid(), jobs.family, jobs.type, jobs.tenant_id, jobs.lane, coalesce(jobs.lease_seconds, 60),
    jobs.lease_expires_at, true
  from unnest(follow_jobs.ids) as followed(id)
  cross join lateral (select * from public.jobs where jobs.id = followed.id limit 1) as jobs
  where jobs.status = 'running'
  -- Whoever holds the job still holds it.
  on conflict (job_id) do update
  set
    family = excluded.family,
    type = excluded.type,
    tenant_id = excluded.tenant_id,
    lane = excluded.lane,
    lease_seconds = excluded.lease_seconds,
    expires_at = excluded.expires_at,
    is_watched = true;

  perform tickwork.take_keys(follow_jobs.ids);
  perform tickwork.note_unsuccessful(follow_jobs.ids);
  perform tickwork.file_again(follow_jobs.ids);
end
$$;

comment on function tickwork.follow_jobs is
  'Creates the rows of jobs in the tables that the queue works on, according to their status. There must be none yet, '
  'except the lease of a running job, which keeps its token.';

create function tickwork.rebuild_queue()
returns integer
language plpgsql
volatile
security definer -- nobody may write these tables
set search_path = ''
as $$
begin
  -- In the order in which a settle locks them.
  lock table tickwork.leases, tickwork.waiting, tickwork.parked, tickwork.awaiting, public.jobs
  in share row exclusive mode;

  perform tickwork.add_family_type(lost.family, lost.type)
  from (
    select distinct jobs.family collate "C", jobs.type collate "C" from public.jobs
    except
    select family_types.family, family_types.type from tickwork.family_types
  ) as lost(family, type);

  delete from tickwork.waiting;
  delete from tickwork.parked;
  delete from tickwork.awaiting;
  delete from tickwork.awaited;
  delete from tickwork.to_check;
  delete from tickwork.alarms;
  delete from tickwork.leases
  where not exists (select from public.jobs where jobs.id = leases.job_id and jobs.status = 'running');
  delete from tickwork.taken_keys;
  delete from tickwork.unsuccessful;

  perform tickwork.follow_jobs(array(select jobs.id from public.jobs where jobs.status <> 'done'));

  return (select count(*) from tickwork.waiting)
    + (select count(*) from tickwork.parked)
    + (select count(*) from tickwork.awaiting);
end
$$;

create function public.rebuild_queue()
returns integer
language sql
volatile
return tickwork.rebuild_queue();

comment on function public.rebuild_queue is
  'queued -> queued. Rebuilds the tables that the queue works on from jobs: after a restore, or after jobs were loaded '
  'with triggers disabled. Nobody can claim or settle meanwhile. Returns how many jobs are queued.';

-- People may edit the record: a job that they have made due is due, a lease that they have ended is over, and a row
-- that makes no sense is refused.

create function tickwork.note_edit()
returns trigger
language plpgsql
security definer -- nobody else may write these tables
set search_path = ''
as $$
begin
  perform tickwork.check_state(new.status, new.lease_expires_at, new.finished_at);
  perform tickwork.redact_edit(old, new);

  if (new.family, new.type) <> (old.family, old.type) then
    perform tickwork.add_family_type(new.family, new.type);
  end if;

  if old.status = 'queued' then
    perform tickwork.unfile_jobs(array[tickwork.filed(old)]);
  elsif old.finished_at is not null and new.finished_at is null then
    perform tickwork.count_early(array[tickwork.state_of(old)], false);
  end if;

  delete from tickwork.leases where leases.job_id = old.id and new.status <> 'running';
  delete from tickwork.unsuccessful where unsuccessful.job_id = old.id;
  delete from tickwork.taken_keys where taken_keys.tenant_id = old.tenant_id
    and taken_keys.dedupe_key = old.dedupe_key
    and taken_keys.job_id = old.id;

  if new.status = 'queued' and new.attempts >= new.max_attempts then
    update public.jobs
    set
      status = 'dead',
      error_code = coalesce(jobs.error_code, 'NO_ATTEMPTS_LEFT'),
      error_message = coalesce(jobs.error_message, 'It was queued with no attempts left'),
      updated_at = clock_timestamp(),
      finished_at = clock_timestamp()
    where jobs.id = new.id;

    perform tickwork.note_unsuccessful_end(array[new.id]);
  else
    perform tickwork.follow_jobs(array[new.id]);
    perform tickwork.note_awaited_end(array(select new.id where new.is_awaited and new.finished_at is not null));
  end if;

  -- Makes the next claim look for expired leases.
  update tickwork.family_types
  set reaped_at = default
  where family_types.family = new.family
    and family_types.reaped_at <> '-infinity';

  return null;
end
$$;

create trigger note_edit
after update of
  tenant_id, type, family, lane, status, priority, run_at, attempts, max_attempts, dedupe_key, lease_expires_at,
  lease_seconds, finished_at, after, after_when, ready_at, payload, result
on public.jobs
for each row
-- As text: a name is 64 bytes, which every update of jobs would read from the catalog.
when (current_user <> text 'tickwork_owner')
execute function tickwork.note_edit();
