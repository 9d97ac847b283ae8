-- Why a job is not running, in words.

create function tickwork.explain_job(job_id uuid)
returns text
language plpgsql
volatile
security definer -- nobody may read the queue's own tables, and a limit also counts other tenants' jobs
set search_path = ''
as $$
declare
  now_at constant timestamptz := clock_timestamp();
  job public.jobs;
  error text;
  attempts text;
begin
  select * into job
  from public.jobs
  where jobs.id = explain_job.job_id
    and tickwork.may_act_for(jobs.tenant_id);

  if not found then
    perform tickwork.raise_no_job(explain_job.job_id);
  end if;

  error := job.error_code || coalesce(': ' || rtrim(job.error_message, '.'), '');
  attempts := job.attempts || case job.attempts when 1 then ' attempt' else ' attempts' end;

  return case
    when job.status = 'running' then
      format(
        'It has been running since %s, attempt %s of %s, on %s.',
        job.started_at::timestamptz(0), job.attempts, job.max_attempts, job.worker_id
      ) || case
        when job.lease_expires_at < now_at then
          format(' Its lease expired at %s: the next claim ends the attempt.', job.lease_expires_at::timestamptz(0))
        when job.cancel_requested_at is not null then
          ' Cancel was requested: its worker will notice at the next heartbeat.'
        else ''
      end
    when job.status = 'queued' and job.after is not null and job.ready_at is null then
      tickwork.awaited_in_words(job)
    when job.status = 'queued' and tickwork.wait_in_words(job) is not null then
      tickwork.wait_in_words(job)
    when job.status = 'queued' and job.run_at > now_at and error is not null then format(
      'Attempt %s of %s ended with %s. The next one starts at %s.',
      job.attempts, job.max_attempts, error, job.run_at::timestamptz(0)
    )
    when job.status = 'queued' and job.run_at > now_at then
      format('It is not due before %s.', job.run_at::timestamptz(0))
    when job.status = 'queued' then
      format('It has been due since %s', job.run_at::timestamptz(0))
      || coalesce('. ' || tickwork.obstacle(job), ' and ' || tickwork.turn_in_words(job))
    when job.status = 'dead' and job.error_code = 'BURIED' then format(
      'It was buried at %s, after %s: %s. A retry queues it again.',
      job.finished_at::timestamptz(0), attempts, rtrim(job.error_message, '.')
    )
    when job.status = 'dead' then format(
      'It has been dead since %s, after %s, %s ended with %s. A retry queues it again.',
      job.finished_at::timestamptz(0), attempts,
      case job.attempts when 1 then 'which' else 'the last of which' end, error
    )
    when job.status = 'failed' then format(
      'It failed at %s with %s. Fix the cause, then a retry queues it again.', job.finished_at::timestamptz(0), error
    )
    when job.status = 'cancelled' then format(
      'It was cancelled at %s%s. A retry queues it again.',
      job.finished_at::timestamptz(0),
      case job.error_code when 'AWAITED_JOB_FAILED' then ': ' || job.error_message end
    )
    else format(
      'It was done at %s, in attempt %s of %s.', job.finished_at::timestamptz(0), job.attempts, job.max_attempts
    )
  end;
end
$$;

create function public.explain_job(job_id uuid)
returns text
language sql
volatile
return tickwork.explain_job(job_id);

comment on function public.explain_job is
  'Reads why a job is not running, in words: not due yet, waiting for other jobs, an event or a time, paused, held, at '
  'a limit, no worker for its type, or waiting for its turn. Raises TWJOB.';

create function tickwork.awaited_in_words(job public.jobs)
returns text
language sql
volatile
as $$
  select format(
    case (job).after_when
      when 'all_done' then 'It waits for %s more %s to be done: %s%s. If one of them ends otherwise, it is cancelled.'
      when 'all_ended' then 'It waits for %s more %s to end: %s%s.'
      else 'It waits for one of %s %s to end: %s%s.'
    end,
    count(*),
    case count(*) when 1 then 'job' else 'jobs' end,
    array_to_string((array_agg(awaited.awaited_id order by awaited.awaited_id))[:3], ', '),
    case when count(*) > 3 then format(' and %s more', count(*) - 3) end
  )
  from tickwork.awaited
  where awaited.job_id = (job).id;
$$;

comment on function tickwork.awaited_in_words is 'Which jobs a queued job still waits for, in words.';

create function tickwork.wait_in_words(job public.jobs)
returns text
language sql
volatile
as $$
  select format(
    case
      when waits.event_name is null then 'It waits until %2$s.'
      else 'It waits for the event %1$s, until %2$s at the latest.'
    end,
    waits.event_name,
    least(waits.ends_at, (job).run_at)::timestamptz(0)
  )
  from tickwork.waits
  where waits.job_id = (job).id
    and tickwork.is_waiting(job, waits)
  order by waits.waited_at desc
  limit 1;
$$;

comment on function tickwork.wait_in_words is
  'Which event or time a queued job waits for in the middle of its work, in words; null if it does not.';

create function tickwork.reason_in_words(reason text)
returns text
language sql
immutable
return coalesce(': ' || nullif(rtrim(reason, '.'), ''), '') || '.';

create function tickwork.limit_in_words(
  whose text,
  max_running integer,
  starts_per_minute integer,
  is_full boolean,
  next_start_at timestamptz
)
returns text
language sql
volatile
return case
  when next_start_at > clock_timestamp() then format(
    'It is waiting to start: at most %s of the jobs %s may start per minute, the next one at %s.',
    starts_per_minute, whose, next_start_at::timestamptz(0)
  )
  when is_full then format('It is waiting for room: at most %s of the jobs %s may run at once.', max_running, whose)
end;

create function tickwork.obstacle(job public.jobs)
returns text
language sql
volatile
as $$
  with found(number, words) as (
    select
      1,
      case pauses.scope
        when 'family ' || (job).family then format('The family %s is paused', quote_literal((job).family))
        when 'type ' || (job).type then format('The type %s is paused', quote_literal((job).type))
        else 'Its tenant is paused'
      end || tickwork.reason_in_words(pauses.reason)
    from tickwork.pauses
    where pauses.scope in ('family ' || (job).family, 'type ' || (job).type, 'tenant ' || (job).tenant_id)
    union all
    select
      unnest(array[2, 4]),
      unnest(array[
        case when lane_rules.held_until > clock_timestamp() then
          format('Its lane %s is held', quote_literal(lane_rules.lane))
          || coalesce(' until ' || nullif(lane_rules.held_until, 'infinity')::timestamptz(0), '')
          || tickwork.reason_in_words(lane_rules.reason)
        end,
        tickwork.limit_in_words(
          'of its lane ' || quote_literal(lane_rules.lane), lane_rules.max_running,
          lane_rules.starts_per_minute, tickwork.room_in_lane(lane_rules) < 1,
          tickwork.next_token_at(lane_rules.tenant_id, tickwork.lane_scope(lane_rules), lane_rules.starts_per_minute)
        )
      ])
    from tickwork.lane_rules
    where lane_rules.tenant_id = (job).tenant_id
      and lane_rules.family = (job).family
      and lane_rules.lane = (job).lane
    union all
    select
      3,
      tickwork.limit_in_words(
        case rule.scope when 'tenant and type' then 'of its type and tenant' else 'of its ' || rule.scope end,
        rule.max_running, rule.starts_per_minute,
        tickwork.count_running(rule.scope, (job).tenant_id, (job).type) >= rule.max_running,
        tickwork.next_token_at((job).tenant_id, 'type ' || (job).type, rule.starts_per_minute)
      )
    from tickwork.limits_of((job).tenant_id, (job).type) as rule
    union all
    -- If workers ask for other types of the family, its function is running but does not know this type.
    select
      5,
      'No worker that knows the type ' || quote_literal((job).type) || ' has asked for jobs'
      || coalesce(' since ' || nullif(asked.for_type, '-infinity')::timestamptz(0), '') || '.'
    from (
      select
        max(family_types.asked_at),
        coalesce(max(family_types.asked_at) filter (where family_types.type = (job).type), '-infinity')
      from tickwork.family_types
      where family_types.family = (job).family
    ) as asked(for_family, for_type)
    where asked.for_family > clock_timestamp() - interval '5 minutes'
      and asked.for_type < clock_timestamp() - interval '5 minutes'
  )
  select found.words
  from found
  where found.words is not null
  order by found.number
  limit 1;
$$;

comment on function tickwork.obstacle is
  'What keeps a due job from being claimed, in words; null if it is only waiting for its turn.';

create function tickwork.jobs_ahead(job public.jobs)
returns bigint
language sql
volatile
as $$
  select count(*)
  from (
    select
    from tickwork.family_types
    join tickwork.waiting on waiting.family = family_types.family
      and waiting.type = family_types.type
      and waiting.tenant_number = tickwork.tenant_number_of((job).tenant_id)
    where family_types.family = (job).family
      and (waiting.priority, (job).run_at) > ((job).priority, waiting.run_at)
    limit 1000
  ) as earlier;
$$;

comment on function tickwork.jobs_ahead is
  'How many due jobs of its tenant and family are before a queued job, counted up to 1000.';

create function tickwork.turn_in_words(job public.jobs)
returns text
language sql
volatile
as $$
  -- Members do not see the jobs of others, so for them a count of 0 does not mean that nothing is running.
  select format(
    'is waiting for the function of the family %s, with %s of its tenant''s jobs ahead of it and %s%s running. '
    'Tenants take turns.%s',
    quote_literal((job).family),
    case counted.ahead when 1000 then '1000 or more' else counted.ahead::text end,
    counted.running,
    case when not tickwork.caller_is_service() then ' of yours' else '' end,
    case when counted.running = 0 and tickwork.caller_is_service() then
      ' Nothing is running: is the function deployed, and does cron wake it?'
    end
  )
  from (
    select
      tickwork.jobs_ahead(job) as ahead,
      (
        select count(*)
        from tickwork.leases
        where leases.family = (job).family
          and (tickwork.caller_is_service() or leases.tenant_id = (job).tenant_id)
      ) as running
  ) as counted;
$$;
