-- How often each worker has extended a lease. Heartbeats add a row, so that no two of them wait for each other, and the
-- rollup adds these up.

create table tickwork.early_renewals (
  number bigint generated always as identity primary key,
  worker_id text not null,
  renewals integer not null
);

create table tickwork.renewals (
  worker_id text primary key,
  renewals bigint not null,
  renewed_at timestamptz not null default clock_timestamp()
)
with (fillfactor = 50);

create index renewals_by_age on tickwork.renewals (renewed_at);

comment on table tickwork.early_renewals is 'Renewals that are not in renewals yet.';
comment on table tickwork.renewals is
  'How many leases each worker has renewed. A worker that has not renewed any for 8 days is forgotten.';

select tickwork.guard_table(inner_table)
from unnest(array['tickwork.early_renewals', 'tickwork.renewals']::regclass[]) as inner_table;

create function tickwork.roll_up_renewals(most integer)
returns void
language sql
volatile
as $$
  with added as (
    delete from tickwork.early_renewals
    where early_renewals.number = any (array(
      select first.number from tickwork.early_renewals as first order by first.number limit roll_up_renewals.most
    ))
    returning early_renewals.*
  )
  insert into tickwork.renewals as known (worker_id, renewals)
  select added.worker_id, sum(added.renewals)
  from added
  group by added.worker_id
  on conflict (worker_id) do update
  set
    renewals = known.renewals + excluded.renewals,
    renewed_at = clock_timestamp();

  delete from tickwork.renewals
  where renewals.renewed_at < clock_timestamp() - interval '8 days';
$$;

comment on function tickwork.roll_up_renewals is
  'Adds up the renewals that heartbeats have noted. Only called by whoever holds the lock of the rollup.';
