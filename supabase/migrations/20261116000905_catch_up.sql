-- What a claim does for others before it looks for jobs.

create function tickwork.is_overdue(reaped_at timestamptz, asked_at timestamptz, now_at timestamptz)
returns boolean
language sql
immutable
return reaped_at < now_at - interval '1 second' or (asked_at > now_at - interval '1 minute') is not true;

comment on function tickwork.is_overdue is
  'Whether expired leases have to be looked for, or who asks for jobs of the type has to be noted.';

create function tickwork.catch_up(family text, types text[])
returns void
language plpgsql
volatile
as $$
declare
  now_at constant timestamptz := clock_timestamp();
begin
  with free as (
    select family_types.ctid as place
    from tickwork.family_types
    where family_types.family = catch_up.family
      and (catch_up.types is null or family_types.type = any (catch_up.types))
      and (family_types.asked_at > now_at - interval '1 minute') is not true
    for no key update skip locked
  )
  update tickwork.family_types
  set asked_at = now_at
  from free
  where family_types.ctid = free.place;

  if exists (
    select
    from tickwork.family_types
    where family_types.family = catch_up.family
      and family_types.reaped_at < now_at - interval '1 second'
  ) then
    perform tickwork.reap(catch_up.family, 100);
  end if;

  -- Last: whoever rings holds locks that others wait for, and must wait for nobody.
  perform tickwork.ring_alarms(catch_up.family, 16);
end
$$;

comment on function tickwork.catch_up is
  'Notes who asks, ends expired leases of the family and wakes its parked jobs that are due, so many at a time.';
