-- Schedules by hand: paused, resumed, run now, backfilled, deleted.

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
  'of its time is cancelled. Pausing again changes the note. For admins. Raises TWTRG, TWADM.';

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
  '-> queued, by the calendar. Schedules start jobs again, from their next time on. For admins. Raises TWTRG, TWADM.';

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
  'job''s id, or with the error if the job was refused. For admins. Raises TWTRG, TWADM, TWENQ.';

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
    from unnest(trim_array(tickwork.due_times(schedule, backfill_schedule.until), 1)) as time
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
  'left alone. With dry_run, the default, it only returns which. For admins. Raises TWTRG, TWADM, TWENQ, TWARG, TWBIG.';

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
  '-> cancelled. Deletes a schedule and its history; its jobs stay, except one that was enqueued ahead of its time. '
  'For admins. Raises TWTRG, TWADM.';
