-- Search: by which words a chunk is found, and which chunks answer a query best.
--
-- A chunk's vector holds the stems of its words behind the last digits of its tenant's id. So the index is sorted by
-- tenant, and a search reads its own tenant's part of it only, however frequent a word is elsewhere.
--
--   'abcdef:mietvertrag'    the word, with weight A in titles and B elsewhere
--   'abcdef<gartrevteim'    a long word backwards, with weight C or D: what begins with gartrev ends with Vertrag
--   'abcdef^:mietvertrag'   the words of titles once more: where there are too many hits, these are looked at first

create function tickwork.separate_words(text text)
returns text
language sql
immutable
-- The parser would take Miete/Nebenkosten for a path, Nr.12 for a host and <Vertrag> for a tag: one word each, or none.
-- And ² is no 2 to it, ﬁ no fi.
return regexp_replace(replace(normalize(left(text, 20000), nfkc), chr(173), ''), '[-./_<>+~]', ' ', 'g');

create function tickwork.fold_umlauts(stem text)
returns text
language sql
immutable
-- The stemmer makes ü an u, and ß an ss. Before Postgres 18 it leaves ue as it is.
return replace(replace(replace(stem, 'ae', 'a'), 'oe', 'o'), 'ue', 'u');

create function tickwork.search_words(text text)
returns table (word text, positions smallint[], stem text, english_stem text)
language sql
immutable
begin atomic
  select
    stemmed.word,
    stemmed.positions,
    tickwork.fold_umlauts(stemmed.german),
    -- Where the English stemmer changes nothing, the word is hardly English.
    case
      when stemmed.english not in (stemmed.word, stemmed.german)
      then tickwork.fold_umlauts(stemmed.english)
    end
  from (
    select
      parsed.lexeme as word,
      parsed.positions,
      (ts_lexize('pg_catalog.german_stem', parsed.lexeme))[1] as german,
      (ts_lexize('pg_catalog.english_stem', parsed.lexeme))[1] as english
    from unnest(to_tsvector('pg_catalog.simple', tickwork.separate_words(search_words.text))) as parsed
    where length(parsed.lexeme) < 200
    offset 0
  ) as stemmed
  -- A stop word of either language is none to search for.
  where stemmed.german <> ''
    and stemmed.english <> '';
end;

create function tickwork.search_key(tenant_id uuid)
returns text
language sql
immutable
return right(tenant_id::text, 6);

create function tickwork.search_vector(tenant_id uuid, element_type text, text text)
returns tsvector
language sql
immutable
begin atomic
  select coalesce(string_agg(concat(
    '''', key.name, ':', words.stem, ''':', words.places,
    ' ''' || key.name || ':' || words.english_stem || ''':' || words.places,
    case
      when length(words.stem) > 6
      then concat(' ''', key.name, '<', reverse(words.stem), ''':', translate(words.places, 'AB', 'C'))
    end
  ), ' '), '')::tsvector
  from (
    select
      found.stem,
      found.english_stem,
      array_to_string(found.positions, kind.weight || ',') || kind.weight as places
    from tickwork.search_words(search_vector.text) as found
    cross join (select case search_vector.element_type when 'Title' then 'A' else 'B' end) as kind(weight)
    offset 0
  ) as words
  cross join unnest(
    case search_vector.element_type
      when 'Title' then array[
        tickwork.search_key(search_vector.tenant_id),
        tickwork.search_key(search_vector.tenant_id) || '^'
      ]
      else array[tickwork.search_key(search_vector.tenant_id)]
    end
  ) as key(name);
end;

comment on function tickwork.search_vector is
  'What a chunk is found by. Words beyond its first 20,000 characters, and words of 200 or more, are not.';

alter table public.document_chunks
add column search tsvector generated always as (tickwork.search_vector(tenant_id, element_type, text)) stored;

comment on column public.document_chunks.search is 'For search_chunks alone, which says how it is made.';

-- Statistics would say nothing: hardly any lexeme is frequent in all of the table.
alter table public.document_chunks alter column search set statistics 0;

-- What is pending is read by every search: a smaller list, a quicker one.
create index chunks_by_word on public.document_chunks using gin (search) with (gin_pending_list_limit = 512);

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
      -- In a compound the ending of a short word is cut off as well: Rechnung, but Stromrechn.
      ('<' || reverse(tickwork.fold_umlauts(
        substr((ts_lexize('pg_catalog.german_stem', 'neben' || search_parts.word))[1], 6)
      )))
  ) as part(lexeme)
  where search_parts.word !~ '[0-9]'
    and length(part.lexeme) > 4;
end;

comment on function tickwork.search_parts is
  'How lexemes begin that have the word as their first or last part, without the key; null for a short word.';

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
  'The words of a query in websearch syntax. Number counts its words and phrases, alternative the ors before them.';

create type tickwork.search_queries as (
  -- What hits match, by whole words alone or by parts of words too.
  by_words tsquery,
  by_parts tsquery,
  -- The same without what is excluded, to rank them.
  words tsquery,
  parts tsquery,
  -- Each word or phrase by itself, where all of them are wanted.
  terms tsquery[],
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
      -- Words consist of letters and digits, so that nothing in them has to be escaped.
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
      case when operands.is_excluded then '!' else '' end as sign,
      string_agg(concat(operands.distance_before, '(', operands.words, ')'), '' order by operands.place) as words,
      string_agg(
        concat(operands.distance_before, '(', operands.words, operands.parts, ')'), '' order by operands.place
      ) as parts
    from operands
    group by operands.number, operands.alternative, operands.is_excluded
  ),
  alternatives as (
    select
      string_agg(concat(phrases.sign, '(', phrases.words, ')'), '&') as by_words,
      string_agg(concat(phrases.sign, '(', phrases.parts, ')'), '&') as by_parts,
      string_agg(concat('(', phrases.words, ')'), '&') filter (where not phrases.is_excluded) as words,
      string_agg(concat('(', phrases.parts, ')'), '&') filter (where not phrases.is_excluded) as parts
    from phrases
    group by phrases.alternative
    -- What is excluded from nothing would be everything else.
    having not bool_and(phrases.is_excluded)
  )
  select
    string_agg(concat('(', alternatives.by_words, ')'), '|')::tsquery,
    string_agg(concat('(', alternatives.by_parts, ')'), '|')::tsquery,
    string_agg(concat('(', alternatives.words, ')'), '|')::tsquery,
    string_agg(concat('(', alternatives.parts, ')'), '|')::tsquery,
    (
      select array_agg(phrases.parts::tsquery) filter (where not phrases.is_excluded)
      from phrases
      having count(distinct phrases.alternative) = 1
    ),
    (
      select string_agg(concat('(', phrases.words, ')'), '|') filter (where phrases.is_excluded)
      from phrases
    )::tsquery
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
