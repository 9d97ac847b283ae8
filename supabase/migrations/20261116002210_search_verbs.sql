-- Search as clients call it.

create function tickwork.check_search(tenant_id uuid, query text, max_hits integer, skip integer)
returns void
language plpgsql
immutable
as $$
begin
  if check_search.tenant_id is null then
    raise exception 'tenant_id: must be given'
      using errcode = 'TWARG', hint = 'A search covers the documents of one tenant.';
  end if;

  if check_search.query is null or length(check_search.query) > 1000 then
    raise exception 'query: must be a text of at most 1000 characters, not %',
      coalesce('of ' || length(check_search.query), 'null')
      using errcode = 'TWARG', hint = 'For example: mietvertrag "drei Monate" -kündigung.';
  end if;

  if check_search.max_hits is null or check_search.max_hits not between 1 and 100 then
    raise exception 'max_hits: % is out of range, it must be 1 to 100', coalesce(check_search.max_hits::text, 'null')
      using errcode = 'TWARG', hint = 'Ask for the next page with skip.';
  end if;

  if check_search.skip is null or check_search.skip < 0 then
    raise exception 'skip: must be 0 or more, not %', coalesce(check_search.skip::text, 'null')
      using errcode = 'TWARG', hint = 'Pass the number of hits on the previous pages.';
  end if;
end
$$;

create type tickwork.search_hit as (
  document_id uuid,
  name text,
  doc_type text,
  chunk_index integer,
  page_number integer,
  element_type text,
  snippet text,
  rank real,
  total integer
);

create type tickwork.ranked_chunk as (
  document_id uuid,
  chunk_index integer,
  page_number integer,
  element_type text,
  text text,
  search tsvector,
  rank real,
  total integer
);

create function tickwork.search_chunks(
  tenant_id uuid,
  query text,
  max_hits integer,
  skip integer,
  document_id uuid,
  doc_type text
)
returns setof tickwork.search_hit
language plpgsql
stable
security definer -- under row-level security the index cannot be used, because @@ is not leakproof
set search_path = ''
set enable_seqscan = off
set jit = off
as $$
declare
  key constant text := tickwork.search_key(search_chunks.tenant_id);
  sought tickwork.search_queries;
  marks text[];
  hits tickwork.ranked_chunk[];
begin
  perform tickwork.check_search(
    search_chunks.tenant_id, search_chunks.query, search_chunks.max_hits, search_chunks.skip
  );

  -- A foreign tenant looks like an empty one: nobody learns which ids exist.
  if not tickwork.may_act_for(search_chunks.tenant_id) then
    return;
  end if;

  sought := tickwork.search_queries(key, search_chunks.query);
  marks := tickwork.search_marks(key, search_chunks.query);
  hits := array(select hit from tickwork.search_within(
    search_chunks.tenant_id, search_chunks.document_id, search_chunks.doc_type, key, sought, search_chunks.max_hits,
    search_chunks.skip
  ) as hit);

  if hits = '{}' and cardinality(sought.terms) > 1 then
    hits := array(select hit from tickwork.search_across(
      search_chunks.tenant_id, search_chunks.document_id, search_chunks.doc_type, sought, search_chunks.max_hits,
      search_chunks.skip
    ) as hit);
  end if;

  return query
  select
    documents.id, documents.name, documents.doc_type, hit.chunk_index, hit.page_number, hit.element_type,
    tickwork.search_snippet(hit.text, hit.search, marks), hit.rank, hit.total
  from unnest(hits) as hit
  join public.documents on documents.id = hit.document_id
  order by hit.rank desc, hit.document_id, hit.chunk_index;
end
$$;

create function tickwork.chunks_of(tenant_id uuid, document_id uuid, doc_type text)
returns setof public.document_chunks
language sql
stable
-- Parsed at its definition, it is inlined into the statements that use it, so that their conditions use the index.
begin atomic
  select document_chunks.*
  from public.document_chunks
  where document_chunks.tenant_id = chunks_of.tenant_id
    and (chunks_of.document_id is null or document_chunks.document_id = chunks_of.document_id)
    and (
      chunks_of.doc_type is null
      or exists (
        select
        from public.documents
        where documents.id = document_chunks.document_id
          and documents.doc_type = chunks_of.doc_type
      )
    );
end;

create function tickwork.search_within(
  tenant_id uuid,
  document_id uuid,
  doc_type text,
  key text,
  sought tickwork.search_queries,
  max_hits integer,
  skip integer
)
returns setof tickwork.ranked_chunk
language plpgsql
stable
as $$
declare
  -- Lexemes contain no quotes: each quote followed by the key begins one.
  in_titles constant tsquery := replace(sought.by_parts::text, '''' || key, '''' || key || '^')::tsquery;
begin
  return query
  with chunks as not materialized (
    select *
    from tickwork.chunks_of(search_within.tenant_id, search_within.document_id, search_within.doc_type)
  ),
  -- One after the other, and no further than the limit.
  candidates as (
    (
      select chunks.*, chunks.search @@ sought.by_words as has_words
      from chunks
      where chunks.search @@ in_titles
      limit 1000
    )
    union all
    (
      select chunks.*, true
      from chunks
      where chunks.search @@ sought.by_words
        and chunks.element_type <> 'Title'
      union all
      select chunks.*, false
      from chunks
      where sought.by_parts <> sought.by_words
        and chunks.search @@ sought.by_parts
        and not chunks.search @@ sought.by_words
        and chunks.element_type <> 'Title'
      limit 2000
    )
  )
  select
    candidates.document_id, candidates.chunk_index, candidates.page_number, candidates.element_type,
    candidates.text, candidates.search,
    -- The length counts as well: a word means more in a short chunk.
    case
      when candidates.has_words
      then ts_rank('{0.05, 0.2, 0.4, 1}', candidates.search, sought.words, 1)
      else ts_rank('{0.05, 0.2, 0.4, 1}', candidates.search, sought.parts, 1) * 0.1::real
    end as rank,
    count(*) over ()::integer
  from candidates
  order by rank desc, candidates.document_id, candidates.chunk_index
  limit search_within.max_hits
  offset search_within.skip;
end
$$;

comment on function tickwork.search_within is 'The best of the chunks that match the whole query.';

create function tickwork.search_across(
  tenant_id uuid,
  document_id uuid,
  doc_type text,
  sought tickwork.search_queries,
  max_hits integer,
  skip integer
)
returns setof tickwork.ranked_chunk
language plpgsql
stable
as $$
declare
  any_term constant tsquery := (
    select string_agg(concat('(', term, ')'), '|')::tsquery
    from unnest(sought.terms) as term
  );
begin
  return query
  with chunks as (
    select chunks_of.*
    from tickwork.chunks_of(search_across.tenant_id, search_across.document_id, search_across.doc_type)
    where chunks_of.search @@ any_term
      and (chunks_of.search @@ sought.excluded) is not true
    limit 3000
  ),
  whole as (
    select
      chunks.document_id,
      -- Hits on an earlier page of the usual search are no reason to search like this.
      bool_or(chunks.search @@ sought.by_parts) as is_found_already
    from chunks
    cross join unnest(sought.terms) as wanted(term)
    where chunks.search @@ wanted.term
    group by chunks.document_id
    having count(distinct wanted.term) = cardinality(sought.terms)
  )
  select
    chunks.document_id, chunks.chunk_index, chunks.page_number, chunks.element_type, chunks.text, chunks.search,
    ts_rank('{0.05, 0.2, 0.4, 1}', chunks.search, any_term, 1) * 0.01::real as rank,
    count(*) over ()::integer
  from chunks
  join whole on whole.document_id = chunks.document_id
  where not exists (select from whole where whole.is_found_already)
  order by rank desc, chunks.document_id, chunks.chunk_index
  limit search_across.max_hits
  offset search_across.skip;
end
$$;

comment on function tickwork.search_across is
  'Where no chunk matches the whole query: the chunks of documents that have all its words. Each of them has at least '
  'one.';

create function public.search_chunks(
  tenant_id uuid,
  query text,
  max_hits integer default 20,
  skip integer default 0,
  document_id uuid default null,
  doc_type text default null
)
returns setof tickwork.search_hit
language sql
stable
set search_path = ''
as $$
  select *
  from tickwork.search_chunks(
    search_chunks.tenant_id, search_chunks.query, search_chunks.max_hits, search_chunks.skip,
    search_chunks.document_id, search_chunks.doc_type
  );
$$;

comment on function public.search_chunks is
  'Reads the chunks of a tenant that match a query, the best first, and at equal rank by document and index. Websearch '
  'syntax: words, "a phrase", or, -excluded. A word is also found in its other forms, and at the beginning or the end '
  'of another word; in quotes it is not. Titles rank above text, words above parts of words, near above far. If no '
  'chunk has all the words, the chunks of documents that have them are returned. At most the first 1,000 titles and '
  '2,000 other chunks that match, in the order in which they were stored, are read, ranked and counted in total, those '
  'with whole words before the others. The snippet is plain text with the hits between « and »: it may look like HTML, '
  'so escape it. Raises TWARG.';

-- Whoever inserts a chunk generates its vector.
select tickwork.open_verbs('tickwork_worker, service_role', array[
  'separate_words', 'fold_umlauts', 'search_words', 'search_key', 'search_vector'
]);
select tickwork.open_verbs('authenticated, service_role', array['search_chunks']);
