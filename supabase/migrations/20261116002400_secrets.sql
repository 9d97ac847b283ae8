-- Tokens and keys of tenants: encrypted (sealed) before they arrive here, or stored in Supabase Vault.

create table tickwork.secrets (
  tenant_id uuid not null references public.tenant_settings (tenant_id) on delete cascade,
  owner text not null,
  name text not null,
  sealed text,
  vault_id uuid,
  hosts text[] not null default '{}',
  expires_at timestamptz,
  created_at timestamptz not null default clock_timestamp(),
  primary key (tenant_id, owner, name),
  constraint owner_is_1_to_200_bytes check (octet_length(owner) between 1 and 200),
  constraint name_is_1_to_200_bytes check (octet_length(name) between 1 and 200),
  constraint value_is_sealed_or_in_vault check (num_nonnulls(sealed, vault_id) = 1)
);

comment on table tickwork.secrets is
  'Secrets of connectors, endpoints and tenants. The key that unseals them is in the settings of the functions, never '
  'here.';
comment on column tickwork.secrets.owner is 'What it belongs to: connector:<id>, endpoint:<id> or tenant.';
comment on column tickwork.secrets.hosts is
  'The hosts that may receive a secret of http_request, to be listed. Those that count are sealed with its value.';

select tickwork.guard_table('tickwork.secrets');

do $$
begin
  grant usage on schema vault to tickwork_owner;
  grant select, delete on vault.secrets to tickwork_owner;
  grant select on vault.decrypted_secrets to tickwork_owner;
  grant execute on function
    vault.create_secret(text, text, text, uuid),
    vault._crypto_aead_det_decrypt(bytea, bytea, bigint, bytea, bytea)
  to tickwork_owner;
exception
  -- There is no Vault, or it may not be used: then secrets must be sealed with a key.
  when invalid_schema_name or undefined_table or undefined_function or insufficient_privilege then
    null;
end
$$;


create function tickwork.put_secret(
  tenant_id uuid,
  owner text,
  name text,
  value text,
  is_sealed boolean,
  expires_at timestamptz,
  hosts text[]
)
returns void
language plpgsql
volatile
as $$
declare
  kept_in uuid;
begin
  perform tickwork.check_key('owner', put_secret.owner);
  perform tickwork.check_key('name', put_secret.name);
  perform tickwork.wait_for_disk();

  if not put_secret.is_sealed then
    if to_regclass('vault.decrypted_secrets') is null then
      raise exception 'there is neither a key to seal the secret with nor Supabase Vault to store it in'
        using errcode = 'TWSEC', hint = 'Set TICKWORK_SECRET_KEY to 32 random bytes in base64.';
    end if;

    -- By execute: without Vault, a statement that names it could be neither parsed nor linted.
    execute format('select %I.create_secret($1, null, $2)', 'vault')
    into kept_in
    using put_secret.value, concat_ws(' ', 'tickwork', put_secret.owner, put_secret.name);
  end if;

  insert into tickwork.secrets (tenant_id, owner, name, sealed, vault_id, expires_at, hosts)
  values (
    put_secret.tenant_id,
    put_secret.owner,
    put_secret.name,
    case when put_secret.is_sealed then put_secret.value end,
    kept_in,
    put_secret.expires_at,
    put_secret.hosts
  )
  on conflict on constraint secrets_pkey do update
  set
    sealed = excluded.sealed,
    vault_id = excluded.vault_id,
    expires_at = excluded.expires_at,
    hosts = excluded.hosts,
    created_at = excluded.created_at;
end
$$;

create function tickwork.forget_in_vault()
returns trigger
language plpgsql
security definer -- nobody else may delete from Vault
set search_path = ''
as $$
begin
  execute format('delete from %I.secrets where id = $1', 'vault')
  using old.vault_id;

  return null;
end
$$;

create trigger forget_deleted
after delete on tickwork.secrets
for each row
when (old.vault_id is not null)
execute function tickwork.forget_in_vault();

create trigger forget_replaced
after update on tickwork.secrets
for each row
when (old.vault_id is not null and old.vault_id is distinct from new.vault_id)
execute function tickwork.forget_in_vault();


-- For the command line and other functions of the queue.

create function tickwork.store_secret(
  tenant_id uuid,
  owner text,
  name text,
  value text,
  is_sealed boolean,
  expires_at timestamptz default null,
  hosts text[] default '{}'
)
returns void
language plpgsql
volatile
security definer -- nobody may read or write secrets
set search_path = ''
as $$
begin
  perform tickwork.check_caller(store_secret.tenant_id);
  perform tickwork.put_secret(
    store_secret.tenant_id, store_secret.owner, store_secret.name, store_secret.value, store_secret.is_sealed,
    store_secret.expires_at, store_secret.hosts
  );
end
$$;

comment on function tickwork.store_secret is
  'Stores a secret of a tenant, replacing one with the same name. Raises TWTNT, TWMEM, TWKEY, TWBIG, TWSEC.';

create function tickwork.rename_secret(
  tenant_id uuid,
  owner text,
  name text,
  new_name text,
  expires_at timestamptz default null
)
returns void
language plpgsql
volatile
security definer -- nobody may read or write secrets
set search_path = ''
as $$
begin
  perform tickwork.check_caller(rename_secret.tenant_id);
  perform tickwork.check_key('new_name', rename_secret.new_name);

  delete from tickwork.secrets
  where secrets.tenant_id = rename_secret.tenant_id
    and secrets.owner = rename_secret.owner
    and secrets.name = rename_secret.new_name
    and rename_secret.new_name <> rename_secret.name;

  update tickwork.secrets
  set
    name = rename_secret.new_name,
    expires_at = rename_secret.expires_at
  where secrets.tenant_id = rename_secret.tenant_id
    and secrets.owner = rename_secret.owner
    and secrets.name = rename_secret.name;
end
$$;

comment on function tickwork.rename_secret is
  'Renames a secret, replacing one that has the new name. Raises TWTNT, TWMEM, TWKEY, TWBIG.';

create function tickwork.drop_secrets(tenant_id uuid, owner text, name text default null)
returns integer
language plpgsql
volatile
security definer -- nobody may read or write secrets
set search_path = ''
as $$
declare
  dropped integer;
begin
  perform tickwork.check_caller(drop_secrets.tenant_id);

  delete from tickwork.secrets
  where secrets.tenant_id = drop_secrets.tenant_id
    and secrets.owner = drop_secrets.owner
    and secrets.name = coalesce(drop_secrets.name, secrets.name);

  get diagnostics dropped = row_count;
  return dropped;
end
$$;

comment on function tickwork.drop_secrets is
  'Deletes one secret, or all secrets of an owner. Returns how many. Raises TWTNT, TWMEM.';

create function tickwork.list_secrets(tenant_id uuid, owner text)
returns table (name text, created_at timestamptz, expires_at timestamptz, hosts text[])
language plpgsql
stable
security definer -- nobody may read or write secrets
set search_path = ''
as $$
begin
  perform tickwork.check_caller(list_secrets.tenant_id);

  return query
  select secrets.name, secrets.created_at, secrets.expires_at, secrets.hosts
  from tickwork.secrets
  where secrets.tenant_id = list_secrets.tenant_id
    and secrets.owner = list_secrets.owner
  order by secrets.name;
end
$$;

comment on function tickwork.list_secrets is 'The names of the secrets. Their values can only be read under a lease.';


-- For a worker, in a transaction that holds a job: the secrets of the job's tenant.

create function tickwork.keep_secret(
  owner text,
  name text,
  value text,
  is_sealed boolean,
  expires_at timestamptz default null
)
returns void
language plpgsql
volatile
security definer -- nobody may read or write secrets
set search_path = ''
as $$
begin
  perform tickwork.put_secret(
    tickwork.tenant_of_held_job(), keep_secret.owner, keep_secret.name, keep_secret.value, keep_secret.is_sealed,
    keep_secret.expires_at, '{}'
  );
end
$$;

comment on function tickwork.keep_secret is
  'Like store_secret, for the tenant whose job is held in this transaction. Raises TWLSE, TWKEY, TWBIG, TWSEC.';

create function tickwork.read_secrets(owner text)
returns table (name text, value text, is_sealed boolean)
language plpgsql
stable
security definer -- nobody may read or write secrets
set search_path = ''
as $$
declare
  secret tickwork.secrets;
begin
  for secret in
    select *
    from tickwork.secrets
    where secrets.tenant_id = tickwork.held_tenant()
      and secrets.owner = read_secrets.owner
      and (secrets.expires_at is null or secrets.expires_at > clock_timestamp())
  loop
    name := secret.name;
    value := secret.sealed;
    is_sealed := secret.vault_id is null;

    if not is_sealed then
      execute format('select decrypted_secret from %I.decrypted_secrets where id = $1', 'vault')
      into value
      using secret.vault_id;
    end if;

    return next;
  end loop;
end
$$;

comment on function tickwork.read_secrets is
  'The secrets of the tenant whose job is held in this transaction; none if no job is held.';

select tickwork.open_verbs('service_role', array['store_secret', 'rename_secret', 'drop_secrets', 'list_secrets']);
select tickwork.open_verbs('tickwork_worker', array['keep_secret', 'read_secrets']);
