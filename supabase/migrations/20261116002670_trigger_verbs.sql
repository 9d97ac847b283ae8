-- What people do with triggers. Admins of the tenant manage them; a trigger starts only what its creator may enqueue.

create function tickwork.check_new_trigger(trigger public.event_triggers, sample jsonb)
returns void
language plpgsql
volatile
as $$
declare
  most constant integer := 1000;
  most_of_a_name constant integer := 20;
  others integer;
  namesakes integer;
begin
  perform tickwork.wait_for_disk();
  perform tickwork.check_manager((trigger).tenant_id);
  perform tickwork.check_enqueuer((trigger).tenant_id, array[(trigger).type]);
  perform tickwork.check_trigger(trigger, check_new_trigger.sample);
  perform pg_advisory_xact_lock(hashtextextended('new triggers of ' || (trigger).tenant_id, 0));

  if exists (
    select
    from public.event_triggers as other
    where other.tenant_id = (trigger).tenant_id
      and other.label = (trigger).label
      and other.id <> (trigger).id
  ) then
    raise exception 'label: the tenant has another trigger named %', quote_literal((trigger).label)
      using errcode = 'TWDUP', hint = 'Change that one, or choose another name.';
  end if;

  select count(*), count(*) filter (where other.event_name = (trigger).event_name)
  into others, namesakes
  from public.event_triggers as other
  where other.tenant_id = (trigger).tenant_id
    and other.id <> (trigger).id;

  -- An event, or the end of a job, carries all of them.
  if others >= most or namesakes >= most_of_a_name then
    raise exception 'tenant_id: tenant % has % triggers already, % of them on %',
      (trigger).tenant_id, others, namesakes, quote_literal((trigger).event_name)
      using
        errcode = 'TWBIG',
        hint = format('%s are the limit, and %s on the same event_name. Delete one.', most, most_of_a_name);
  end if;
end
$$;

comment on function tickwork.check_new_trigger is
  'Returns if the caller may store the trigger. Raises TWTNT, TWMEM, TWADM, TWENQ, TWDUP, TWBIG and what check_trigger '
  'raises.';

create function tickwork.create_event_trigger(trigger public.event_triggers, sample jsonb)
returns public.event_triggers
language plpgsql
volatile
security definer -- nobody may write triggers directly
set search_path = ''
as $$
declare
  created public.event_triggers := trigger;
begin
  created.id := gen_random_uuid();
  created.created_by := tickwork.caller_id();
  created.created_at := clock_timestamp();
  created.updated_at := created.created_at;
  perform tickwork.check_new_trigger(created, create_event_trigger.sample);

  insert into public.event_triggers
  select created.*;

  return created;
end
$$;

create function public.create_event_trigger(
  tenant_id uuid,
  label text,
  event_name text,
  type text,
  condition text default null,
  payload_template jsonb default '{}',
  dedupe_key text default null,
  dedupe_window_seconds integer default 300,
  debounce_seconds integer default null,
  debounce_max_seconds integer default 3600,
  max_per_minute integer default null,
  delay_seconds integer default 0,
  priority integer default null,
  lane text default null,
  sample jsonb default null
)
returns public.event_triggers
language sql
volatile
return tickwork.create_event_trigger(
  row(
    null, tenant_id, label, event_name, type, condition, payload_template, dedupe_key, dedupe_window_seconds,
    debounce_seconds, debounce_max_seconds, max_per_minute, delay_seconds, priority, lane, null, null, null, null, null,
    null
  )::public.event_triggers,
  sample
);

comment on function public.create_event_trigger is
  '-> queued, by events. Starts a job of a type for a tenant whenever an event of that name happens and meets the '
  'condition. With a sample, the payload of an event, the job''s payload is checked now, otherwise only what has no '
  'placeholders. For admins. Raises TWTNT, TWMEM, TWADM, TWENQ, TWARG, TWTPL, TWBIG, TWTYP, TWPAY, TWPRI, TWKEY, '
  'TWDUP.';

create function tickwork.trigger_to_manage(trigger_id uuid)
returns public.event_triggers
language plpgsql
volatile
as $$
declare
  trigger public.event_triggers;
begin
  select * into trigger
  from public.event_triggers
  where event_triggers.id = trigger_to_manage.trigger_id
    and tickwork.may_act_for(event_triggers.tenant_id)
  for no key update;

  -- The same error for a foreign trigger as for a missing one, so that nobody learns which ids exist.
  if not found then
    raise exception 'trigger_id: there is no trigger %', coalesce(trigger_to_manage.trigger_id::text, 'null')
      using errcode = 'TWTRG', hint = 'list_event_triggers shows the triggers that you may see.';
  end if;

  perform tickwork.check_manager(trigger.tenant_id);
  return trigger;
end
$$;

comment on function tickwork.trigger_to_manage is 'Locks a trigger that the caller may manage. Raises TWTRG, TWADM.';

create function tickwork.change_event_trigger(trigger_id uuid, changes jsonb, sample jsonb)
returns public.event_triggers
language plpgsql
volatile
security definer -- nobody may write triggers directly
set search_path = ''
as $$
declare
  trigger public.event_triggers := tickwork.trigger_to_manage(change_event_trigger.trigger_id);
begin
  perform tickwork.check_objects('changes', jsonb_build_array(change_event_trigger.changes), array[
    'label', 'event_name', 'type', 'condition', 'payload_template', 'dedupe_key', 'dedupe_window_seconds',
    'debounce_seconds', 'debounce_max_seconds', 'max_per_minute', 'delay_seconds', 'priority', 'lane'
  ]);

  trigger := jsonb_populate_record(trigger, change_event_trigger.changes);
  trigger.updated_at := clock_timestamp();
  perform tickwork.check_new_trigger(trigger, change_event_trigger.sample);

  update public.event_triggers
  set
    label = trigger.label,
    event_name = trigger.event_name,
    type = trigger.type,
    condition = trigger.condition,
    payload_template = trigger.payload_template,
    dedupe_key = trigger.dedupe_key,
    dedupe_window_seconds = trigger.dedupe_window_seconds,
    debounce_seconds = trigger.debounce_seconds,
    debounce_max_seconds = trigger.debounce_max_seconds,
    max_per_minute = trigger.max_per_minute,
    delay_seconds = trigger.delay_seconds,
    priority = trigger.priority,
    lane = trigger.lane,
    updated_at = trigger.updated_at
  where event_triggers.id = trigger.id;

  return trigger;
end
$$;

create function public.change_event_trigger(trigger_id uuid, changes jsonb, sample jsonb default null)
returns public.event_triggers
language sql
volatile
return tickwork.change_event_trigger(trigger_id, changes, sample);

comment on function public.change_event_trigger is
  '-> queued, by events. Changes fields of a trigger, named as the parameters of create_event_trigger. Its jobs stay '
  'as they are. For admins. Raises TWTRG and what create_event_trigger raises.';

create function tickwork.pause_event_triggers(trigger_ids uuid[], is_paused boolean, note text)
returns setof public.event_triggers
language plpgsql
volatile
security definer -- nobody may write triggers directly
set search_path = ''
as $$
begin
  perform tickwork.wait_for_disk();
  perform tickwork.trigger_to_manage(chosen.id)
  from (select distinct unnest(pause_event_triggers.trigger_ids) order by 1) as chosen(id);

  update public.event_triggers
  set
    paused_at = case when pause_event_triggers.is_paused then clock_timestamp() end,
    paused_by = case when pause_event_triggers.is_paused then tickwork.caller_id() end,
    pause_note = case when pause_event_triggers.is_paused then left(pause_event_triggers.note, 1000) end
  where event_triggers.id = any (pause_event_triggers.trigger_ids);

  return query
  select *
  from public.event_triggers
  where event_triggers.id = any (pause_event_triggers.trigger_ids)
  order by event_triggers.label;
end
$$;

create function public.pause_event_triggers(trigger_ids uuid[], note text default null)
returns setof public.event_triggers
language sql
volatile
begin atomic
  select *
  from tickwork.pause_event_triggers(trigger_ids, true, note);
end;

comment on function public.pause_event_triggers is
  '-> queued, by events. Triggers start nothing until resume_event_triggers is called; events in between are not made '
  'up for. Jobs that are queued already run. Pausing again changes the note. For admins. Raises TWTRG, TWADM.';

create function public.resume_event_triggers(trigger_ids uuid[])
returns setof public.event_triggers
language sql
volatile
begin atomic
  select *
  from tickwork.pause_event_triggers(trigger_ids, false, null);
end;

comment on function public.resume_event_triggers is
  '-> queued, by events. Triggers start jobs again, from the next event on. For admins. Raises TWTRG, TWADM.';

create function tickwork.delete_event_trigger(trigger_id uuid)
returns void
language plpgsql
volatile
security definer -- nobody may write triggers directly
set search_path = ''
as $$
declare
  trigger constant public.event_triggers := tickwork.trigger_to_manage(delete_event_trigger.trigger_id);
begin
  perform tickwork.wait_for_disk();

  delete from public.event_triggers
  where event_triggers.id = trigger.id;
end
$$;

create function public.delete_event_trigger(trigger_id uuid)
returns void
language sql
volatile
return tickwork.delete_event_trigger(trigger_id);

comment on function public.delete_event_trigger is
  '-> queued, by events. Deletes a trigger; its jobs stay, and its decisions until they are 7 days old. For admins. '
  'Raises TWTRG, TWADM.';

select tickwork.open_verbs('authenticated, service_role', array[
  'create_event_trigger', 'change_event_trigger', 'pause_event_triggers', 'resume_event_triggers',
  'delete_event_trigger'
]);
