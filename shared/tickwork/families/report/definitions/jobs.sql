-- The jobs that were created in the period and have not been deleted since
select
  id as job_id, type, family, status, source, attempts, created_at, started_at, finished_at,
  round(extract(epoch from started_at - created_at), 3) as wait_seconds,
  round(extract(epoch from finished_at - started_at), 3) as run_seconds, error_code
from public.jobs
where created_at >= %(begins_at)s
  and created_at < %(ends_at)s
order by created_at
