-- Reads: documents, each with its latest extraction.

create function public.list_documents(
  tenant_id uuid default null,
  doc_type text default null,
  after_document_id uuid default null,
  max_rows integer default 50
)
returns setof public.document_overview
language sql
stable
set search_path = ''
as $$
  select document_overview.*
  from public.document_overview
  where (list_documents.tenant_id is null or document_overview.tenant_id = list_documents.tenant_id)
    and (list_documents.doc_type is null or document_overview.doc_type = list_documents.doc_type)
    and (
      list_documents.after_document_id is null
      or (document_overview.created_at, document_overview.id) < (
        select last.created_at, last.id
        from public.documents as last
        where last.id = list_documents.after_document_id
      )
    )
  order by document_overview.created_at desc, document_overview.id desc
  limit greatest(least(list_documents.max_rows, 1000), 0);
$$;

comment on function public.list_documents is
  'Reads documents, each with its latest extraction, the newest first. For the next page, pass the last id of this one '
  'as after_document_id. At most 1000 at a time.';

create function public.get_document(document_id uuid)
returns public.document_overview
language plpgsql
stable
set search_path = ''
as $$
declare
  document public.document_overview;
begin
  select * into document
  from public.document_overview
  where document_overview.id = get_document.document_id;

  if not found then
    raise exception 'document_id: there is no document %', coalesce(get_document.document_id::text, 'null')
      using errcode = 'TWDOC', hint = 'list_documents shows the documents that you may see.';
  end if;

  return document;
end
$$;

comment on function public.get_document is
  'Reads a document with its latest extraction. Raises TWDOC.';

select tickwork.open_verbs('authenticated, service_role', array['list_documents', 'get_document']);
