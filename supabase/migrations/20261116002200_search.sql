-- Search: which words find a chunk, and which chunks match a query best.
--
-- A chunk's vector holds the stems of its words, each prefixed with the last digits of its tenant's id. So the index is
-- sorted by tenant, and a search reads only its own tenant's part of it, however frequent a word is elsewhere.
--
--   'abcdef:mietvertrag'    the word, with weight A in titles and B elsewhere
--   'abcdef<gartrevteim'    a long word reversed, with weight C or D: whatever begins with gartrev ends with Vertrag
--   'abcdef^:mietvertrag'   the words of titles once more: if there are too many hits, these are read first

create function tickwork.separate_words(text text)
returns text
language sql
immutable
-- The parser would take Miete/Nebenkosten for a path, Nr.12 for a host and <Vertrag> for a tag: one word each, or none.
-- Nor does it read ² as 2, or ﬁ as fi.
return regexp_replace(replace(normalize(left(text, 20000), nfkc), chr(173), ''), '[-./_<>+~]', ' ', 'g');

create function tickwork.fold_umlauts(stem text)
returns text
language sql
immutable
-- The stemmer turns ü into u and ß into ss. Before Postgres 18 it leaves ue as it is.
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
    -- If the English stemmer changes nothing, the word is probably not English.
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
  -- A stop word of either language is not searched for.
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
  'What finds a chunk. Words beyond its first 20,000 characters, and words of 200 or more characters, are left out.';

alter table public.document_chunks
add column search tsvector generated always as (tickwork.search_vector(tenant_id, element_type, text)) stored;

comment on column public.document_chunks.search is 'Only for search_chunks. search_vector generates it.';

-- Statistics would be useless: hardly any lexeme is frequent across the whole table.
alter table public.document_chunks alter column search set statistics 0;

-- Every search reads the whole pending list: a smaller list makes it faster.
create index chunks_by_word on public.document_chunks using gin (search) with (gin_pending_list_limit = 512);
