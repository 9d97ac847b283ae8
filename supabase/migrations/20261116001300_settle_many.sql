-- running -> done, queued, failed, dead or cancelled, many at once

create type tickwork.settled_job as (
  job_id uuid,
  is_held boolean,
  status text
);

create type tickwork.done_jobs as (
  ids uuid[],
  tokens uuid[],
  results jsonb[],
  logs text[]
);

create function tickwork.settle_given(outcomes jsonb)
returns tickwork.settled_job[]
language plpgsql
volatile
set search_path = ''
as $$
declare
  done constant tickwork.done_jobs := tickwork.done_jobs_from(settle_given.outcomes);
  settled uuid[];
  noted text;
begin
  if done.ids is null then
    return tickwork.settle_mixed(settle_given.outcomes);
  end if;

  settled := tickwork.settle_done(done.ids, done.tokens, done.results, done.logs);

  if settled is not null then
    noted := tickwork.note_settled(settled)::text;
  end if;

  if cardinality(done.ids) = 1 then
    return array[row(
      done.ids[1], settled is not null, case when settled is not null then 'done' end
    )::tickwork.settled_job];
  end if;

  return array(
    select row(
      given.id, coalesce(given.id = any (settled), false), case when given.id = any (settled) then 'done' end
    )::tickwork.settled_job
    from unnest(done.ids) with ordinality as given(id, ordinality)
    order by given.ordinality
  );
end
$$;

comment on function tickwork.settle_given is
  'running -> done, queued, failed, dead or cancelled. Answers what became of each, in the order given. '
  'Raises TWARG, TWBIG.';

create function tickwork.done_jobs_from(outcomes jsonb)
returns tickwork.done_jobs
language plpgsql
immutable
set search_path = ''
as $$
declare
  done tickwork.done_jobs;
  are_plain boolean;
  outcome jsonb;
begin
  if jsonb_typeof(done_jobs_from.outcomes) is distinct from 'array' then
    return null;
  end if;

  if jsonb_array_length(done_jobs_from.outcomes) = 1 then
    outcome := done_jobs_from.outcomes -> 0;

    if tickwork.is_plainly_done(outcome) then
      return row(
        array[outcome ->> 'job_id'],
        array[outcome ->> 'lease_token'],
        array[nullif(outcome -> 'result', 'null')],
        array[right(outcome ->> 'logs', 8000)]
      )::tickwork.done_jobs;
    end if;

    return null;
  end if;

  select
    array_agg((given.fields ->> 'job_id')::uuid),
    array_agg((given.fields ->> 'lease_token')::uuid),
    array_agg(nullif(given.fields -> 'result', 'null')),
    array_agg(right(given.fields ->> 'logs', 8000)),
    bool_and(tickwork.is_plainly_done(given.fields))
  into done.ids, done.tokens, done.results, done.logs, are_plain
  from jsonb_array_elements(done_jobs_from.outcomes) as given(fields);

  if are_plain and cardinality(done.ids) = (select count(distinct given.id) from unnest(done.ids) as given(id)) then
    return done;
  end if;

  return null;
end
$$;

create function tickwork.is_plainly_done(outcome jsonb)
returns boolean
language sql
immutable
return outcome @> '{"status": "done"}'
  and outcome - array['job_id', 'lease_token', 'status', 'result', 'logs'] = '{}'
  and (outcome -> 'result' is null or octet_length((outcome -> 'result')::text) < 65536);

comment on function tickwork.done_jobs_from is
  'What nearly every worker sends: jobs that are done, and nothing follows. Null if there is more to them.';

create function tickwork.settle_mixed(outcomes jsonb)
returns tickwork.settled_job[]
language plpgsql
volatile
set search_path = ''
as $$
declare
  parsed constant tickwork.outcome[] := tickwork.outcomes_from(settle_mixed.outcomes);
  done tickwork.done_jobs;
  statuses jsonb;
begin
  -- In the order of heartbeats, whatever became of them: two calls for the same jobs wait in one direction only.
  if cardinality(parsed) > 1 then
    perform
    from (select * from unnest(parsed) as given order by given.job_id) as outcome
    cross join lateral (
      select
      from public.jobs
      where jobs.id = outcome.job_id
        and jobs.lease_token = outcome.lease_token
      for no key update
    ) as held;
  end if;

  select
    array_agg(outcome.job_id),
    array_agg(outcome.lease_token),
    array_agg(outcome.result),
    array_agg(outcome.logs)
  into done.ids, done.tokens, done.results, done.logs
  from unnest(parsed) as outcome
  where outcome.status = 'done';

  select jsonb_object_agg(settled.job_id, settled.status)
  into statuses
  from (
    select done_job.id as job_id, 'done' as status
    from unnest(tickwork.settle_done(done.ids, done.tokens, done.results, done.logs)) as done_job(id)
    union all
    select *
    from tickwork.settle_undone(parsed)
  ) as settled;

  if settle_mixed.outcomes @? '$[*].follow_ups[*].type' then
    perform tickwork.enqueue_follow_ups(settle_mixed.outcomes, statuses);
  end if;

  perform tickwork.note_settled(array(
    select outcome.job_id
    from unnest(parsed) as outcome
    where statuses ? outcome.job_id::text
  ));

  return array(
    select row(
      outcome.job_id, coalesce(statuses ? outcome.job_id::text, false), statuses ->> outcome.job_id::text
    )::tickwork.settled_job
    from unnest(parsed) with ordinality as outcome
    order by outcome.ordinality
  );
end
$$;

create function tickwork.settle_jobs(outcomes jsonb)
returns setof tickwork.settled_job
language plpgsql
volatile
security definer -- the worker may not update jobs itself
set search_path = ''
as $$
begin
  return query
  select *
  from unnest(tickwork.settle_given(settle_jobs.outcomes));
end
$$;

create function tickwork.outcomes_from(outcomes jsonb)
returns tickwork.outcome[]
language plpgsql
immutable
set search_path = ''
as $$
declare
  parsed tickwork.outcome[];
  is_in_order boolean;
begin
  -- Only what is not plainly in order is looked at closely: that raises, and says what is wrong.
  if jsonb_typeof(outcomes_from.outcomes) is distinct from 'array'
    or jsonb_array_length(outcomes_from.outcomes) > 10000
  then
    perform tickwork.check_outcomes(outcomes_from.outcomes);
  end if;

  select
    array_agg(row(
      outcome.job_id,
      outcome.lease_token,
      outcome.status,
      outcome.result,
      case outcome.status when 'failed' then tickwork.error_code(outcome.error) end,
      case outcome.status when 'failed' then tickwork.error_message(outcome.error) end,
      coalesce(outcome.retryable, true),
      case outcome.status
        when 'released' then coalesce(outcome.delay_seconds, 0)
        else outcome.retry_after_seconds
      end,
      right(outcome.logs, 8000)
    )::tickwork.outcome order by given.ordinality),
    count(distinct outcome.job_id) = count(*)
    and bool_and(
      jsonb_typeof(given.fields) = 'object'
      and outcome.status in ('done', 'failed', 'released')
      and given.fields - array[
        'job_id', 'lease_token', 'status', 'result', 'error', 'retryable', 'retry_after_seconds', 'delay_seconds',
        'follow_ups', 'logs'
      ] = '{}'
      and coalesce(jsonb_typeof(given.fields -> 'follow_ups'), 'array') in ('array', 'null')
      and coalesce(octet_length(outcome.result::text), 0) < 65536
      and coalesce(outcome.retry_after_seconds, 0) between 0 and 2592000
      and coalesce(outcome.delay_seconds, 0) between 0 and 2592000
    )
  into parsed, is_in_order
  from jsonb_array_elements(outcomes_from.outcomes) with ordinality as given(fields, ordinality)
  cross join lateral jsonb_to_record(
    case jsonb_typeof(given.fields) when 'object' then given.fields else '{}' end
  ) as outcome(
    job_id uuid, lease_token uuid, status text, result jsonb, error jsonb, retryable boolean,
    retry_after_seconds double precision, delay_seconds double precision, logs text
  );

  if is_in_order is not true then
    perform tickwork.check_outcomes(outcomes_from.outcomes);
  end if;

  return parsed;
end
$$;

comment on function tickwork.outcomes_from is
  'Reads the outcomes that a worker sends. Raises TWARG, TWBIG.';

create function tickwork.enqueue_follow_ups(outcomes jsonb, statuses jsonb)
returns void
language plpgsql
volatile
set search_path = ''
as $$
declare
  requests tickwork.job_request[];
begin
  -- All in one insert, which knows how to order them.
  select array_agg(request)
  into requests
  from jsonb_to_recordset(enqueue_follow_ups.outcomes) as outcome(job_id uuid, follow_ups jsonb)
  cross join lateral (select * from public.jobs where jobs.id = outcome.job_id limit 1) as jobs
  cross join unnest(tickwork.requests_from(
    outcome.follow_ups, jobs.tenant_id, 'system', jobs.id::text, jobs.correlation_id
  )) as request
  where enqueue_follow_ups.statuses ->> outcome.job_id::text = 'done'
    and jsonb_typeof(outcome.follow_ups) = 'array';

  perform tickwork.insert_jobs(requests);
end
$$;

create function tickwork.check_outcomes(outcomes jsonb)
returns void
language plpgsql
immutable
set search_path = ''
as $$
declare
  wrong text;
begin
  perform tickwork.check_objects('outcomes', check_outcomes.outcomes, array[
    'job_id', 'lease_token', 'status', 'result', 'error', 'retryable', 'retry_after_seconds', 'delay_seconds',
    'follow_ups', 'logs'
  ]);

  select case
    when outcome -> 'status' is null or outcome -> 'status' not in ('"done"', '"failed"', '"released"') then
      'status must be done, failed or released'
    when coalesce(jsonb_typeof(outcome -> 'follow_ups'), 'null') not in ('array', 'null') then
      'follow_ups must be an array of objects'
    -- One of the two would go by the token of the other.
    when count(*) over (partition by (outcome ->> 'job_id')::uuid) > 1 then
      'a job is given twice'
  end as reason
  into wrong
  from jsonb_array_elements(check_outcomes.outcomes) as outcome
  order by reason
  limit 1;

  if wrong is not null then
    raise exception 'outcomes: %', wrong
      using errcode = 'TWARG', hint = 'For one job: [{"job_id": ..., "lease_token": ..., "status": "done"}].';
  end if;

  perform
    tickwork.check_size('result', outcome ->> 'result', 262144),
    tickwork.check_delay('retry_after_seconds', (outcome ->> 'retry_after_seconds')::double precision),
    tickwork.check_delay('delay_seconds', (outcome ->> 'delay_seconds')::double precision)
  from jsonb_array_elements(check_outcomes.outcomes) as outcome;
end
$$;

create function public.settle_jobs(outcomes jsonb)
returns table (job_id uuid, is_held boolean, status text)
language sql
volatile
set search_path = ''
as $$
  select *
  from tickwork.settle_jobs(settle_jobs.outcomes);
$$;

comment on function public.settle_jobs is
  'running -> done, queued, failed, dead or cancelled. Completes, fails and releases many jobs in one statement: an '
  'array of {job_id, lease_token, status: done | failed | released} with the parameters of complete_job, fail_job or '
  'release_job. A lost lease raises nothing: is_held says so. Durable when it returns. Raises TWARG, TWBIG.';

alter function tickwork.settle_jobs owner to tickwork_owner;

revoke execute on function
  tickwork.settle_jobs,
  tickwork.settle_given,
  tickwork.settle_mixed,
  tickwork.done_jobs_from,
  tickwork.is_plainly_done,
  tickwork.outcomes_from,
  tickwork.enqueue_follow_ups,
  tickwork.check_outcomes,
  public.settle_jobs
from public, anon, authenticated, service_role;

grant execute on function
  tickwork.settle_given,
  tickwork.settle_mixed,
  tickwork.done_jobs_from,
  tickwork.is_plainly_done,
  tickwork.outcomes_from,
  tickwork.enqueue_follow_ups,
  tickwork.check_outcomes
to tickwork_owner;
grant execute on function public.settle_jobs, tickwork.settle_jobs to tickwork_worker, service_role;
