-- running -> done, queued, failed, dead or cancelled

create type tickwork.outcome as (
  job_id uuid,
  lease_token uuid,
  status text,
  error_code text,
  error_message text,
  error jsonb,
  is_retryable boolean,
  delay_seconds double precision,
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

-- Many outcomes, in the order of their ids, so that two calls for the same jobs cannot deadlock. If all jobs are done
-- and there is nothing but their results, given is null. have_secrets is whether the results may hold some.

create type tickwork.outcomes as (
  ids uuid[],
  tokens uuid[],
  are_done boolean[],
  results jsonb[],
  have_secrets boolean,
  given tickwork.outcome[]
);

create type tickwork.settled as (
  ids uuid[],
  are_done boolean,
  are_watched boolean
);

create function tickwork.settle(outcomes tickwork.outcomes)
returns tickwork.settled
language plpgsql
volatile
as $$
declare
  now_at constant timestamptz := clock_timestamp();
  have_secrets constant boolean := (outcomes).have_secrets;
  settled tickwork.settled;
begin
  perform tickwork.wait_for_disk();

  -- The fence: whoever deletes the lease under its token holds the job.
  with ended as (
    delete from tickwork.leases
    using unnest((outcomes).ids, (outcomes).tokens, (outcomes).are_done, (outcomes).results)
      as given(id, token, is_done, result)
    where leases.job_id = given.id
      and leases.token = given.token
    returning given.id, given.is_done, given.result, leases.is_watched
  ),
  done as (
    update public.jobs
    set
      status = 'done',
      result = case
        when ended.is_watched or have_secrets then tickwork.keep_result(ended.id, ended.result)
        else ended.result
      end,
      progress = 1,
      error_code = null,
      error_message = null,
      lease_expires_at = null,
      updated_at = now_at,
      finished_at = now_at
    from ended
    where jobs.id = any (array[ended.id])
      and ended.is_done
    returning jobs.is_awaited
  )
  select
    coalesce(array_agg(ended.id), '{}'), bool_and(ended.is_done),
    bool_or(ended.is_watched) or exists (select from done where done.is_awaited)
  into settled
  from ended;

  if settled.ids <> '{}' and (outcomes).given is not null then
    outcomes.given := tickwork.without_hidden((outcomes).given, settled.ids);

    if not settled.are_done then
      settled.are_watched := tickwork.note_undone((outcomes).given, settled.ids) or settled.are_watched;
    end if;

    perform tickwork.write_attempts((outcomes).given, settled.ids);
  end if;

  if settled.are_watched then
    perform tickwork.free_what_was_held(settled.ids);
  end if;

  return settled;
end
$$;

comment on function tickwork.settle is
  'running -> done, queued, failed, dead or cancelled. The way out of running. Fenced: an outcome under another token '
  'changes nothing. Returns the jobs that were settled. The caller must call note_end at the end.';

-- The short way to settle one job that is done (docs/decisions.md).

create function tickwork.settle_done_job(job_id uuid, lease_token uuid, result jsonb)
returns tickwork.settled
language plpgsql
volatile
as $$
declare
  now_at constant timestamptz := clock_timestamp();
  is_watched boolean;
  is_awaited boolean;
begin
  if current_setting('synchronous_commit') = 'off' then
    perform tickwork.wait_for_disk();
  end if;

  delete from tickwork.leases
  where leases.job_id = settle_done_job.job_id
    and leases.token = settle_done_job.lease_token
  returning leases.is_watched into is_watched;

  if not found then
    return row('{}'::uuid[], null, null)::tickwork.settled;
  end if;

  if is_watched or tickwork.may_hold_secrets(settle_done_job.result::text) then
    result := tickwork.keep_result(settle_done_job.job_id, settle_done_job.result);
  end if;

  update public.jobs
  set
    status = 'done',
    result = settle_done_job.result,
    progress = 1,
    error_code = null,
    error_message = null,
    lease_expires_at = null,
    updated_at = now_at,
    finished_at = now_at
  where jobs.id = settle_done_job.job_id
  returning jobs.is_awaited into is_awaited;

  if is_watched then
    perform tickwork.free_what_was_held(array[settle_done_job.job_id]);
  end if;

  return row(array[settle_done_job.job_id], true, is_watched or is_awaited)::tickwork.settled;
end
$$;

comment on function tickwork.settle_done_job is 'running -> done. Like settle, for one job.';
