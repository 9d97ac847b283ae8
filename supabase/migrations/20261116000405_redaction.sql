-- Which values of payloads and results only the worker and platform admins see: those that the type names, and those
-- under names that are usually secrets. Everybody else sees "[redacted]" in their place.

create function tickwork.secret_names()
returns text
language sql
immutable
return '(pass[-_]?(word|wd|phrase|code)|pwd|secret|token|(api|access|private|secret|signing|encryption)[-_]?key'
  '|authorization|credentials?|cookie)';

comment on function tickwork.secret_names is
  'A regular expression: how names end that are usually those of secrets, such as db_password, accessToken, X-Api-Key.';

-- Part of every enqueue and every completion. A text without any of these pieces, which every secret name has, is
-- passed in half the time that the names themselves would take.

create function tickwork.may_hold_secrets(document text)
returns boolean
language sql
immutable
return (document collate pg_catalog."C") ~* 'k(en|ey|ie)|cre[dt]|pwd|ss[-_]?[wpc]|utho'
  and (document collate pg_catalog."C") ~* (tickwork.secret_names() || '": ');

comment on function tickwork.may_hold_secrets is
  'Whether a jsonb, given as text, has a field whose name is usually that of a secret.';

create function tickwork.is_secret(name text, value jsonb)
returns boolean
language sql
immutable
return (name collate pg_catalog."C") ~* (tickwork.secret_names() || '$')
  and jsonb_typeof(value) not in ('null', 'boolean')
  and value <> '""';

comment on function tickwork.is_secret is
  'Whether a field is usually a secret: by its name, and unless the value is empty, true or false.';


-- The paths that a type names. They are written as messages write them: payload.customer.iban, payload["my files"], and
-- payload.items[*].code for every item of an array.

create function tickwork.are_redacted_paths(paths text[])
returns boolean
language sql
immutable
set search_path = ''
as $$
  select cardinality(are_redacted_paths.paths) <= 50
    and coalesce(bool_and(
      path collate pg_catalog."C"
        ~ '^(result|(payload|result)([.][A-Za-z0-9_$-]{1,100}|\["[^"\\]{1,100}"\]|\[[*]\]){1,10})$'
      and octet_length(path) <= 500
    ), true)
  from unnest(are_redacted_paths.paths) as path;
$$;

comment on function tickwork.are_redacted_paths is
  'Whether these are up to 50 paths of up to 10 steps into payload or result, or result itself.';

create function tickwork.are_names(names text[])
returns boolean
language sql
immutable
set search_path = ''
as $$
  select cardinality(are_names.names) <= 50
    and coalesce(bool_and(length(name) between 1 and 100), true)
  from unnest(are_names.names) as name;
$$;

comment on function tickwork.are_names is 'Whether these are up to 50 names of 1 to 100 characters.';

alter table public.job_types
  add column redacted text[] not null default '{}',
  add column not_redacted text[] not null default '{}',
  add constraint redacted_are_paths check (tickwork.are_redacted_paths(redacted)),
  add constraint not_redacted_are_names check (tickwork.are_names(not_redacted));

comment on column public.job_types.redacted is
  'Which values of payload and result only the worker and platform admins see, such as payload.customer.iban, '
  'result.code, payload.items[*].pin. Applies to jobs that are enqueued from then on.';
comment on column public.job_types.not_redacted is
  'Names of fields, such as next_token, that would be redacted because they are usually secrets, but are none here.';

create function tickwork.steps_of(path text)
returns jsonb
language sql
immutable
as $$
  -- A name is a string, and [*] is null.
  select coalesce(jsonb_agg(coalesce(step[1], step[2]) order by ordinality), '[]')
  from regexp_matches(
    steps_of.path collate pg_catalog."C", '[.]([A-Za-z0-9_$-]+)|\["([^"\\]+)"\]|\[[*]\]', 'g'
  ) with ordinality as found(step, ordinality);
$$;

comment on function tickwork.steps_of is 'The steps of a path after payload or result.';

create function tickwork.paths_below(paths jsonb[], step jsonb)
returns jsonb[]
language sql
immutable
return array(select path - 0 from unnest(paths) as path where path -> 0 = step);

comment on function tickwork.paths_below is 'What is left of the paths that begin with the step, after it.';


-- The document as everybody may see it

create type tickwork.redaction as (
  not_redacted text[],
  hidden text[]
);

comment on type tickwork.redaction is
  'The names that are no secrets, in lower case, and values that must not appear anywhere in a string.';

create function tickwork.redact(document jsonb, paths jsonb[], redaction tickwork.redaction, depth integer)
returns jsonb
language plpgsql
immutable
as $$
begin
  if coalesce(jsonb_typeof(document), 'null') = 'null' then
    return document;
  -- A worker may return a result that is nested as deep as the server can read, but not as deep as it can walk.
  elsif '[]'::jsonb = any (paths) or depth > 64 then
    return '"[redacted]"';
  end if;

  return case jsonb_typeof(document)
    when 'object' then (
      select coalesce(jsonb_object_agg(
        field.key,
        case
          when tickwork.is_secret(field.key, field.value) and lower(field.key) <> all ((redaction).not_redacted) then
            '"[redacted]"'
          else tickwork.redact(
            field.value, tickwork.paths_below(paths, to_jsonb(field.key)), redaction, depth + 1
          )
        end
      ), '{}')
      from jsonb_each(document) as field
    )
    when 'array' then (
      select coalesce(jsonb_agg(
        tickwork.redact(item.value, tickwork.paths_below(paths, 'null'), redaction, depth + 1)
        order by item.ordinality
      ), '[]')
      from jsonb_array_elements(document) with ordinality as item
    )
    when 'string' then to_jsonb(tickwork.without(document #>> '{}', (redaction).hidden))
    else document
  end;
end
$$;

create function tickwork.without(shown text, hidden text[])
returns text
language plpgsql
immutable
as $$
declare
  value text;
begin
  foreach value in array without.hidden loop
    shown := replace(shown, value, '[redacted]');
  end loop;

  return shown;
end
$$;

comment on function tickwork.without is 'The text without these values.';

create function tickwork.redacted(
  root text,
  document jsonb,
  redacted text[],
  not_redacted text[],
  hidden text[] default '{}'
)
returns jsonb
language sql
immutable
return tickwork.redact(
  document,
  array(
    select tickwork.steps_of(path)
    from unnest(redacted) as path
    where starts_with(path, root)
  ),
  row(array(select lower(name) from unnest(not_redacted) as name), hidden)::tickwork.redaction,
  0
);

comment on function tickwork.redacted is
  'The document, a payload or a result, with "[redacted]" in place of what only the worker and platform admins see.';

create function tickwork.is_to_redact(redacted text[], payload text)
returns boolean
language sql
immutable
return redacted <> '{}' or tickwork.may_hold_secrets(payload);

comment on function tickwork.is_to_redact is
  'Whether a payload may have something to redact, if its type redacts these paths.';

create function tickwork.redacted_payload(payload jsonb, job_type public.job_types)
returns jsonb
language sql
immutable
return tickwork.redacted('payload', payload, (job_type).redacted, (job_type).not_redacted);

comment on function tickwork.redacted_payload is 'The payload of a job of this type as everybody may see it.';
