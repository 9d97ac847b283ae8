-- A file of the vault becomes a document. The API, which has the key of the vault, puts files there first.

create function tickwork.add_document(document public.documents)
returns public.documents
language plpgsql
volatile
security definer -- a key that may only enqueue cannot read what it adds
set search_path = ''
as $$
declare
  added public.documents;
  rule text;
  field text;
begin
  perform tickwork.check_caller((document).tenant_id, '{enqueue, operate}');
  perform tickwork.wait_for_disk();

  insert into public.documents (tenant_id, name, vault_path, mime_type, size, sha256)
  values (
    (document).tenant_id, (document).name, (document).vault_path, (document).mime_type, (document).size,
    (document).sha256
  )
  returning * into added;

  return added;
exception
  when unique_violation then
    raise exception 'vault_path: there is a document with this file already'
      using errcode = 'TWDUP', hint = 'list_documents shows it.';
  when check_violation or not_null_violation then
    get stacked diagnostics rule = constraint_name, field = column_name;
    perform tickwork.raise_broken_rule(rule, field);
    return null;
end
$$;

create function public.add_document(
  tenant_id uuid,
  name text,
  vault_path text,
  mime_type text,
  size bigint,
  sha256 text default null
)
returns public.documents
language sql
volatile
return tickwork.add_document(
  row(
    null, tenant_id, name, vault_path, mime_type, size, sha256, null, null, null, null, null, null, null, null, null,
    null
  )::public.documents
);

comment on function public.add_document is
  'Sets down a file of the vault as a document: vault_path is tenant/<tenant>/documents/<uuid>.<extension>. For '
  'whoever may enqueue for the tenant. Raises TWTNT, TWMEM, TWENQ, TWARG, TWDUP, TWAUT.';

select tickwork.open_verbs('authenticated, service_role', array['add_document']);
