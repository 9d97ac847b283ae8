-- Cron expressions: five fields as people write them.

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
