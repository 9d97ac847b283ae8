-- What payloads have to look like: the part of JSON Schema that is checked in SQL, on any server.

-- With pg_jsonschema, as on hosted Supabase, all of JSON Schema can be used. This is part of every enqueue, and a query
-- of the catalog would take longer than the rest of the check.

create function tickwork.knows_json_schema()
returns boolean
language sql
stable
return case
  when to_regnamespace('extensions') is null then false
  when not has_schema_privilege('extensions', 'usage') then false
  else coalesce(
    has_function_privilege(to_regprocedure('extensions.jsonb_matches_schema(json, jsonb)'), 'execute'),
    false
  )
end;

comment on function tickwork.knows_json_schema is
  'Whether the caller can use pg_jsonschema in the schema extensions.';

create function tickwork.path_to(path text, name text)
returns text
language sql
immutable
return path || case
  when name ~ '^[A-Za-z_$][A-Za-z0-9_$-]{0,99}$' then '.' || name
  else '[' || to_json(left(name, 100)) || ']'
end;

comment on function tickwork.path_to is
  'How messages name a field: payload.files, or payload["my files"] where the name is not a plain word.';


-- Which schemas can be checked in SQL

create function tickwork.pattern_problem(pattern text)
returns text
language plpgsql
immutable
as $$
declare
  -- With a letter for every escape that means the same in both languages. What is special in the rest is not escaped.
  bare constant text := regexp_replace(
    pattern_problem.pattern, '\\([dDsSwWnrtfv]|u[0-9A-Fa-f]{4}|[^[:alnum:]])', 'x', 'g'
  );
begin
  if length(pattern_problem.pattern) > 200 then
    return 'is longer than 200 characters';
  end if;

  -- The regular expressions of Postgres are not those of ECMAScript, which JSON Schema refers to. What has another
  -- meaning here is refused, such as \b (a backspace), [^] and [[:alpha:]], and so is what can take very long with a
  -- hostile payload: back references and lookaround. One difference is left: the dot matches line breaks too.
  if bare ~ '\\' then
    return 'uses an escape other than \d \D \s \S \w \W \n \r \t \f \v, \u with four digits, and \ before punctuation';
  end if;

  if bare ~ '[(][?]([^:]|$)' then
    return 'uses a group other than (...) and (?:...)';
  end if;

  if bare ~ '^[*]{3}|\[\^?\]|\[[^]]*\[[:.=]' then
    return 'uses syntax that means something else in Postgres';
  end if;

  perform '' ~ (pattern_problem.pattern collate pg_catalog."C");
  return null;
exception
  when invalid_regular_expression then
    return 'is not a regular expression that Postgres can compile';
end
$$;

comment on function tickwork.pattern_problem is
  'Null if the pattern is short, takes linear time and means in Postgres what it means in ECMAScript; else what is '
  'wrong.';

create function tickwork.keyword_problem(keyword text, value jsonb)
returns text
language plpgsql
immutable
as $$
declare
  value_type constant text := jsonb_typeof(keyword_problem.value);
begin
  case keyword_problem.keyword
    when 'title', 'description', 'default', 'examples', '$schema', '$comment', 'const' then
      return null;

    when 'type' then
      if not keyword_problem.value
        <@ '["string", "number", "integer", "boolean", "object", "array", "null"]'
        or keyword_problem.value = '[]'
      then
        return 'must be a type of JSON, or a list of them';
      end if;

    when 'properties' then
      if value_type <> 'object' then
        return 'must be an object';
      end if;

    when 'required' then
      if value_type <> 'array' or jsonb_path_exists(keyword_problem.value, '$[*] ? (@.type() != "string")') then
        return 'must be a list of names';
      end if;

    when 'additionalProperties' then
      if value_type not in ('boolean', 'object') then
        return 'must be true, false or a schema';
      end if;

    when 'items' then
      if value_type <> 'object' then
        return 'must be a schema';
      end if;

    when 'enum' then
      if value_type <> 'array' or keyword_problem.value = '[]' then
        return 'must be a list of values';
      end if;

    when 'minimum', 'maximum' then
      if value_type <> 'number' then
        return 'must be a number';
      end if;

    when 'minLength', 'maxLength', 'minItems', 'maxItems' then
      if value_type <> 'number' then
        return 'must be a number';
      end if;

      if keyword_problem.value::numeric < 0 or trunc(keyword_problem.value::numeric) <> keyword_problem.value::numeric
      then
        return 'must be a whole number, 0 or more';
      end if;

    when 'pattern' then
      if value_type <> 'string' then
        return 'must be a string';
      end if;

      return tickwork.pattern_problem(keyword_problem.value #>> '{}');

    when 'format' then
      if keyword_problem.value not in ('"uuid"', '"date-time"') then
        return 'must be uuid or date-time';
      end if;

    else
      return 'is not supported';
  end case;

  return null;
end
$$;

comment on function tickwork.keyword_problem is
  'Null if the keyword of a schema can be checked in SQL, and its value is in order; else what is wrong.';

create function tickwork.subschema_problem(schema jsonb, path text, depth integer)
returns text
language plpgsql
immutable
as $$
declare
  keyword text;
  value jsonb;
  name text;
  subschema jsonb;
  problem text;
begin
  if jsonb_typeof(subschema_problem.schema) is distinct from 'object' then
    return subschema_problem.path || ': must be an object';
  end if;

  if subschema_problem.depth > 32 then
    return subschema_problem.path || ': nested deeper than 32 levels';
  end if;

  for keyword, value in
    select *
    from jsonb_each(subschema_problem.schema)
  loop
    problem := tickwork.keyword_problem(keyword, value);

    if problem is not null then
      return subschema_problem.path || ': the keyword ' || left(keyword, 100) || ' ' || problem;
    end if;
  end loop;

  for name, subschema in
    select tickwork.path_to('.properties', property.key), property.value
    from jsonb_each(subschema_problem.schema -> 'properties') as property
    union all
    select '.' || keyword.key, keyword.value
    from jsonb_each(subschema_problem.schema) as keyword
    where keyword.key in ('items', 'additionalProperties')
      and jsonb_typeof(keyword.value) = 'object'
  loop
    problem := tickwork.subschema_problem(subschema, subschema_problem.path || name, subschema_problem.depth + 1);

    if problem is not null then
      return problem;
    end if;
  end loop;

  return null;
end
$$;

create function tickwork.schema_problem(schema jsonb, path text)
returns text
language sql
immutable
return case
  when octet_length(schema::text) > 65536 then
    path || ': ' || octet_length(schema::text) || ' bytes are too many, at most 65536 are allowed'
  else tickwork.subschema_problem(schema, path, 1)
end;

comment on function tickwork.schema_problem is
  'Null if payload_problem can check values against the schema; else a sentence on the keyword it cannot, and where.';

create function tickwork.check_payload_schema(schema jsonb)
returns void
language plpgsql
stable
as $$
declare
  problem text;
begin
  if check_payload_schema.schema is null or tickwork.knows_json_schema() then
    return;
  end if;

  problem := tickwork.schema_problem(check_payload_schema.schema, 'payload_schema');

  if problem is not null then
    raise exception '%', problem
      using
        errcode = 'TWSCH',
        hint = 'supabase/README.md lists the keywords that work on every server; pg_jsonschema adds the others.';
  end if;
end
$$;

comment on function tickwork.check_payload_schema is
  'Raises TWSCH if neither pg_jsonschema nor payload_problem can check payloads against the schema.';


-- Whether a value matches its schema. This is part of every enqueue. Most of the time goes into calling functions, and
-- into preparing each expression once per transaction. So a payload that matches needs few of both.

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
  -- The days that a month has, and 29 February in leap years.
  '^(\d{4}-((0[13578]|1[02])-(0[1-9]|[12]\d|3[01])|(0[469]|11)-(0[1-9]|[12]\d|30)|02-(0[1-9]|1\d|2[0-8]))'
  '|(\d\d(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)-02-29)'
  -- Whether there was a leap second at that time is not known here.
  '[Tt]([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)([.]\d+)?'
  '([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$' collate pg_catalog."C"
);

comment on function tickwork.is_date_time is
  'Whether the value is a date-time of RFC 3339, with its time zone.';

create function tickwork.string_problem(value text, schema jsonb)
returns text
language plpgsql
immutable
as $$
begin
  if length(string_problem.value) < (string_problem.schema ->> 'minLength')::numeric then
    return 'the minimum length is ' || (string_problem.schema ->> 'minLength');
  end if;

  if length(string_problem.value) > (string_problem.schema ->> 'maxLength')::numeric then
    return 'the maximum length is ' || (string_problem.schema ->> 'maxLength');
  end if;

  -- With this collation \d and \w are those of ECMAScript, whatever the language of the database.
  if string_problem.value !~ ((string_problem.schema ->> 'pattern') collate pg_catalog."C") then
    return 'must match the pattern ' || (string_problem.schema ->> 'pattern');
  end if;

  case string_problem.schema ->> 'format'
    when 'uuid' then
      if not tickwork.is_uuid(string_problem.value) then
        return 'must be a uuid';
      end if;

    when 'date-time' then
      if not tickwork.is_date_time(string_problem.value) then
        return 'must be a date-time, such as 2026-11-16T09:30:00Z';
      end if;

    else
      null;
  end case;

  return null;
end
$$;

create function tickwork.number_problem(value numeric, schema jsonb)
returns text
language sql
immutable
return case
  when value < (schema ->> 'minimum')::numeric then 'must be at least ' || (schema ->> 'minimum')
  when value > (schema ->> 'maximum')::numeric then 'must be at most ' || (schema ->> 'maximum')
end;

create function tickwork.value_problem(value jsonb, schema jsonb)
returns text
language plpgsql
immutable
as $$
declare
  value_type constant text := jsonb_typeof(value_problem.value);
  types constant jsonb := value_problem.schema -> 'type';
begin
  if value_type = 'number' and types ? 'integer' and not types ? 'number' then
    if trunc(value_problem.value::numeric) <> value_problem.value::numeric then
      return tickwork.type_problem('fraction', types);
    end if;
  elsif not types ? value_type then
    return tickwork.type_problem(value_type, types);
  end if;

  if value_problem.schema ? 'enum' then
    if not tickwork.is_element(value_problem.value, value_problem.schema -> 'enum') then
      return 'must be one of ' || left(value_problem.schema ->> 'enum', 500);
    end if;
  end if;

  if value_problem.schema -> 'const' <> value_problem.value then
    return 'must be ' || left((value_problem.schema -> 'const')::text, 500);
  end if;

  return null;
end
$$;

comment on function tickwork.value_problem is
  'Null if the value has one of the types, and is one of the values, that the schema allows; else what it must be.';

-- Most fields are strings and whole numbers, and valid. Being part of the expression that calls it, this takes less
-- than half the time of payload_problem, which would come to the same result.

create function tickwork.is_plainly_valid(value jsonb, schema jsonb)
returns boolean
language sql
immutable
return case jsonb_typeof(value)
  when 'string' then
    -- To the operator ? a string is a list of one.
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
  'True only if the value matches the schema; what is not true may still match.';

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

  if object_problem.schema ? 'additionalProperties' then
    return tickwork.additional_problem(
      object_problem.payload, properties, object_problem.schema -> 'additionalProperties', object_problem.path
    );
  end if;

  return null;
end
$$;

create function tickwork.additional_problem(payload jsonb, properties jsonb, schema jsonb, path text)
returns text
language plpgsql
immutable
as $$
declare
  others jsonb := additional_problem.payload;
  value jsonb;
  problem text;
begin
  for place in 0 .. jsonb_array_length(additional_problem.properties) - 1 loop
    others := others - (additional_problem.properties -> place ->> 'key');
  end loop;

  if others = '{}' or additional_problem.schema = 'true' then
    return null;
  end if;

  others := jsonb_path_query_array(others, '$.keyvalue()');

  if additional_problem.schema = 'false' then
    return additional_problem.path || ': unknown field ' || left(others -> 0 ->> 'key', 100);
  end if;

  for place in 0 .. jsonb_array_length(others) - 1 loop
    value := others -> place -> 'value';
    continue when tickwork.is_plainly_valid(value, additional_problem.schema);

    problem := tickwork.payload_problem(value, additional_problem.schema, '');

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
  value jsonb;
  problem text;
begin
  if size < (array_problem.schema ->> 'minItems')::numeric then
    return array_problem.path || ': the minimum number of items is ' || (array_problem.schema ->> 'minItems');
  end if;

  if size > (array_problem.schema ->> 'maxItems')::numeric then
    return array_problem.path || ': the maximum number of items is ' || (array_problem.schema ->> 'maxItems');
  end if;

  for place in 0 .. size - 1 loop
    exit when items is null;

    value := array_problem.list -> place;
    continue when tickwork.is_plainly_valid(value, items);

    problem := tickwork.payload_problem(value, items, '');

    if problem is not null then
      return array_problem.path || '[' || place || ']' || problem;
    end if;
  end loop;

  return null;
end
$$;

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
    problem := tickwork.number_problem(payload_problem.payload::numeric, payload_problem.schema);
  end if;

  return payload_problem.path || ': ' || problem;
end
$$;

comment on function tickwork.payload_problem is
  'Null if the value matches the schema; else a sentence on the first problem, such as payload.document_id: must be a '
  'uuid. It never contains the value, which may be a secret. schema_problem tells which schemas it can check.';
