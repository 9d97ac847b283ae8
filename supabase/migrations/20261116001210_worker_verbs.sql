-- Complete, fail and release, one job or many

create type tickwork.settled_job as (
  job_id uuid,
  is_held boolean,
  status text
);

create function tickwork.settle_jobs(outcomes jsonb)
returns setof tickwork.settled_job
language plpgsql
volatile
security definer -- the worker may not update jobs directly
set search_path = ''
as $$
declare
  given record;
  statuses text[];
begin
  perform tickwork.check_endings(settle_jobs.outcomes);

  select
    array_agg(outcome.job_id order by outcome.job_id) as ids,
    array_agg(outcome.lease_token order by outcome.job_id) as tokens,
    array_agg(nullif(outcome.fields -> 'result', 'null') order by outcome.job_id) as results,
    jsonb_agg(outcome.fields order by outcome.job_id) as endings,
    bool_and(
      outcome.fields ->> 'status' = 'done'
      and jsonb_strip_nulls(outcome.fields - 'result') - array['job_id', 'lease_token', 'status'] = '{}'
    ) as are_plain,
    count(distinct outcome.job_id) < count(outcome.job_id) as has_repeats
  into given
  from (
    select (object ->> 'job_id')::uuid, (object ->> 'lease_token')::uuid, object
    from jsonb_array_elements(settle_jobs.outcomes) as object
  ) as outcome(job_id, lease_token, fields);

  if given.ids is null then
    return;
  end if;

  if given.has_repeats then
    -- One of the two would be checked against the token of the other.
    raise exception 'outcomes: the same job appears twice'
      using errcode = 'TWARG', hint = 'For a single job: [{"job_id": ..., "lease_token": ..., "status": "done"}].';
  end if;

  statuses := coalesce(
    tickwork.settle(
      given.ids, given.tokens, given.results,
      case when not given.are_plain then tickwork.outcomes_from(given.ids, given.endings) end
    ),
    array_fill(text 'done', array[cardinality(given.ids)])
  );

  return query
  select outcome.job_id, settled.status is not null, settled.status
  from rows from (
    jsonb_to_recordset(settle_jobs.outcomes) as (job_id uuid)
  ) with ordinality as outcome
  left join unnest(given.ids, statuses) as settled(id, status) on settled.id = outcome.job_id
  order by outcome.ordinality;
end
$$;

create function public.settle_jobs(outcomes jsonb)
returns table (job_id uuid, is_held boolean, status text)
language sql
volatile
begin atomic
  select *
  from tickwork.settle_jobs(outcomes);
end;

comment on function public.settle_jobs is
  'running -> done, queued, failed, dead or cancelled. Completes, fails and releases many jobs in one statement: an '
  'array of {job_id, lease_token, status: done | failed | released} with the parameters of complete_job, fail_job or '
  'release_job. A lost lease does not raise: is_held is false. Durable when it returns. Raises TWARG, TWBIG.';

create function tickwork.enqueue_follow_ups(outcomes tickwork.outcome[], settled uuid[])
returns void
language plpgsql
volatile
as $$
declare
  requests constant tickwork.job_request[] := array(
    select request
    from unnest(enqueue_follow_ups.outcomes) as outcome
    cross join lateral (select * from public.jobs where jobs.id = outcome.job_id limit 1) as jobs
    cross join lateral unnest(tickwork.requests_from(
      outcome.follow_ups, jobs.tenant_id, 'system', jobs.id::text, jobs.correlation_id,
      tickwork.trace_of(jobs.id, jobs.traceparent)
    )) as request
    where outcome.job_id = any (enqueue_follow_ups.settled)
      and outcome.follow_ups is not null
      and jobs.status = 'done'
  );
begin
  if requests <> '{}' then
    -- All in one call, which puts them in an order that cannot deadlock.
    perform tickwork.insert_jobs(requests);
  end if;
end
$$;

create function tickwork.note_end(ended tickwork.ended_attempts)
returns void
language plpgsql
volatile
as $$
begin
  if (note_end.ended).are_heard or not (note_end.ended).are_done then
    perform tickwork.after_end((note_end.ended).ids, (note_end.ended).are_done);
  end if;

  if (note_end.ended).are_watched then
    perform pg_notify('tickwork_done', jobs.id::text)
    from unnest((note_end.ended).ids) as settled(id)
    cross join lateral (select * from public.jobs where jobs.id = settled.id limit 1) as jobs
    where jobs.notify
      and jobs.finished_at is not null;

    perform tickwork.note_awaited_end(array(
      select jobs.id
      from unnest((note_end.ended).ids) as settled(id)
      cross join lateral (select * from public.jobs where jobs.id = settled.id limit 1) as jobs
      where jobs.is_awaited
        and jobs.finished_at is not null
    ));
  end if;
end
$$;

comment on function tickwork.note_end is
  'Tells families, listeners and jobs that wait about jobs that may have ended. Called last: emitting an event takes '
  'locks that an enqueue may have to wait for.';

create function tickwork.note_unsuccessful_end(ids uuid[])
returns void
language plpgsql
volatile
as $$
begin
  perform tickwork.give_keys_back(note_unsuccessful_end.ids);
  perform tickwork.note_unsuccessful(note_unsuccessful_end.ids);
  perform tickwork.note_end(row(note_unsuccessful_end.ids, false, true, true)::tickwork.ended_attempts);
end
$$;

comment on function tickwork.note_unsuccessful_end is
  'What follows when jobs are cancelled or buried without having run.';


-- One at a time: a batch of one that raises an error if the lease is lost.

create function tickwork.settle_one(outcome jsonb)
returns public.jobs
language plpgsql
volatile
security definer -- the worker may not update jobs directly
set search_path = ''
as $$
declare
  job public.jobs;
begin
  if not (select settled.is_held from tickwork.settle_jobs(jsonb_build_array(settle_one.outcome)) as settled) then
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
return tickwork.settle_one(jsonb_build_object(
  'job_id', job_id, 'lease_token', lease_token, 'status', 'done',
  'result', result, 'follow_ups', follow_ups, 'logs', logs
));

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
  pid integer default null,
  exit_code integer default null,
  stdout_tail text default null,
  stderr_tail text default null,
  exception text default null
)
returns public.jobs
language sql
volatile
return tickwork.settle_one(jsonb_build_object(
  'job_id', job_id, 'lease_token', lease_token, 'status', 'failed',
  'error', error, 'retryable', coalesce(retryable, true),
  'retry_after_seconds', retry_after_seconds, 'logs', logs,
  'pid', pid, 'exit_code', exit_code, 'stdout_tail', stdout_tail, 'stderr_tail', stderr_tail,
  'exception', exception
));

comment on function public.fail_job is
  'running -> queued, failed, dead or cancelled. error is {code, message} and any further details to keep with the '
  'attempt, for the tenant to read; exception is what only the operator may read. If it is retryable, the job goes '
  'back to queued, after retry_after_seconds or according to the backoff of its type, or is dead if no attempts are '
  'left; otherwise it is failed. If cancel was requested, it is cancelled. Durable when it returns. Raises TWLSE, '
  'TWARG.';

create function public.release_job(job_id uuid, lease_token uuid, delay_seconds double precision default 0)
returns public.jobs
language sql
volatile
return tickwork.settle_one(jsonb_build_object(
  'job_id', job_id, 'lease_token', lease_token, 'status', 'released',
  'delay_seconds', delay_seconds
));

comment on function public.release_job is
  'running -> queued, or cancelled if cancel was requested. Gives the job back without using up the attempt: the '
  'worker is shutting down, or the job should not run yet. Raises TWLSE, TWARG.';
