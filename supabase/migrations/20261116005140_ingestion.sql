-- Files of the vault become versions of passport documents by a job, which first has their text extracted if need be.

insert into public.job_types (
  key, family, description, timeout_seconds, max_attempts, backoff, priority, enqueued_by, max_running_per_tenant
)
values (
  'ingest_document', 'extract', 'Make a file of the vault a version of a passport document', 600, 5,
  '{"base": 2, "factor": 2, "cap": 1024}', 10, 'member', 3
);

create function tickwork.add_held_document_version(
  document_version_id uuid,
  passport_document_id uuid,
  document_id uuid,
  schema_version text
)
returns public.document_versions
language plpgsql
volatile
security definer -- the worker may not lock passport documents
set search_path = ''
as $$
declare
  tenant constant uuid := tickwork.tenant_of_held_job();
  document public.documents;
begin
  select * into document
  from public.documents
  where documents.id = add_held_document_version.document_id
    and documents.tenant_id = tenant;

  if not found then
    raise exception 'document_id: there is no document %',
      coalesce(add_held_document_version.document_id::text, 'null')
      using errcode = 'TWDOC', hint = 'It must be a document of the tenant whose job is held.';
  end if;

  return tickwork.insert_document_version(
    add_held_document_version.document_version_id, document, add_held_document_version.passport_document_id,
    add_held_document_version.schema_version
  );
end
$$;

create function public.add_held_document_version(
  document_version_id uuid,
  passport_document_id uuid,
  document_id uuid,
  schema_version text default '1'
)
returns public.document_versions
language sql
volatile
return tickwork.add_held_document_version(document_version_id, passport_document_id, document_id, schema_version);

comment on function public.add_held_document_version is
  '-> uploaded. Like add_document_version, for the tenant of the job held by hold_job in this transaction, and without '
  'parse_facts, which the job has to name as a follow-up. Raises TWLSE, TWDOC.';

select tickwork.open_verbs('tickwork_worker', array['add_held_document_version']);
