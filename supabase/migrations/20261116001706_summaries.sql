-- The queue in one row.

create function public.summarize_jobs(tenant_id uuid default null)
returns table (
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
    coalesce(sum(counted.queued), 0)::bigint, coalesce(sum(counted.due), 0)::bigint,
    coalesce(sum(counted.running), 0)::bigint, coalesce(sum(counted.done), 0)::bigint,
    coalesce(sum(counted.failed), 0)::bigint, coalesce(sum(counted.dead), 0)::bigint,
    coalesce(sum(counted.cancelled), 0)::bigint, min(counted.oldest_due_at)
  from public.queue_summary(summarize_jobs.tenant_id) as counted;
$$;

comment on function public.summarize_jobs is
  'Reads how many jobs are in each status, how many are due, and since when the oldest of these has been due.';

revoke execute on function public.summarize_jobs from public, anon;
grant execute on function public.summarize_jobs to authenticated, service_role;
