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
-- So that documents to leave out are looked up by hash and not one by one.
set plan_cache_mode = force_custom_plan
as $$
declare
  key constant text := tickwork.search_key(search_chunks.tenant_id);
  sought tickwork.search_queries;
  barred uuid[];
  are_all_barred boolean;
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

  select found.ids, found.are_all into barred, are_all_barred
  from tickwork.documents_with(search_chunks.tenant_id, sought.excluded) as found;

  hits := array(
    select hit
    from tickwork.search_within(
      search_chunks.tenant_id, search_chunks.document_id, search_chunks.doc_type, key, sought, barred
    ) as hit
  );
  barred := barred || array(select distinct hit.document_id from unnest(hits) as hit);
  hits := hits || array(
    select hit
    from (
      select array_agg(wanted.term) as terms
      from unnest(sought.terms, sought.alternatives) as wanted(term, alternative)
      group by wanted.alternative
      having count(*) > 1
      order by wanted.alternative
      limit 5
    ) as alternative
    cross join lateral tickwork.search_across(
      search_chunks.tenant_id, search_chunks.document_id, search_chunks.doc_type, alternative.terms, barred
    ) as hit
  );

  if not are_all_barred then
    hits := array(select hit from tickwork.hits_without(search_chunks.tenant_id, hits, sought.excluded) as hit);
  end if;

  return query
  select *
  from tickwork.search_page(
    search_chunks.tenant_id, hits, tickwork.search_marks(key, search_chunks.query), search_chunks.max_hits,
    search_chunks.skip
  );
end
$$;

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
  'Reads the chunks of a tenant that match a query, document by document: the document with the best hit first, in '
  'it the best hit first, and at equal rank by document and index. Websearch syntax: words, "a phrase", or, '
  '-excluded. All words have to be in a document, and an excluded one must not be anywhere in it. Chunks that have '
  'all the words themselves are preferred: in their documents no others are shown, and other documents rank below. '
  'A word is also found in its other forms, and at the beginning or the end of another word; in quotes it is not. '
  'Titles rank above text, words above parts of words, near above far. At most the first 1,000 titles and 2,000 '
  'other chunks that match, in the order in which they were stored, are read, ranked and counted in total, those '
  'with whole words before the others, and for words in different chunks 200 documents with the rarest word. The '
  'snippet is plain text with the hits between « and »: it may look like HTML, so escape it. Raises TWARG.';

-- Whoever inserts a chunk generates its vector.
select tickwork.open_verbs('tickwork_worker, service_role', array[
  'separate_words', 'fold_umlauts', 'search_words', 'search_key', 'search_vector'
]);
select tickwork.open_verbs('authenticated, service_role', array['search_chunks']);
