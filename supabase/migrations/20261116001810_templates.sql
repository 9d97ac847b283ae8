-- Payloads with placeholders, which schedules and triggers fill in. A placeholder is a path into the values that are
-- there at the time, with an optional default in JSON: {{event.folder}}, {{event.folder | "/"}}. There is no code.

create function tickwork.placeholder()
returns text
language sql
immutable
return '\{\{\s*([[:alnum:]_-]+(?:\.[[:alnum:]_-]+){0,9})\s*(?:\|\s*([^{}]{1,200}?)\s*)?\}\}';

comment on function tickwork.placeholder is 'A regular expression with two parts: the path and the default.';

create function tickwork.placeholders_of(template jsonb)
returns setof text[]
language sql
immutable
as $$
  select regexp_matches(leaves.value #>> '{}', tickwork.placeholder(), 'g')
  from jsonb_path_query(placeholders_of.template, 'strict $.** ? (@.type() == "string")') as leaves(value);
$$;

comment on function tickwork.placeholders_of is
  'The path and the default of each placeholder in the strings of a template.';

create function tickwork.check_template(template jsonb, known text[])
returns void
language plpgsql
immutable
as $$
declare
  unknown text;
begin
  if coalesce(jsonb_typeof(check_template.template), 'null') <> 'object' then
    raise exception 'payload_template: must be an object'
      using errcode = 'TWTPL', hint = 'Such as {"folder": "{{event.folder}}"}.';
  end if;

  perform tickwork.check_size('payload_template', check_template.template::text, 65536);

  if tickwork.depth_of(check_template.template, 10) > 10 then
    raise exception 'payload_template: is nested more than 10 levels deep'
      using errcode = 'TWTPL', hint = 'Flatten it.';
  end if;

  if (select count(*) from tickwork.placeholders_of(check_template.template)) > 100 then
    raise exception 'payload_template: has more than 100 placeholders'
      using errcode = 'TWTPL', hint = 'Let the handler read the rest by the id of the event.';
  end if;

  select split_part(placeholder[1], '.', 1) into unknown
  from tickwork.placeholders_of(check_template.template) as placeholder
  where split_part(placeholder[1], '.', 1) <> all (check_template.known)
  limit 1;

  if found then
    raise exception 'payload_template: there is no value named %', quote_literal(unknown)
      using errcode = 'TWTPL', hint = format('There are %s.', array_to_string(check_template.known, ', '));
  end if;

  -- Whether the defaults are JSON.
  perform tickwork.value_at(placeholder[1], coalesce(placeholder[2], 'null'), '{}')
  from tickwork.placeholders_of(check_template.template) as placeholder;
end
$$;

comment on function tickwork.check_template is
  'Returns if a template is small enough, names only values that are known, and has defaults that are JSON. Raises '
  'TWTPL, TWBIG.';

create function tickwork.check_template_secrets(template jsonb, job_type public.job_types)
returns void
language plpgsql
immutable
as $$
begin
  perform
  from (
    select tickwork.leaves_of(check_template_secrets.template)
    except
    select tickwork.leaves_of(tickwork.redacted_payload(check_template_secrets.template, job_type))
  ) as hidden(value)
  -- A placeholder, or the name of a secret, is not the secret.
  where strpos(hidden.value, '{{') = 0;

  if found then
    raise exception 'payload_template: has a value that is redacted in jobs, but members read templates'
      using errcode = 'TWTPL', hint = 'Let the handler read it, or list its name in not_redacted of the type.';
  end if;
end
$$;

comment on function tickwork.check_template_secrets is
  'Returns if no value of a template would be redacted in the payload. Raises TWTPL.';

create function tickwork.depth_of(value jsonb, deepest integer)
returns integer
language plpgsql
immutable
as $$
declare
  depth integer := 0;
  level jsonb := jsonb_build_array(depth_of.value);
begin
  -- One level at a time, each as an array of what is in it.
  while level <> '[]' and depth <= depth_of.deepest + 1 loop
    depth := depth + 1;
    level := jsonb_path_query_array(level, 'strict $[*] ? (@.type() == "object").*')
      || jsonb_path_query_array(level, 'strict $[*] ? (@.type() == "array")[*]');
  end loop;

  return depth - 1;
end
$$;

comment on function tickwork.depth_of is 'How deep a value is nested, counted up to deepest and one more.';

create function tickwork.render(template jsonb, known jsonb)
returns jsonb
language plpgsql
immutable
as $$
begin
  return case jsonb_typeof(render.template)
    when 'object' then (
      select coalesce(jsonb_object_agg(field.key, tickwork.render(field.value, render.known)), '{}')
      from jsonb_each(render.template) as field
    )
    when 'array' then (
      select coalesce(jsonb_agg(tickwork.render(item.value, render.known) order by item.ordinality), '[]')
      from jsonb_array_elements(render.template) with ordinality as item
    )
    when 'string' then tickwork.render_text(render.template #>> '{}', render.known)
    else render.template
  end;
end
$$;

comment on function tickwork.render is
  'Fills in the placeholders of a template. A string that is nothing but a placeholder becomes the value with its '
  'type. Raises TWTPL where a value is missing and there is no default.';

create function tickwork.render_text(template text, known jsonb)
returns jsonb
language plpgsql
immutable
as $$
declare
  placeholder constant text := tickwork.placeholder();
  parts text[];
  rest text := render_text.template;
  done text := '';
  place integer;
begin
  parts := regexp_match(rest, '^' || placeholder || '$');

  if parts is not null then
    return tickwork.value_at(parts[1], parts[2], render_text.known);
  end if;

  loop
    place := regexp_instr(rest, placeholder);
    exit when place = 0;
    parts := regexp_match(rest, placeholder);
    done := concat(done, left(rest, place - 1), tickwork.value_at(parts[1], parts[2], render_text.known) #>> '{}');
    rest := substr(rest, regexp_instr(rest, placeholder, 1, 1, 1));

    if octet_length(done) > 1048576 then
      raise exception 'payload_template: becomes larger than 1 MB' using errcode = 'TWTPL';
    end if;
  end loop;

  return to_jsonb(done || rest);
end
$$;

create function tickwork.value_at(path text, fallback text, known jsonb)
returns jsonb
language plpgsql
immutable
as $$
declare
  found_value constant jsonb := value_at.known #> string_to_array(value_at.path, '.');
begin
  if found_value is not null then
    return found_value;
  end if;

  if value_at.fallback is null then
    raise exception 'payload_template: there is no value at %', value_at.path
      using errcode = 'TWTPL', hint = format('Give a default, such as {{%s | null}}.', value_at.path);
  end if;

  return value_at.fallback::jsonb;
exception
  when data_exception then
    raise exception 'payload_template: the default of % is not JSON', value_at.path
      using errcode = 'TWTPL', hint = format('Write text in quotes, such as {{%s | "none"}}.', value_at.path);
end
$$;
