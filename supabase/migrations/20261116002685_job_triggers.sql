-- Schedules and event triggers as one thing, whatever starts jobs: the way the source documents have it.

create function public.list_job_triggers(tenant_id uuid default null)
returns setof public.job_triggers
language sql
stable
set search_path = ''
as $$
  select *
  from public.job_triggers
  where list_job_triggers.tenant_id is null
    or job_triggers.tenant_id = list_job_triggers.tenant_id
  order by job_triggers.tenant_id, job_triggers.label, job_triggers.id;
$$;

comment on function public.list_job_triggers is
  'Reads the schedules and the event triggers that the caller may see.';

create function tickwork.job_trigger(trigger_id uuid)
returns public.job_triggers
language plpgsql
stable
set search_path = ''
as $$
declare
  found_trigger public.job_triggers;
begin
  select * into found_trigger
  from public.job_triggers
  where job_triggers.id = job_trigger.trigger_id;

  if not found then
    raise exception 'trigger_id: there is no trigger %', coalesce(job_trigger.trigger_id::text, 'null')
      using errcode = 'TWTRG', hint = 'list_job_triggers shows the triggers that you may see.';
  end if;

  return found_trigger;
end
$$;

comment on function tickwork.job_trigger is 'A schedule or trigger that the caller may see. Raises TWTRG.';

create function public.create_job_trigger(
  tenant_id uuid,
  label text,
  trigger_type text,
  type text,
  event_name text default null,
  cron_expr text default null,
  timezone text default null,
  payload_template jsonb default '{}',
  dedupe_window_seconds integer default 300,
  is_enabled boolean default true
)
returns public.job_triggers
language plpgsql
volatile
set search_path = ''
as $$
declare
  new_id uuid;
begin
  if trigger_type = 'event' and event_name is not null then
    select created.id into new_id
    from public.create_event_trigger(
      tenant_id, label, event_name, type, payload_template => create_job_trigger.payload_template,
      dedupe_window_seconds => create_job_trigger.dedupe_window_seconds
    ) as created;
  elsif trigger_type = 'schedule' and cron_expr is not null then
    select created.id into new_id
    from public.create_schedule(
      tenant_id, label, type, cron_expr, timezone, payload_template => create_job_trigger.payload_template
    ) as created;
  else
    raise exception 'trigger_type: an event needs event_name, a schedule needs cron_expr'
      using errcode = 'TWARG', hint = 'Use event or schedule.';
  end if;

  if not is_enabled then
    perform public.change_job_trigger(new_id, '{"is_enabled": false}');
  end if;

  return tickwork.job_trigger(new_id);
end
$$;

comment on function public.create_job_trigger is
  '-> queued, by events or by the calendar. Sets up an event trigger or a schedule, by trigger_type. For admins. '
  'Raises TWARG and what create_event_trigger or create_schedule raises.';

create function public.change_job_trigger(trigger_id uuid, changes jsonb)
returns public.job_triggers
language plpgsql
volatile
set search_path = ''
as $$
declare
  kind constant text := (tickwork.job_trigger(change_job_trigger.trigger_id)).trigger_type;
  fields constant jsonb := change_job_trigger.changes - 'is_enabled';
  is_on constant text := change_job_trigger.changes ->> 'is_enabled';
begin
  if change_job_trigger.changes ? 'is_enabled' and (is_on in ('true', 'false')) is not true then
    raise exception 'is_enabled: must be true or false'
      using errcode = 'TWARG', hint = 'Leave out what stays as it is.';
  end if;

  if fields <> '{}' and kind = 'event' then
    perform public.change_event_trigger(change_job_trigger.trigger_id, fields);
  elsif fields <> '{}' then
    perform public.change_schedule(change_job_trigger.trigger_id, fields);
  end if;

  if is_on = 'false' and kind = 'event' then
    perform public.pause_event_triggers(array[change_job_trigger.trigger_id]);
  elsif is_on = 'false' then
    perform public.pause_schedules(array[change_job_trigger.trigger_id]);
  elsif is_on = 'true' and kind = 'event' then
    perform public.resume_event_triggers(array[change_job_trigger.trigger_id]);
  elsif is_on = 'true' then
    perform public.resume_schedules(array[change_job_trigger.trigger_id]);
  end if;

  return tickwork.job_trigger(change_job_trigger.trigger_id);
end
$$;

comment on function public.change_job_trigger is
  '-> queued, by events or by the calendar. Changes fields of an event trigger or schedule; is_enabled pauses or '
  'resumes it. For admins. Raises TWTRG, TWARG and what change_event_trigger or change_schedule raises.';

create function public.delete_job_trigger(trigger_id uuid)
returns void
language plpgsql
volatile
set search_path = ''
as $$
begin
  if (tickwork.job_trigger(delete_job_trigger.trigger_id)).trigger_type = 'event' then
    perform public.delete_event_trigger(delete_job_trigger.trigger_id);
  else
    perform public.delete_schedule(delete_job_trigger.trigger_id);
  end if;
end
$$;

comment on function public.delete_job_trigger is
  '-> queued, by events or by the calendar. Deletes an event trigger or schedule; its jobs stay. For admins. Raises '
  'TWTRG, TWADM.';

select tickwork.open_verbs('authenticated, service_role', array[
  'list_job_triggers', 'job_trigger', 'create_job_trigger', 'change_job_trigger', 'delete_job_trigger'
]);
