-- done, failed, dead, cancelled -> gone

create function tickwork.check_purge(older_than interval, batch_size integer)
returns void
language plpgsql
immutable
as $$
begin
  if check_purge.older_than is null or check_purge.older_than < interval '0' then
    raise exception 'older_than: must be an interval of 0 or more, not %',
      coalesce(check_purge.older_than::text, 'null')
      using errcode = 'TWARG', hint = 'For the usual 30 days: interval ''30 days''.';
  end if;

  if check_purge.batch_size is null or check_purge.batch_size not between 1 and 10000 then
    raise exception 'batch_size: % is out of range, it must be 1 to 10000',
      coalesce(check_purge.batch_size::text, 'null')
      using errcode = 'TWARG', hint = 'A large batch holds its locks for a long time.';
  end if;
end
$$;

comment on function tickwork.check_purge is
  'Raises TWARG if an argument of purge_jobs or purge_events is out of range.';

create function tickwork.purge_jobs(older_than interval, batch_size integer)
returns integer
language plpgsql
volatile
security definer -- nobody may delete jobs directly
set search_path = ''
as $$
declare
  purged integer;
begin
  perform tickwork.check_purge(purge_jobs.older_than, purge_jobs.batch_size);

  with old_jobs as (
    select old_job.id
    -- With the collation of the column in jobs, and of its index.
    from (select distinct family_types.type collate pg_catalog."default" from tickwork.family_types) as types(type)
    cross join lateral (
      select jobs.id
      from public.jobs
      where jobs.type = types.type
        -- A job that finished that long ago was created even earlier.
        and jobs.created_at < now() - purge_jobs.older_than
        and jobs.finished_at < now() - purge_jobs.older_than
      order by jobs.type, jobs.created_at
      limit purge_jobs.batch_size
      for update skip locked
    ) as old_job
    limit purge_jobs.batch_size
  )
  delete from public.jobs
  where jobs.id = any (array(select old_jobs.id from old_jobs));

  get diagnostics purged = row_count;
  return purged;
end
$$;

create function public.purge_jobs(older_than interval, batch_size integer default 1000)
returns integer
language sql
volatile
return tickwork.purge_jobs(older_than, batch_size);

comment on function public.purge_jobs is
  'done, failed, dead, cancelled -> gone. Deletes one batch of the jobs that finished longer ago than older_than, with '
  'their attempts, and returns how many. Call it again until it returns 0. Raises TWARG.';


-- How long jobs are kept: as their type says, or else their tenant. Every 30 seconds a portion of each type is
-- examined, starting where the last one stopped, and from the beginning after the end. As long as there is something to
-- delete, the next tick continues.

create function tickwork.is_kept_long_enough(job public.jobs)
returns boolean
language sql
stable
as $$
  select (job).finished_at + make_interval(days => case
    when job_types.keep_days ? (job).status then (job_types.keep_days ->> (job).status)::numeric::integer
    else (to_jsonb(tenant_settings) ->> format('keep_%s_days', (job).status))::integer
  end) < clock_timestamp()
  from public.tenant_settings
  left join public.job_types on job_types.key = (job).type
  where tenant_settings.tenant_id = (job).tenant_id;
$$;

create function tickwork.purge_portions(family text, batch_size integer)
returns void
language plpgsql
volatile
as $$
declare
  family_type tickwork.family_types;
  -- With the collation of the column in jobs, and of its index.
  purged_type text;
  portion public.jobs[];
begin
  for family_type in
    select *
    from tickwork.family_types
    where family_types.family = purge_portions.family
      and family_types.purged_at < clock_timestamp() - interval '30 seconds'
    for no key update skip locked
  loop
    purged_type := family_type.type;

    portion := array(
      select jobs
      from public.jobs
      where jobs.type = purged_type
        and jobs.created_at >= family_type.purged_to
      order by jobs.type, jobs.created_at
      limit purge_portions.batch_size
    );

    delete from public.jobs
    where jobs.id = any (array(
      select old_job.id
      from unnest(portion) with ordinality as job
      cross join lateral (
        select jobs.id
        from public.jobs
        where jobs.id = job.id
          -- Somebody may have retried it in the meantime, or be doing so right now.
          and jobs.finished_at = job.finished_at
        for update skip locked
      ) as old_job
      where job.finished_at is not null
        and tickwork.is_kept_long_enough(portion[job.ordinality])
    ));

    update tickwork.family_types
    set
      purged_at = case when found then '-infinity' else clock_timestamp() end,
      purged_to = case
        when cardinality(portion) < purge_portions.batch_size then '-infinity'
        else portion[cardinality(portion)].created_at
      end
    where family_types.family = family_type.family
      and family_types.type = family_type.type;
  end loop;
end
$$;

comment on function tickwork.purge_portions is
  'done, failed, dead, cancelled -> gone, if they have been kept long enough. For each type, batch_size jobs are '
  'examined: at every tick as long as some of them are deleted, otherwise once every 30 seconds.';
