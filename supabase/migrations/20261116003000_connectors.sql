-- Connectors: cloud drives that a tenant has connected, and how far each folder has been read. Their tokens are stored
-- as secrets of connector:<id>.

create table public.connectors (
  id uuid primary key default gen_random_uuid(),
  tenant_id uuid not null references public.tenant_settings (tenant_id) on delete cascade,
  provider text not null,
  name text not null,
  status text not null default 'active',
  scopes text[] not null default '{}',
  account_id text,
  extract text references public.extraction_engines (key),
  consent_given_at timestamptz,
  consent_given_by uuid,
  watch_url text,
  watched_until timestamptz,
  created_by uuid default tickwork.caller_id(),
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  constraint provider_is_known check (provider in ('dropbox', 'onedrive', 'gdrive')),
  constraint name_is_1_to_200_characters check (length(name) between 1 and 200),
  constraint status_is_known check (status in ('active', 'reauthorize', 'disabled')),
  constraint account_id_is_1_to_200_bytes check (octet_length(account_id) between 1 and 200),
  constraint watch_url_is_safe check (watch_url ~ '^https://[!-~]+$' and length(watch_url) <= 2000),
  constraint sending_to_a_third_party_needs_consent check (
    extract is null or extract = 'local' or consent_given_at is not null
  )
);

comment on table public.connectors is
  'Cloud drives of the tenants. Admins and the service add, change and remove them; members may read them.';
comment on column public.connectors.status is
  'reauthorize: the provider no longer accepts its token, and somebody has to connect it again. disabled: switched off '
  'by hand.';
comment on column public.connectors.account_id is
  'The account at the provider: notifications from Dropbox name nothing else. Filled in by check_connector.';
comment on column public.connectors.extract is
  'The engine that extracts the text of each imported document; null means none.';
comment on column public.connectors.consent_given_at is
  'When somebody agreed to send imported documents to the third party behind the engine.';
comment on column public.connectors.watch_url is
  'Where the provider sends notifications: the public URL of /notifications/<provider> of the import function.';
comment on column public.connectors.watched_until is 'When its subscription ends, unless watch_connector renews it.';

create index connectors_of_a_tenant on public.connectors (tenant_id, created_at, id);
-- For foreign keys that include the tenant, because foreign keys bypass row-level security.
create unique index connectors_of_their_tenant on public.connectors (tenant_id, id);
create index connectors_by_account on public.connectors (provider, account_id) where account_id is not null;

create trigger note_update before update on public.connectors
for each row execute function tickwork.note_update();

create table public.connector_folders (
  connector_id uuid not null,
  remote_path text not null,
  tenant_id uuid not null,
  cursor text,
  is_listed boolean not null default false,
  listed_at timestamptz,
  primary key (connector_id, remote_path),
  constraint connector_is_the_tenants_own foreign key (tenant_id, connector_id)
    references public.connectors (tenant_id, id) on delete cascade,
  constraint remote_path_is_up_to_2000_bytes check (octet_length(remote_path) <= 2000)
);

comment on table public.connector_folders is
  'The folders that have been imported, and how far their changes have been read.';
comment on column public.connector_folders.remote_path is 'As given in the import; empty means the whole drive.';
comment on column public.connector_folders.cursor is
  'The provider''s cursor, saved together with the items that it led to; null means the beginning.';
comment on column public.connector_folders.is_listed is 'Whether the listing has been completed.';

select tickwork.guard_table(
  'public.connectors',
  members => 'select', worker => 'select, update', service => 'select, insert, update, delete'
);
-- Not for members: only imports need a cursor.
select tickwork.guard_table(
  'public.connector_folders',
  worker => 'select, insert, update', service => 'select, insert, update, delete', queue => 'select'
);

create function tickwork.connector_lane(connector_id uuid)
returns text
language sql
immutable
return 'connector:' || connector_id::text;

create function tickwork.make_lane_of_connector()
returns trigger
language plpgsql
security definer -- nobody may write lane rules
set search_path = ''
as $$
begin
  -- Two concurrent imports of one drive would read the same changes, which counts towards the provider's rate limits.
  perform tickwork.set_limits('import', new.tenant_id, tickwork.connector_lane(new.id), 1, null);

  return null;
end
$$;

create function tickwork.forget_connector()
returns trigger
language plpgsql
security definer -- nobody may write secrets and lane rules
set search_path = ''
as $$
begin
  delete from tickwork.secrets
  where secrets.tenant_id = old.tenant_id
    and secrets.owner = tickwork.connector_lane(old.id);

  perform tickwork.set_limits('import', old.tenant_id, tickwork.connector_lane(old.id), null, null);
  perform tickwork.end_hold('import', old.tenant_id, tickwork.connector_lane(old.id));
  return null;
end
$$;

create trigger make_lane after insert on public.connectors
for each row execute function tickwork.make_lane_of_connector();

create trigger forget_connector after delete on public.connectors
for each row execute function tickwork.forget_connector();

create function tickwork.emit_connection_event()
returns trigger
language plpgsql
security definer -- nobody may write events directly
set search_path = ''
as $$
declare
  connector constant public.connectors := coalesce(new, old);
begin
  -- With its tenant, its events are gone too.
  if exists (select from public.tenant_settings where tenant_settings.tenant_id = connector.tenant_id) then
    perform tickwork.add_event(
      connector.tenant_id,
      'provider.connection.changed',
      tickwork.connector_lane(connector.id),
      jsonb_build_object(
        'provider_id', connector.id,
        'provider', connector.provider,
        'name', connector.name,
        'status', case tg_op when 'DELETE' then 'removed' else connector.status end
      )
    );
  end if;

  return null;
end
$$;

comment on function tickwork.emit_connection_event is
  '-> queued. Emits provider.connection.changed when a connector is added, changes its status or is removed.';

create trigger emit_added_or_removed after insert or delete on public.connectors
for each row execute function tickwork.emit_connection_event();

create trigger emit_status
after update of status on public.connectors
for each row
when (old.status is distinct from new.status)
execute function tickwork.emit_connection_event();

insert into public.job_types (key, family, description, timeout_seconds, enqueued_by)
values
  ('import_dropbox', 'import', 'Bring files from Dropbox into the vault', 3000, 'member'),
  ('import_onedrive', 'import', 'Bring files from OneDrive into the vault', 3000, 'member'),
  ('import_gdrive', 'import', 'Bring files from Google Drive into the vault', 3000, 'member');
