-- How a worker ends attempts: complete, fail, release, one job or many, also together with the next claim.

create function tickwork.error_code(error jsonb)
returns text
language sql
immutable
return left(coalesce(error ->> 'code', 'FAILED'), 100);

create function tickwork.error_message(error jsonb)
returns text
language sql
immutable
-- Of an object only what is called its message: the rest was not written for people to read.
return left(case jsonb_typeof(error) when 'object' then error ->> 'message' else error #>> '{}' end, 8000);

create function tickwork.error_details(error jsonb)
returns jsonb
language sql
immutable
return case
  when jsonb_typeof(error) <> 'object' or error - array['code', 'message'] = '{}' then null
  when octet_length(error::text) > 16384 then '{"details": "left out: over 16384 bytes"}'
  else error - array['code', 'message']
end;

create function tickwork.is_plainly_done(outcome jsonb)
returns boolean
language sql
immutable
return outcome @> '{"status": "done"}'
  and outcome - array['job_id', 'lease_token', 'status', 'result', 'follow_ups', 'logs'] = '{}'
  and coalesce(outcome ->> 'follow_ups', outcome ->> 'logs') is null
  and octet_length((outcome -> 'result')::text) < 65536 is not false;

comment on function tickwork.is_plainly_done is
  'What nearly every worker sends: a job that is done, nothing follows, and nothing was logged.';

create function tickwork.done_jobs_from(outcomes jsonb)
returns tickwork.outcomes
language plpgsql
immutable
as $$
declare
  done tickwork.outcomes;
  is_all boolean;
begin
  select
    array_agg(outcome.job_id), array_agg(outcome.lease_token), array_agg(outcome.is_done), array_agg(outcome.result),
    bool_and(outcome.is_done) and count(distinct outcome.job_id) = count(*)
  into done.ids, done.tokens, done.are_done, done.results, is_all
  from (
    select
      (given.fields ->> 'job_id')::uuid,
      (given.fields ->> 'lease_token')::uuid,
      tickwork.is_plainly_done(given.fields),
      nullif(given.fields -> 'result', 'null')
    from jsonb_array_elements(done_jobs_from.outcomes) as given(fields)
    order by 1
  ) as outcome(job_id, lease_token, is_done, result);

  return case when is_all then done end;
end
$$;

comment on function tickwork.done_jobs_from is
  'Reads outcomes that are all plainly done; null if there is more to one of them.';

create function tickwork.outcomes_from(outcomes jsonb)
returns tickwork.outcomes
language plpgsql
immutable
as $$
declare
  parsed tickwork.outcomes;
  is_in_order boolean;
begin
  -- Only what is not plainly in order is looked at closely: that raises, and says what is wrong.
  if jsonb_typeof(outcomes_from.outcomes) is distinct from 'array'
    or jsonb_array_length(outcomes_from.outcomes) > 10000
  then
    perform tickwork.check_outcomes(outcomes_from.outcomes);
  end if;

  parsed := tickwork.done_jobs_from(outcomes_from.outcomes);

  if parsed.ids is not null then
    return parsed;
  end if;

  select
    array_agg(outcome.job_id order by outcome.job_id),
    array_agg(outcome.lease_token order by outcome.job_id),
    array_agg(outcome.status = 'done' order by outcome.job_id),
    array_agg(outcome.result order by outcome.job_id),
    array_agg(row(
      outcome.job_id,
      outcome.lease_token,
      outcome.status,
      case outcome.status when 'failed' then tickwork.error_code(outcome.error) end,
      case outcome.status when 'failed' then tickwork.error_message(outcome.error) end,
      case outcome.status when 'failed' then tickwork.error_details(outcome.error) end,
      coalesce(outcome.retryable, true),
      case outcome.status
        when 'released' then coalesce(outcome.delay_seconds, 0)
        else outcome.retry_after_seconds
      end,
      outcome.exit_code,
      right(outcome.stdout_tail, 8000),
      right(outcome.stderr_tail, 8000),
      right(outcome.logs, 8000)
    )::tickwork.outcome order by outcome.job_id),
    count(distinct outcome.job_id) = count(*)
    and bool_and(
      jsonb_typeof(given.fields) = 'object'
      and outcome.status in ('done', 'failed', 'released')
      and given.fields - array[
        'job_id', 'lease_token', 'status', 'result', 'error', 'retryable', 'retry_after_seconds', 'delay_seconds',
        'follow_ups', 'exit_code', 'stdout_tail', 'stderr_tail', 'logs'
      ] = '{}'
      and coalesce(jsonb_typeof(given.fields -> 'follow_ups'), 'array') in ('array', 'null')
      and coalesce(octet_length(outcome.result::text), 0) < 65536
      and coalesce(outcome.retry_after_seconds, 0) between 0 and 2592000
      and coalesce(outcome.delay_seconds, 0) between 0 and 2592000
    )
  into parsed.ids, parsed.tokens, parsed.are_done, parsed.results, parsed.given, is_in_order
  from jsonb_array_elements(outcomes_from.outcomes) with ordinality as given(fields, ordinality)
  cross join lateral jsonb_to_record(
    case jsonb_typeof(given.fields) when 'object' then given.fields else '{}' end
  ) as outcome(
    job_id uuid, lease_token uuid, status text, result jsonb, error jsonb, retryable boolean,
    retry_after_seconds double precision, delay_seconds double precision, exit_code integer, stdout_tail text,
    stderr_tail text, logs text
  );

  if is_in_order is not true then
    perform tickwork.check_outcomes(outcomes_from.outcomes);
  end if;

  return parsed;
end
$$;

comment on function tickwork.outcomes_from is
  'Reads the outcomes that a worker sends. Raises TWARG, TWBIG.';

create function tickwork.check_outcomes(outcomes jsonb)
returns void
language plpgsql
immutable
as $$
declare
  wrong text;
begin
  perform tickwork.check_objects('outcomes', check_outcomes.outcomes, array[
    'job_id', 'lease_token', 'status', 'result', 'error', 'retryable', 'retry_after_seconds', 'delay_seconds',
    'follow_ups', 'exit_code', 'stdout_tail', 'stderr_tail', 'logs'
  ]);

  select case
    when outcome -> 'status' is null or outcome -> 'status' not in ('"done"', '"failed"', '"released"') then
      'status must be done, failed or released'
    when coalesce(jsonb_typeof(outcome -> 'follow_ups'), 'null') not in ('array', 'null') then
      'follow_ups must be an array of objects'
    -- One of the two would be checked against the token of the other.
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
    tickwork.check_size('result', (outcome -> 'result')::text, 262144),
    tickwork.check_delay('retry_after_seconds', (outcome ->> 'retry_after_seconds')::double precision),
    tickwork.check_delay('delay_seconds', (outcome ->> 'delay_seconds')::double precision)
  from jsonb_array_elements(check_outcomes.outcomes) as outcome;
end
$$;

create type tickwork.settled_job as (
  job_id uuid,
  is_held boolean,
  status text
);

create function tickwork.settle_given(outcomes jsonb)
returns tickwork.settled_job[]
language plpgsql
volatile
as $$
declare
  first constant jsonb := settle_given.outcomes -> 0;
  job_id uuid;
  parsed tickwork.outcomes;
  settled tickwork.settled;
begin
  if jsonb_typeof(settle_given.outcomes) = 'array'
    and jsonb_array_length(settle_given.outcomes) = 1
    and tickwork.is_plainly_done(first)
  then
    job_id := (first ->> 'job_id')::uuid;
    settled := tickwork.settle_done_job(job_id, (first ->> 'lease_token')::uuid, nullif(first -> 'result', 'null'));

    if settled.ids <> '{}' then
      perform tickwork.note_end(settled);
    end if;

    return array[
      row(job_id, settled.are_done is true, case when settled.are_done then 'done' end)::tickwork.settled_job
    ];
  end if;

  parsed := tickwork.outcomes_from(settle_given.outcomes);

  if parsed.ids is null then
    return array[]::tickwork.settled_job[];
  end if;

  settled := tickwork.settle(parsed);

  if settled.ids <> '{}' then
    if parsed.given is not null and settle_given.outcomes @? '$[*].follow_ups[*]' then
      perform tickwork.enqueue_follow_ups(settle_given.outcomes, settled.ids);
    end if;

    perform tickwork.note_end(settled);
  end if;

  return array(
    select row(
      given.job_id,
      given.job_id = any (settled.ids),
      case
        when given.job_id <> all (settled.ids) then null
        when settled.are_done then 'done'
        else (select jobs.status from public.jobs where jobs.id = given.job_id)
      end
    )::tickwork.settled_job
    from rows from (
      jsonb_to_recordset(settle_given.outcomes) as (job_id uuid)
    ) with ordinality as given
    order by given.ordinality
  );
end
$$;

comment on function tickwork.settle_given is
  'running -> done, queued, failed, dead or cancelled. Settles what a worker sends, enqueues what follows, and returns '
  'what became of each, in the order given. Raises TWARG, TWBIG and what enqueue_job raises for a follow-up.';

create function tickwork.enqueue_follow_ups(outcomes jsonb, settled uuid[])
returns void
language plpgsql
volatile
as $$
begin
  -- All in one insert, which knows how to order them.
  perform tickwork.insert_jobs(array(
    select request.job
    from jsonb_to_recordset(enqueue_follow_ups.outcomes) as outcome(job_id uuid, follow_ups jsonb)
    cross join lateral (select * from public.jobs where jobs.id = outcome.job_id limit 1) as jobs
    cross join lateral tickwork.requests_from(
      outcome.follow_ups, jobs.tenant_id, 'system', jobs.id::text, jobs.correlation_id
    ) as requests(jobs)
    cross join lateral (
      select requests.jobs[number]
      from generate_series(1, cardinality(requests.jobs)) as number
    ) as request(job)
    where outcome.job_id = any (enqueue_follow_ups.settled)
      and jobs.status = 'done'
      and jsonb_typeof(outcome.follow_ups) = 'array'
  ));
end
$$;

create function tickwork.note_end(settled tickwork.settled)
returns void
language plpgsql
volatile
as $$
begin
  perform tickwork.after_end(settled.ids, settled.are_done);

  if settled.are_watched then
    perform pg_notify('tickwork_done', jobs.id::text)
    from unnest(settled.ids) as ended(id)
    cross join lateral (select * from public.jobs where jobs.id = ended.id limit 1) as jobs
    where jobs.notify
      and jobs.finished_at is not null;
  end if;
end
$$;

comment on function tickwork.note_end is
  'Tells families and listeners about jobs that may have ended. Called last: emitting an event takes locks that an '
  'enqueue may have to wait for.';

create function tickwork.note_unsuccessful_end(ids uuid[])
returns void
language plpgsql
volatile
as $$
begin
  perform tickwork.give_keys_back(note_unsuccessful_end.ids);
  perform tickwork.note_unsuccessful(note_unsuccessful_end.ids);
  perform tickwork.note_end(row(note_unsuccessful_end.ids, false, true)::tickwork.settled);
end
$$;

comment on function tickwork.note_unsuccessful_end is
  'What follows when jobs are cancelled or dead without having run.';


-- One at a time: a batch of one that raises where the lease is lost.

create function tickwork.settle_one(outcome jsonb)
returns public.jobs
language plpgsql
volatile
security definer -- the worker may not update jobs itself
set search_path = ''
as $$
declare
  job public.jobs;
begin
  if not (tickwork.settle_given(jsonb_build_array(settle_one.outcome)))[1].is_held then
    perform tickwork.raise_lease_lost((settle_one.outcome ->> 'job_id')::uuid);
  end if;

  select * into job
  from public.jobs
  where jobs.id = (settle_one.outcome ->> 'job_id')::uuid;

  return job;
end
$$;

create function public.complete_job(
  job_id uuid,
  lease_token uuid,
  result jsonb default null,
  follow_ups jsonb default null,
  logs text default null
)
returns public.jobs
language sql
volatile
set search_path = ''
as $$
  select *
  from tickwork.settle_one(jsonb_build_object(
    'job_id', complete_job.job_id, 'lease_token', complete_job.lease_token, 'status', 'done',
    'result', complete_job.result, 'follow_ups', complete_job.follow_ups, 'logs', complete_job.logs
  ));
$$;

comment on function public.complete_job is
  'running -> done. Stores the result and enqueues the follow-ups, for the job''s own tenant, in the same transaction. '
  'Durable when it returns. Raises TWLSE, TWBIG, TWARG and what enqueue_job raises for a follow-up.';

create function public.fail_job(
  job_id uuid,
  lease_token uuid,
  error jsonb,
  retryable boolean default true,
  retry_after_seconds double precision default null,
  logs text default null,
  exit_code integer default null,
  stdout_tail text default null,
  stderr_tail text default null
)
returns public.jobs
language sql
volatile
set search_path = ''
as $$
  select *
  from tickwork.settle_one(jsonb_build_object(
    'job_id', fail_job.job_id, 'lease_token', fail_job.lease_token, 'status', 'failed',
    'error', fail_job.error, 'retryable', coalesce(fail_job.retryable, true),
    'retry_after_seconds', fail_job.retry_after_seconds, 'logs', fail_job.logs,
    'exit_code', fail_job.exit_code, 'stdout_tail', fail_job.stdout_tail, 'stderr_tail', fail_job.stderr_tail
  ));
$$;

comment on function public.fail_job is
  'running -> queued, failed, dead or cancelled. error is {code, message} and whatever details the attempt should '
  'keep. If it is retryable the job goes back to queued, after retry_after_seconds or else by the backoff of the type, '
  'or is dead when the attempts are spent; otherwise it is failed. If cancel was requested it is cancelled. '
  'Durable when it returns. '
  'Raises TWLSE, TWARG.';

create function public.release_job(job_id uuid, lease_token uuid, delay_seconds double precision default 0)
returns public.jobs
language sql
volatile
set search_path = ''
as $$
  select *
  from tickwork.settle_one(jsonb_build_object(
    'job_id', release_job.job_id, 'lease_token', release_job.lease_token, 'status', 'released',
    'delay_seconds', release_job.delay_seconds
  ));
$$;

comment on function public.release_job is
  'running -> queued, or cancelled if cancel was requested. Gives the job back without spending the attempt: '
  'the worker shuts down, or the job should not run yet. Raises TWLSE, TWARG.';


-- Many at once.

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

create type tickwork.settled_and_claimed as (
  settled json,
  claimed json
);

create function tickwork.settle_and_claim(
  outcomes jsonb,
  family text,
  worker_id text,
  max_jobs integer,
  lease_seconds integer,
  types text[]
)
returns tickwork.settled_and_claimed
language plpgsql
volatile
security definer -- the worker may not update jobs itself
set search_path = ''
as $$
declare
  settled tickwork.settled_job[];
begin
  if tickwork.is_plain_claim(
    settle_and_claim.family, settle_and_claim.worker_id, settle_and_claim.max_jobs, settle_and_claim.lease_seconds
  ) is not true then
    perform tickwork.check_claim(
      settle_and_claim.family, settle_and_claim.worker_id, settle_and_claim.max_jobs, settle_and_claim.lease_seconds
    );
  end if;

  settled := tickwork.settle_given(settle_and_claim.outcomes);

  return row(
    array_to_json(settled),
    array_to_json(tickwork.claim(
      settle_and_claim.family, settle_and_claim.worker_id, settle_and_claim.max_jobs, settle_and_claim.lease_seconds,
      settle_and_claim.types
    ))
  )::tickwork.settled_and_claimed;
end
$$;

create function public.settle_and_claim(
  outcomes jsonb,
  family text,
  worker_id text,
  max_jobs integer default 1,
  lease_seconds integer default null,
  types text[] default null
)
returns tickwork.settled_and_claimed
language sql
volatile
-- Parsed here and now, it becomes part of the statement that calls it.
return tickwork.settle_and_claim(outcomes, family, worker_id, max_jobs, lease_seconds, types);

comment on function public.settle_and_claim is
  'running -> done, queued, failed, dead or cancelled, and queued -> running. What settle_jobs and claim_jobs do, in '
  'one transaction: settled holds what the former returns, claimed the columns of the latter that a worker needs. '
  'Durable when it returns. Raises TWARG, TWBIG, TWLEA.';
