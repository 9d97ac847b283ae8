-- Who may get a URL with which anybody can read the file of a document, and for how long.

create function public.sign_document(document_id uuid, seconds integer default 300)
returns table (tenant_id uuid, vault_path text)
language plpgsql
stable
set search_path = ''
as $$
begin
  if sign_document.seconds is null or sign_document.seconds not between 1 and 86400 then
    raise exception 'seconds: % is out of range, it must be 1 to 86400',
      coalesce(sign_document.seconds::text, 'null')
      using errcode = 'TWARG', hint = 'A URL is valid for at most a day. Sign the document again when needed.';
  end if;

  -- Row-level security shows a member the documents of his tenants and nobody else's.
  return query
  select documents.tenant_id, documents.vault_path
  from public.documents
  where documents.id = sign_document.document_id;

  if not found then
    raise exception 'document_id: there is no document %', coalesce(sign_document.document_id::text, 'null')
      using errcode = 'TWDOC', hint = 'document_overview shows the documents that you may see.';
  end if;
end
$$;

comment on function public.sign_document is
  'Reads which file of the vault belongs to a document that the caller may see, to sign a URL for so many seconds. The '
  'client of the same name does that with the key of the vault, which the database does not have. Raises TWDOC, TWARG.';

select tickwork.open_verbs('authenticated, service_role', array['sign_document']);
