-- The tick of the calendar: decided times are recorded and become jobs, each of them once.

create function tickwork.fire_schedules(now_at timestamptz, max_schedules integer)
returns integer
language plpgsql
volatile
as $$
declare
  schedule public.schedules;
  seen integer := 0;
  seen_before integer;
  fires public.schedule_fires[];
  enqueued integer := 0;
begin
  loop
    fires := '{}';
    seen_before := seen;

    for schedule in
      select *
      from public.schedules
      where schedules.look_at <= fire_schedules.now_at
        and schedules.paused_at is null
      order by schedules.look_at
      -- In portions: the time to append to an array grows with its length.
      limit least(fire_schedules.max_schedules - seen, 200)
      -- Whoever ticks at the same moment takes others; somebody who is changing one is not waited for.
      for no key update skip locked
    loop
      seen := seen + 1;
      fires := fires || tickwork.decide(schedule, fire_schedules.now_at);
    end loop;

    enqueued := enqueued + tickwork.store_fires(fires);
    exit when seen = seen_before or seen >= fire_schedules.max_schedules;
  end loop;

  return enqueued;
end
$$;

comment on function tickwork.fire_schedules is
  'Decides the times of schedules that are due or about to be, and enqueues their jobs. Never waits for anybody. '
  'Returns how many jobs were enqueued.';

create function tickwork.store_fires(fires public.schedule_fires[])
returns integer
language plpgsql
volatile
as $$
declare
  starting public.schedule_fires[];
  fire public.schedule_fires;
begin
  with stored as (
    insert into public.schedule_fires (schedule_id, nominal_at, tenant_id, run_at, outcome, job_id)
    select
      decided.schedule_id, decided.nominal_at, decided.tenant_id, decided.run_at, decided.outcome,
      case when decided.outcome in ('fired', 'late', 'manual', 'backfilled') then tickwork.new_id() end
    from unnest(store_fires.fires) as decided
    on conflict do nothing
    returning schedule_fires as fire, schedule_fires.job_id
  )
  select array_agg(stored.fire)
  into starting
  from stored
  where stored.job_id is not null;

  if starting is null then
    return 0;
  end if;

  begin
    perform tickwork.start_fires(starting);
  exception
    when others then
      -- One of them was refused, and all with it: each by itself then.
      if sqlstate not like 'TW%' then
        raise;
      end if;

      foreach fire in array starting loop
        perform tickwork.start_fire(fire);
      end loop;
  end;

  return cardinality(starting);
end
$$;

comment on function tickwork.store_fires is
  'Records decided times and enqueues their jobs, except for times that were decided before. A job that is refused is '
  'recorded with the error. Returns how many jobs were to start.';

create function tickwork.start_fires(fires public.schedule_fires[])
returns void
language plpgsql
volatile
as $$
begin
  perform tickwork.insert_jobs(array(
    select tickwork.new_job(
      fire.tenant_id, schedules.type, tickwork.schedule_payload(schedules, fire.nominal_at), schedules.priority,
      fire.run_at, lane => schedules.lane, source => 'schedule', source_ref => schedules.id::text, id => fire.job_id,
      -- Of those that cron starts there is nothing to link to.
      trace_link => case when fire.outcome in ('manual', 'backfilled') then tickwork.caller_traceparent() end
    )
    from unnest(start_fires.fires) as fire
    cross join lateral (select * from public.schedules where schedules.id = fire.schedule_id limit 1) as schedules
    order by fire.nominal_at
  ));
end
$$;

create function tickwork.start_fire(fire public.schedule_fires)
returns void
language plpgsql
volatile
as $$
begin
  perform tickwork.start_fires(array[start_fire.fire]);
exception
  when others then
    if sqlstate not like 'TW%' then
      raise;
    end if;

    update public.schedule_fires
    set
      outcome = 'refused',
      job_id = null,
      error = left(sqlerrm, 1000)
    where schedule_fires.schedule_id = (start_fire.fire).schedule_id
      and schedule_fires.nominal_at = (start_fire.fire).nominal_at;
end
$$;

create function tickwork.pause(schedule public.schedules, paused_by uuid, note text)
returns void
language plpgsql
volatile
as $$
begin
  update public.schedules
  set
    paused_at = clock_timestamp(),
    paused_by = pause.paused_by,
    pause_note = left(pause.note, 1000)
  where schedules.id = (pause.schedule).id;

  perform tickwork.withdraw_fires(pause.schedule);
end
$$;

create function tickwork.withdraw_fires(schedule public.schedules)
returns void
language plpgsql
volatile
as $$
declare
  jobs public.jobs[];
begin
  jobs := array(
    select locked
    from public.schedule_fires
    cross join lateral (
      select *
      from public.jobs
      where jobs.id = schedule_fires.job_id
        and jobs.status = 'queued'
        and jobs.run_at > clock_timestamp()
      limit 1
      for no key update
    ) as locked
    where schedule_fires.schedule_id = (withdraw_fires.schedule).id
      and schedule_fires.nominal_at > clock_timestamp() - interval '1 day'
      and schedule_fires.outcome = 'fired'
      and schedule_fires.run_at > clock_timestamp()
  );

  if jobs = '{}' then
    return;
  end if;

  perform tickwork.apply_change(tickwork.new_change('cancelled', null, null, null), jobs);

  delete from public.schedule_fires
  where schedule_fires.schedule_id = (withdraw_fires.schedule).id
    and schedule_fires.job_id = any (array(select job.id from unnest(jobs) as job));
end
$$;

comment on function tickwork.withdraw_fires is
  'Cancels the jobs of a schedule that were enqueued ahead of their time: the schedule has been paused or changed.';

create function tickwork.forget_fires(most integer)
returns void
language sql
volatile
as $$
  delete from public.schedule_fires
  where schedule_fires.ctid = any (array(
    select old.ctid
    from public.schedule_fires as old
    -- Not clock_timestamp(), for which no index is used.
    where old.decided_at < now() - interval '90 days'
    order by old.decided_at
    limit forget_fires.most
    for update skip locked
  ));
$$;
