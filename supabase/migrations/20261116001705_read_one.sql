-- One job, and its attempts.

create function public.get_job(job_id uuid)
returns public.jobs
language plpgsql
stable
set search_path = ''
as $$
declare
  job public.jobs;
begin
  select * into job
  from public.jobs
  where jobs.id = get_job.job_id;

  if not found then
    raise exception 'job_id: there is no job %', coalesce(get_job.job_id::text, 'null')
      using errcode = 'TWJOB', hint = 'list_jobs shows the jobs that you may see.';
  end if;

  return job;
end
$$;

comment on function public.get_job is
  'Reads a job. Raises TWJOB.';

create function public.list_attempts(job_id uuid)
returns setof public.job_attempts
language plpgsql
stable
set search_path = ''
as $$
begin
  perform public.get_job(list_attempts.job_id);

  return query
  select *
  from public.job_attempts
  where job_attempts.job_id = list_attempts.job_id
  order by job_attempts.number;
end
$$;

comment on function public.list_attempts is
  'Reads the attempts of a job, the first one first. Raises TWJOB.';

revoke execute on function public.get_job, public.list_attempts from public, anon;
grant execute on function public.get_job, public.list_attempts to authenticated, service_role;
