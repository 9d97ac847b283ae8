-- What a payload must look like: the part of JSON Schema that is checked in SQL, on any server.

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
  'How messages name a field: payload.files, or payload["my files"] if the name is not a plain word.';


-- Which schemas can be checked in SQL

create function tickwork.pattern_problem(pattern text)
returns text
language plpgsql
immutable
as $$
declare
  -- Every escape that means the same in both languages becomes a letter, so what is left of the special characters is
  -- not escaped.
  bare constant text := regexp_replace(
    pattern_problem.pattern, '\\([dDsSwWnrtfv]|u[0-9A-Fa-f]{4}|[^[:alnum:]])', 'x', 'g'
  );
  problem text;
begin
  -- JSON Schema refers to the regular expressions of ECMAScript, and those of Postgres differ. Whatever has another
  -- meaning here is refused, such as \b (a backspace), [^] and [[:alpha:]], and so is what can take very long with a
  -- hostile payload: back references and lookaround. One difference is left: the dot matches line breaks too.
  problem := case
    when length(pattern_problem.pattern) > 200 then 'is longer than 200 characters'
    when bare ~ '\\' then
      'uses an escape other than \d \D \s \S \w \W \n \r \t \f \v, \u with four digits, and \ before punctuation'
    when bare ~ '[(][?]([^:]|$)' then 'uses a group other than (...) and (?:...)'
    when bare ~ '^[*]{3}|\[\^?\]|\[[^]]*\[[:.=]' then 'uses syntax that means something else in Postgres'
  end;

  if problem is null then
    perform '' ~ (pattern_problem.pattern collate pg_catalog."C");
  end if;

  return problem;
exception
  when invalid_regular_expression then
    return 'is not a regular expression that Postgres can compile';
end
$$;

comment on function tickwork.pattern_problem is
  'Null if the pattern is short, takes linear time and means the same in Postgres as in ECMAScript; otherwise what is '
  'wrong.';

create function tickwork.keyword_problem(keyword text, value jsonb)
returns text
language sql
immutable
return case keyword
  when 'type' then
    case
      when not value <@ '["string", "number", "integer", "boolean", "object", "array", "null"]' or value = '[]' then
        'must be a JSON type, or a list of them'
    end
  when 'properties' then case when jsonb_typeof(value) <> 'object' then 'must be an object' end
  when 'required' then
    case
      when jsonb_typeof(value) <> 'array' or jsonb_path_exists(value, '$[*] ? (@.type() != "string")') then
        'must be a list of names'
    end
  when 'additionalProperties' then
    case when jsonb_typeof(value) not in ('boolean', 'object') then 'must be true, false or a schema' end
  when 'items' then case when jsonb_typeof(value) <> 'object' then 'must be a schema' end
  when 'enum' then case when jsonb_typeof(value) <> 'array' or value = '[]' then 'must be a list of values' end
  when 'pattern' then
    case jsonb_typeof(value) when 'string' then tickwork.pattern_problem(value #>> '{}') else 'must be a string' end
  when 'format' then case when value not in ('"uuid"', '"date-time"') then 'must be uuid or date-time' end
  else case
    when keyword in ('title', 'description', 'default', 'examples', '$schema', '$comment', 'const') then null
    when keyword not in ('minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems') then 'is not supported'
    when jsonb_typeof(value) <> 'number' then 'must be a number'
    when keyword in ('minimum', 'maximum') then null
    when value::numeric < 0 or trunc(value::numeric) <> value::numeric then 'must be a whole number, 0 or more'
  end
end;

comment on function tickwork.keyword_problem is
  'Null if this keyword of a schema can be checked in SQL and has a valid value; otherwise what is wrong.';

create function tickwork.subschema_problem(schema jsonb, path text, depth integer)
returns text
language plpgsql
immutable
as $$
begin
  return coalesce(
    case
      when jsonb_typeof(schema) is distinct from 'object' then path || ': must be an object'
      when depth > 32 then path || ': nested deeper than 32 levels'
    end,
    (
      select path || ': the keyword ' || left(keyword.key, 100) || ' ' || found.problem
      from jsonb_each(schema) as keyword
      cross join tickwork.keyword_problem(keyword.key, keyword.value) as found(problem)
      where found.problem is not null
      limit 1
    ),
    (
      select found.problem
      from (
        select tickwork.path_to('.properties', property.key), property.value
        from jsonb_each(schema -> 'properties') as property
        union all
        select '.' || keyword.key, keyword.value
        from jsonb_each(schema) as keyword
        where keyword.key in ('items', 'additionalProperties')
          and jsonb_typeof(keyword.value) = 'object'
      ) as below(name, schema)
      cross join tickwork.subschema_problem(below.schema, path || below.name, depth + 1) as found(problem)
      where found.problem is not null
      limit 1
    )
  );
end
$$;

create function tickwork.schema_problem(schema jsonb, path text)
returns text
language sql
immutable
return case
  when octet_length(schema::text) > 65536 then
    path || ': ' || octet_length(schema::text) || ' bytes is too large, the maximum is 65536'
  else tickwork.subschema_problem(schema, path, 1)
end;

comment on function tickwork.schema_problem is
  'Null if payload_problem can check values against the schema; otherwise a message that names the keyword it cannot '
  'check.';
