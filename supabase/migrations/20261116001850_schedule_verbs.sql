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
  created.failures_since := '-infinity';
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
  '-> queued, by the calendar. Starts jobs of a type for a tenant at the times of a cron expression in a time zone, the '
  'tenant''s if none is given. For admins. Raises TWTNT, TWMEM, TWADM, TWENQ, TWARG, TWCAL, TWTPL, TWBIG, TWTYP, '
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
      using errcode = 'TWSCH', hint = 'list_schedules shows the schedules that you may see.';
  end if;

  perform tickwork.check_manager(schedule.tenant_id);
  return schedule;
end
$$;

comment on function tickwork.schedule_to_manage is
  'Locks a schedule that the caller may manage. Raises TWSCH, TWADM.';

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
  '-> queued, by the calendar. Changes fields of a schedule, named as the parameters of create_schedule; a job that was '
  'enqueued ahead of its time is cancelled. For admins. Raises TWSCH and what create_schedule raises.';

create function tickwork.pause_schedules(schedule_ids uuid[], note text)
returns setof public.schedules
language plpgsql
volatile
security definer -- nobody may write schedules directly
set search_path = ''
as $$
begin
  perform tickwork.wait_for_disk();
  perform tickwork.pause(tickwork.schedule_to_manage(chosen.id), tickwork.caller_id(), pause_schedules.note)
  from (select distinct unnest(pause_schedules.schedule_ids) order by 1) as chosen(id);

  return query
  select *
  from public.schedules
  where schedules.id = any (pause_schedules.schedule_ids)
  order by schedules.label;
end
$$;

create function public.pause_schedules(schedule_ids uuid[], note text default null)
returns setof public.schedules
language sql
volatile
begin atomic
  select *
  from tickwork.pause_schedules(schedule_ids, note);
end;

comment on function public.pause_schedules is
  '-> queued, by the calendar. Schedules start nothing until resume_schedules is called; a job that was enqueued ahead '
  'of its time is cancelled. Pausing again changes the note. For admins. Raises TWSCH, TWADM.';

create function tickwork.resume_schedules(schedule_ids uuid[])
returns setof public.schedules
language plpgsql
volatile
security definer -- nobody may write schedules directly
set search_path = ''
as $$
declare
  schedule public.schedules;
begin
  perform tickwork.wait_for_disk();

  for schedule in
    select (tickwork.schedule_to_manage(chosen.id)).*
    from (select distinct unnest(resume_schedules.schedule_ids) order by 1) as chosen(id)
  loop
    schedule.next_nominal_at := tickwork.next_nominal(schedule, clock_timestamp());

    update public.schedules
    set
      paused_at = null,
      paused_by = null,
      pause_note = null,
      failures_since = clock_timestamp(),
      next_nominal_at = schedule.next_nominal_at,
      look_at = schedule.next_nominal_at + tickwork.spread_of(schedule) - tickwork.schedule_lead()
    where schedules.id = schedule.id
      and schedules.paused_at is not null;
  end loop;

  return query
  select *
  from public.schedules
  where schedules.id = any (resume_schedules.schedule_ids)
  order by schedules.label;
end
$$;

create function public.resume_schedules(schedule_ids uuid[])
returns setof public.schedules
language sql
volatile
begin atomic
  select *
  from tickwork.resume_schedules(schedule_ids);
end;

comment on function public.resume_schedules is
  '-> queued, by the calendar. Schedules start jobs again, from their next time on. For admins. Raises TWSCH, TWADM.';

create function tickwork.run_schedule(schedule_id uuid)
returns public.schedule_fires
language plpgsql
volatile
security definer -- nobody may write schedules directly
set search_path = ''
as $$
declare
  schedule constant public.schedules := tickwork.schedule_to_manage(run_schedule.schedule_id);
  at constant timestamptz := clock_timestamp();
  fire public.schedule_fires;
begin
  perform tickwork.wait_for_disk();
  perform tickwork.check_enqueuer(schedule.tenant_id, array[schedule.type]);
  perform tickwork.store_fires(array[
    row(schedule.id, at, schedule.tenant_id, at, 'manual', null, null, at)::public.schedule_fires
  ]);

  select * into fire
  from public.schedule_fires
  where schedule_fires.schedule_id = schedule.id
    and schedule_fires.nominal_at = at;

  return fire;
end
$$;

create function public.run_schedule(schedule_id uuid)
returns public.schedule_fires
language sql
volatile
return tickwork.run_schedule(schedule_id);

comment on function public.run_schedule is
  '-> queued. Starts the job of a schedule now, beside its calendar, even if it is paused. Returns the row with the '
  'job''s id, or with the error if the job was refused. For admins. Raises TWSCH, TWADM, TWENQ.';

create function tickwork.backfill_schedule(schedule_id uuid, since timestamptz, until timestamptz, dry_run boolean)
returns setof public.schedule_fires
language plpgsql
volatile
security definer -- nobody may write schedules directly
set search_path = ''
as $$
declare
  schedule public.schedules := tickwork.schedule_to_manage(backfill_schedule.schedule_id);
  fires public.schedule_fires[];
begin
  perform tickwork.wait_for_disk();
  perform tickwork.check_enqueuer(schedule.tenant_id, array[schedule.type]);

  if backfill_schedule.since is null or backfill_schedule.until is null
    or backfill_schedule.until > clock_timestamp() or backfill_schedule.until < backfill_schedule.since
  then
    raise exception 'since, until: must be in the past, since first'
      using errcode = 'TWARG', hint = 'The times from since to until are started again where they were not.';
  end if;

  schedule.next_nominal_at := tickwork.next_nominal(schedule, backfill_schedule.since - interval '1 microsecond');

  fires := array(
    select row(schedule.id, time, schedule.tenant_id, time, 'backfilled', null, null, clock_timestamp())
      ::public.schedule_fires
    from unnest(tickwork.due_times(schedule, backfill_schedule.until)) as time
    where not exists (
      select
      from public.schedule_fires
      where schedule_fires.schedule_id = schedule.id
        and schedule_fires.nominal_at = time
        and schedule_fires.job_id is not null
    )
    order by time
  );

  if cardinality(fires) > 1000 then
    raise exception 'since, until: there are more than 1000 times between them'
      using errcode = 'TWBIG', hint = 'Backfill a shorter range at a time.';
  end if;

  if not backfill_schedule.dry_run then
    delete from public.schedule_fires
    where schedule_fires.schedule_id = schedule.id
      and schedule_fires.nominal_at = any (array(select fire.nominal_at from unnest(fires) as fire));

    perform tickwork.store_fires(fires);
  end if;

  return query
  select (coalesce(stored, fire)).*
  from unnest(fires) as fire
  left join public.schedule_fires as stored
    on stored.schedule_id = fire.schedule_id and stored.nominal_at = fire.nominal_at and not backfill_schedule.dry_run
  order by fire.nominal_at;
end
$$;

create function public.backfill_schedule(
  schedule_id uuid,
  since timestamptz,
  until timestamptz,
  dry_run boolean default true
)
returns setof public.schedule_fires
language sql
volatile
begin atomic
  select *
  from tickwork.backfill_schedule(schedule_id, since, until, dry_run);
end;

comment on function public.backfill_schedule is
  '-> queued. Starts the jobs of past times that were missed or skipped, up to 1000 of them; those that started are '
  'left alone. With dry_run, the default, it only returns which. For admins. Raises TWSCH, TWADM, TWENQ, TWARG, TWBIG.';

create function tickwork.delete_schedule(schedule_id uuid)
returns void
language plpgsql
volatile
security definer -- nobody may write schedules directly
set search_path = ''
as $$
declare
  schedule constant public.schedules := tickwork.schedule_to_manage(delete_schedule.schedule_id);
begin
  perform tickwork.wait_for_disk();
  perform tickwork.withdraw_fires(schedule);

  delete from public.schedules
  where schedules.id = schedule.id;
end
$$;

create function public.delete_schedule(schedule_id uuid)
returns void
language sql
volatile
return tickwork.delete_schedule(schedule_id);

comment on function public.delete_schedule is
  '-> cancelled. Deletes a schedule and its history; its jobs stay, except one that was enqueued ahead of its time. For '
  'admins. Raises TWSCH, TWADM.';
