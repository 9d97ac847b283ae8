-- Cron expressions, and when they fire next. Clock changes are treated as Debian's cron does: what would run at a time
-- that does not exist runs as soon as the clock has jumped; what would run at a time that comes twice runs the first
-- time. Expressions whose minute or hour begins with * count in elapsed time, and run in both passes.

create type tickwork.calendar as (
  minutes integer[],
  hours integer[],
  days integer[],
  months integer[],
  weekdays integer[],
  needs_both_days boolean,
  is_fixed boolean
);

comment on type tickwork.calendar is
  'A cron expression. days: 1 to 31, 32 the last of the month, 33 its last working day. weekdays: 0 (Sunday) to 6; the '
  'tens are which one of the month, 6 its last.';

create function tickwork.parse_cron(cron_expr text)
returns tickwork.calendar
language plpgsql
immutable
as $$
declare
  written constant text := upper(btrim(coalesce(parse_cron.cron_expr, ''), E' \t'));
  fields text[] := regexp_split_to_array(
    case written
      when '@YEARLY' then '0 0 1 1 *'
      when '@ANNUALLY' then '0 0 1 1 *'
      when '@MONTHLY' then '0 0 1 * *'
      when '@WEEKLY' then '0 0 * * 0'
      when '@DAILY' then '0 0 * * *'
      when '@MIDNIGHT' then '0 0 * * *'
      when '@HOURLY' then '0 * * * *'
      else left(written, 1000)
    end,
    '[ \t]+'
  );
  calendar tickwork.calendar;
begin
  if octet_length(written) > 1000 or cardinality(fields) <> 5 then
    raise exception 'cron_expr: % has % fields, not 5', quote_literal(left(written, 100)), cardinality(fields)
      using
        errcode = 'TWCAL',
        hint = case
          when cardinality(fields) = 6 then 'There is no field for seconds: nothing runs more often than every minute.'
          else 'Minute, hour, day of the month, month, day of the week, such as 30 2 * * MON-FRI, or @daily.'
        end;
  end if;

  calendar.minutes := tickwork.parse_cron_field('minute', fields[1], 0, 59, null);
  calendar.hours := tickwork.parse_cron_field('hour', fields[2], 0, 23, null);
  calendar.days := tickwork.parse_cron_field('day of the month', fields[3], 1, 31, null);
  calendar.months := tickwork.parse_cron_field(
    'month', fields[4], 1, 12, '{JAN,FEB,MAR,APR,MAY,JUN,JUL,AUG,SEP,OCT,NOV,DEC}'
  );
  calendar.weekdays := tickwork.parse_cron_field('day of the week', fields[5], 0, 7, '{SUN,MON,TUE,WED,THU,FRI,SAT}');
  -- Sunday is 0 and 7.
  calendar.weekdays := array(
    select distinct case weekday % 10 when 7 then weekday - 7 else weekday end
    from unnest(calendar.weekdays) as weekday
    order by 1
  );
  calendar.needs_both_days := fields[3] like '*%' or fields[5] like '*%';
  calendar.is_fixed := fields[1] not like '*%' and fields[2] not like '*%';

  return calendar;
end
$$;

comment on function tickwork.parse_cron is
  'Reads a cron expression of five fields: numbers, names, lists, ranges, steps, L, LW, 5L, MON#2, or @daily and the '
  'like. Raises TWCAL.';

create function tickwork.parse_cron_field(field text, written text, lowest integer, highest integer, names text[])
returns integer[]
language plpgsql
immutable
as $$
declare
  number constant text := case when names is null then '' else array_to_string(names, '|') || '|' end || '\d{1,2}';
  is_weekday constant boolean := highest = 7;
  found_values integer[] := '{}';
  term text;
  parts text[];
  first integer;
  last integer;
begin
  foreach term in array string_to_array(written, ',') loop
    if highest = 31 and term in ('L', 'LW') then
      found_values := found_values || case term when 'L' then 32 else 33 end;
      continue;
    end if;

    parts := regexp_match(term, format('^(%s)(?:#([1-5])|(L))$', number));

    if is_weekday and parts is not null then
      found_values := found_values || coalesce(parts[2]::integer, 6) * 10
        + tickwork.cron_number(field, parts[1], lowest, highest, names);
      continue;
    end if;

    -- The star; a number; a range; each with a step. A number with a step goes on to the end.
    parts := regexp_match(term, format('^(?:(\*)|(%1$s)(?:-(%1$s))?)(?:/(\d{1,2}))?$', number));

    if parts is null then
      perform tickwork.raise_bad_cron(field, term, 'It cannot be read.');
    end if;

    first := coalesce(tickwork.cron_number(field, parts[2], lowest, highest, names), lowest);
    last := case
      when parts[3] is not null then tickwork.cron_number(field, parts[3], lowest, highest, names)
      when parts[1] is not null or parts[4] is not null then highest
      else first
    end;

    if last < first then
      perform tickwork.raise_bad_cron(field, term, 'A range must not go backwards.');
    end if;

    if parts[4]::integer not between 1 and greatest(highest - lowest, 1) then
      perform tickwork.raise_bad_cron(field, term, 'Its step is out of range.');
    end if;

    found_values := found_values || array(select generate_series(first, last, coalesce(parts[4]::integer, 1)));
  end loop;

  return array(select distinct unnest(found_values) order by 1);
end
$$;

create function tickwork.cron_number(field text, written text, lowest integer, highest integer, names text[])
returns integer
language plpgsql
immutable
as $$
declare
  -- Months are counted from 1, days of the week from 0.
  value constant integer := coalesce(array_position(names, written) - 1 + lowest, written::integer);
begin
  if value not between lowest and highest then
    perform tickwork.raise_bad_cron(field, written, format('It must be %s to %s.', lowest, highest));
  end if;

  return value;
end
$$;

create function tickwork.raise_bad_cron(field text, written text, hint text)
returns void
language plpgsql
immutable
as $$
begin
  raise exception 'cron_expr: % cannot be the %', quote_literal(left(raise_bad_cron.written, 50)), raise_bad_cron.field
    using errcode = 'TWCAL', hint = raise_bad_cron.hint;
end
$$;

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
  ) as answers
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
  day date := (after at time zone timezone)::date - 1;
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

    if skipped is not null and local::time <> all (array(
      select make_time(hour, minute, 0) from unnest((calendar).hours) as hour cross join unnest((calendar).minutes) as minute
    )) then
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
