-- What a worker calls between two jobs: it settles those that it holds, and claims the next ones.

-- By far the most calls settle one job that is done, and claim one of one type that has no limits. These take the short
-- way that is written out here: settle and claim do the same for any number of jobs, at almost twice the cost, and a
-- test compares the two.

create function tickwork.settle_and_claim(
  job_ids uuid[],
  lease_tokens uuid[],
  results jsonb[],
  endings jsonb,
  family text,
  worker_id text,
  max_jobs integer,
  lease_seconds integer,
  types text[],
  new_token uuid
)
returns setof tickwork.worked_job
language plpgsql
volatile
security definer -- the worker may not update jobs directly
set search_path = ''
as $$
declare
  now_at constant timestamptz := clock_timestamp();
  ended record;
  look record;
  is_usual boolean := false;
  next record;
  token constant uuid := coalesce(settle_and_claim.new_token, gen_random_uuid());
  lower integer;
  started tickwork.worked_job;
begin
  if (settle_and_claim.max_jobs <> 0 or settle_and_claim.job_ids is null) and tickwork.wrong_in_claim(
    settle_and_claim.family, settle_and_claim.worker_id, settle_and_claim.max_jobs, settle_and_claim.lease_seconds
  ) is not null then
    perform tickwork.check_claim(
      settle_and_claim.family, settle_and_claim.worker_id, settle_and_claim.max_jobs, settle_and_claim.lease_seconds
    );
  end if;

  -- Text may be six times as long as what is stored.
  if settle_and_claim.endings is not null or pg_column_size(settle_and_claim.results) > 40000 then
    perform tickwork.check_worked(settle_and_claim.results, settle_and_claim.endings);
  end if;

  if cardinality(settle_and_claim.job_ids) > 0 is not true then
    perform tickwork.skip_disk();
  elsif cardinality(settle_and_claim.job_ids) > 1
    or settle_and_claim.endings is not null
    or current_setting('synchronous_commit') = 'off'
  then
    started.statuses := tickwork.settle(
      settle_and_claim.job_ids, settle_and_claim.lease_tokens, settle_and_claim.results,
      case when settle_and_claim.endings is not null then
        tickwork.outcomes_from(settle_and_claim.job_ids, settle_and_claim.endings)
      end
    );
  else
    delete from tickwork.leases
    where leases.job_id = settle_and_claim.job_ids[1]
      and leases.token = settle_and_claim.lease_tokens[1]
    returning leases.job_id, leases.is_watched into ended;

    update public.jobs
    set
      status = 'done',
      result = tickwork.shown_result(jobs.id, settle_and_claim.results[1], jobs.is_redacted),
      progress = 1,
      error_code = null,
      error_message = null,
      lease_expires_at = null,
      updated_at = now_at,
      finished_at = now_at
    where jobs.id = ended.job_id
    returning
      jobs.id as job_id, ended.is_watched or jobs.is_awaited as is_watched,
      exists (select from tickwork.hooks where hooks.moment = 'done') as is_heard
    into ended;

    if ended.job_id is null then
      started.statuses := array[null::text];
    elsif ended.is_watched or ended.is_heard then
      if ended.is_watched then
        perform tickwork.free_what_was_held(array[ended.job_id]);
      end if;

      perform tickwork.note_end(
        row(array[ended.job_id], true, ended.is_watched, ended.is_heard)::tickwork.ended_attempts
      );
    end if;
  end if;

  if started.statuses is not null then
    return next started;
    started.statuses := null;
  end if;

  if settle_and_claim.max_jobs = 1 and cardinality(settle_and_claim.types) = 1 then
    select
      family_types.turn as sequence, turn.value as turn, (turn.value >> 16 & 127)::integer as starts_left,
      -- A tenant in the middle of its turn comes first; one whose turn is over comes last.
      (turn.value >> 23) - ((turn.value >> 16 & 127) > 0)::integer as start, false as has_wrapped,
      tickwork.front_at(pg_sequence_last_value(family_types.front)) as front,
      100 as max_priority, tickwork.low_starts(turn.value & 65535, 1) > 0 as is_low,
      coalesce(settle_and_claim.lease_seconds, family_types.lease_seconds) as lease_seconds,
      family_types.timeout_seconds,
      tickwork.is_overdue(family_types.reaped_at, family_types.asked_at, now_at) or exists (
        select from tickwork.alarms where alarms.family = settle_and_claim.family and alarms.wake_at <= now_at
      ) as is_overdue
    into look
    from tickwork.family_types
    cross join lateral (select coalesce(pg_sequence_last_value(family_types.turn), 0) offset 0) as turn(value)
    where family_types.family = settle_and_claim.family
      and family_types.type = settle_and_claim.types[1]
      and not (family_types.is_limited or family_types.is_paused)
      and not tickwork.is_time_to_move(turn.value & 65535, 1);

    is_usual := found;
  end if;

  if is_usual then
    if look.is_overdue then
      perform tickwork.catch_up(settle_and_claim.family, settle_and_claim.types);
    end if;

    loop
      -- The index of waiting is in the order of turns: one scan finds both the tenant and its job.
      select
        waiting.ctid as place, jobs.ctid as record, tenants.number, waiting.priority, tenants.weight,
        tenants.is_paused or tenants.is_limited or waiting.lane is not null as is_special,
        jobs.dedupe_key is not null or jobs.notify or jobs.is_redacted as is_watched
      into next
      from tickwork.waiting
      join tickwork.tenants on tenants.number = waiting.tenant_number
      -- An array of one, here and in other verbs: ids that are equal could also be merged, and where the statistics
      -- know of no job, a plan that reads all of them for that looks as cheap.
      join public.jobs on jobs.id = any (array[waiting.job_id]) and jobs.status = 'queued'
      where waiting.family = settle_and_claim.family
        and waiting.type = settle_and_claim.types[1]
        and waiting.tenant_number > look.start
        and waiting.priority <= look.max_priority
        and waiting.run_at >= look.front
      -- By the whole key of the index: under row-level security the planner does not see which columns are constant.
      order by waiting.family, waiting.type, waiting.tenant_number, waiting.priority desc, waiting.run_at
      limit 1
      for update of waiting skip locked
      for no key update of jobs skip locked;

      if not found then
        exit when look.has_wrapped or look.start <= 0;
        look.has_wrapped := true;
        look.start := 0;
        continue;
      end if;

      exit when not look.is_low or next.is_special;
      look.is_low := false;
      lower := tickwork.lower_priority(
        settle_and_claim.family, settle_and_claim.types, look.front, next.number, (look.turn & 65535) / 10,
        next.priority
      );
      exit when lower is null;
      look.max_priority := lower;
      look.start := next.number - 1;
    end loop;

    if not next.is_special then
      look.turn := setval(look.sequence, tickwork.packed(
        -- If it is the only tenant, the next claim need not look behind it first.
        case
          when look.has_wrapped and next.number = look.turn >> 23 and next.weight = 1 then 0
          else next.number
        end,
        case when next.number = look.turn >> 23 and look.starts_left > 0 then look.starts_left else next.weight end - 1,
        look.turn + 1
      ));

      delete from tickwork.waiting
      where waiting.ctid = next.place;

      update public.jobs
      set
        status = 'running',
        attempts = jobs.attempts + 1,
        lease_seconds = look.lease_seconds,
        lease_expires_at = now_at + make_interval(secs => look.lease_seconds),
        timeout_seconds = look.timeout_seconds,
        worker_id = settle_and_claim.worker_id,
        progress = null,
        progress_message = null,
        started_at = now_at,
        updated_at = now_at
      where jobs.ctid = next.record
      returning
        null, jobs.id, jobs.tenant_id, jobs.type, jobs.lane,
        case when jobs.is_redacted then tickwork.whole_payload(jobs.id, jobs.payload) else jobs.payload end,
        jobs.attempts, jobs.max_attempts, token, jobs.lease_seconds, jobs.timeout_seconds, jobs.correlation_id,
        coalesce(jobs.traceparent, 'link ' || jobs.trace_link),
        tickwork.waited_ms(jobs.run_at, jobs.ready_at, now_at)
      into started;

      insert into tickwork.leases (job_id, token, family, type, tenant_id, lane, lease_seconds, expires_at, is_watched)
      values (
        started.id, token, settle_and_claim.family, started.type, started.tenant_id, null, look.lease_seconds,
        now_at + make_interval(secs => look.lease_seconds), next.is_watched
      );

      return next started;
      return;
    end if;

    -- There is nothing to start.
    if next.number is null and look.max_priority = 100 then
      return;
    end if;
  end if;

  if settle_and_claim.max_jobs <> 0 then
    return query
    select *
    from tickwork.claim(
      settle_and_claim.family, settle_and_claim.worker_id, settle_and_claim.max_jobs, settle_and_claim.lease_seconds,
      settle_and_claim.types, null, token
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
  types text[] default null,
  new_token uuid default null
)
returns setof tickwork.worked_job
language sql
volatile
begin atomic
  select *
  from tickwork.settle_and_claim(
    job_ids, lease_tokens, results, endings, family, worker_id, max_jobs, lease_seconds, types, new_token
  );
end;

comment on function public.settle_and_claim is
  'running -> done, queued, failed, dead or cancelled, and queued -> running. What a worker does between two jobs, in '
  'one transaction: settles those of job_ids, each under its token and with its result, and claims up to max_jobs, '
  'which may be 0. endings is null if all of them are simply done, else an array of what settle_jobs takes for each, '
  'without ids and result, or null if it is simply done. If not all of them become done, a first row without a job has '
  'their statuses, null where the lease is lost. new_token is the lease_token of what it claims: random, and another '
  'one for each call; the database makes one if it is missing. Durable when it returns. Raises TWARG, TWBIG, TWLEA.';

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
