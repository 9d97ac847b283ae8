-- What people see. These run as the caller: row-level security decides what there is to read.

create function public.list_jobs(
  tenant_id uuid default null,
  family text default null,
  type text default null,
  status text default null,
  after_id uuid default null,
  max_jobs integer default 50
)
returns setof public.jobs
language plpgsql
stable
set search_path = ''
as $$
declare
  last_seen public.jobs;
begin
  select * into last_seen
  from public.jobs
  where jobs.id = list_jobs.after_id;

  if list_jobs.after_id is not null and not found then
    raise exception 'after_id: there is no job %', list_jobs.after_id
      using errcode = 'TWJOB', hint = 'It was purged meanwhile, or is not yours. Start again without after_id.';
  end if;

  return query
  select jobs.*
  from public.jobs
  where (list_jobs.tenant_id is null or jobs.tenant_id = list_jobs.tenant_id)
    and (list_jobs.family is null or jobs.family = list_jobs.family)
    and (list_jobs.type is null or jobs.type = list_jobs.type)
    and (list_jobs.status is null or jobs.status = list_jobs.status)
    and (list_jobs.after_id is null or (jobs.created_at, jobs.id) < (last_seen.created_at, last_seen.id))
  order by jobs.created_at desc, jobs.id desc
  limit least(list_jobs.max_jobs, 1000);
end
$$;

comment on function public.list_jobs is
  'Reads jobs, the newest first. For the next page give the last id of this one as after_id. Raises TWJOB.';

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

create function tickwork.obstacle(job_id uuid)
returns text
language plpgsql
volatile
security definer -- nobody may read holds, and a limit counts other tenants' jobs too
set search_path = ''
as $$
declare
  job public.jobs;
  hold tickwork.holds;
  spot tickwork.spot;
  rule tickwork.rule;
begin
  select * into job
  from public.jobs
  where jobs.id = obstacle.job_id
    and (
      tickwork.caller_is_service()
      or tickwork.caller_is_platform_admin()
      or jobs.tenant_id in (select tickwork.caller_tenants())
    );

  select * into hold
  from tickwork.holds
  where holds.scope in (
    tickwork.family_scope(job.family),
    tickwork.type_scope(job.type),
    tickwork.tenant_scope(job.tenant_id),
    tickwork.lane_scope(job.family, job.tenant_id, job.lane)
  )
    and holds.until > clock_timestamp()
  order by holds.until desc
  limit 1;

  if found then
    return case hold.scope
      when tickwork.family_scope(job.family) then format('The family %s is paused', quote_literal(job.family))
      when tickwork.type_scope(job.type) then format('The type %s is paused', quote_literal(job.type))
      when tickwork.tenant_scope(job.tenant_id) then 'Its tenant is paused'
      else format('Its lane %s is held', quote_literal(job.lane))
    end
    || case when isfinite(hold.until) then format(' until %s', hold.until::timestamptz(0)) else '' end
    || case when hold.reason <> '' then format(': %s', rtrim(hold.reason, '.')) else '' end
    || '.';
  end if;

  spot.family := job.family;
  spot.type := job.type;
  spot.tenant_id := job.tenant_id;
  spot.lane := job.lane;

  for rule in
    select *
    from tickwork.rules_of(spot)
  loop
    if tickwork.count_running(rule.kind, spot) >= rule.max_running then
      return format(
        'It waits for room: at most %s of the jobs of %s may run at once.', rule.max_running,
        case rule.kind
          when 'type' then 'its type'
          when 'tenant' then 'its tenant'
          when 'tenant_type' then 'its type and tenant'
          else format('its lane %s', quote_literal(job.lane))
        end
      );
    elsif tickwork.tokens_left(rule) < 1 then
      return format(
        'It waits for its start: at most %s of the jobs of %s may start in a minute, the next one at %s.',
        rule.starts_per_minute,
        case rule.kind when 'lane' then format('its lane %s', quote_literal(job.lane)) else 'its type and tenant' end,
        (
          clock_timestamp() + make_interval(secs => (1 - tickwork.tokens_left(rule)) * 60 / rule.starts_per_minute)
        )::timestamptz(0)
      );
    end if;
  end loop;

  return null;
end
$$;

comment on function tickwork.obstacle is
  'Reads what keeps a due job from being claimed, in words, or null if nothing but its turn does.';

alter function tickwork.obstacle owner to tickwork_owner;

create function public.explain_job(job_id uuid)
returns text
language plpgsql
volatile
set search_path = ''
as $$
declare
  job public.jobs;
  obstacle text;
  ahead bigint;
  running bigint;
begin
  select * into job
  from public.jobs
  where jobs.id = explain_job.job_id;

  if not found then
    raise exception 'job_id: there is no job %', coalesce(explain_job.job_id::text, 'null')
      using errcode = 'TWJOB', hint = 'list_jobs shows the jobs that you may see.';
  end if;

  case job.status
    when 'running' then
      return format(
        'It is running since %s, attempt %s of %s, on %s.',
        job.started_at::timestamptz(0), job.attempts, job.max_attempts, job.worker_id
      ) || case
        when job.lease_expires_at < clock_timestamp() then
          format(
            ' Its lease ran out at %s: the next claim or tick gives it back.', job.lease_expires_at::timestamptz(0)
          )
        when job.cancel_requested_at is not null then
          ' Cancel was asked for: its worker hears of it at the next heartbeat.'
        else ''
      end;
    when 'queued' then
      if job.run_at > clock_timestamp() and job.error_code is not null then
        return format(
          'Attempt %s of %s ended with %s: %s. The next one starts at %s.',
          job.attempts, job.max_attempts, job.error_code, rtrim(job.error_message, '.'), job.run_at::timestamptz(0)
        );
      elsif job.run_at > clock_timestamp() then
        return format('It is not due before %s.', job.run_at::timestamptz(0));
      end if;

      obstacle := tickwork.obstacle(job.id);

      if obstacle is not null then
        return format('It is due since %s. %s', job.run_at::timestamptz(0), obstacle);
      end if;

      select count(*) into ahead
      from (
        select
        from public.jobs
        where jobs.tenant_id = job.tenant_id
          and jobs.family = job.family
          and jobs.status = 'queued'
          and (jobs.priority > job.priority or (jobs.priority = job.priority and jobs.run_at < job.run_at))
          and jobs.run_at <= now()
        limit 1000
      ) as earlier;

      select count(*) into running
      from public.jobs
      where jobs.family = job.family
        and jobs.status = 'running';

      -- Others' jobs are not for a member to see, so that he cannot tell whether something runs.
      return format(
        'It is due since %s and waits for the function of the family %s, with %s of its tenant''s jobs ahead of it and '
        '%s%s running. Tenants take turns.',
        job.run_at::timestamptz(0), quote_literal(job.family),
        case ahead when 1000 then '1000 or more' else ahead::text end,
        running,
        case when not tickwork.caller_is_service() then ' of yours' else '' end
      ) || case
        when running = 0 and tickwork.caller_is_service() then
          ' Nothing runs: is the function deployed, and does cron wake it?'
        else ''
      end;
    when 'done' then
      return format(
        'It is done since %s, after %s of %s attempts.',
        job.finished_at::timestamptz(0), job.attempts, job.max_attempts
      );
    when 'cancelled' then
      return format('It was cancelled at %s. A retry puts it back.', job.finished_at::timestamptz(0));
    when 'failed' then
      return format(
        'It failed for good at %s with %s: %s. Mend the cause, then a retry puts it back.',
        job.finished_at::timestamptz(0), job.error_code, rtrim(job.error_message, '.')
      );
    when 'dead' then
      return format(
        'It is dead since %s, after %s attempts, the last of which ended with %s: %s. A retry puts it back.',
        job.finished_at::timestamptz(0), job.attempts, job.error_code, rtrim(job.error_message, '.')
      );
  end case;
end
$$;

comment on function public.explain_job is
  'Reads why a job is not running, in words: not due yet, paused, held, at a limit, or waiting for its turn. '
  'Raises TWJOB.';

revoke execute on function public.list_jobs, public.queue_summary, public.explain_job, tickwork.obstacle
from public, anon, authenticated, service_role;

grant execute on function public.list_jobs, public.queue_summary, public.explain_job, tickwork.obstacle
to authenticated, service_role;
