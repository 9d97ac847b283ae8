-- The files of connected drives: each one once, by the provider's own id, and the document that it has become.

create table public.imported_items (
  connector_id uuid not null,
  drive_id text not null default '',
  item_id text not null,
  tenant_id uuid not null,
  folder text not null,
  path text not null,
  name text not null,
  revision text not null,
  provider_hash text,
  size bigint,
  mime_type text,
  details jsonb not null default '{}',
  status text not null default 'pending',
  tries integer not null default 0,
  reason text,
  message text,
  job_id uuid,
  sha256 text,
  document_id uuid,
  is_renamed boolean not null default false,
  is_handed_on boolean not null default true,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  primary key (connector_id, drive_id, item_id),
  constraint connector_is_the_tenants_own foreign key (tenant_id, connector_id)
    references public.connectors (tenant_id, id) on delete cascade,
  constraint document_is_the_tenants_own foreign key (tenant_id, document_id)
    references public.documents (tenant_id, id) on delete set null (document_id),
  constraint status_is_known check (status in ('pending', 'imported', 'known', 'skipped', 'failed', 'gone')),
  constraint size_is_not_negative check (size >= 0),
  constraint sha256_is_64_hex_digits check (sha256 ~ '^[0-9a-f]{64}$')
);

comment on table public.imported_items is
  'The files of connected drives, as their providers describe them, and the documents that they have become.';
comment on column public.imported_items.folder is 'The remote_path of the import that found it.';
comment on column public.imported_items.revision is
  'The version of the content, as the provider names it. A version that has been imported is not fetched again.';
comment on column public.imported_items.status is
  'pending: to be fetched. imported: it has become document_id. known: the tenant already had these bytes, as '
  'document_id. skipped: not a file that can be fetched. failed: see reason; the next import of the folder tries '
  'again. gone: deleted at the provider; its document stays.';
comment on column public.imported_items.job_id is 'The job that set the status.';
comment on column public.imported_items.is_handed_on is 'Whether its document has been passed on to the next job.';

-- None on a path or a name: an index entry cannot be longer than about 2,700 bytes.
create index items_to_fetch on public.imported_items (connector_id, folder, tries, item_id) where status = 'pending';
create index failed_items on public.imported_items (connector_id, folder) where status = 'failed';
create index items_to_hand_on on public.imported_items (connector_id) where not is_handed_on;
create index items_of_a_job on public.imported_items (job_id, status);
create index items_of_a_document on public.imported_items (tenant_id, document_id);

create trigger note_update before update on public.imported_items
for each row execute function tickwork.note_update();

select tickwork.guard_table(
  'public.imported_items',
  members => 'select', worker => 'select, insert, update', service => 'select, insert, update, delete', queue => null
);
