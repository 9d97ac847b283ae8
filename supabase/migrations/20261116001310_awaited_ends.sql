-- What becomes of jobs that wait for others when these end.

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
  locked constant public.jobs[] := array(
    select locked.job
    from (
      select distinct portion.job_id
      from (
        select awaited.job_id
        from tickwork.awaited
        where awaited.awaited_id = any (decide_awaiting.ended)
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
  'queued -> queued, cancelled. Of the jobs that wait for one of these, at most 100 and none that somebody else has '
  'locked: those that wait for nothing else can be claimed from now on; those that were to run only if all others are '
  'done are cancelled if one is not.';

create function tickwork.wait_again(ids uuid[])
returns void
language sql
volatile
as $$
  update public.jobs
  set
    after = case when again.is_ready then jobs.after else again.unfinished end,
    ready_at = case when again.is_ready then clock_timestamp() end
  from (
    select
      jobs.id,
      array_agg(awaited.id order by awaited.place) filter (
        where peer.id is not null and peer.finished_at is null
      ) as unfinished,
      case jobs.after_when
        when 'any_ended' then bool_or(peer.id is null or peer.finished_at is not null)
        else bool_and(peer.id is null or peer.finished_at is not null)
      end as is_ready
    from unnest(wait_again.ids) as requeued(id)
    cross join lateral (select * from public.jobs where jobs.id = requeued.id limit 1) as jobs
    cross join unnest(jobs.after) with ordinality as awaited(id, place)
    left join lateral (select * from public.jobs where jobs.id = awaited.id limit 1) as peer on true
    group by jobs.id, jobs.after_when
  ) as again
  where jobs.id = any (array[again.id]);
$$;

comment on function tickwork.wait_again is
  'Jobs that are queued again wait for those of the others that have not ended. Those that have no longer matter.';
