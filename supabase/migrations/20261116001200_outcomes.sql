-- How a worker ends attempts: it completes, fails or releases one job or many, optionally with the next claim.

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

create function tickwork.outcomes_from(ids uuid[], endings jsonb)
returns tickwork.outcome[]
language sql
immutable
as $$
  select array_agg(
    row(
      given.id,
      coalesce(ending.status, 'done'),
      failure.code,
      failure.message,
      failure.details,
      coalesce(ending.retryable, true),
      case ending.status
        when 'released' then coalesce(ending.delay_seconds, 0)
        else ending.retry_after_seconds
      end,
      nullif(ending.follow_ups, 'null'),
      ending.pid,
      ending.exit_code,
      right(ending.stdout_tail, 8000),
      right(ending.stderr_tail, 8000),
      right(ending.logs, 8000),
      failure.exception
    )::tickwork.outcome
    order by given.place
  )
  from unnest(outcomes_from.ids) with ordinality as given(id, place)
  cross join lateral jsonb_to_record(
    coalesce(nullif(outcomes_from.endings -> (given.place - 1)::integer, 'null'), '{}')
  ) as ending(
    status text, error jsonb, retryable boolean, retry_after_seconds double precision, delay_seconds double precision,
    follow_ups jsonb, pid integer, exit_code integer, stdout_tail text, stderr_tail text, logs text, exception text
  )
  left join lateral (
    select
      left(coalesce(ending.error ->> 'code', 'FAILED'), 100),
      -- Only the message of an object: the rest was not written for people to read.
      left(case jsonb_typeof(ending.error)
        when 'object' then ending.error ->> 'message'
        else ending.error #>> '{}'
      end, 8000),
      tickwork.error_details(ending.error),
      right(ending.exception, 16000)
  ) as failure(code, message, details, exception) on ending.status = 'failed';
$$;

comment on function tickwork.outcomes_from is
  'How the attempts at these jobs ended, from what a worker sends: an object for each, or null if it is simply done.';

create function tickwork.check_endings(endings jsonb)
returns void
language plpgsql
immutable
as $$
begin
  perform tickwork.check_objects('outcomes', check_endings.endings, array[
    'job_id', 'lease_token', 'status', 'result', 'error', 'retryable', 'retry_after_seconds', 'delay_seconds',
    'follow_ups', 'pid', 'exit_code', 'stdout_tail', 'stderr_tail', 'logs', 'exception'
  ]);

  if exists (
    select
    from jsonb_array_elements(check_endings.endings) as ending
    where (ending ->> 'status' in ('done', 'failed', 'released')) is not true
  ) then
    raise exception 'outcomes: status must be done, failed or released'
      using errcode = 'TWARG', hint = 'For a single job: [{"job_id": ..., "lease_token": ..., "status": "done"}].';
  end if;

  if exists (
    select
    from jsonb_array_elements(check_endings.endings) as ending
    where jsonb_typeof(ending -> 'follow_ups') not in ('array', 'null')
  ) then
    raise exception 'outcomes: follow_ups must be an array of objects'
      using errcode = 'TWARG', hint = 'For a single one: [{"type": ...}].';
  end if;

  perform
    tickwork.check_size('result', (ending -> 'result')::text, 262144),
    tickwork.check_delay('retry_after_seconds', (ending ->> 'retry_after_seconds')::double precision),
    tickwork.check_delay('delay_seconds', (ending ->> 'delay_seconds')::double precision)
  from jsonb_array_elements(check_endings.endings) as ending;
end
$$;

comment on function tickwork.check_endings is 'Raises TWARG, TWBIG unless these are outcomes that a worker may send.';

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
      outcome.job_id, outcome.status, tickwork.without(outcome.error_code, hidden.values),
      tickwork.without(outcome.error_message, hidden.values),
      tickwork.redact(outcome.error, '{}', row('{}', hidden.values)::tickwork.redaction, 0), outcome.is_retryable,
      outcome.delay_seconds, outcome.follow_ups, outcome.pid, outcome.exit_code,
      tickwork.without(outcome.stdout_tail, hidden.values), tickwork.without(outcome.stderr_tail, hidden.values),
      tickwork.without(outcome.logs, hidden.values), tickwork.without(outcome.exception, hidden.values)
    )::tickwork.outcome
    from unnest(without_hidden.outcomes) with ordinality as outcome
    cross join lateral (select tickwork.hidden_values(outcome.job_id) offset 0) as hidden(values)
    order by outcome.ordinality
  );
end
$$;

comment on function tickwork.without_hidden is
  'How the attempts ended, without the redacted values of their jobs in errors and logs.';
