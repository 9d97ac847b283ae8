-- What people see. These run as the caller: row-level security decides what there is to read.

create function tickwork.list_jobs(
  tenant_id uuid,
  family text,
  type text,
  status text,
  lane text,
  source text,
  error_code text,
  key_starts_with text,
  created_after timestamptz,
  created_before timestamptz,
  finished_after timestamptz,
  finished_before timestamptz,
  after_id uuid,
  oldest_first boolean,
  max_jobs integer
)
returns uuid[]
language plpgsql
stable
security definer -- finds by tables of the queue that nobody may read, and only what the caller may see
set search_path = ''
as $$
begin
  return tickwork.find_jobs(
    tickwork.new_filter(
      tickwork.tenants_to_read(list_jobs.tenant_id),
      list_jobs.family,
      list_jobs.type,
      list_jobs.status,
      list_jobs.lane,
      list_jobs.source,
      list_jobs.error_code,
      list_jobs.key_starts_with,
      list_jobs.created_after,
      list_jobs.created_before,
      list_jobs.finished_after,
      list_jobs.finished_before,
      list_jobs.oldest_first,
      list_jobs.after_id
    ),
    greatest(least(list_jobs.max_jobs, 1000), 0)
  );
end
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
  oldest_first boolean default false
)
returns setof public.jobs
language sql
stable
set search_path = ''
as $$
  select jobs.*
  from unnest(tickwork.list_jobs(
    list_jobs.tenant_id, list_jobs.family, list_jobs.type, list_jobs.status, list_jobs.lane, list_jobs.source,
    list_jobs.error_code, list_jobs.key_starts_with, list_jobs.created_after, list_jobs.created_before,
    list_jobs.finished_after, list_jobs.finished_before, list_jobs.after_id, list_jobs.oldest_first,
    list_jobs.max_jobs
  )) with ordinality as listed(id, place)
  cross join lateral (select * from public.jobs where jobs.id = listed.id limit 1) as jobs
  order by listed.place;
$$;

comment on function public.list_jobs is
  'Reads jobs, the newest first or, with oldest_first, the oldest. For the next page give the last id of this one as '
  'after_id. Ranges include their start and not their end. key_starts_with is how an idempotency_key, dedupe_key or '
  'correlation_id begins. error_code finds failed, dead and cancelled jobs, unless another status is asked for. Every '
  'filter goes by an index; done jobs by when they finished go by when they were created, so give created_after too '
  'where that is known. At most 1000 at a time. Raises TWJOB, TWARG.';

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
    jobs.family,
    jobs.type,
    count(*) filter (where jobs.status = 'queued'),
    count(*) filter (where jobs.status = 'queued' and jobs.run_at <= now()),
    count(*) filter (where jobs.status = 'running'),
    count(*) filter (where jobs.status = 'done'),
    count(*) filter (where jobs.status = 'failed'),
    count(*) filter (where jobs.status = 'dead'),
    count(*) filter (where jobs.status = 'cancelled'),
    min(jobs.run_at) filter (where jobs.status = 'queued' and jobs.run_at <= now())
  from public.jobs
  where queue_summary.tenant_id is null or jobs.tenant_id = queue_summary.tenant_id
  group by jobs.family, jobs.type
  order by jobs.family, jobs.type;
$$;

comment on function public.queue_summary is
  'Reads how many jobs of each type are in each status, how many of them are due, and since when the oldest is.';

