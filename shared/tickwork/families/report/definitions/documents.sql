-- The documents that were added in the period
select id as document_id, name, doc_type, mime_type, size, page_count, created_at
from public.documents
where created_at >= %(begins_at)s
  and created_at < %(ends_at)s
order by created_at
