"""Whether the record and the tables that the queue goes by say the same, and whether everything that waits is woken."""

from tests.world import World

# Each row is a sentence about something that is wrong. Made for a moment at which nobody else is at work.
DISAGREEMENTS = """
    with places as (
      select 'waiting' as place, job_id, family, type, tenant_number, priority, run_at, lane, null as wake_at
      from tickwork.waiting
      union all
      select 'parked', job_id, family, type, tenant_number, priority, run_at, lane, wake_at
      from tickwork.parked
      union all
      select 'awaiting', job_id, awaiting.family, awaiting.type, tenant_number, priority, run_at, awaiting.lane, null
      from tickwork.awaiting left join public.jobs on jobs.id = awaiting.job_id
    ),
    queued as (
      select jobs.*, tenants.number
      from public.jobs join tickwork.tenants on tenants.tenant_id = jobs.tenant_id
      where jobs.status = 'queued'
    ),
    active as (
      select * from public.jobs where status in ('queued', 'running')
    )
    select format('queued job %s is in %s places', queued.id, count(places.job_id)) as problem
    from queued left join places on places.job_id = queued.id
    group by queued.id
    having count(places.job_id) <> 1
    union all
    select format('%s has job %s, which is not queued', places.place, places.job_id)
    from places left join queued on queued.id = places.job_id
    where queued.id is null
    union all
    select format('%s has job %s as it no longer is', places.place, queued.id)
    from places join queued on queued.id = places.job_id
    where (places.family, places.type, places.tenant_number, places.priority, places.run_at)
      <> (queued.family, queued.type, queued.number, queued.priority, queued.run_at)
      or places.lane is distinct from queued.lane
      or places.wake_at <> 'infinity' and places.wake_at <> queued.run_at
      or places.wake_at = 'infinity' and queued.lane is null
      or (places.place = 'awaiting') <> (queued.after is not null and queued.ready_at is null)
    union all
    select format('job %s waits for %s, which has %s', awaiting.job_id, awaited.awaited_id, coalesce(
      jobs.status, 'gone'))
    from tickwork.awaiting full join tickwork.awaited on awaited.job_id = awaiting.job_id
    left join public.jobs on jobs.id = awaited.awaited_id
    where awaiting.job_id is null
      or awaited.job_id is null
      or (jobs.id is null or jobs.finished_at is not null or not jobs.is_awaited)
        and not exists (
          select from tickwork.to_check join tickwork.alarms on alarms.tenant_number = to_check.tenant_number
          where to_check.job_id = awaited.awaited_id
            and alarms.wake_at <= clock_timestamp() + interval '1 second'
        )
    union all
    select format('nobody tells job %s that its event has happened', arrivals.job_id)
    from tickwork.arrivals left join public.jobs on jobs.id = arrivals.job_id
    where jobs.status is distinct from 'running'
      and not exists (
        select from tickwork.alarms
        where alarms.tenant_number = arrivals.tenant_number
          and alarms.wake_at <= clock_timestamp() + interval '1 second'
      )
    union all
    select format('job %s is %s, its lease is %s', coalesce(running.id, leases.job_id), running.status, leases.token)
    from (select * from public.jobs where status = 'running') as running
    full join tickwork.leases on leases.job_id = running.id
    where running.id is null
      or leases.job_id is null
      or (leases.family, leases.type, leases.tenant_id, leases.lease_seconds, leases.expires_at)
        <> (running.family, running.type, running.tenant_id, running.lease_seconds,
          running.lease_expires_at)
      or leases.lane is distinct from running.lane
    union all
    select format('key %s of job %s is taken by %s', keyed.dedupe_key, keyed.id, taken_keys.job_id)
    from (select * from active where dedupe_key is not null) as keyed
    full join tickwork.taken_keys
      on taken_keys.tenant_id = keyed.tenant_id and taken_keys.dedupe_key = keyed.dedupe_key
    where keyed.id is distinct from taken_keys.job_id
    union all
    select format('job %s is %s among the unsuccessful', coalesce(ended.id, listed.job_id), listed.status)
    from (select * from public.jobs where status in ('failed', 'dead', 'cancelled')) as ended
    full join tickwork.unsuccessful as listed on listed.job_id = ended.id
    where (ended.status, ended.error_code, ended.finished_at)
      is distinct from (listed.status, listed.error_code, listed.finished_at)
    union all
    select format('nobody wakes parked job %s at %s', places.job_id, places.wake_at)
    from places
    where places.wake_at < 'infinity'
      and not exists (
        select from tickwork.alarms
        where alarms.family = places.family
          and alarms.tenant_number = places.tenant_number
          and alarms.wake_at <= greatest(places.wake_at, clock_timestamp() + interval '1 second')
      )
    union all
    -- Held for good, or somebody fills the lane: at a time, or when one of its jobs starts or ends.
    select format('nobody fills the lane of parked job %s', places.job_id)
    from places
    join tickwork.tenants on tenants.number = places.tenant_number
    left join tickwork.lane_rules
      on lane_rules.tenant_id = tenants.tenant_id
      and lane_rules.family = places.family
      and lane_rules.lane = places.lane
    where places.wake_at = 'infinity'
      and coalesce(lane_rules.held_until < 'infinity', true)
      and not exists (
        select from tickwork.alarms
        where lane_rules.wake_at is not null
          and alarms.family = places.family
          and alarms.tenant_number = places.tenant_number
          and alarms.wake_at <= greatest(lane_rules.wake_at, clock_timestamp() + interval '1 second')
      )
      and not exists (
        select from tickwork.waiting
        where waiting.family = places.family
          and waiting.tenant_number = places.tenant_number
          and waiting.lane = places.lane
          and lane_rules.lane is not null
      )
      and not exists (
        select from tickwork.leases
        where leases.family = places.family
          and leases.tenant_id = tenants.tenant_id
          and leases.lane = places.lane
      )
"""


def disagreements(world: World) -> list[str]:
    return [row["problem"] for row in world.admin.execute(DISAGREEMENTS).fetchall()]
