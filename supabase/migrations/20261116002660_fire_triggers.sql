-- An event and what it starts are committed together, or not at all. Whatever is wrong with a trigger is recorded, and
-- never undoes the event.

create function tickwork.patterns_of(event_type text)
returns text[]
language sql
immutable
return array[event_type, '*'] || array(
  select array_to_string(words.list[:length], '.') || '.*'
  from (select string_to_array(event_type, '.')) as words(list)
  cross join lateral generate_series(1, cardinality(words.list) - 1) as length
);

comment on function tickwork.patterns_of is
  'The event names that a type matches: invoice.paid.late, invoice.paid.*, invoice.* and *.';

create function tickwork.values_of(event public.events)
returns jsonb
language sql
immutable
return jsonb_build_object(
  'event', (event).payload,
  'event_id', (event).id,
  'event_type', (event).type,
  'occurred_at', (event).occurred_at,
  'aggregate_type', split_part((event).aggregate, ':', 1),
  'aggregate_id', substring((event).aggregate from ':(.*)'),
  'tenant_id', (event).tenant_id
);

comment on function tickwork.values_of is 'What the templates and conditions of triggers see of an event.';

create function tickwork.fire_triggers(event public.events, cause uuid)
returns void
language plpgsql
volatile
as $$
declare
  trigger public.event_triggers;
  name text;
  depth integer;
  correlation_id text;
  trace_link text;
begin
  -- Most tenants have none.
  if not exists (
    select
    from public.event_triggers
    where event_triggers.tenant_id = (event).tenant_id
      and event_triggers.paused_at is null
  ) then
    return;
  end if;

  -- Always in the same order, so that two events that start the same do not deadlock.
  foreach name in array tickwork.patterns_of((event).type) loop
    for trigger in
      select *
      from public.event_triggers
      where event_triggers.tenant_id = (event).tenant_id
        and event_triggers.event_name = name
        and event_triggers.paused_at is null
      order by event_triggers.tenant_id, event_triggers.event_name, event_triggers.id
    loop
      if depth is null then
        depth := tickwork.depth_of_job(fire_triggers.cause) + 1;
        correlation_id := coalesce(
          (select jobs.correlation_id from public.jobs where jobs.id = fire_triggers.cause), (event).id::text
        );
        trace_link := tickwork.trace_of_event(fire_triggers.cause);
      end if;

      perform tickwork.fire_trigger(
        trigger, event, depth,
        tickwork.new_job(
          trigger.tenant_id, trigger.type, priority => trigger.priority, lane => trigger.lane,
          correlation_id => correlation_id, source => 'event', source_ref => trigger.id::text,
          id => tickwork.new_id(), trace_link => trace_link
        )
      );
    end loop;
  end loop;
end
$$;

comment on function tickwork.fire_triggers is
  '-> queued. Starts the jobs of the triggers that match an event, and records what each of them made of it.';

create function tickwork.depth_of_job(job_id uuid)
returns integer
language plpgsql
stable
as $$
declare
  ancestor uuid := depth_of_job.job_id;
  found_depth integer;
begin
  -- A follow-up is as deep as the job before it.
  for step in 1 .. 100 loop
    exit when ancestor is null;

    select trigger_fires.depth into found_depth
    from public.trigger_fires
    where trigger_fires.job_id = ancestor
    order by trigger_fires.job_id, trigger_fires.depth desc
    limit 1;

    if found then
      return found_depth;
    end if;

    ancestor := (
      select jobs.source_ref::uuid
      from public.jobs
      where jobs.id = ancestor
        and jobs.source = 'system'
    );
  end loop;

  return 0;
end
$$;

comment on function tickwork.depth_of_job is 'How many triggers in a row led to the job; 0 if none did.';

create function tickwork.fire_trigger(
  trigger public.event_triggers,
  event public.events,
  depth integer,
  request tickwork.job_request
)
returns void
language plpgsql
volatile
as $$
declare
  outcome text;
  job_id uuid;
  error text;
begin
  begin
    if not tickwork.is_met((trigger).condition, event) then
      outcome := 'condition_false';
    elsif fire_trigger.depth > 8 then
      outcome := 'loop_stopped';
    else
      select started.outcome, started.job_id into outcome, job_id
      from tickwork.start_by(trigger, request, tickwork.values_of(event)) as started;
    end if;
  exception
    when others then
      if sqlstate !~ '^(TW|22)' then
        raise;
      end if;

      outcome := case sqlstate when 'TWTPL' then 'not_rendered' else 'refused' end;
      error := left(sqlerrm, 1000);
  end;

  insert into public.trigger_fires (
    tenant_id, trigger_id, event_id, event_type, outcome, job_id, depth, error
  )
  values (
    (trigger).tenant_id, (trigger).id, (event).id, (event).type, outcome, job_id, fire_trigger.depth, error
  );
end
$$;

create function tickwork.is_met(condition text, event public.events)
returns boolean
language sql
immutable
return condition is null or (tickwork.values_of(event) @@ condition::jsonpath) is true;

create function tickwork.start_by(
  trigger public.event_triggers,
  request tickwork.job_request,
  known jsonb,
  out outcome text,
  out job_id uuid
)
language plpgsql
volatile
as $$
declare
  key bytea;
begin
  request.payload := tickwork.render((trigger).payload_template, start_by.known);
  key := tickwork.dedupe_key_of(trigger, request.payload, start_by.known);

  if (trigger).debounce_seconds is not null then
    job_id := tickwork.move_debounced(trigger, key, request.payload);

    if job_id is not null then
      outcome := 'debounced';
      return;
    end if;
  end if;

  if tickwork.is_at_limit(trigger) then
    outcome := 'limited';
  elsif (trigger).debounce_seconds is null
    and (trigger).dedupe_window_seconds > 0
    and not tickwork.take_window(trigger, key)
  then
    outcome := 'deduplicated';
  else
    request.run_at := clock_timestamp() + make_interval(
      secs => coalesce((trigger).debounce_seconds, nullif((trigger).delay_seconds, 0))
    );
    job_id := (tickwork.insert_jobs(array[request])).id;
    outcome := 'fired';

    if (trigger).debounce_seconds is not null then
      perform tickwork.note_debounced(trigger, key, job_id);
    end if;
  end if;
end
$$;

comment on function tickwork.start_by is
  '-> queued. What a trigger makes of an event that meets its condition. Raises TWTPL and what enqueue_job raises.';

create function tickwork.forget_decisions()
returns void
language plpgsql
volatile
as $$
declare
  -- As a variable: an index is of no use for a function that returns something else for each row.
  now_at constant timestamptz := clock_timestamp();
begin
  delete from public.trigger_fires
  where trigger_fires.ctid = any (array(
    select old.ctid
    from public.trigger_fires as old
    where old.decided_at < now_at - interval '7 days'
    limit 1000
    for update skip locked
  ));

  delete from tickwork.trigger_windows
  where trigger_windows.ctid = any (array(
    select old.ctid
    from tickwork.trigger_windows as old
    where old.ends_at < now_at
    limit 1000
    for update skip locked
  ));
end
$$;

comment on function tickwork.forget_decisions is
  'Deletes up to 1,000 decisions of triggers that are 7 days old, and windows that have ended. Called by every tick.';

insert into tickwork.hooks (moment, function_name)
values ('tick', 'forget_decisions')
on conflict do nothing;
