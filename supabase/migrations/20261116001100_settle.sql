-- running -> done, queued, failed, dead or cancelled

create type tickwork.outcome as (
  job_id uuid,
  status text,
  error_code text,
  error_message text,
  error jsonb,
  is_retryable boolean,
  delay_seconds double precision,
  follow_ups jsonb,
  pid integer,
  exit_code integer,
  stdout_tail text,
  stderr_tail text,
  logs text,
  exception text
);

comment on type tickwork.outcome is
  'How an attempt ended: done, failed, lease_expired or released. delay_seconds is how long to wait before the next '
  'attempt; null means that the backoff of the type decides.';

-- Which attempts have been ended, and who has to hear of it.

create type tickwork.ended_attempts as (
  ids uuid[],
  are_done boolean,
  are_watched boolean,
  are_heard boolean
);

-- Without outcomes all jobs are done, and there is nothing to keep but their results. An index finds what is in an
-- array in order, whatever the order of the array, so that two calls for the same jobs cannot deadlock.

create function tickwork.end_attempts(ids uuid[], tokens uuid[], results jsonb[], outcomes tickwork.outcome[])
returns tickwork.ended_attempts
language plpgsql
volatile
as $$
declare
  now_at constant timestamptz := clock_timestamp();
  settled tickwork.ended_attempts;
begin
  -- The fence: whoever deletes the lease under its token holds the job.
  with ended as (
    delete from tickwork.leases
    where leases.job_id = any (end_attempts.ids)
      and leases.token = end_attempts.tokens[array_position(end_attempts.ids, leases.job_id)]
    returning
      leases.job_id as id, leases.is_watched,
      end_attempts.outcomes is null
        or (end_attempts.outcomes[array_position(end_attempts.ids, leases.job_id)]).status = 'done' as is_done
  ),
  done as (
    update public.jobs
    set
      status = 'done',
      result = tickwork.shown_result(
        jobs.id, end_attempts.results[array_position(end_attempts.ids, jobs.id)], jobs.is_redacted
      ),
      progress = 1,
      error_code = null,
      error_message = null,
      lease_expires_at = null,
      updated_at = now_at,
      finished_at = now_at
    -- One scan for all of them. And an array: with ids that are equal, the planner could also read all jobs.
    where jobs.id = any (array(select ended.id from ended where ended.is_done))
    returning jobs.is_awaited
  )
  select
    array_agg(ended.id), bool_and(ended.is_done),
    bool_or(ended.is_watched) or exists (select from done where done.is_awaited),
    exists (select from tickwork.hooks where hooks.moment = 'done')
  into settled
  from ended;

  if settled.ids is not null and end_attempts.outcomes is not null then
    settled.are_watched := tickwork.note_outcomes(
      tickwork.without_hidden(end_attempts.outcomes, settled.ids), settled.ids
    ) or settled.are_watched;
  end if;

  if settled.are_watched then
    perform tickwork.free_what_was_held(settled.ids);
  end if;

  return settled;
end
$$;

comment on function tickwork.end_attempts is
  'running -> done, queued, failed, dead or cancelled. The way out of running. Fenced: an outcome under another token '
  'changes nothing. Whoever calls it goes on with note_end, and only then commits.';

create function tickwork.settle(ids uuid[], tokens uuid[], results jsonb[], outcomes tickwork.outcome[])
returns text[]
language plpgsql
volatile
as $$
declare
  settled tickwork.ended_attempts;
begin
  perform tickwork.wait_for_disk();
  settled := tickwork.end_attempts(settle.ids, settle.tokens, settle.results, settle.outcomes);

  if settled.ids is null then
    return array_fill(null::text, array[cardinality(settle.ids)]);
  end if;

  if settle.outcomes is not null then
    perform tickwork.enqueue_follow_ups(settle.outcomes, settled.ids);
  end if;

  perform tickwork.note_end(settled);

  if settled.are_done and cardinality(settled.ids) = cardinality(settle.ids) then
    return null;
  end if;

  return array(
    select jobs.status
    from unnest(settle.ids) with ordinality as given(id, place)
    left join public.jobs on jobs.id = any (array[given.id]) and given.id = any (settled.ids)
    order by given.place
  );
end
$$;

comment on function tickwork.settle is
  'running -> done, queued, failed, dead or cancelled. Ends attempts, with their follow-ups. Returns what became of '
  'each job, null where the lease is lost; null altogether if all are done.';

create function tickwork.shown_result(job_id uuid, result jsonb, is_redacted boolean)
returns jsonb
language sql
volatile
return case
  when is_redacted or tickwork.may_hold_secrets(result::text) then tickwork.keep_result(job_id, result)
  else result
end;

comment on function tickwork.shown_result is
  'The result of a job as everybody may see it. If that is not all of it, the whole result is kept.';
