-- Reads: the triggers with their last decisions, and what an event would do.

create function public.list_event_triggers(tenant_id uuid default null)
returns table (
  id uuid,
  tenant_id uuid,
  label text,
  event_name text,
  type text,
  condition text,
  is_enabled boolean,
  pause_note text,
  last_decided_at timestamptz,
  last_event_type text,
  last_outcome text,
  last_error text,
  last_job_id uuid,
  last_job_status text
)
language sql
stable
set search_path = ''
as $$
  select
    event_triggers.id, event_triggers.tenant_id, event_triggers.label, event_triggers.event_name, event_triggers.type,
    event_triggers.condition, event_triggers.paused_at is null, event_triggers.pause_note, last_fire.decided_at,
    last_fire.event_type, last_fire.outcome, last_fire.error, last_fire.job_id,
    (select jobs.status from public.jobs where jobs.id = last_fire.job_id)
  from public.event_triggers
  left join lateral (
    select *
    from public.trigger_fires
    where trigger_fires.trigger_id = event_triggers.id
    order by trigger_fires.decided_at desc
    limit 1
  ) as last_fire on true
  where list_event_triggers.tenant_id is null
    or event_triggers.tenant_id = list_event_triggers.tenant_id
  order by event_triggers.tenant_id, event_triggers.label;
$$;

comment on function public.list_event_triggers is
  'Reads the triggers that the caller may see, each with its last decision.';

create function public.get_event_trigger(trigger_id uuid)
returns public.event_triggers
language plpgsql
stable
set search_path = ''
as $$
declare
  trigger public.event_triggers;
begin
  select * into trigger
  from public.event_triggers
  where event_triggers.id = get_event_trigger.trigger_id;

  if not found then
    raise exception 'trigger_id: there is no trigger %', coalesce(get_event_trigger.trigger_id::text, 'null')
      using errcode = 'TWTRG', hint = 'list_event_triggers shows the triggers that you may see.';
  end if;

  return trigger;
end
$$;

comment on function public.get_event_trigger is
  'Reads an event trigger with all its fields. Raises TWTRG.';

create function public.list_trigger_fires(
  trigger_id uuid,
  decided_before timestamptz default null,
  max_rows integer default 50
)
returns table (
  decided_at timestamptz,
  event_id uuid,
  event_type text,
  outcome text,
  error text,
  depth integer,
  job_id uuid,
  job_status text
)
language sql
stable
set search_path = ''
as $$
  select
    trigger_fires.decided_at, trigger_fires.event_id, trigger_fires.event_type, trigger_fires.outcome,
    trigger_fires.error, trigger_fires.depth, trigger_fires.job_id,
    (select jobs.status from public.jobs where jobs.id = trigger_fires.job_id)
  from public.trigger_fires
  where trigger_fires.trigger_id = list_trigger_fires.trigger_id
    and trigger_fires.decided_at < coalesce(list_trigger_fires.decided_before, 'infinity')
  order by trigger_fires.decided_at desc
  limit greatest(least(list_trigger_fires.max_rows, 1000), 0);
$$;

comment on function public.list_trigger_fires is
  'Reads what a trigger made of events, the newest first. For the next page, pass the last decided_at as '
  'decided_before. At most 1000 at a time.';

create function tickwork.foresee(
  trigger public.event_triggers,
  event public.events,
  out outcome text,
  out payload jsonb,
  out error text
)
language plpgsql
stable
as $$
declare
  known constant jsonb := tickwork.values_of(event);
  job_type public.job_types;
  whole jsonb;
begin
  outcome := case
    when (trigger).event_name <> all (tickwork.patterns_of((event).type)) then 'other_event'
    when (trigger).paused_at is not null then 'paused'
    when not tickwork.is_met((trigger).condition, event) then 'condition_false'
  end;

  if outcome is not null then
    return;
  end if;

  select * into job_type
  from public.job_types
  where job_types.key = (trigger).type;

  whole := tickwork.render((trigger).payload_template, known);
  payload := tickwork.redacted_payload(whole, job_type);
  perform tickwork.check_job(tickwork.new_job((trigger).tenant_id, (trigger).type, whole), job_type);
  outcome := tickwork.foreseen_start(trigger, tickwork.dedupe_key_of(trigger, whole, known));
exception
  when others then
    if sqlstate !~ '^(TW|22)' then
      raise;
    end if;

    outcome := case sqlstate when 'TWTPL' then 'not_rendered' else 'refused' end;
    error := sqlerrm;
end
$$;

comment on function tickwork.foresee is 'What a trigger would make of an event, with the payload of its job.';

create function tickwork.foreseen_start(trigger public.event_triggers, key bytea)
returns text
language sql
stable
as $$
  select case
    when (foreseen_start.trigger).debounce_seconds is not null and jobs.id is not null then 'debounced'
    when tickwork.starts_since(foreseen_start.trigger, clock_timestamp() - interval '1 minute')
      >= (foreseen_start.trigger).max_per_minute then 'limited'
    when (foreseen_start.trigger).debounce_seconds is null
      and (foreseen_start.trigger).dedupe_window_seconds > 0
      and trigger_windows.ends_at > clock_timestamp() then 'deduplicated'
    else 'fired'
  end
  from (values (1)) as one
  left join tickwork.trigger_windows
    on trigger_windows.tenant_id = (foreseen_start.trigger).tenant_id
    and trigger_windows.trigger_id = (foreseen_start.trigger).id
    and trigger_windows.key = foreseen_start.key
  left join public.jobs
    on jobs.id = trigger_windows.job_id
    and jobs.type = (foreseen_start.trigger).type
    and jobs.status = 'queued'
    and jobs.attempts = 0;
$$;

create function tickwork.test_event(tenant_id uuid, type text, payload jsonb, aggregate text)
returns table (trigger_id uuid, label text, job_type text, outcome text, job_payload jsonb, error text)
language plpgsql
stable
security definer -- nobody may read the windows of triggers directly
set search_path = ''
as $$
begin
  perform tickwork.check_caller(test_event.tenant_id);
  perform tickwork.check_event(test_event.type, test_event.aggregate, test_event.payload);

  return query
  select
    event_triggers.id, event_triggers.label, event_triggers.type, foreseen.outcome, foreseen.payload, foreseen.error
  from public.event_triggers
  cross join lateral tickwork.foresee(event_triggers, row(
    gen_random_uuid(), test_event.tenant_id, test_event.type, test_event.aggregate,
    coalesce(test_event.payload, '{}'), clock_timestamp()
  )::public.events) as foreseen
  where event_triggers.tenant_id = test_event.tenant_id
  order by foreseen.outcome = 'other_event', event_triggers.label;
end
$$;

create function public.test_event(
  tenant_id uuid,
  type text,
  payload jsonb default '{}',
  aggregate text default null
)
returns table (trigger_id uuid, label text, job_type text, outcome text, job_payload jsonb, error text)
language sql
stable
begin atomic
  select *
  from tickwork.test_event(tenant_id, type, payload, aggregate);
end;

comment on function public.test_event is
  'Reads what the triggers of a tenant would make of an event, without emitting it: fired with the payload of the job, '
  'or why not. Besides the outcomes of trigger_fires there are other_event and paused. Raises TWTNT, TWMEM, TWARG, '
  'TWPAY, TWBIG, TWKEY.';

select tickwork.open_verbs('authenticated, service_role', array[
  'list_event_triggers', 'get_event_trigger', 'list_trigger_fires', 'test_event'
]);
