-- Many at once.

create function tickwork.settle_jobs(outcomes jsonb)
returns setof tickwork.settled_job
language plpgsql
volatile
security definer -- the worker may not update jobs directly
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
begin atomic
  select *
  from tickwork.settle_jobs(outcomes);
end;

comment on function public.settle_jobs is
  'running -> done, queued, failed, dead or cancelled. Completes, fails and releases many jobs in one statement: an '
  'array of {job_id, lease_token, status: done | failed | released} with the parameters of complete_job, fail_job or '
  'release_job. A lost lease does not raise: is_held is false. Durable when it returns. Raises TWARG, TWBIG.';

create function tickwork.settle_and_claim(
  job_ids uuid[],
  lease_tokens uuid[],
  results jsonb[],
  endings jsonb,
  family text,
  worker_id text,
  max_jobs integer,
  lease_seconds integer,
  types text[]
)
returns setof tickwork.worked_job
language plpgsql
volatile
security definer -- the worker may not update jobs directly
set search_path = ''
as $$
declare
  statuses text[];
begin
  if settle_and_claim.max_jobs <> 0 and tickwork.wrong_in_claim(
    settle_and_claim.family, settle_and_claim.worker_id, settle_and_claim.max_jobs, settle_and_claim.lease_seconds
  ) is not null then
    perform tickwork.check_claim(
      settle_and_claim.family, settle_and_claim.worker_id, settle_and_claim.max_jobs, settle_and_claim.lease_seconds
    );
  end if;

  if settle_and_claim.job_ids = '{}' then
    perform tickwork.skip_disk();
  else
    -- Text may be six times as long as what is stored.
    if settle_and_claim.endings is not null or pg_column_size(settle_and_claim.results) > 40000 then
      perform tickwork.check_worked(settle_and_claim.results, settle_and_claim.endings);
    end if;

    statuses := tickwork.settle(
      settle_and_claim.job_ids, settle_and_claim.lease_tokens, settle_and_claim.results,
      case when settle_and_claim.endings is not null then
        tickwork.outcomes_from(settle_and_claim.job_ids, settle_and_claim.endings)
      end
    );
  end if;

  if statuses is not null then
    return next row(
      statuses, null, null, null, null, null, null, null, null, null, null, null, null, null
    )::tickwork.worked_job;
  end if;

  if settle_and_claim.max_jobs <> 0 then
    return query
    select *
    from tickwork.claim(
      settle_and_claim.family, settle_and_claim.worker_id, settle_and_claim.max_jobs, settle_and_claim.lease_seconds,
      settle_and_claim.types, null
    );
  end if;
end
$$;

create function public.settle_and_claim(
  job_ids uuid[],
  lease_tokens uuid[],
  results jsonb[],
  endings jsonb,
  family text,
  worker_id text,
  max_jobs integer default 1,
  lease_seconds integer default null,
  types text[] default null
)
returns setof tickwork.worked_job
language sql
volatile
begin atomic
  select *
  from tickwork.settle_and_claim(
    job_ids, lease_tokens, results, endings, family, worker_id, max_jobs, lease_seconds, types
  );
end;

comment on function public.settle_and_claim is
  'running -> done, queued, failed, dead or cancelled, and queued -> running. What a worker does between two jobs, in '
  'one transaction: settles those of job_ids, each under its token and with its result, and claims up to max_jobs, '
  'which may be 0. endings is null if all of them are simply done, else an array of what settle_jobs takes for each, '
  'without ids and result, or null if it is simply done. If not all of them become done, a first row without a job has '
  'their statuses, null where the lease is lost. Durable when it returns. Raises TWARG, TWBIG, TWLEA.';

create function tickwork.check_worked(results jsonb[], endings jsonb)
returns void
language sql
immutable
as $$
  select tickwork.check_size('result', result::text, 262144)
  from unnest(check_worked.results) as result
  where octet_length(result::text) > 262144;

  select tickwork.check_endings(case jsonb_typeof(check_worked.endings)
    when 'array' then (
      select coalesce(jsonb_agg(coalesce(nullif(ending, 'null'), '{"status": "done"}')), '[]')
      from jsonb_array_elements(check_worked.endings) as ending
    )
    else check_worked.endings
  end)
  where check_worked.endings is not null;
$$;

comment on function tickwork.check_worked is 'Raises TWARG, TWBIG unless a worker may send these results and endings.';
