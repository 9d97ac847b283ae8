-- Facts: what documents say about batteries. A passport document is a bill of materials, a carbon footprint or a due
-- diligence report; each of its versions is a file of the vault, from which the job parse_facts takes the facts.

create table public.passport_documents (
  id uuid primary key default gen_random_uuid(),
  tenant_id uuid not null references public.tenant_settings (tenant_id) on delete cascade,
  name text not null,
  kind text not null,
  created_by uuid default tickwork.caller_id(),
  created_at timestamptz not null default clock_timestamp(),
  constraint name_is_1_to_500_characters check (length(name) between 1 and 500),
  constraint kind_is_known check (kind in ('bom', 'pcf', 'dd'))
);

comment on table public.passport_documents is 'What facts for passports come from, in versions.';
comment on column public.passport_documents.kind is
  'bom: a bill of materials, pcf: a product carbon footprint, dd: a due diligence report.';

create index passport_documents_of_a_tenant on public.passport_documents (tenant_id, created_at, id);
create unique index passport_documents_of_their_tenant on public.passport_documents (tenant_id, id);

create table public.document_versions (
  id uuid primary key default gen_random_uuid(),
  tenant_id uuid not null,
  passport_document_id uuid not null,
  version integer not null,
  document_id uuid not null,
  sha256 text,
  schema_version text not null default '1',
  status text not null default 'uploaded',
  fact_count integer,
  error_code text,
  error_message text,
  job_id uuid,
  created_by uuid default tickwork.caller_id(),
  created_at timestamptz not null default clock_timestamp(),
  constraint passport_document_is_the_tenants_own foreign key (tenant_id, passport_document_id)
    references public.passport_documents (tenant_id, id) on delete cascade,
  constraint document_is_the_tenants_own foreign key (tenant_id, document_id)
    references public.documents (tenant_id, id) on delete cascade,
  constraint version_is_unique_in_its_document unique (tenant_id, passport_document_id, version),
  constraint sha256_is_64_hex_digits check (sha256 ~ '^[0-9a-f]{64}$'),
  constraint schema_version_is_plain check (schema_version ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,49}$'),
  constraint status_is_known check (status in ('uploaded', 'validated', 'rejected')),
  constraint validated_versions_have_facts check ((status = 'validated') = (fact_count is not null)),
  constraint rejected_versions_have_an_error check ((status = 'rejected') = (error_code is not null))
);

comment on table public.document_versions is
  'The versions of passport documents: uploaded, then validated with facts, or rejected with the reason.';
comment on column public.document_versions.document_id is 'The file.';
comment on column public.document_versions.sha256 is 'Of the bytes that the facts were taken from.';
comment on column public.document_versions.schema_version is 'Of its facts, unless the file names one itself.';
comment on column public.document_versions.job_id is 'The latest job that parsed it.';

create index document_versions_by_age on public.document_versions (tenant_id, created_at, id);
create unique index document_versions_of_their_tenant on public.document_versions (tenant_id, id);
create index document_versions_of_a_file on public.document_versions (tenant_id, document_id);
create index document_versions_by_job on public.document_versions (job_id);

create table public.facts (
  id uuid primary key default gen_random_uuid(),
  tenant_id uuid not null,
  document_version_id uuid not null,
  fact_type text not null,
  fact_key text not null,
  schema_version text not null,
  payload jsonb not null,
  payload_canonical bytea not null,
  payload_hash bytea not null generated always as (sha256(payload_canonical)) stored,
  source jsonb not null default '{}',
  confirmed_by uuid,
  confirmed_at timestamptz,
  created_at timestamptz not null default clock_timestamp(),
  confidence double precision,
  constraint document_version_is_the_tenants_own foreign key (tenant_id, document_version_id)
    references public.document_versions (tenant_id, id) on delete cascade,
  constraint fact_is_unique_in_its_tenant unique (tenant_id, fact_type, fact_key, schema_version, payload_hash),
  constraint fact_type_is_a_word check (fact_type ~ '^[a-z][a-z0-9_]{0,99}$'),
  constraint fact_key_is_1_to_500_characters check (length(fact_key) between 1 and 500),
  constraint schema_version_is_plain check (schema_version ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,49}$'),
  constraint payload_is_an_object check (jsonb_typeof(payload) = 'object'),
  constraint payload_is_up_to_64_kb check (octet_length(payload_canonical) <= 65536),
  constraint payload_is_what_its_bytes_say check (payload = convert_from(payload_canonical, 'UTF8')::jsonb),
  constraint confidence_is_0_to_1 check (confidence between 0 and 1)
);

comment on table public.facts is 'What documents say about batteries. The same fact of two documents is one row.';
comment on column public.facts.document_version_id is 'The version that said it first. fact_sources has all of them.';
comment on column public.facts.payload_canonical is 'The payload as RFC 8785 writes it.';
comment on column public.facts.payload_hash is 'SHA-256 of payload_canonical.';
comment on column public.facts.source is 'Where in the file it was found: page, row or cell.';
comment on column public.facts.confidence is
  'How sure the extraction is, from 0 to 1. Such a fact needs confirm_facts. Null: the file says so itself.';

create unique index facts_of_their_tenant on public.facts (tenant_id, id);
create index facts_by_age on public.facts (tenant_id, created_at, id);
create index facts_of_a_version on public.facts (document_version_id);

create table public.fact_sources (
  fact_id uuid not null,
  document_version_id uuid not null,
  tenant_id uuid not null,
  source jsonb not null default '{}',
  primary key (fact_id, document_version_id),
  constraint fact_is_the_tenants_own foreign key (tenant_id, fact_id)
    references public.facts (tenant_id, id) on delete cascade,
  constraint document_version_is_the_tenants_own foreign key (tenant_id, document_version_id)
    references public.document_versions (tenant_id, id) on delete cascade
);

comment on table public.fact_sources is 'Which versions of documents say a fact, and where in the file.';

create index fact_sources_of_a_version on public.fact_sources (tenant_id, document_version_id);

create table public.fact_mappings (
  id uuid primary key default gen_random_uuid(),
  tenant_id uuid not null references public.tenant_settings (tenant_id) on delete cascade,
  kind text not null,
  label text not null,
  field text not null,
  unit text,
  created_by uuid default tickwork.caller_id(),
  created_at timestamptz not null default clock_timestamp(),
  constraint label_is_unique_in_its_kind unique (tenant_id, kind, label),
  constraint kind_is_known check (kind in ('bom', 'pcf', 'dd')),
  constraint label_is_1_to_200_characters check (length(label) between 1 and 200),
  constraint field_is_a_word check (field ~ '^[a-z][a-z0-9_]{0,99}$'),
  constraint unit_is_up_to_20_characters check (length(unit) between 1 and 20)
);

comment on table public.fact_mappings is
  'What the columns of a tenant''s tables mean: the field of a fact, and the unit of its numbers.';
comment on column public.fact_mappings.label is 'The head of the column, in lower case.';

select tickwork.guard_table(
  'public.passport_documents', members => 'select', worker => 'select', service => 'select'
);
select tickwork.guard_table(
  'public.document_versions', members => 'select', worker => 'select, insert, update', service => 'select'
);
select tickwork.guard_table(
  'public.facts', members => 'select', worker => 'select, insert', service => 'select'
);
select tickwork.guard_table(
  'public.fact_sources', members => 'select', worker => 'select, insert', service => 'select'
);
select tickwork.guard_table(
  'public.fact_mappings', members => 'select', worker => 'select', service => 'select'
);

-- A document that is sure of a fact settles what another one was unsure of; the bytes of a fact never change.
grant update (confidence) on public.facts to tickwork_worker;

create function tickwork.keep_fact()
returns trigger
language plpgsql
set search_path = ''
as $$
begin
  if (old.tenant_id, old.fact_type, old.fact_key, old.schema_version, old.payload, old.payload_canonical)
    is distinct from
    (new.tenant_id, new.fact_type, new.fact_key, new.schema_version, new.payload, new.payload_canonical)
  then
    raise exception 'fact % cannot be changed', old.id
      using errcode = 'TWSTA', hint = 'Add another version of the document.';
  end if;

  return new;
end
$$;

create trigger keep_fact before update on public.facts
for each row execute function tickwork.keep_fact();
