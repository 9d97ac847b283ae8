-- How often a trigger starts a job: once in a window, once things have calmed down, or so many times a minute. This is
-- exact: an event waits until the same event of another transaction is committed or rolled back.

create function tickwork.dedupe_key_of(trigger public.event_triggers, payload jsonb, known jsonb)
returns bytea
language sql
immutable
return sha256(convert_to(
  case
    when (trigger).dedupe_key is not null then tickwork.render_text((trigger).dedupe_key, known)::text
    when (trigger).debounce_seconds is not null then ''
    else payload::text
  end,
  'UTF8'
));

comment on function tickwork.dedupe_key_of is 'Which events count as the same. Raises TWTPL.';

create function tickwork.take_window(trigger public.event_triggers, key bytea)
returns boolean
language plpgsql
volatile
as $$
declare
  length constant interval := make_interval(secs => (trigger).dedupe_window_seconds);
begin
  insert into tickwork.trigger_windows (tenant_id, trigger_id, key, ends_at)
  values ((trigger).tenant_id, (trigger).id, take_window.key, clock_timestamp() + length)
  on conflict on constraint trigger_windows_pkey do update
  set ends_at = clock_timestamp() + length
  where trigger_windows.ends_at <= clock_timestamp();

  return found;
end
$$;

comment on function tickwork.take_window is 'Whether a job may start now, after which none may until the window ends.';

create function tickwork.is_at_limit(trigger public.event_triggers)
returns boolean
language plpgsql
volatile
as $$
begin
  if (trigger).max_per_minute is null then
    return false;
  end if;

  -- Until this transaction ends, nobody else counts.
  perform pg_advisory_xact_lock(hashtextextended('starts of ' || (trigger).id, 0));

  return tickwork.starts_since(trigger, clock_timestamp() - interval '1 minute') >= (trigger).max_per_minute;
end
$$;

comment on function tickwork.is_at_limit is 'Whether a trigger has started as many jobs in the last minute as it may.';

create function tickwork.starts_since(trigger public.event_triggers, since timestamptz)
returns bigint
language plpgsql
volatile
as $$
begin
  return (
    select count(*)
    from (
      select
      from public.trigger_fires
      where trigger_fires.trigger_id = (trigger).id
        and trigger_fires.decided_at > starts_since.since
        and trigger_fires.outcome = 'fired'
      limit (trigger).max_per_minute
    ) as started
  );
end
$$;

comment on function tickwork.starts_since is
  'How many jobs a trigger has started since then, counted up to its max_per_minute.';

create function tickwork.move_debounced(trigger public.event_triggers, key bytea, payload jsonb)
returns uuid
language plpgsql
volatile
as $$
declare
  kept tickwork.trigger_windows;
  job public.jobs;
  job_type public.job_types;
  run_at timestamptz;
begin
  insert into tickwork.trigger_windows (tenant_id, trigger_id, key, ends_at)
  values ((trigger).tenant_id, (trigger).id, move_debounced.key, clock_timestamp())
  on conflict on constraint trigger_windows_pkey do update
  set ends_at = trigger_windows.ends_at
  returning * into kept;

  select * into job
  from public.jobs
  where jobs.id = kept.job_id
    and jobs.type = (trigger).type
    and jobs.status = 'queued'
    and jobs.attempts = 0
  for no key update;

  if not found then
    return null;
  end if;

  select * into job_type
  from public.job_types
  where job_types.key = job.type;

  perform tickwork.check_payload(move_debounced.payload, job_type.payload_schema);
  perform tickwork.replace_payload(job, job_type, move_debounced.payload);

  run_at := least(
    clock_timestamp() + make_interval(secs => (trigger).debounce_seconds),
    kept.first_at + make_interval(secs => (trigger).debounce_max_seconds)
  );
  perform tickwork.apply_change(tickwork.new_change('rescheduled', run_at, null, null), array[job]);
  return job.id;
end
$$;

comment on function tickwork.move_debounced is
  'queued -> queued. Gives the job that waits for things to calm down the payload of the last event, and moves it. '
  'Returns its id, or null if there is none. Raises TWPAY, TWBIG.';

create function tickwork.note_debounced(trigger public.event_triggers, key bytea, job_id uuid)
returns void
language sql
volatile
as $$
  update tickwork.trigger_windows
  set
    job_id = note_debounced.job_id,
    first_at = clock_timestamp(),
    -- For long enough that a job that is held up is still found.
    ends_at = clock_timestamp() + make_interval(days => 1, secs => (note_debounced.trigger).debounce_max_seconds)
  where trigger_windows.tenant_id = (note_debounced.trigger).tenant_id
    and trigger_windows.trigger_id = (note_debounced.trigger).id
    and trigger_windows.key = note_debounced.key;
$$;
