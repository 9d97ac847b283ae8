-- The types of documents, the evidence for each, and the corrections that members have made.

create function tickwork.is_evidence(evidence jsonb)
returns boolean
language sql
immutable
set search_path = ''
as $$
  select case jsonb_typeof(is_evidence.evidence)
    when 'object' then
      octet_length(is_evidence.evidence::text) <= 65536
      and not jsonb_path_exists(is_evidence.evidence, 'strict $.* ? (@.type() != "number" || @ < -20 || @ > 20)')
    else false
  end;
$$;

comment on function tickwork.is_evidence is
  'Whether the value is an object of weights between -20 and 20, small enough to be read for every document.';

create table public.document_types (
  id uuid primary key default gen_random_uuid(),
  tenant_id uuid references public.tenant_settings (tenant_id) on delete cascade,
  key text not null,
  label text not null,
  label_en text,
  node text,
  evidence jsonb not null default '{}',
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  constraint key_is_a_word check (key ~ '^[a-z][a-z0-9_]{0,99}$'),
  constraint label_is_1_to_200_characters check (length(label) between 1 and 200),
  constraint node_is_1_to_500_characters check (length(node) between 1 and 500),
  constraint evidence_is_weighed check (tickwork.is_evidence(evidence)),
  constraint key_is_unique_in_its_tenant unique nulls not distinct (tenant_id, key)
);

comment on table public.document_types is
  'The types of documents: those that every tenant has, and the tenant''s own, which replace those with the same key.';
comment on column public.document_types.tenant_id is 'The tenant whose type it is; null means every tenant.';
comment on column public.document_types.node is 'The folder that is suggested for such documents.';
comment on column public.document_types.evidence is
  'Words and phrases with their weights: from 0.5 (weak evidence for the type) through 1.5 to 3 (decides alone), or '
  'negative (evidence against it). "mietvertr" matches all words that begin with it, "*vertrag" all that contain it, '
  '"^rechnung" a word in a heading or the file name. The evidence of a tenant''s own type is added to that of the type '
  'with the same key.';

create trigger note_update before update on public.document_types
for each row execute function tickwork.note_update();

create table public.document_words (
  document_id uuid primary key,
  tenant_id uuid not null,
  words text[] not null,
  constraint document_is_the_tenants_own foreign key (tenant_id, document_id)
    references public.documents (tenant_id, id) on delete cascade,
  constraint words_are_at_most_800 check (cardinality(words) <= 800)
);

comment on table public.document_words is 'What the classifier saw of each document, to compare later ones with it.';

create index document_words_of_a_tenant on public.document_words (tenant_id);

create table public.document_corrections (
  document_id uuid primary key,
  tenant_id uuid not null,
  doc_type text not null,
  corrected_by uuid,
  corrected_at timestamptz not null default clock_timestamp(),
  constraint document_is_the_tenants_own foreign key (tenant_id, document_id)
    references public.documents (tenant_id, id) on delete cascade
);

comment on table public.document_corrections is
  'The types that members have set. The newest corrections teach the classifier, for their tenant only.';
comment on column public.document_corrections.corrected_by is 'The member; null means the service.';

create index document_corrections_by_age on public.document_corrections (tenant_id, corrected_at);

select tickwork.guard_table(
  'public.document_types',
  members => 'select', worker => 'select', service => 'select, insert, update, delete', queue => 'select'
);
select tickwork.guard_table(
  'public.document_words',
  members => 'select', worker => 'select, insert, update', service => 'select, insert, update, delete', queue => null
);
select tickwork.guard_table(
  'public.document_corrections',
  members => 'select', worker => 'select', service => 'select, insert, update, delete',
  queue => 'select, insert, update'
);

create policy everybody_signed_in_reads_common_types on public.document_types
for select to authenticated, tickwork_worker
using (tenant_id is null);

create function tickwork.correct_document_type(document_id uuid, doc_type text)
returns public.documents
language plpgsql
volatile
security definer -- members may not update documents directly
set search_path = ''
as $$
declare
  document public.documents := tickwork.lock_document_for_caller(correct_document_type.document_id);
  chosen public.document_types;
begin
  select * into chosen
  from public.document_types
  where document_types.key = correct_document_type.doc_type
    and (document_types.tenant_id = document.tenant_id or document_types.tenant_id is null)
  order by document_types.tenant_id nulls last
  limit 1;

  if not found then
    raise exception 'doc_type: there is no document type %', quote_nullable(left(correct_document_type.doc_type, 100))
      using errcode = 'TWTYD', hint = 'Use one from document_types.';
  end if;

  insert into public.document_corrections (document_id, tenant_id, doc_type, corrected_by)
  values (document.id, document.tenant_id, chosen.key, tickwork.caller_id())
  on conflict on constraint document_corrections_pkey do update
  set
    doc_type = excluded.doc_type,
    corrected_by = excluded.corrected_by,
    corrected_at = clock_timestamp();

  update public.documents
  set
    doc_type = chosen.key,
    doc_type_source = 'member',
    doc_type_confidence = 1,
    doc_type_runner_up = null,
    doc_type_runner_up_confidence = null,
    node = coalesce(chosen.node, documents.node)
  where documents.id = document.id
  returning documents.* into document;

  return document;
end
$$;

create function public.correct_document_type(document_id uuid, doc_type text)
returns public.documents
language sql
volatile
return tickwork.correct_document_type(document_id, doc_type);

comment on function public.correct_document_type is
  'Sets the type of a document on behalf of a member, and the folder where such documents belong. From then on the '
  'classifier leaves the document alone and learns from it, for this tenant. Raises TWDOC, TWTYD.';

-- Called by a constraint, as the role that writes the type.
select tickwork.open_verbs('service_role', array['is_evidence']);
select tickwork.open_verbs('authenticated, service_role', array['correct_document_type']);

insert into public.job_types (key, family, description, timeout_seconds, enqueued_by)
values ('classify_document', 'classify', 'Find out again what kind of document it is', 60, 'member');
