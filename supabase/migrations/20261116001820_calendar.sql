-- When cron expressions fire. Clock changes are treated as Debian's cron does: what would run at a time
-- that does not exist runs as soon as the clock has jumped; what would run at a time that comes twice runs the first
-- time. Expressions whose minute or hour begins with * count in elapsed time, and run in both passes.

create function tickwork.is_on_day(calendar tickwork.calendar, day date)
returns boolean
language sql
immutable
return (
  select case
    when (calendar).needs_both_days then is_day and is_weekday
    else is_day or is_weekday
  end
  from (
    select
      extract(day from day)::integer as number,
      extract(dow from day)::integer as weekday,
      (date_trunc('month', day::timestamp) + interval '1 month' - interval '1 day')::date as month_end
  ) as facts
  cross join lateral (
    select
      number = any ((calendar).days)
      or 32 = any ((calendar).days) and day = month_end
      or 33 = any ((calendar).days)
        and day = month_end - greatest(extract(isodow from month_end)::integer - 5, 0) as is_day,
      array[weekday, (number + 6) / 7 * 10 + weekday, case when day > month_end - 7 then 60 + weekday end]
      && (calendar).weekdays as is_weekday
  ) as matches
);

comment on function tickwork.is_on_day is 'Whether a cron expression has any time on that day.';

create function tickwork.zone_offset(at timestamptz, timezone text)
returns interval
language sql
stable
return (at at time zone timezone) - (at at time zone 'UTC');

create function tickwork.first_time_on_day(
  calendar tickwork.calendar,
  timezone text,
  day date,
  moment timestamptz
)
returns timestamptz
language plpgsql
stable
as $$
declare
  before constant interval := tickwork.zone_offset((day - 1)::timestamp at time zone 'UTC', timezone);
  after constant interval := tickwork.zone_offset((day + 2)::timestamp at time zone 'UTC', timezone);
  since constant timestamp := moment at time zone 'UTC' + before;
  this_hour constant integer := extract(hour from since);
begin
  if before = after then
    return (
      select min(day + make_interval(hours => hour, mins => minute) - before) at time zone 'UTC'
      from unnest((calendar).hours) as hour
      cross join unnest((calendar).minutes) as minute
      -- Of any hour but the current one only the first minute can be the next time.
      where (minute = (calendar).minutes[1] or hour = this_hour)
        and day + make_interval(hours => hour, mins => minute) > since
    );
  end if;

  return (
    select min(fires.at)
    from unnest((calendar).hours) as hour
    cross join unnest((calendar).minutes) as minute
    cross join lateral (select day + make_interval(hours => hour, mins => minute)) as local(time)
    cross join lateral (
      -- The two moments that it may be: with the offset before the change, and with the one after it.
      select (local.time - before) at time zone 'UTC', (local.time - after) at time zone 'UTC'
    ) as moments(old, new)
    cross join lateral (
      select
        moments.old at time zone timezone = local.time as is_old,
        moments.new at time zone timezone = local.time as is_new
    ) as facts
    cross join lateral (
      select moments.old where facts.is_old
      union all
      select moments.new where facts.is_new and not (facts.is_old and (calendar).is_fixed)
      union all
      select tickwork.end_of_gap(moments.new, moments.old, timezone, after)
      where (calendar).is_fixed and not facts.is_old and not facts.is_new
    ) as fires(at)
    where fires.at > moment
  );
end
$$;

comment on function tickwork.first_time_on_day is
  'When a cron expression fires first on a day in a time zone, after a moment; null if it does not.';

create function tickwork.end_of_gap(earliest timestamptz, latest timestamptz, timezone text, after interval)
returns timestamptz
language sql
stable
return (
  select min(at)
  from generate_series(earliest, latest, interval '1 minute') as at
  where tickwork.zone_offset(at, timezone) = after
);

create function tickwork.next_time(calendar tickwork.calendar, timezone text, after timestamptz)
returns timestamptz
language plpgsql
stable
as $$
declare
  -- A time of yesterday that does not exist may be made up for today.
  day date := (after at time zone timezone)::date - case
    when tickwork.zone_offset(after - interval '2 days', timezone) = tickwork.zone_offset(after, timezone) then 0
    else 1
  end;
  last_day constant date := day + 9 * 366;
  found_time timestamptz;
begin
  while day < last_day loop
    if extract(month from day)::integer <> all ((calendar).months) then
      day := (date_trunc('month', day::timestamp) + interval '1 month')::date;
      continue;
    end if;

    if tickwork.is_on_day(calendar, day) then
      found_time := tickwork.first_time_on_day(calendar, timezone, day, after);

      if found_time is not null then
        return found_time;
      end if;
    end if;

    day := day + 1;
  end loop;

  return null;
end
$$;

comment on function tickwork.next_time is
  'When a cron expression fires next in a time zone, after a moment; null if it does not within nine years.';

create function tickwork.check_timezone(timezone text)
returns void
language plpgsql
stable
as $$
begin
  if not exists (
    select
    from pg_catalog.pg_timezone_names
    where pg_timezone_names.name = check_timezone.timezone
      and pg_timezone_names.name !~ '^(posix|right)/'
  ) then
    raise exception 'timezone: there is no time zone %', quote_nullable(check_timezone.timezone)
      using errcode = 'TWCAL', hint = 'Such as Europe/Berlin or UTC: select name from pg_timezone_names.';
  end if;
end
$$;

create function tickwork.note_on_time(calendar tickwork.calendar, timezone text, at timestamptz)
returns text
language plpgsql
stable
as $$
declare
  local constant timestamp := note_on_time.at at time zone note_on_time.timezone;
  skipped timestamp;
begin
  if (calendar).is_fixed then
    select min(local::date + make_interval(hours => hour, mins => minute)) into skipped
    from unnest((calendar).hours) as hour
    cross join unnest((calendar).minutes) as minute
    where ((local::date + make_interval(hours => hour, mins => minute)) at time zone note_on_time.timezone)
      at time zone note_on_time.timezone <> local::date + make_interval(hours => hour, mins => minute);

    if skipped is not null
      and not (
        extract(hour from local)::integer = any ((calendar).hours)
        and extract(minute from local)::integer = any ((calendar).minutes)
      )
    then
      return format('because %s does not exist on this day', to_char(skipped, 'HH24:MI'));
    end if;
  end if;

  -- Postgres takes a time that comes twice for the second one.
  if local at time zone note_on_time.timezone <> note_on_time.at then
    return format(
      '%s comes twice on this day: this is the first time%s', to_char(local, 'HH24:MI'),
      case when (calendar).is_fixed then '' else ', and it runs again the second time' end
    );
  end if;

  return null;
end
$$;

comment on function tickwork.note_on_time is 'What is special about a time because of a clock change, if anything.';
