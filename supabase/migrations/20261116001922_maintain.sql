-- Upkeep: whatever has to be done now and then, whoever claims. Ticks do it, workers once a second, and functions when
-- they have nothing left to do.

create table tickwork.maintenance (
  is_only boolean primary key default true,
  maintained_at timestamptz not null default '-infinity',
  constraint there_is_one_row check (is_only)
)
with (fillfactor = 50);

comment on table tickwork.maintenance is 'When the queue was last looked after. One row.';

insert into tickwork.maintenance default values;

select tickwork.guard_table('tickwork.maintenance', queue => 'select, update');

create function tickwork.maintain(every_seconds double precision default 0)
returns integer
language plpgsql
volatile
security definer -- callers may not write the tables of the queue
set search_path = ''
as $$
declare
  families constant text[] := array(select distinct family_types.family from tickwork.family_types);
  family text;
  reaped integer := 0;
begin
  if not pg_try_advisory_xact_lock(7468, 0)
    or tickwork.last_tick() > clock_timestamp() - make_interval(secs => least(every_seconds, 3600))
  then
    return 0;
  end if;

  -- Nobody who enqueues is waited for: what does not fit now is tried later.
  perform set_config('tickwork.has_enqueued', 'yes', true);

  foreach family in array families loop
    -- From the very first one: some may have come in behind the front.
    perform tickwork.move_front(family, '-infinity', 1000);
    reaped := reaped + tickwork.reap(family, 1000);
  end loop;

  perform tickwork.fire_schedules(clock_timestamp(), 5000);
  perform tickwork.forget_fires(100);
  perform tickwork.forget_workers();
  perform tickwork.on_tick();

  foreach family in array families loop
    perform tickwork.purge_portions(family, 200);
  end loop;

  update tickwork.maintenance
  set maintained_at = clock_timestamp()
  where maintenance.is_only;

  -- Last: whoever rings holds locks that others wait for, and must wait for nobody. So does whoever counts.
  foreach family in array families loop
    perform tickwork.ring_alarms(family, 1000);
  end loop;

  perform tickwork.roll_up(20000);
  perform tickwork.check_alerts();
  return reaped;
end
$$;

create function public.maintain(every_seconds double precision default 0)
returns integer
language sql
volatile
return tickwork.maintain(coalesce(every_seconds, 0));

comment on function public.maintain is
  'running -> queued, dead or cancelled; -> queued, by the calendar and for late deliveries; done, failed, dead, '
  'cancelled -> gone. The upkeep of all families, a bounded amount at a time: expired leases (1,000 of each family), '
  'schedules, what modules do at a tick, jobs that have been kept long enough, workers and decisions to forget, parked '
  'jobs that are due, figures and alerts. Never waits. Returns how many leases had expired: 0 if somebody else is '
  'doing it, or did within every_seconds. Called by ticks, workers and functions; one of them is enough.';

select tickwork.open_verbs('tickwork_worker, service_role', array['maintain']);
