-- How many jobs were enqueued and how they ended, how long they waited and ran: sums that outlive the jobs themselves.
-- Each row counts jobs with about the same wait and about the same run time, so that percentiles can be read from it.

create function tickwork.all_tenants()
returns uuid
language sql
immutable
return '00000000-0000-0000-0000-000000000000'::uuid;

comment on function tickwork.all_tenants is
  'What figures have as their tenant_id that are the sums of all tenants, including those that are gone.';

create table tickwork.totals (
  tenant_id uuid not null,
  family text collate "C" not null,
  type text collate "C" not null,
  outcome text collate "C" not null,
  wait_bucket smallint,
  run_bucket smallint,
  jobs bigint not null,
  wait_ms bigint not null,
  run_ms bigint not null,
  constraint totals_key unique nulls not distinct (tenant_id, type, family, outcome, wait_bucket, run_bucket)
)
with (fillfactor = 50);

create table tickwork.days (
  like tickwork.totals,
  at timestamptz not null,
  constraint days_key unique nulls not distinct (tenant_id, type, at, family, outcome, wait_bucket, run_bucket)
)
with (fillfactor = 70);

create index days_by_age on tickwork.days (at);

create table tickwork.hours (
  like tickwork.totals,
  at timestamptz not null,
  constraint hours_key unique nulls not distinct (tenant_id, type, at, family, outcome, wait_bucket, run_bucket)
)
with (fillfactor = 70);

create index hours_by_age on tickwork.hours (at);

create table tickwork.minutes (
  like tickwork.totals,
  at timestamptz not null,
  constraint minutes_key unique nulls not distinct (tenant_id, type, at, family, outcome, wait_bucket, run_bucket)
)
with (fillfactor = 70);

create index minutes_by_age on tickwork.minutes (at);

comment on table tickwork.totals is
  'How many jobs were enqueued, ended or were retried so far. They never fall, whatever is deleted, unless the tenant '
  'is. Those of all_tenants are the sums of all.';
comment on table tickwork.days is 'Like totals, for each day (in UTC) of the last 400 days.';
comment on table tickwork.hours is 'Like totals, for each hour of the last 400 days.';
comment on table tickwork.minutes is 'Like totals, for each minute of the last 8 days.';
comment on column tickwork.totals.outcome is
  'enqueued; done, failed, dead or cancelled: how jobs ended; retried: attempts after which the job was queued again; '
  'lease_expired, timeout: attempts that ended so, which are counted as retried, dead or cancelled too.';
comment on column tickwork.totals.wait_bucket is
  'How long the job was due before the attempt that ended it started, see bucket_of; null if it did not start.';
comment on column tickwork.totals.run_bucket is 'How long the attempt ran, see bucket_of.';

-- Each is a little over 40 % wider than the one before it: from a millisecond to twelve days in 60 of them.

create function tickwork.bucket_of(ms double precision)
returns smallint
language sql
immutable
return case
  when ms > 1 then least(ceil(2 * ln(ms) / ln(2::double precision) - 1e-9), 60)
  when ms is not null then 0
end::smallint;

create function tickwork.bucket_end(bucket integer)
returns double precision
language sql
immutable
return power(2::double precision, bucket / 2.0::double precision);

comment on function tickwork.bucket_of is
  'The bucket of a duration: 0 up to a millisecond, then each reaches to the square root of two times the one before.';
comment on function tickwork.bucket_end is 'The longest duration of a bucket, in milliseconds.';

create type tickwork.happening as (
  at timestamptz,
  tenant_id uuid,
  family text,
  type text,
  outcome text,
  wait_ms double precision,
  run_ms double precision
);

comment on type tickwork.happening is 'What is counted: a job was enqueued or ended, or an attempt of it did.';

create function tickwork.add_figures(happenings tickwork.happening[])
returns void
language sql
volatile
as $$
  with by_tenant as (
    select
      date_trunc('minute', happening.at, 'UTC') as minute, happening.tenant_id, happening.family, happening.type,
      happening.outcome, tickwork.bucket_of(happening.wait_ms) as wait_bucket,
      tickwork.bucket_of(happening.run_ms) as run_bucket, count(*) as jobs,
      coalesce(sum(happening.wait_ms), 0) as wait_ms, coalesce(sum(happening.run_ms), 0) as run_ms
    from unnest(add_figures.happenings) as happening
    group by 1, 2, 3, 4, 5, 6, 7
  ),
  figures as (
    select by_tenant.*
    from by_tenant
    cross join lateral (select from tickwork.tenants where tenants.tenant_id = by_tenant.tenant_id limit 1) as existing
    union all
    select
      by_tenant.minute, tickwork.all_tenants(), by_tenant.family, by_tenant.type, by_tenant.outcome,
      by_tenant.wait_bucket, by_tenant.run_bucket, sum(by_tenant.jobs), sum(by_tenant.wait_ms), sum(by_tenant.run_ms)
    from by_tenant
    group by 1, 3, 4, 5, 6, 7
  ),
  in_minutes as (
    insert into tickwork.minutes as known (
      at, tenant_id, family, type, outcome, wait_bucket, run_bucket, jobs, wait_ms, run_ms
    )
    select *
    from figures
    on conflict on constraint minutes_key do update
    set
      jobs = known.jobs + excluded.jobs,
      wait_ms = known.wait_ms + excluded.wait_ms,
      run_ms = known.run_ms + excluded.run_ms
  ),
  in_hours as (
    insert into tickwork.hours as known (
      at, tenant_id, family, type, outcome, wait_bucket, run_bucket, jobs, wait_ms, run_ms
    )
    select
      date_trunc('hour', minute, 'UTC'), tenant_id, family, type, outcome, wait_bucket, run_bucket, sum(jobs),
      sum(wait_ms), sum(run_ms)
    from figures
    group by 1, 2, 3, 4, 5, 6, 7
    on conflict on constraint hours_key do update
    set
      jobs = known.jobs + excluded.jobs,
      wait_ms = known.wait_ms + excluded.wait_ms,
      run_ms = known.run_ms + excluded.run_ms
  ),
  in_days as (
    insert into tickwork.days as known (
      at, tenant_id, family, type, outcome, wait_bucket, run_bucket, jobs, wait_ms, run_ms
    )
    select
      date_trunc('day', minute, 'UTC'), tenant_id, family, type, outcome, wait_bucket, run_bucket, sum(jobs),
      sum(wait_ms), sum(run_ms)
    from figures
    group by 1, 2, 3, 4, 5, 6, 7
    on conflict on constraint days_key do update
    set
      jobs = known.jobs + excluded.jobs,
      wait_ms = known.wait_ms + excluded.wait_ms,
      run_ms = known.run_ms + excluded.run_ms
  )
  insert into tickwork.totals as known (
    tenant_id, family, type, outcome, wait_bucket, run_bucket, jobs, wait_ms, run_ms
  )
  select tenant_id, family, type, outcome, wait_bucket, run_bucket, sum(jobs), sum(wait_ms), sum(run_ms)
  from figures
  group by 1, 2, 3, 4, 5, 6
  on conflict on constraint totals_key do update
  set
    jobs = known.jobs + excluded.jobs,
    wait_ms = known.wait_ms + excluded.wait_ms,
    run_ms = known.run_ms + excluded.run_ms;
$$;

comment on function tickwork.add_figures is
  'Adds what happened to the totals, days, hours and minutes of its tenant and of all tenants together.';

create function tickwork.forget_figures(most integer)
returns void
language sql
volatile
as $$
  delete from tickwork.minutes
  where minutes.ctid = any (array(
    select old.ctid
    from tickwork.minutes as old
    where old.at < clock_timestamp() - interval '8 days'
    order by old.at
    limit forget_figures.most
  ));

  delete from tickwork.hours
  where hours.ctid = any (array(
    select old.ctid
    from tickwork.hours as old
    where old.at < clock_timestamp() - interval '400 days'
    order by old.at
    limit forget_figures.most
  ));

  delete from tickwork.days
  where days.ctid = any (array(
    select old.ctid
    from tickwork.days as old
    where old.at < clock_timestamp() - interval '401 days'
    order by old.at
    limit forget_figures.most
  ));
$$;

comment on function tickwork.forget_figures is
  'Deletes minutes after 8 days, hours and days after 400, at most so many.';

create function tickwork.forget_figures_of_tenant()
returns trigger
language plpgsql
security definer -- those who delete a tenant may not write these tables
set search_path = ''
as $$
begin
  delete from tickwork.totals where totals.tenant_id = old.tenant_id;
  delete from tickwork.days where days.tenant_id = old.tenant_id;
  delete from tickwork.hours where hours.tenant_id = old.tenant_id;
  delete from tickwork.minutes where minutes.tenant_id = old.tenant_id;

  -- They are still to be counted for all tenants together.
  update tickwork.early_figures
  set happening.tenant_id = null
  where (early_figures.happening).tenant_id = old.tenant_id;

  return null;
end
$$;

create trigger forget_figures_of_tenant after delete on tickwork.tenants
for each row execute function tickwork.forget_figures_of_tenant();

select tickwork.guard_table(figures, members => 'select', service => 'select')
from unnest(array['tickwork.totals', 'tickwork.days', 'tickwork.hours', 'tickwork.minutes']::regclass[]) as figures;
