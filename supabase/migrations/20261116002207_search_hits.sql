-- Which chunks of which documents a query finds, and in which order.

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
  rank real
);

create function tickwork.chunks_of(tenant_id uuid, document_id uuid, doc_type text)
returns setof public.document_chunks
language sql
stable
-- Parsed at its definition, it is inlined into the statements that use it, so that their conditions use the index.
begin atomic
  select document_chunks.*
  from public.document_chunks
  where (
      -- Not by equality: where statistics are older than a tenant's documents, the planner would read all of them by
      -- their key, while the words, which have the tenant's key, read no more than they find.
      chunks_of.document_id is null and document_chunks.tenant_id is not distinct from chunks_of.tenant_id
      or document_chunks.tenant_id = chunks_of.tenant_id and document_chunks.document_id = chunks_of.document_id
    )
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

create function tickwork.documents_with(tenant_id uuid, excluded tsquery)
returns table (ids uuid[], are_all boolean)
language plpgsql
stable
as $$
begin
  return query
  select coalesce(array_agg(distinct found.document_id), '{}'), count(*) < 20000
  from (
    select document_chunks.document_id
    from public.document_chunks
    -- Not by equality, as in chunks_of.
    where document_chunks.tenant_id is not distinct from documents_with.tenant_id
      and document_chunks.search @@ documents_with.excluded
    limit 20000
  ) as found;
end
$$;

comment on function tickwork.documents_with is
  'The documents of the first 20,000 chunks that match, and whether there are no more.';

create function tickwork.search_within(
  tenant_id uuid,
  document_id uuid,
  doc_type text,
  key text,
  sought tickwork.search_queries,
  barred uuid[]
)
returns setof tickwork.ranked_chunk
language plpgsql
stable
as $$
declare
  -- Lexemes contain no quotes: each quote followed by the key begins one.
  in_titles constant tsquery := replace(sought.parts::text, '''' || key, '''' || key || '^')::tsquery;
begin
  return query
  with chunks as not materialized (
    select *
    from tickwork.chunks_of(search_within.tenant_id, search_within.document_id, search_within.doc_type)
  ),
  -- One after the other, and no further than the limits: those of barred documents are read in vain.
  titles as (
    select chunks.*, chunks.search @@ sought.words as has_words
    from chunks
    where chunks.search @@ in_titles
    limit 20000
  ),
  others as (
    select chunks.*, true as has_words
    from chunks
    where chunks.search @@ sought.words
      and chunks.element_type <> 'Title'
    union all
    select chunks.*, false
    from chunks
    where sought.parts <> sought.words
      and chunks.search @@ sought.parts
      and not chunks.search @@ sought.words
      and chunks.element_type <> 'Title'
    limit 20000
  ),
  candidates as (
    (select * from titles where titles.document_id <> all (search_within.barred) limit 1000)
    union all
    (select * from others where others.document_id <> all (search_within.barred) limit 2000)
  )
  select
    candidates.document_id,
    candidates.chunk_index,
    -- The length counts as well: a word means more in a short chunk.
    case
      when candidates.has_words
      then ts_rank('{0.05, 0.2, 0.4, 1}', candidates.search, sought.words, 1)
      else ts_rank('{0.05, 0.2, 0.4, 1}', candidates.search, sought.parts, 1) * 0.1::real
    end
  from candidates;
end
$$;

comment on function tickwork.search_within is
  'The chunks that match a whole alternative of the query, in documents that are not barred.';

create function tickwork.search_across(
  tenant_id uuid,
  document_id uuid,
  doc_type text,
  terms tsquery[],
  barred uuid[]
)
returns setof tickwork.ranked_chunk
language plpgsql
stable
as $$
declare
  any_term constant tsquery := (select string_agg(concat('(', term, ')'), '|')::tsquery from unnest(terms) as term);
  -- Where all words are, the rarest is: no more than its documents need to be looked at.
  with_rarest constant uuid[] := (
    select found.documents[1:200]
    from unnest(search_across.terms[1:10]) as wanted(term)
    cross join lateral (
      select
        array_agg(distinct chunk.document_id) filter (where chunk.document_id <> all (search_across.barred))
          as documents,
        count(*) as chunks
      from (
        select chunks_of.document_id
        from tickwork.chunks_of(search_across.tenant_id, search_across.document_id, search_across.doc_type)
        where chunks_of.search @@ wanted.term
        limit 5000
      ) as chunk
    ) as found
    order by found.chunks
    limit 1
  );
begin
  return query
  with chunks as (
    select chunk.document_id, chunk.chunk_index, chunk.search
    from unnest(with_rarest) as document(id)
    -- Ordered, so that the chunks of the document are read one by one, and not those of the tenant with a word.
    cross join lateral (
      select document_chunks.*
      from public.document_chunks
      where document_chunks.tenant_id = search_across.tenant_id
        and document_chunks.document_id = document.id
        and document_chunks.search @@ any_term
      order by document_chunks.chunk_index
      limit 2000
    ) as chunk
  ),
  whole as (
    select chunks.document_id
    from chunks
    cross join unnest(search_across.terms) as wanted(term)
    where chunks.search @@ wanted.term
    group by chunks.document_id
    having count(distinct wanted.term) = cardinality(search_across.terms)
  )
  select
    chunks.document_id,
    chunks.chunk_index,
    ts_rank('{0.05, 0.2, 0.4, 1}', chunks.search, any_term, 1) * 0.01::real
  from chunks
  where chunks.document_id in (select whole.document_id from whole);
end
$$;

comment on function tickwork.search_across is
  'The chunks, with at least one of the words, of documents that have all of them in one chunk or another.';

create function tickwork.hits_without(tenant_id uuid, hits tickwork.ranked_chunk[], excluded tsquery)
returns setof tickwork.ranked_chunk
language plpgsql
stable
as $$
begin
  return query
  select hit.*
  from unnest(hits_without.hits) as hit
  join (
    select found.id
    from (select distinct each.document_id from unnest(hits_without.hits) as each) as found(id)
    -- As above, ordered to read the chunks of the document.
    left join lateral (
      select true as has_excluded
      from public.document_chunks
      where document_chunks.tenant_id = hits_without.tenant_id
        and document_chunks.document_id = found.id
        and document_chunks.search @@ hits_without.excluded
      order by document_chunks.chunk_index
      limit 1
    ) as chunk on true
    where chunk.has_excluded is null
  ) as document on document.id = hit.document_id;
end
$$;

comment on function tickwork.hits_without is 'Those of the hits whose documents have no chunk that matches.';

create function tickwork.search_page(
  tenant_id uuid,
  hits tickwork.ranked_chunk[],
  marks text[],
  max_hits integer,
  skip integer
)
returns setof tickwork.search_hit
language sql
stable
begin atomic
  with best as (
    select hit.document_id, hit.chunk_index, max(hit.rank) as rank
    from unnest(search_page.hits) as hit
    group by hit.document_id, hit.chunk_index
  ),
  page as (
    select
      best.*,
      max(best.rank) over (partition by best.document_id) as rank_of_document,
      count(*) over ()::integer as total
    from best
    order by rank_of_document desc, best.document_id, best.rank desc, best.chunk_index
    limit search_page.max_hits
    offset search_page.skip
  )
  select
    documents.id, documents.name, documents.doc_type, page.chunk_index, chunks.page_number, chunks.element_type,
    tickwork.search_snippet(chunks.text, chunks.search, search_page.marks), page.rank, page.total
  from page
  join public.documents on documents.id = page.document_id
  -- One by one, whatever the statistics say: a join might read all chunks of the documents, or of the tenant.
  cross join lateral (
    select document_chunks.*
    from public.document_chunks
    where document_chunks.tenant_id = search_page.tenant_id
      and document_chunks.document_id = page.document_id
      and document_chunks.chunk_index = page.chunk_index
    limit 1
  ) as chunks
  order by page.rank_of_document desc, page.document_id, page.rank desc, page.chunk_index;
end;

comment on function tickwork.search_page is 'A page of hits, document by document, each with its best hit first.';
