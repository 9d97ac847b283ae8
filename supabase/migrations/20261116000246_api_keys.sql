-- API keys: for machines that are no user. Only the hash of a key is stored.

create table tickwork.api_keys (
  id uuid primary key default gen_random_uuid(),
  tenant_id uuid references public.tenant_settings (tenant_id) on delete cascade,
  name text not null,
  prefix text,
  secret_hash text,
  account text,
  scopes text[] not null,
  created_by uuid,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  constraint name_is_1_to_200_characters check (char_length(name) between 1 and 200),
  constraint secret_or_account_is_given check (num_nonnulls(secret_hash, account) = 1),
  constraint secret_has_a_prefix check (num_nonnulls(secret_hash, prefix) in (0, 2)),
  constraint secret_hash_is_hexadecimal check (secret_hash ~ '^[0-9a-f]{64}$'),
  constraint account_is_an_address check (account ~ '^[^@\sA-Z]+@[^@\sA-Z]+$' and char_length(account) <= 320),
  constraint scopes_are_1_to_50 check (cardinality(scopes) between 1 and 50)
);

create unique index api_keys_by_secret on tickwork.api_keys (secret_hash);
create unique index api_keys_by_account on tickwork.api_keys (account) where revoked_at is null;
create index api_keys_of_a_tenant on tickwork.api_keys (tenant_id);

comment on table tickwork.api_keys is 'What machines call the API with, by the hash of the key or by a Google account.';
comment on column tickwork.api_keys.tenant_id is 'The tenant that the key acts for; null: for all of them.';
comment on column tickwork.api_keys.prefix is 'How the key begins, so that people recognise it.';
comment on column tickwork.api_keys.secret_hash is 'The SHA-256 of the whole key, in lower-case hexadecimal digits.';
comment on column tickwork.api_keys.account is
  'The e-mail address of the Google account whose verified tokens are accepted instead of a key, in lower case.';
comment on column tickwork.api_keys.scopes is 'What it may do: read, enqueue, operate, worker:<family>.';
comment on column tickwork.api_keys.created_by is 'The user who created it; null: the service.';
comment on column tickwork.api_keys.last_used_at is 'When it was last used, to the minute.';

select tickwork.guard_table('tickwork.api_keys', service => 'select');

create function tickwork.live_key()
returns setof tickwork.api_keys
language plpgsql
stable
rows 1
security definer -- nobody may read the keys
set search_path = ''
as $$
declare
  claims constant jsonb := nullif(current_setting('request.jwt.claims', true), '')::jsonb;
begin
  if not tickwork.caller_has_key() then
    return;
  elsif claims ? 'tickwork_key' then
    return query
    select *
    from tickwork.api_keys
    where api_keys.secret_hash = claims ->> 'tickwork_key'
      and api_keys.revoked_at is null
      and (api_keys.expires_at > clock_timestamp()) is not false;
  else
    return query
    select *
    from tickwork.api_keys
    where api_keys.account = lower(claims ->> 'tickwork_account')
      and api_keys.revoked_at is null
      and (api_keys.expires_at > clock_timestamp()) is not false;
  end if;
end
$$;

create function tickwork.caller_key()
returns setof tickwork.api_keys
language plpgsql
stable
rows 1
security definer -- for the same reason as live_key
set search_path = ''
as $$
begin
  return query
  select *
  from tickwork.live_key();

  if not found and tickwork.caller_has_key() then
    raise exception 'the API key or account is unknown, revoked or expired'
      using errcode = 'TWAUT', hint = 'Ask an admin of the tenant for a new one.';
  end if;
end
$$;

create function tickwork.check_api_key(tenant_id uuid, scopes text[])
returns void
language plpgsql
stable
as $$
declare
  key tickwork.api_keys;
begin
  select * into key
  from tickwork.caller_key();

  if key.tenant_id is not null and key.tenant_id is distinct from check_api_key.tenant_id then
    raise exception 'tenant_id: your key is not one of tenant %', coalesce(check_api_key.tenant_id::text, 'null')
      using errcode = 'TWMEM', hint = 'Use a key of that tenant: its admins can create one.';
  end if;

  if not key.scopes && check_api_key.scopes then
    raise exception 'the key % has only the scopes %', quote_literal(key.name), array_to_string(key.scopes, ', ')
      using
        errcode = case when 'enqueue' = any (check_api_key.scopes) then 'TWENQ' else 'TWADM' end,
        hint = format('That takes a key with the scope %s.', array_to_string(check_api_key.scopes, ' or '));
  end if;
end
$$;

comment on function tickwork.live_key is
  'The API key that the claims of the request prove, unless it is revoked or expired; no row if there is none.';
comment on function tickwork.caller_key is
  'The API key of the caller, no row if he comes without one. Raises TWAUT for an unknown, revoked or expired key.';
comment on function tickwork.check_api_key is
  'Returns if the caller''s API key has one of the scopes for the tenant. Raises TWAUT, TWMEM, TWADM, TWENQ.';
