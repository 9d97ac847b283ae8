-- Whether a payload matches the schema of its type. This is part of every enqueue. Most of the time is spent on calling
-- functions and on preparing each expression once per transaction, so a payload that matches needs few of either.

create function tickwork.type_problem(value_type text, types jsonb)
returns text
language sql
immutable
as $$
  with named(type, words) as (
    values
      ('string', 'a string'),
      ('number', 'a number'),
      ('integer', 'an integer'),
      ('fraction', 'a fraction'),
      ('boolean', 'a boolean'),
      ('object', 'an object'),
      ('array', 'an array'),
      ('null', 'null')
  )
  select
    'must be ' || string_agg(named.words, ' or ') filter (where type_problem.types ? named.type)
    || ', not ' || max(named.words) filter (where named.type = type_problem.value_type)
  from named;
$$;

create function tickwork.is_element(value jsonb, list jsonb)
returns boolean
language sql
immutable
as $$
  select is_element.value in (select jsonb_array_elements(is_element.list));
$$;

create function tickwork.is_uuid(value text)
returns boolean
language sql
immutable
return value ~ '^[0-9A-Fa-f]{8}-([0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}$';

create function tickwork.is_date_time(value text)
returns boolean
language sql
immutable
return value ~ (
  -- The number of days in the month, with 29 February in leap years.
  '^(\d{4}-((0[13578]|1[02])-(0[1-9]|[12]\d|3[01])|(0[469]|11)-(0[1-9]|[12]\d|30)|02-(0[1-9]|1\d|2[0-8]))'
  '|(\d\d(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)-02-29)'
  -- Any minute might have had a leap second.
  '[Tt]([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)([.]\d+)?'
  '([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$' collate pg_catalog."C"
);

comment on function tickwork.is_date_time is 'Whether the value is an RFC 3339 date-time with a time zone.';

create function tickwork.string_problem(value text, schema jsonb)
returns text
language sql
immutable
return case
  when length(value) < (schema ->> 'minLength')::numeric then 'the minimum length is ' || (schema ->> 'minLength')
  when length(value) > (schema ->> 'maxLength')::numeric then 'the maximum length is ' || (schema ->> 'maxLength')
  -- With this collation \d and \w mean the same as in ECMAScript, whatever the locale of the database.
  when value !~ ((schema ->> 'pattern') collate pg_catalog."C") then
    'must match the pattern ' || (schema ->> 'pattern')
  when schema ->> 'format' = 'uuid' and not tickwork.is_uuid(value) then 'must be a uuid'
  when schema ->> 'format' = 'date-time' and not tickwork.is_date_time(value) then
    'must be a date-time, such as 2026-11-16T09:30:00Z'
end;

create function tickwork.value_problem(value jsonb, schema jsonb)
returns text
language sql
immutable
return case
  when jsonb_typeof(value) = 'number' and schema -> 'type' ? 'integer' and not schema -> 'type' ? 'number'
    and trunc(value::numeric) <> value::numeric
  then tickwork.type_problem('fraction', schema -> 'type')
  when not schema -> 'type' ? jsonb_typeof(value)
    and not (jsonb_typeof(value) = 'number' and schema -> 'type' ? 'integer')
  then tickwork.type_problem(jsonb_typeof(value), schema -> 'type')
  when schema ? 'enum' and not tickwork.is_element(value, schema -> 'enum') then
    'must be one of ' || left(schema ->> 'enum', 500)
  when schema -> 'const' <> value then 'must be ' || left((schema -> 'const')::text, 500)
end;

comment on function tickwork.value_problem is
  'Null if the schema allows the type of the value and the value itself; otherwise what it must be.';

-- Most fields are valid strings and whole numbers. For those this function, which is inlined into its callers, takes
-- less than half the time of payload_problem and comes to the same result.

create function tickwork.is_plainly_valid(value jsonb, schema jsonb)
returns boolean
language sql
immutable
return case jsonb_typeof(value)
  when 'string' then
    -- The operator ? treats a string as a list of one.
    coalesce(schema -> 'type' ? 'string', true)
    and not schema ?| '{const,minLength,maxLength,pattern}'
    and coalesce(schema -> 'enum' @> value, true)
    and (schema ->> 'format' is null or schema ->> 'format' = 'uuid' and tickwork.is_uuid(value #>> '{}'))
  when 'number' then
    coalesce(schema -> 'type' ?| '{integer,number}', true)
    and not schema ?| '{const,enum}'
    and trunc(value::numeric) = value::numeric
    and coalesce(value >= schema -> 'minimum', true)
    and coalesce(value <= schema -> 'maximum', true)
  else schema = '{}'
end;

comment on function tickwork.is_plainly_valid is
  'True only if the value matches the schema. A value may match even if this is not true.';

create function tickwork.object_problem(payload jsonb, schema jsonb, path text)
returns text
language plpgsql
immutable
as $$
declare
  required constant jsonb := coalesce(object_problem.schema -> 'required', '[]');
  -- A list of keys and values: a loop over the rows of jsonb_each takes longer.
  properties constant jsonb := coalesce(
    jsonb_path_query_array(object_problem.schema -> 'properties', '$.keyvalue()'), '[]'
  );
  others jsonb := object_problem.payload;
  value jsonb;
  subschema jsonb;
  problem text;
begin
  for place in 0 .. jsonb_array_length(required) - 1 loop
    if not object_problem.payload ? (required ->> place) then
      return object_problem.path || ': ' || left(required ->> place, 100) || ' is missing';
    end if;
  end loop;

  for place in 0 .. jsonb_array_length(properties) - 1 loop
    value := object_problem.payload -> (properties -> place ->> 'key');
    subschema := properties -> place -> 'value';
    continue when value is null or tickwork.is_plainly_valid(value, subschema);

    problem := tickwork.payload_problem(value, subschema, '');

    if problem is not null then
      return tickwork.path_to(object_problem.path, properties -> place ->> 'key') || problem;
    end if;
  end loop;

  if coalesce(object_problem.schema -> 'additionalProperties', 'true') = 'true' then
    return null;
  end if;

  for place in 0 .. jsonb_array_length(properties) - 1 loop
    others := others - (properties -> place ->> 'key');
  end loop;

  if others = '{}' then
    return null;
  end if;

  return tickwork.additional_problem(
    jsonb_path_query_array(others, '$.keyvalue()'), object_problem.schema -> 'additionalProperties', object_problem.path
  );
end
$$;

comment on function tickwork.object_problem is
  'Null if the fields of the object match the schema; otherwise a message about the first problem.';

create function tickwork.additional_problem(others jsonb, schema jsonb, path text)
returns text
language plpgsql
immutable
as $$
declare
  problem text;
begin
  if additional_problem.schema = 'false' then
    return additional_problem.path || ': unknown field ' || left(others -> 0 ->> 'key', 100);
  end if;

  for place in 0 .. jsonb_array_length(others) - 1 loop
    problem := tickwork.payload_problem(others -> place -> 'value', additional_problem.schema, '');

    if problem is not null then
      return tickwork.path_to(additional_problem.path, others -> place ->> 'key') || problem;
    end if;
  end loop;

  return null;
end
$$;

create function tickwork.array_problem(list jsonb, schema jsonb, path text)
returns text
language plpgsql
immutable
as $$
declare
  size constant integer := jsonb_array_length(array_problem.list);
  items constant jsonb := array_problem.schema -> 'items';
  problem text;
begin
  if size < (array_problem.schema ->> 'minItems')::numeric then
    return array_problem.path || ': the minimum number of items is ' || (array_problem.schema ->> 'minItems');
  end if;

  if size > (array_problem.schema ->> 'maxItems')::numeric then
    return array_problem.path || ': the maximum number of items is ' || (array_problem.schema ->> 'maxItems');
  end if;

  for place in 0 .. case when items is null then 0 else size end - 1 loop
    continue when tickwork.is_plainly_valid(array_problem.list -> place, items);

    problem := tickwork.payload_problem(array_problem.list -> place, items, '');

    if problem is not null then
      return array_problem.path || '[' || place || ']' || problem;
    end if;
  end loop;

  return null;
end
$$;

comment on function tickwork.array_problem is
  'Null if the number of items and the items match the schema; otherwise a message about the first problem.';

create function tickwork.payload_problem(payload jsonb, schema jsonb, path text)
returns text
language plpgsql
immutable
as $$
declare
  value_type constant text := jsonb_typeof(payload_problem.payload);
  problem text;
begin
  if not payload_problem.schema -> 'type' ? value_type or payload_problem.schema ?| '{enum,const}' then
    problem := tickwork.value_problem(payload_problem.payload, payload_problem.schema);
  end if;

  if problem is not null then
    return payload_problem.path || ': ' || problem;
  elsif value_type = 'object' then
    return tickwork.object_problem(payload_problem.payload, payload_problem.schema, payload_problem.path);
  elsif value_type = 'array' then
    return tickwork.array_problem(payload_problem.payload, payload_problem.schema, payload_problem.path);
  elsif value_type = 'string' then
    problem := tickwork.string_problem(payload_problem.payload #>> '{}', payload_problem.schema);
  elsif value_type = 'number' then
    problem := case
      when payload_problem.payload < payload_problem.schema -> 'minimum' then
        'must be at least ' || (payload_problem.schema ->> 'minimum')
      when payload_problem.payload > payload_problem.schema -> 'maximum' then
        'must be at most ' || (payload_problem.schema ->> 'maximum')
    end;
  end if;

  return payload_problem.path || ': ' || problem;
end
$$;

comment on function tickwork.payload_problem is
  'Null if the value matches the schema; otherwise a message about the first problem, such as payload.document_id: '
  'must be a uuid. It never contains the value, which may be a secret. schema_problem tells which schemas it can '
  'check.';
