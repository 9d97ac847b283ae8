-- What a query looks for, and how a hit is shown.

create function tickwork.search_parts(word text, stem text)
returns text[]
language sql
immutable
begin atomic
  select array_agg(distinct part.lexeme)
  from (
    values
      (':' || search_parts.stem),
      ('<' || reverse(search_parts.stem)),
      -- In a compound the stemmer also cuts the ending of a short word: Rechnung, but Stromrechn.
      ('<' || reverse(tickwork.fold_umlauts(
        substr((ts_lexize('pg_catalog.german_stem', 'neben' || search_parts.word))[1], 6)
      )))
  ) as part(lexeme)
  where search_parts.word !~ '[0-9]'
    and length(part.lexeme) > 4;
end;

comment on function tickwork.search_parts is
  'The beginnings of lexemes whose first or last part is the word, without the key; null for a short word.';

create function tickwork.search_terms(query text)
returns table (
  number bigint,
  alternative bigint,
  is_excluded boolean,
  place smallint,
  distance integer,
  stem text,
  english_stem text,
  parts text[]
)
language sql
immutable
begin atomic
  with tokens as (
    select
      token.number,
      token.groups[1] = '-' as is_excluded,
      token.groups[2] is not null as is_quoted,
      coalesce(token.groups[2], token.groups[3]) as text,
      count(*) filter (where token.groups[1] = '' and lower(token.groups[3]) in ('or', 'oder'))
        over (order by token.number) as alternative
    from regexp_matches(
      normalize(search_terms.query, nfkc), '(-?)(?:"([^"]*)(?:"|$)|([^\s"]+))', 'g'
    ) with ordinality as token(groups, number)
  )
  select
    tokens.number,
    tokens.alternative,
    tokens.is_excluded,
    occurrence.place,
    occurrence.place - lag(occurrence.place) over (partition by tokens.number order by occurrence.place),
    words.stem,
    words.english_stem,
    case
      when not tokens.is_quoted and not tokens.is_excluded and count(*) over (partition by tokens.number) = 1
      then tickwork.search_parts(words.word, words.stem)
    end
  from tokens
  cross join lateral tickwork.search_words(tokens.text) as words
  cross join lateral unnest(words.positions) as occurrence(place);
end;

comment on function tickwork.search_terms is
  'The words of a query in websearch syntax. number counts its words and phrases, alternative the ors before them.';

create type tickwork.search_queries as (
  -- What hits match: by whole words only, or by parts of words too.
  words tsquery,
  parts tsquery,
  -- Each word or phrase that is wanted, and the alternative that it belongs to.
  terms tsquery[],
  alternatives bigint[],
  -- What no document that is found has.
  excluded tsquery
);

create function tickwork.search_queries(key text, query text)
returns tickwork.search_queries
language sql
immutable
begin atomic
  with operands as (
    select
      terms.number,
      terms.alternative,
      terms.is_excluded,
      terms.place,
      coalesce('<' || terms.distance || '>', '') as distance_before,
      -- Words consist of letters and digits, so nothing in them needs escaping.
      concat(
        '''', search_queries.key, ':', terms.stem, '''',
        '|''' || search_queries.key || ':' || terms.english_stem || ''''
      ) as words,
      (
        select string_agg(concat('|''', search_queries.key, part.lexeme, ''':*'), '')
        from unnest(terms.parts) as part(lexeme)
      ) as parts
    from tickwork.search_terms(search_queries.query) as terms
  ),
  phrases as (
    select
      operands.alternative,
      operands.is_excluded,
      string_agg(concat(operands.distance_before, '(', operands.words, ')'), '' order by operands.place) as words,
      string_agg(
        concat(operands.distance_before, '(', operands.words, operands.parts, ')'), '' order by operands.place
      ) as parts
    from operands
    group by operands.number, operands.alternative, operands.is_excluded
  ),
  wanted as (
    select distinct phrases.alternative, phrases.words, phrases.parts
    from phrases
    where not phrases.is_excluded
  ),
  alternatives as (
    select
      string_agg(concat('(', wanted.words, ')'), '&') as words,
      string_agg(concat('(', wanted.parts, ')'), '&') as parts
    from wanted
    group by wanted.alternative
  )
  select
    string_agg(concat('(', alternatives.words, ')'), '|')::tsquery,
    string_agg(concat('(', alternatives.parts, ')'), '|')::tsquery,
    (select array_agg(wanted.parts::tsquery order by wanted.alternative, wanted.parts) from wanted),
    (select array_agg(wanted.alternative order by wanted.alternative, wanted.parts) from wanted),
    (select string_agg(concat('(', phrases.words, ')'), '|') from phrases where phrases.is_excluded)::tsquery
  from alternatives;
end;

comment on function tickwork.search_queries is
  'What to look for in the vectors with this key; nulls if there is nothing to search for.';

create function tickwork.search_marks(key text, query text)
returns text[]
language sql
immutable
begin atomic
  select array_agg(search_marks.key || mark.pattern)
  from tickwork.search_terms(search_marks.query) as terms
  cross join lateral (
    values (':' || terms.stem), (':' || terms.english_stem)
    union all
    select part.lexeme || '%'
    from unnest(terms.parts) as part(lexeme)
  ) as mark(pattern)
  where not terms.is_excluded
    and mark.pattern is not null;
end;

comment on function tickwork.search_marks is 'Patterns of the lexemes that a query finds in the vectors with this key.';

create function tickwork.search_snippet(text text, search tsvector, marks text[])
returns text
language sql
immutable
begin atomic
  -- Characters that the parser would not read as parts of words, or a reader as a mark, are hidden and put back.
  select translate(
    regexp_replace(
      ts_headline(
        'pg_catalog.simple',
        translate(left(search_snippet.text, 20000), './-_<>+~&«»', E'\x01\x02\x03\x04\x05\x06\x07\x0e\x0f‹›'),
        string_agg('''' || words.lexeme || '''', '|')::tsquery,
        'StartSel=«, StopSel=», ShortWord=0, ' || case
          when length(search_snippet.text) <= 200 then 'HighlightAll=true'
          else 'MaxFragments=2, MaxWords=20, MinWords=10, FragmentDelimiter=" … "'
        end
      ),
      '\s+', ' ', 'g'
    ),
    E'\x01\x02\x03\x04\x05\x06\x07\x0e\x0f',
    './-_<>+~&'
  )
  from unnest(to_tsvector('pg_catalog.simple', tickwork.separate_words(search_snippet.text))) as words
  where words.positions && array(
    select place.number
    from unnest(search_snippet.search) as found
    cross join unnest(found.positions) as place(number)
    where found.lexeme like any (search_snippet.marks)
  );
end;
