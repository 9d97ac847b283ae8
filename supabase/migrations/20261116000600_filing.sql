-- Where a queued job waits: among those that can be claimed, or parked until a time or until its lane has room.

-- What tells where a job is filed. Without its payload: thousands of large ones would not fit into an array.

create type tickwork.filed_job as (
  id uuid,
  tenant_id uuid,
  family text,
  type text,
  lane text,
  priority integer,
  run_at timestamptz
);

create function tickwork.filed(job public.jobs)
returns tickwork.filed_job
language sql
immutable
return row(
  (job).id, (job).tenant_id, (job).family, (job).type, (job).lane, (job).priority, (job).run_at
)::tickwork.filed_job;

create function tickwork.file_jobs(ids uuid[])
returns void
language plpgsql
volatile
as $$
declare
  due_by constant timestamptz := clock_timestamp();
  place record;
begin
  perform tickwork.lower_front(filed.family, filed.run_at)
  from (
    select jobs.family, min(jobs.run_at)
    from unnest(file_jobs.ids) as filed(id)
    cross join lateral (select * from public.jobs where jobs.id = filed.id limit 1) as jobs
    group by jobs.family
  ) as filed(family, run_at);

  -- Until this transaction ends, none of the lane rules read here can be removed.
  perform pg_advisory_xact_lock_shared(7464, (tenant.number & 1023)::integer)
  from (
    select distinct tenants.number
    from unnest(file_jobs.ids) as filed(id)
    cross join lateral (select * from public.jobs where jobs.id = filed.id limit 1) as jobs
    join tickwork.tenants on tenants.tenant_id = jobs.tenant_id
    where jobs.lane is not null
  ) as tenant(number);

  for place in
    -- Decided once: a rule added in the meantime must not put the job in both places.
    with judged as materialized (
      select
        jobs.family, jobs.type, tenants.number, jobs.priority, jobs.run_at, jobs.id, jobs.lane,
        case
          when jobs.run_at > due_by then jobs.run_at
          -- The job is woken together with its lane.
          when tickwork.has_lane_rule(jobs.tenant_id, jobs.family, jobs.lane) then 'infinity'
        end as wake_at
      from unnest(file_jobs.ids) as filed(id)
      cross join lateral (select * from public.jobs where jobs.id = filed.id limit 1) as jobs
      join tickwork.tenants on tenants.tenant_id = jobs.tenant_id
    ),
    waiting_jobs as (
      insert into tickwork.waiting (family, type, tenant_number, priority, run_at, job_id, lane)
      select judged.family, judged.type, judged.number, judged.priority, judged.run_at, judged.id, judged.lane
      from judged
      where judged.wake_at is null
    ),
    parked_jobs as (
      insert into tickwork.parked (family, type, tenant_number, priority, run_at, job_id, lane, wake_at)
      select
        judged.family, judged.type, judged.number, judged.priority, judged.run_at, judged.id, judged.lane,
        judged.wake_at
      from judged
      where judged.wake_at is not null
      returning parked.family, parked.tenant_number, parked.lane, parked.wake_at
    )
    select
      parked_jobs.family,
      parked_jobs.tenant_number,
      case when parked_jobs.wake_at = 'infinity' then parked_jobs.lane end as lane,
      min(parked_jobs.wake_at) as wake_at
    from parked_jobs
    group by 1, 2, 3
    order by 1, 2, 3
  loop
    if place.lane is null then
      perform tickwork.set_alarm(place.family, place.tenant_number, place.wake_at);
    else
      perform tickwork.fill_lane(place.family, place.tenant_number, place.lane);
    end if;
  end loop;
end
$$;

comment on function tickwork.file_jobs is
  'Puts queued jobs where a claim finds them: at once, at their time, or when their lane has room.';
