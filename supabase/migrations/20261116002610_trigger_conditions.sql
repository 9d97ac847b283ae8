-- Conditions of triggers are SQL/JSON paths. Only those are accepted that take no more steps than the event has values:
-- comparisons of a path with a constant, and what can be made of them by "and", "or" and "not".

create function tickwork.check_condition(condition text)
returns void
language plpgsql
immutable
as $$
declare
  path jsonpath;
  wrong text;
begin
  if check_condition.condition is null then
    return;
  end if;

  perform tickwork.check_size('condition', check_condition.condition, 500);

  -- Before it is parsed, as that compiles its regular expressions.
  if regexp_replace(check_condition.condition, '\\["\\/]', '', 'g') ~ '[\\{]' then
    wrong := 'contains a brace, or a backslash before something else than a quote or a backslash';
  else
    begin
      path := check_condition.condition::jsonpath;
      wrong := case
        when length(path::text) > 2000 then 'contains a number that is too large'
        else coalesce(tickwork.problem_of_path(path), tickwork.problem_of_patterns(path))
      end;
    exception
      when syntax_error or data_exception or feature_not_supported then
        wrong := sqlerrm;
    end;
  end if;

  if wrong is not null then
    raise exception 'condition: %', wrong
      using errcode = 'TWARG', hint = 'Such as $.event.amount > 100 && $.event.kind == "invoice".';
  end if;
end
$$;

comment on function tickwork.check_condition is
  'Returns if the condition of a trigger can be evaluated in steps that are bounded by the size of the event. Raises '
  'TWARG, TWBIG.';

create function tickwork.problem_of_path(path jsonpath)
returns text
language sql
immutable
as $$
  select case
    when bare.text ~ '[?@]' then 'contains a filter: write exists(...) or compare the values themselves'
    when bare.text ~ ',' then 'contains a list of subscripts'
    when bare.text ~ '\*\*' then 'contains .**: name the fields on the way'
    when bare.text ~ '\$""' then 'contains a variable'
    when length(bare.text) - length(replace(bare.text, '[', '')) > 10 then 'has more than 10 subscripts'
    when word.unknown is not null then format('%s is not allowed', word.unknown)
    when exists (
      select
      from regexp_split_to_table(bare.text, '&&|\|\|') as part
      where length(part) - length(replace(part, '$', '')) > 1
    ) then 'compares two paths: one side must be a constant'
    -- A path alone would be true of nothing.
    when jsonb_typeof(jsonb_path_query_first('{}', problem_of_path.path, silent => true))
      in ('boolean', 'null') is not true
    then 'is a path and no comparison: write what its value must be'
  end
  -- What is left of it without its strings; the names of fields are strings, too.
  from (select regexp_replace(problem_of_path.path::text, '"(?:[^"\\]|\\.)*"', '""', 'g')) as bare(text)
  left join lateral (
    select found[1]
    from regexp_matches(bare.text, '[[:alpha:]_]+', 'g') as found
    where found[1] <> all (array[
      'strict', 'lax', 'exists', 'like_regex', 'flag', 'starts', 'with', 'is', 'unknown', 'true', 'false', 'null', 'to',
      'last', 'type', 'size', 'double', 'ceiling', 'floor', 'abs'
    ])
    limit 1
  ) as word(unknown) on true;
$$;

comment on function tickwork.problem_of_path is
  'What in a path could take more steps than an event has values, or that it is no condition; null if all is well.';

create function tickwork.problem_of_patterns(path jsonpath)
returns text
language sql
immutable
as $$
  select case
    when count(*) > 2 then 'has more than 2 regular expressions'
    when max(length(pattern.text)) > 100 then 'has a regular expression of more than 100 characters'
    when bool_or(pattern.text ~ '\(\?|^\*\*\*') then 'has a regular expression with (? or ***'
    -- Back references and the like would take time without bounds.
    when bool_or(regexp_replace(pattern.text, '\\[dswDSW[:punct:]]', '', 'g') ~ '\\') then
      'has a regular expression with a backslash before a letter or digit other than d, s and w'
  end
  from regexp_matches(problem_of_patterns.path::text, 'like_regex "((?:[^"\\]|\\.)*)"', 'g') as found
  cross join lateral (select ('"' || found[1] || '"')::jsonb #>> '{}') as pattern(text);
$$;
