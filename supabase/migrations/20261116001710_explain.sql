-- Why a job is not running, in words.

create function tickwork.obstacle(job_id uuid)
returns text
language plpgsql
volatile
security definer -- nobody may read the queue's own tables, and a limit counts other tenants' jobs, too
set search_path = ''
as $$
declare
  job public.jobs;
  family_type tickwork.family_types;
begin
  select * into job
  from public.jobs
  where jobs.id = obstacle.job_id
    and tickwork.may_act_for(jobs.tenant_id);

  select * into family_type
  from tickwork.family_types
  where family_types.family = job.family
    and family_types.type = job.type;

  return coalesce(
    tickwork.pause_in_words(job),
    tickwork.hold_in_words(job),
    tickwork.limit_in_words(job),
    tickwork.lane_in_words(job),
    -- If other types of the family are asked for, its function is there but does not know this type.
    case
      when coalesce(family_type.asked_at, '-infinity') < clock_timestamp() - interval '5 minutes'
        and exists (
          select
          from tickwork.family_types
          where family_types.family = job.family
            and family_types.asked_at > clock_timestamp() - interval '5 minutes'
        )
      then format(
        'No worker that knows the type %s has asked for jobs%s.', quote_literal(job.type),
        coalesce(' since ' || family_type.asked_at::timestamptz(0), '')
      )
    end
  );
end
$$;

comment on function tickwork.obstacle is
  'Reads what keeps a due job from being claimed, in words, or null if it only waits for its turn.';

create function tickwork.pause_in_words(job public.jobs)
returns text
language sql
volatile
as $$
  select
    case pauses.scope
      when 'family ' || (pause_in_words.job).family then
        format('The family %s is paused', quote_literal((pause_in_words.job).family))
      when 'type ' || (pause_in_words.job).type then
        format('The type %s is paused', quote_literal((pause_in_words.job).type))
      else 'Its tenant is paused'
    end
    || case when pauses.reason <> '' then ': ' || rtrim(pauses.reason, '.') else '' end
    || '.'
  from tickwork.pauses
  where pauses.scope in (
    'family ' || (pause_in_words.job).family,
    'type ' || (pause_in_words.job).type,
    'tenant ' || (pause_in_words.job).tenant_id
  )
  order by pauses.scope
  limit 1;
$$;

create function tickwork.hold_in_words(job public.jobs)
returns text
language sql
volatile
as $$
  select
    format('Its lane %s is held', quote_literal(lane_rules.lane))
    || case when isfinite(lane_rules.held_until) then ' until ' || lane_rules.held_until::timestamptz(0) else '' end
    || case when lane_rules.reason <> '' then ': ' || rtrim(lane_rules.reason, '.') else '' end
    || '.'
  from tickwork.lane_rules
  where lane_rules.tenant_id = (hold_in_words.job).tenant_id
    and lane_rules.family = (hold_in_words.job).family
    and lane_rules.lane = (hold_in_words.job).lane
    and lane_rules.held_until > clock_timestamp();
$$;

create function tickwork.lane_in_words(job public.jobs)
returns text
language plpgsql
volatile
as $$
declare
  rule tickwork.lane_rules;
begin
  select * into rule
  from tickwork.lane_rules
  where lane_rules.tenant_id = (lane_in_words.job).tenant_id
    and lane_rules.family = (lane_in_words.job).family
    and lane_rules.lane = (lane_in_words.job).lane;

  return tickwork.rule_in_words(
    format('its lane %s', quote_literal(rule.lane)),
    tickwork.room_in_lane(rule) < 1,
    rule.max_running,
    rule.starts_per_minute,
    tickwork.next_token_at(rule.tenant_id, tickwork.lane_scope(rule), rule.starts_per_minute)
  );
end
$$;

create function tickwork.rule_in_words(
  whose text,
  is_full boolean,
  max_running integer,
  starts_per_minute integer,
  next_start_at timestamptz
)
returns text
language sql
volatile
as $$
  select case
    when rule_in_words.next_start_at > clock_timestamp() then format(
      'It waits for its start: at most %s of the jobs of %s may start in a minute, the next one at %s.',
      rule_in_words.starts_per_minute, rule_in_words.whose, rule_in_words.next_start_at::timestamptz(0)
    )
    when rule_in_words.is_full then format(
      'It waits for room: at most %s of the jobs of %s may run at once.', rule_in_words.max_running, rule_in_words.whose
    )
  end;
$$;

create function tickwork.limit_in_words(job public.jobs)
returns text
language sql
volatile
as $$
  select found.words
  from tickwork.limits_of((limit_in_words.job).tenant_id, (limit_in_words.job).type) as rule
  cross join lateral tickwork.rule_in_words(
    case rule.scope
      when 'type' then 'its type'
      when 'tenant' then 'its tenant'
      else 'its type and tenant'
    end,
    tickwork.count_running(rule.scope, (limit_in_words.job).tenant_id, (limit_in_words.job).type) >= rule.max_running
    or tickwork.tokens_left(
      (limit_in_words.job).tenant_id, 'type ' || (limit_in_words.job).type, rule.starts_per_minute
    ) < 1,
    rule.max_running,
    rule.starts_per_minute,
    tickwork.next_token_at(
      (limit_in_words.job).tenant_id, 'type ' || (limit_in_words.job).type, rule.starts_per_minute
    )
  ) as found(words)
  where found.words is not null
  limit 1;
$$;

create function public.explain_job(job_id uuid)
returns text
language plpgsql
volatile
set search_path = ''
as $$
declare
  job public.jobs;
begin
  select * into job
  from public.jobs
  where jobs.id = explain_job.job_id;

  if not found then
    raise exception 'job_id: there is no job %', coalesce(explain_job.job_id::text, 'null')
      using errcode = 'TWJOB', hint = 'list_jobs shows the jobs that you may see.';
  end if;

  return case job.status
    when 'running' then tickwork.running_in_words(job)
    when 'queued' then tickwork.queued_in_words(job)
    when 'done' then format(
      'It has been done since %s, after %s of %s attempts.',
      job.finished_at::timestamptz(0), job.attempts, job.max_attempts
    )
    when 'cancelled' then format(
      'It was cancelled at %s. A retry puts it back.', job.finished_at::timestamptz(0)
    )
    when 'failed' then format(
      'It failed for good at %s with %s: %s. Fix the cause, then a retry puts it back.',
      job.finished_at::timestamptz(0), job.error_code, rtrim(job.error_message, '.')
    )
    when 'dead' then format(
      case job.error_code
        when 'BURIED' then 'It was buried at %s, after %s attempts (%s): %s. A retry puts it back.'
        else
          'It has been dead since %s, after %s attempts, the last of which ended with %s: %s. A retry puts it back.'
      end,
      job.finished_at::timestamptz(0), job.attempts, job.error_code, rtrim(job.error_message, '.')
    )
  end;
end
$$;

comment on function public.explain_job is
  'Reads why a job is not running, in words: not due yet, paused, held, at a limit, not asked for, or waiting for its '
  'turn. Raises TWJOB.';

create function tickwork.running_in_words(job public.jobs)
returns text
language sql
volatile
set search_path = ''
as $$
  select format(
    'It has been running since %s, attempt %s of %s, on %s.',
    (job).started_at::timestamptz(0), (job).attempts, (job).max_attempts, (job).worker_id
  ) || case
    when (job).lease_expires_at < clock_timestamp() then
      format(' Its lease ran out at %s: the next claim or tick gives it back.', (job).lease_expires_at::timestamptz(0))
    when (job).cancel_requested_at is not null then
      ' Cancel was asked for: its worker hears of it at the next heartbeat.'
    else ''
  end;
$$;

create function tickwork.queued_in_words(job public.jobs)
returns text
language plpgsql
volatile
set search_path = ''
as $$
declare
  obstacle text;
begin
  if (job).run_at > clock_timestamp() and (job).error_code is not null then
    return format(
      'Attempt %s of %s ended with %s: %s. The next one starts at %s.',
      (job).attempts, (job).max_attempts, (job).error_code, rtrim((job).error_message, '.'),
      (job).run_at::timestamptz(0)
    );
  elsif (job).run_at > clock_timestamp() then
    return format('It is not due before %s.', (job).run_at::timestamptz(0));
  end if;

  obstacle := tickwork.obstacle((job).id);

  return format('It has been due since %s', (job).run_at::timestamptz(0))
    || coalesce('. ' || obstacle, tickwork.turn_in_words(job));
end
$$;

create function tickwork.seen_around(job_id uuid, out ahead integer, out running integer)
language plpgsql
volatile
security definer -- nobody may read the queue's own tables
set search_path = ''
as $$
declare
  job public.jobs;
begin
  select * into job
  from public.jobs
  where jobs.id = seen_around.job_id
    and tickwork.may_act_for(jobs.tenant_id);

  select count(*) into ahead
  from (
    select
    from tickwork.tenants
    cross join tickwork.family_types
    cross join lateral (
      select
      from tickwork.waiting
      where waiting.family = family_types.family
        and waiting.type = family_types.type
        and waiting.tenant_number = tenants.number
        and (waiting.priority, job.run_at) > (job.priority, waiting.run_at)
      limit 1000
    ) as standing
    where tenants.tenant_id = job.tenant_id
      and family_types.family = job.family
    limit 1000
  ) as earlier;

  select count(*) into running
  from tickwork.leases
  where leases.family = job.family
    and (tickwork.caller_is_service() or leases.tenant_id = job.tenant_id);
end
$$;

create function tickwork.turn_in_words(job public.jobs)
returns text
language sql
volatile
set search_path = ''
as $$
  -- Members do not see the jobs of others, so for them a count of 0 does not mean that nothing runs.
  select format(
    ' and waits for the function of the family %s, with %s of its tenant''s jobs ahead of it and %s%s running. '
    'Tenants take turns.',
    quote_literal((job).family),
    case seen.ahead when 1000 then '1000 or more' else seen.ahead::text end,
    seen.running,
    case when not tickwork.caller_is_service() then ' of yours' else '' end
  ) || case
    when seen.running = 0 and tickwork.caller_is_service() then
      ' Nothing runs: is the function deployed, and does cron wake it?'
    else ''
  end
  from tickwork.seen_around((job).id) as seen;
$$;
