-- Documents: files in the vault, and the text extracted from them.

create table public.documents (
  id uuid primary key default gen_random_uuid(),
  tenant_id uuid not null references public.tenant_settings (tenant_id) on delete cascade,
  name text not null,
  vault_path text not null,
  mime_type text not null,
  size bigint not null,
  sha256 text,
  page_count integer,
  doc_type text,
  doc_type_confidence double precision,
  doc_type_source text,
  doc_type_runner_up text,
  doc_type_runner_up_confidence double precision,
  node text,
  created_by uuid default tickwork.caller_id(),
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  constraint name_is_1_to_500_characters check (length(name) between 1 and 500),
  -- Otherwise a tenant could name another tenant's file and have its text extracted.
  constraint vault_path_is_the_tenants_own check (
    vault_path ~ ('^tenant/' || tenant_id::text || '(/[A-Za-z0-9_-][A-Za-z0-9_.-]*)+$')
  ),
  constraint mime_type_is_one check (mime_type ~ '^[a-z0-9.+-]{1,100}/[a-z0-9.+-]{1,100}$'),
  constraint size_is_0_to_1_tb check (size between 0 and 1000000000000),
  constraint sha256_is_64_hex_digits check (sha256 ~ '^[0-9a-f]{64}$'),
  constraint doc_type_comes_from_somewhere check (
    (doc_type is null) = (doc_type_source is null) and doc_type_source in ('classifier', 'member')
  )
);

comment on table public.documents is 'Files in the vault. Clients insert and read them.';
comment on column public.documents.name is 'What people call the file. Never part of a path.';
comment on column public.documents.vault_path is
  'The key of the file in the vault: tenant/<tenant>/documents/<uuid>.<extension>, as uploads choose it.';
comment on column public.documents.sha256 is 'Of the file''s bytes; filled in by the extraction if it is missing.';
comment on column public.documents.doc_type is
  'A key of document_types. A type set by a member overrides the classifier.';
comment on column public.documents.doc_type_runner_up is
  'The type that the classifier found next best, or better but not probable enough where doc_type is other.';
comment on column public.documents.node is 'The folder where the document belongs.';

create index documents_of_a_tenant on public.documents (tenant_id, created_at, id);
-- For foreign keys that include the tenant, because foreign keys bypass row-level security.
create unique index documents_of_their_tenant on public.documents (tenant_id, id);
create unique index documents_by_path on public.documents (tenant_id, vault_path);
create index documents_by_content on public.documents (tenant_id, sha256) where sha256 is not null;

create trigger note_update before update on public.documents
for each row execute function tickwork.note_update();

create table public.extractions (
  id uuid primary key default gen_random_uuid(),
  tenant_id uuid not null,
  document_id uuid not null,
  job_id uuid,
  engine text not null,
  status text not null default 'queued',
  consent_given_at timestamptz,
  consent_given_by uuid,
  estimated_pages integer,
  estimated_cost_cents integer,
  actual_pages integer,
  actual_cost_cents integer,
  result_json jsonb,
  error_code text,
  error_message text,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  started_at timestamptz,
  finished_at timestamptz,
  constraint document_is_the_tenants_own foreign key (tenant_id, document_id)
    references public.documents (tenant_id, id) on delete cascade,
  constraint engine_is_known check (engine in ('local', 'unstructured_fast', 'unstructured_hires')),
  constraint status_is_known check (status in ('queued', 'running', 'done', 'failed')),
  constraint done_and_failed_are_finished check ((status in ('done', 'failed')) = (finished_at is not null))
);

comment on table public.extractions is
  'Each request to extract the text of a document: with which engine, with whose consent, and how it ended.';
comment on column public.extractions.job_id is 'The job of this extraction.';
comment on column public.extractions.consent_given_at is
  'When somebody agreed to send the document to the third party behind the engine. Without consent it is not sent.';

create index extractions_of_a_document on public.extractions (document_id, created_at);
-- For the foreign key of chunks, which includes the tenant and the document.
create unique index extractions_of_their_document on public.extractions (tenant_id, document_id, id);
create index extractions_by_job on public.extractions (job_id);

create trigger note_update before update on public.extractions
for each row execute function tickwork.note_update();

create table public.document_chunks (
  id uuid primary key default gen_random_uuid(),
  tenant_id uuid not null,
  document_id uuid not null,
  extraction_id uuid not null,
  chunk_index integer not null,
  page_number integer,
  element_type text not null,
  text text not null,
  metadata jsonb not null default '{}',
  created_at timestamptz not null default clock_timestamp(),
  constraint chunk_index_is_unique_in_its_document unique (tenant_id, document_id, chunk_index),
  -- An extraction belongs to a document of the tenant, so its chunks do.
  constraint extraction_is_the_documents_own foreign key (tenant_id, document_id, extraction_id)
    references public.extractions (tenant_id, document_id, id) on delete cascade
);

comment on table public.document_chunks is
  'The text of each document in small pieces, in reading order, for the search.';

-- The worker gets no more than the handlers need.
select tickwork.guard_table(
  'public.documents',
  members => 'select', worker => 'select, insert, update', service => 'select, insert, update, delete'
);
select tickwork.guard_table(
  'public.extractions',
  members => 'select', worker => 'select, insert, update', service => 'select, insert, update, delete'
);
select tickwork.guard_table(
  'public.document_chunks',
  members => 'select', worker => 'select, insert, delete', service => 'select, insert, update, delete'
);

grant insert (tenant_id, name, vault_path, mime_type, size, sha256) on public.documents to authenticated;

-- The default of created_by calls it: null if a worker inserts the document.
grant execute on function tickwork.caller_id, tickwork.caller_has_key, tickwork.caller_key_id to tickwork_worker;

create function tickwork.lock_document_for_caller(document_id uuid)
returns public.documents
language plpgsql
volatile
as $$
declare
  document public.documents;
begin
  select * into document
  from public.documents
  where documents.id = lock_document_for_caller.document_id
    and tickwork.may_act_for(documents.tenant_id)
  for no key update;

  -- The same error for a foreign document as for a missing one, so that nobody learns which ids exist.
  if not found then
    raise exception 'document_id: there is no document %', coalesce(lock_document_for_caller.document_id::text, 'null')
      using errcode = 'TWDOC', hint = 'document_overview shows the documents that you may see.';
  end if;

  perform tickwork.check_caller(document.tenant_id, '{enqueue, operate}');
  return document;
end
$$;
