-- What people do with schedules. Admins of the tenant manage them; a schedule starts only what its creator may enqueue.

create function tickwork.checked_schedule(schedule public.schedules)
returns public.schedules
language plpgsql
volatile
as $$
declare
  checked public.schedules := schedule;
begin
  perform tickwork.wait_for_disk();
  perform tickwork.check_manager((schedule).tenant_id);
  perform tickwork.check_enqueuer((schedule).tenant_id, array[(schedule).type]);

  checked.timezone := coalesce(checked.timezone, (
    select tenant_settings.timezone
    from public.tenant_settings
    where tenant_settings.tenant_id = checked.tenant_id
  ));
  perform tickwork.check_schedule(checked);

  if exists (
    select
    from public.schedules as other
    where other.tenant_id = checked.tenant_id
      and other.label = checked.label
      and other.id <> checked.id
  ) then
    raise exception 'label: the tenant has another schedule named %', quote_literal(checked.label)
      using errcode = 'TWDUP', hint = 'Change that one, or choose another name.';
  end if;

  checked.updated_at := clock_timestamp();
  checked.next_nominal_at := tickwork.next_nominal(checked, clock_timestamp());
  checked.look_at := checked.next_nominal_at + tickwork.spread_of(checked) - tickwork.schedule_lead();
  return checked;
end
$$;

comment on function tickwork.checked_schedule is
  'A schedule as it is to be stored, with its next time. Raises TWTNT, TWMEM, TWADM, TWENQ, TWDUP and what '
  'check_schedule raises.';

create function tickwork.create_schedule(schedule public.schedules)
returns public.schedules
language plpgsql
volatile
security definer -- nobody may write schedules directly
set search_path = ''
as $$
declare
  created public.schedules := schedule;
begin
  created.id := gen_random_uuid();
  created.created_by := tickwork.caller_id();
  created.created_at := clock_timestamp();
  created := tickwork.checked_schedule(created);

  insert into public.schedules
  select created.*;

  return created;
end
$$;

create function public.create_schedule(
  tenant_id uuid,
  label text,
  type text,
  cron_expr text,
  timezone text default null,
  payload_template jsonb default '{}',
  overlap text default 'skip',
  missed text default 'latest',
  catch_up_seconds integer default 3600,
  spread_seconds integer default 0,
  starts_at timestamptz default null,
  ends_at timestamptz default null,
  priority integer default null,
  lane text default null,
  pause_after_failures integer default null
)
returns public.schedules
language sql
volatile
return tickwork.create_schedule(row(
  null, tenant_id, label, type, cron_expr, timezone, payload_template, overlap, missed, catch_up_seconds,
  spread_seconds, starts_at, ends_at, priority, lane, pause_after_failures, null, null, null, null, null, null, null,
  null, null
)::public.schedules);

comment on function public.create_schedule is
  '-> queued, by the calendar. Starts jobs of a type for a tenant at the times of a cron expression in a time zone, '
  'the tenant''s if none is given. For admins. Raises TWTNT, TWMEM, TWADM, TWENQ, TWARG, TWCAL, TWTPL, TWBIG, TWTYP, '
  'TWPAY, TWPRI, TWKEY, TWDUP.';

create function tickwork.schedule_to_manage(schedule_id uuid)
returns public.schedules
language plpgsql
volatile
as $$
declare
  schedule public.schedules;
begin
  select * into schedule
  from public.schedules
  where schedules.id = schedule_to_manage.schedule_id
    and tickwork.may_act_for(schedules.tenant_id)
  for no key update;

  -- The same error for a foreign schedule as for a missing one, so that nobody learns which ids exist.
  if not found then
    raise exception 'schedule_id: there is no schedule %', coalesce(schedule_to_manage.schedule_id::text, 'null')
      using errcode = 'TWTRG', hint = 'list_schedules shows the schedules that you may see.';
  end if;

  perform tickwork.check_manager(schedule.tenant_id);
  return schedule;
end
$$;

comment on function tickwork.schedule_to_manage is
  'Locks a schedule that the caller may manage. Raises TWTRG, TWADM.';

create function tickwork.change_schedule(schedule_id uuid, changes jsonb)
returns public.schedules
language plpgsql
volatile
security definer -- nobody may write schedules directly
set search_path = ''
as $$
declare
  schedule public.schedules := tickwork.schedule_to_manage(change_schedule.schedule_id);
begin
  perform tickwork.check_objects('changes', jsonb_build_array(change_schedule.changes), array[
    'label', 'type', 'cron_expr', 'timezone', 'payload_template', 'overlap', 'missed', 'catch_up_seconds',
    'spread_seconds', 'starts_at', 'ends_at', 'priority', 'lane', 'pause_after_failures'
  ]);

  schedule := tickwork.checked_schedule(jsonb_populate_record(schedule, change_schedule.changes));
  perform tickwork.withdraw_fires(schedule);

  update public.schedules
  set
    label = schedule.label,
    type = schedule.type,
    cron_expr = schedule.cron_expr,
    timezone = schedule.timezone,
    payload_template = schedule.payload_template,
    overlap = schedule.overlap,
    missed = schedule.missed,
    catch_up_seconds = schedule.catch_up_seconds,
    spread_seconds = schedule.spread_seconds,
    starts_at = schedule.starts_at,
    ends_at = schedule.ends_at,
    priority = schedule.priority,
    lane = schedule.lane,
    pause_after_failures = schedule.pause_after_failures,
    updated_at = schedule.updated_at,
    next_nominal_at = schedule.next_nominal_at,
    look_at = schedule.look_at
  where schedules.id = schedule.id;

  return schedule;
end
$$;

create function public.change_schedule(schedule_id uuid, changes jsonb)
returns public.schedules
language sql
volatile
return tickwork.change_schedule(schedule_id, changes);

comment on function public.change_schedule is
  '-> queued, by the calendar. Changes fields of a schedule, named as the parameters of create_schedule; a job that '
  'was enqueued ahead of its time is cancelled. For admins. Raises TWTRG and what create_schedule raises.';
