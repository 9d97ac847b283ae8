-- The attempts that ended with an error, of the jobs that were created in the period
select
  jobs.id as job_id, attempts.number as attempt, jobs.type, jobs.status as job_status, attempts.status,
  attempts.error_code, attempts.error_message, attempts.finished_at
from public.jobs
join tickwork.attempts on attempts.job_id = jobs.id
where jobs.created_at >= %(begins_at)s
  and jobs.created_at < %(ends_at)s
  and attempts.error_code is not null
order by jobs.created_at, attempts.number
