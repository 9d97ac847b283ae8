-- How people see the queue.

create function tickwork.list_jobs(wanted tickwork.job_filter, max_jobs integer)
returns uuid[]
language sql
stable
security definer -- uses tables that nobody may read, and returns only what the caller may see
set search_path = ''
set jit = off
as $$
  select tickwork.find_jobs(tickwork.resolve_filter(list_jobs.wanted), greatest(least(list_jobs.max_jobs, 1000), 0));
$$;

create function public.list_jobs(
  tenant_id uuid default null,
  family text default null,
  type text default null,
  status text default null,
  after_id uuid default null,
  max_jobs integer default 50,
  lane text default null,
  source text default null,
  error_code text default null,
  key_starts_with text default null,
  created_after timestamptz default null,
  created_before timestamptz default null,
  finished_after timestamptz default null,
  finished_before timestamptz default null,
  oldest_first boolean default false,
  correlation_id text default null
)
returns setof public.jobs
language sql
stable
set search_path = ''
as $$
  select jobs.*
  from (
    select tickwork.list_jobs(
      tickwork.new_filter(
        list_jobs.tenant_id, list_jobs.family, list_jobs.type, list_jobs.status, list_jobs.lane, list_jobs.error_code,
        list_jobs.created_after, list_jobs.created_before, list_jobs.source, list_jobs.key_starts_with,
        list_jobs.finished_after, list_jobs.finished_before, list_jobs.after_id, list_jobs.oldest_first,
        list_jobs.correlation_id
      ),
      list_jobs.max_jobs
    )
    -- Otherwise the planner searches too, to estimate how many there are.
    offset 0
  ) as matching(ids)
  cross join unnest(matching.ids) with ordinality as listed(id, place)
  cross join lateral (select * from public.jobs where jobs.id = listed.id limit 1) as jobs
  order by listed.place;
$$;

comment on function public.list_jobs is
  'Reads jobs, the newest first or, with oldest_first, the oldest. For the next page, pass the last id of this one as '
  'after_id. Ranges include their start but not their end. key_starts_with is the beginning of an idempotency_key, '
  'dedupe_key or correlation_id. error_code finds failed, dead and cancelled jobs, unless another status is asked for. '
  'Every filter uses an index, but a search for done jobs by the time they finished reads them by the time they were '
  'created, so pass created_after too if you can. At most 1000 at a time. Raises TWJOB, TWARG.';


-- All jobs except the done ones are counted in small tables. For those, an index of jobs is enough, unless only some
-- tenants are asked for, or a type has moved from one family to another.

create function tickwork.count_others(tenant_ids uuid[])
returns table (family text, type text, status text, jobs bigint, due bigint, oldest_due_at timestamptz)
language plpgsql
stable
-- By index for one tenant, in one go for all of them.
set plan_cache_mode = force_custom_plan
as $$
begin
  return query
  select
    unfinished.family, unfinished.type, unfinished.status, count(*),
    count(*) filter (where unfinished.run_at <= now()), min(unfinished.run_at) filter (where unfinished.run_at <= now())
  from tickwork.unfinished
  where count_others.tenant_ids is null or unfinished.tenant_id = any (count_others.tenant_ids)
  group by 1, 2, 3
  union all
  select unsuccessful.family collate "C", unsuccessful.type collate "C", unsuccessful.status, count(*), 0, null
  from tickwork.unsuccessful
  where count_others.tenant_ids is null or unsuccessful.tenant_id = any (count_others.tenant_ids)
  group by 1, 2, 3;
end
$$;

comment on function tickwork.count_others is
  'How many jobs of these tenants, or of all, are in each status but done.';

create function tickwork.count_jobs(tenant_id uuid)
returns table (family text, type text, status text, jobs bigint, due bigint, oldest_due_at timestamptz)
language sql
stable
security definer -- counts in tables that nobody may read, and only what the caller may see
set search_path = ''
-- Compiling a statement of this size takes longer than executing it.
set jit = off
as $$
  with seen as materialized (
    select resolved.tenant_ids
    from tickwork.resolve_filter(
      tickwork.new_filter(count_jobs.tenant_id, null, null, null, null, null, null, null)
    ) as resolved
  )
  select others.*
  from seen
  cross join lateral tickwork.count_others(seen.tenant_ids) as others
  union all
  select own.family collate "C", own.type collate "C", 'any', own.jobs, 0, null
  from seen
  cross join unnest(seen.tenant_ids) as tenant(id)
  cross join lateral (
    select jobs.family, jobs.type, count(*) as jobs
    from public.jobs
    where jobs.tenant_id = tenant.id
    group by 1, 2
  ) as own
  union all
  select
    family_types.family, family_types.type, 'any',
    case
      when exists (
        select
        from tickwork.family_types as other
        where other.type = family_types.type
          and other.family <> family_types.family
      ) then (
        select count(*)
        from public.jobs
        where jobs.type = family_types.type collate pg_catalog."default"
          and jobs.family = family_types.family collate pg_catalog."default"
      )
      else (select count(*) from public.jobs where jobs.type = family_types.type collate pg_catalog."default")
    end,
    0, null
  from tickwork.family_types
  where (select seen.tenant_ids is null from seen);
$$;

comment on function tickwork.count_jobs is
  'Reads how many jobs of each type are queued, running, failed, dead and cancelled, and how many there are in total.';

create function public.queue_summary(tenant_id uuid default null)
returns table (
  family text,
  type text,
  queued bigint,
  due bigint,
  running bigint,
  done bigint,
  failed bigint,
  dead bigint,
  cancelled bigint,
  oldest_due_at timestamptz
)
language sql
stable
set search_path = ''
as $$
  select
    counted.family,
    counted.type,
    coalesce(sum(counted.jobs) filter (where counted.status = 'queued'), 0)::bigint,
    sum(counted.due)::bigint,
    coalesce(sum(counted.jobs) filter (where counted.status = 'running'), 0)::bigint,
    sum(case counted.status when 'any' then counted.jobs else -counted.jobs end)::bigint,
    coalesce(sum(counted.jobs) filter (where counted.status = 'failed'), 0)::bigint,
    coalesce(sum(counted.jobs) filter (where counted.status = 'dead'), 0)::bigint,
    coalesce(sum(counted.jobs) filter (where counted.status = 'cancelled'), 0)::bigint,
    min(counted.oldest_due_at)
  from tickwork.count_jobs(queue_summary.tenant_id) as counted
  group by counted.family, counted.type
  having sum(counted.jobs) > 0
  order by counted.family, counted.type;
$$;

comment on function public.queue_summary is
  'Reads how many jobs of each type are in each status, how many are due, and since when the oldest of these has been '
  'due.';
