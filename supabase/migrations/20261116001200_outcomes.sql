-- How a worker ends attempts: it completes, fails or releases one job or many, optionally with the next claim.

create function tickwork.error_code(error jsonb)
returns text
language sql
immutable
return left(coalesce(error ->> 'code', 'FAILED'), 100);

create function tickwork.error_message(error jsonb)
returns text
language sql
immutable
-- Only the message of an object: the rest was not written for people to read.
return left(case jsonb_typeof(error) when 'object' then error ->> 'message' else error #>> '{}' end, 8000);

create function tickwork.error_details(error jsonb)
returns jsonb
language sql
immutable
return case
  when jsonb_typeof(error) <> 'object' or error - array['code', 'message'] = '{}' then null
  when octet_length(error::text) > 16384 then '{"details": "left out: over 16384 bytes"}'
  when tickwork.may_hold_secrets(error::text) then
    tickwork.redacted('error', error - array['code', 'message'], '{}', '{}')
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
  'The most common outcome: the job is done, has no follow-ups and logged nothing.';

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
    tickwork.may_hold_secrets(string_agg(outcome.result::text, ' ')),
    bool_and(outcome.is_done) and count(distinct outcome.job_id) = count(*)
  into done.ids, done.tokens, done.are_done, done.results, done.have_secrets, is_all
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

comment on function tickwork.done_jobs_from is 'Reads outcomes that are all plainly done; null if any of them is not.';

create function tickwork.outcomes_from(outcomes jsonb)
returns tickwork.outcomes
language plpgsql
immutable
as $$
declare
  parsed tickwork.outcomes;
  is_in_order boolean;
begin
  -- Only if something looks wrong are the outcomes checked one by one, which raises an error that says what.
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
    tickwork.may_hold_secrets(string_agg(outcome.result::text, ' ')),
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
      outcome.pid,
      outcome.exit_code,
      right(outcome.stdout_tail, 8000),
      right(outcome.stderr_tail, 8000),
      right(outcome.logs, 8000),
      case outcome.status when 'failed' then right(outcome.exception, 16000) end
    )::tickwork.outcome order by outcome.job_id),
    count(distinct outcome.job_id) = count(*)
    and bool_and(
      jsonb_typeof(given.fields) = 'object'
      and outcome.status in ('done', 'failed', 'released')
      and given.fields - array[
        'job_id', 'lease_token', 'status', 'result', 'error', 'retryable', 'retry_after_seconds', 'delay_seconds',
        'follow_ups', 'pid', 'exit_code', 'stdout_tail', 'stderr_tail', 'logs', 'exception'
      ] = '{}'
      and coalesce(jsonb_typeof(given.fields -> 'follow_ups'), 'array') in ('array', 'null')
      and coalesce(octet_length(outcome.result::text), 0) < 65536
      and coalesce(outcome.retry_after_seconds, 0) between 0 and 2592000
      and coalesce(outcome.delay_seconds, 0) between 0 and 2592000
    )
  into parsed.ids, parsed.tokens, parsed.are_done, parsed.results, parsed.have_secrets, parsed.given, is_in_order
  from jsonb_array_elements(outcomes_from.outcomes) with ordinality as given(fields, ordinality)
  cross join lateral jsonb_to_record(
    case jsonb_typeof(given.fields) when 'object' then given.fields else '{}' end
  ) as outcome(
    job_id uuid, lease_token uuid, status text, result jsonb, error jsonb, retryable boolean,
    retry_after_seconds double precision, delay_seconds double precision, pid integer, exit_code integer,
    stdout_tail text, stderr_tail text, logs text, exception text
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
    'follow_ups', 'pid', 'exit_code', 'stdout_tail', 'stderr_tail', 'logs', 'exception'
  ]);

  select case
    when outcome -> 'status' is null or outcome -> 'status' not in ('"done"', '"failed"', '"released"') then
      'status must be done, failed or released'
    when coalesce(jsonb_typeof(outcome -> 'follow_ups'), 'null') not in ('array', 'null') then
      'follow_ups must be an array of objects'
    -- One of the two would be checked against the token of the other.
    when count(*) over (partition by (outcome ->> 'job_id')::uuid) > 1 then
      'the same job appears twice'
  end as reason
  into wrong
  from jsonb_array_elements(check_outcomes.outcomes) as outcome
  order by reason
  limit 1;

  if wrong is not null then
    raise exception 'outcomes: %', wrong
      using errcode = 'TWARG', hint = 'For a single job: [{"job_id": ..., "lease_token": ..., "status": "done"}].';
  end if;

  perform
    tickwork.check_size('result', (outcome -> 'result')::text, 262144),
    tickwork.check_delay('retry_after_seconds', (outcome ->> 'retry_after_seconds')::double precision),
    tickwork.check_delay('delay_seconds', (outcome ->> 'delay_seconds')::double precision)
  from jsonb_array_elements(check_outcomes.outcomes) as outcome;
end
$$;

create function tickwork.without_hidden(outcomes tickwork.outcome[], ids uuid[])
returns tickwork.outcome[]
language plpgsql
volatile
as $$
begin
  if not exists (select from tickwork.redacted_values where redacted_values.job_id = any (without_hidden.ids)) then
    return without_hidden.outcomes;
  end if;

  return array(
    select row(
      outcome.job_id, outcome.lease_token, outcome.status, tickwork.without(outcome.error_code, hidden.values),
      tickwork.without(outcome.error_message, hidden.values),
      tickwork.redact(outcome.error, '{}', row('{}', hidden.values)::tickwork.redaction, 0), outcome.is_retryable,
      outcome.delay_seconds, outcome.pid, outcome.exit_code, tickwork.without(outcome.stdout_tail, hidden.values),
      tickwork.without(outcome.stderr_tail, hidden.values), tickwork.without(outcome.logs, hidden.values),
      tickwork.without(outcome.exception, hidden.values)
    )::tickwork.outcome
    from unnest(without_hidden.outcomes) with ordinality as outcome
    cross join lateral (select tickwork.hidden_values(outcome.job_id) offset 0) as hidden(values)
    order by outcome.ordinality
  );
end
$$;

comment on function tickwork.without_hidden is
  'How the attempts ended, without the redacted values of their jobs in errors and logs.';
