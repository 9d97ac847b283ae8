-- When a queued job will probably start.

create function tickwork.estimate_start(job_id uuid)
returns table (ahead bigint, per_minute double precision, starts_at timestamptz)
language plpgsql
volatile
security definer -- nobody may read the queue's own tables
set search_path = ''
as $$
declare
  job public.jobs;
  due_at timestamptz;
begin
  select * into job
  from public.jobs
  where jobs.id = estimate_start.job_id
    and tickwork.may_act_for(jobs.tenant_id);

  if not found then
    perform tickwork.raise_no_job(estimate_start.job_id);
  end if;

  if job.status <> 'queued' or job.after is not null and job.ready_at is null then
    return;
  end if;

  due_at := greatest(job.run_at, clock_timestamp());
  ahead := tickwork.jobs_ahead(job);

  -- What ended in the last ten minutes, at most as many as its lane may start.
  select least(sum(figures.jobs) / 10.0, min(lane_rules.starts_per_minute)) into per_minute
  from tickwork.family_types
  join tickwork.minutes as figures on figures.tenant_id = job.tenant_id
    and figures.type = family_types.type
    and figures.at > clock_timestamp() - interval '11 minutes'
    and figures.outcome in ('done', 'failed', 'dead', 'retried')
  left join tickwork.lane_rules on lane_rules.tenant_id = job.tenant_id
    and lane_rules.family = job.family
    and lane_rules.lane = job.lane
  where family_types.family = job.family;

  starts_at := case
    when tickwork.obstacle(job) is not null then null
    when per_minute > 0 then due_at + make_interval(secs => ahead / per_minute * 60)
    when ahead = 0 and job.run_at > clock_timestamp() then due_at
  end;
  return next;
end
$$;

create function public.estimate_start(job_id uuid)
returns table (ahead bigint, per_minute double precision, starts_at timestamptz)
language sql
volatile
set search_path = ''
as $$
  select *
  from tickwork.estimate_start(estimate_start.job_id);
$$;

comment on function public.estimate_start is
  'Reads when a queued job will probably start: how many of its tenant''s due jobs are ahead of it, how many of them '
  'ended per minute lately, and the time that follows; null if that cannot be known, or while something keeps it from '
  'starting. No row if the job is not queued, or waits for others. Raises TWJOB.';

select tickwork.open_verbs('authenticated, service_role', array['estimate_start']);
