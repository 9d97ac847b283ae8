-- The verbs for API keys. Keys are managed by people and the service, never with another key: whoever finds a key must
-- not be able to stay after it is revoked.

create type tickwork.shown_key as (
  id uuid,
  tenant_id uuid,
  name text,
  prefix text,
  account text,
  scopes text[],
  created_by uuid,
  created_at timestamptz,
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  key text
);

comment on type tickwork.shown_key is 'An API key as people see it. The key itself is there only when it is created.';

create function tickwork.shown(api_key tickwork.api_keys, secret text)
returns tickwork.shown_key
language sql
immutable
return row(
  (api_key).id, (api_key).tenant_id, (api_key).name, (api_key).prefix, (api_key).account, (api_key).scopes,
  (api_key).created_by, (api_key).created_at, (api_key).expires_at, (api_key).revoked_at, (api_key).last_used_at,
  secret
)::tickwork.shown_key;

create function tickwork.new_secret()
returns text
language sql
volatile
-- Two random UUIDs have 244 random bits; the hash spreads them over 43 characters that need no quoting in URLs.
return 'tw_' || translate(
  encode(sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())), 'base64'), '+/=', '-_'
);

comment on function tickwork.new_secret is 'A new API key: tw_ and 43 characters that nobody can guess.';

create function tickwork.check_new_key(new_key tickwork.api_keys)
returns void
language plpgsql
stable
as $$
begin
  if coalesce(char_length(new_key.name), 0) not between 1 and 200 then
    raise exception 'name: it has to have 1 to 200 characters'
      using errcode = 'TWARG', hint = 'Name what the key is for.';
  end if;

  if coalesce(cardinality(new_key.scopes), 0) not between 1 and 50 or exists (
    select
    from unnest(new_key.scopes) as scope(name)
    where (scope.name ~ '^(read|enqueue|operate|worker:[a-z][a-z0-9_]{0,49})$') is not true
  ) then
    raise exception 'scopes: % is not a list of scopes', quote_nullable(left(new_key.scopes::text, 200))
      using errcode = 'TWARG', hint = 'Use read, enqueue, operate and worker:<family>, at least one of them.';
  end if;

  if new_key.expires_at <= clock_timestamp() then
    raise exception 'expires_at: % has passed', new_key.expires_at
      using errcode = 'TWARG', hint = 'Leave it out for a key that does not expire.';
  end if;

  if not new_key.account ~ '^[^@\s]+@[^@\s]+$' or char_length(new_key.account) > 320 then
    raise exception 'account: % is not an e-mail address', quote_literal(left(new_key.account, 320))
      using errcode = 'TWARG', hint = 'Use the e-mail address of a Google service account.';
  end if;

  -- An account acts without saying for whom, and a worker sees what admins do not.
  if new_key.tenant_id is null or new_key.account is not null or array_to_string(new_key.scopes, ' ') ~ 'worker:' then
    perform tickwork.check_platform_admin('create a key for every tenant, an account or a worker');
  end if;
end
$$;

comment on function tickwork.check_new_key is
  'Returns if the caller may create that API key. Raises TWARG, TWADM.';

create function tickwork.create_api_key(
  name text, scopes text[], tenant_id uuid, expires_at timestamptz, account text
)
returns tickwork.shown_key
language plpgsql
volatile
security definer -- nobody else may write keys
set search_path = ''
as $$
declare
  secret constant text := case when create_api_key.account is null then tickwork.new_secret() end;
  created tickwork.api_keys;
begin
  perform tickwork.check_person();

  if create_api_key.tenant_id is not null then
    perform tickwork.check_manager(create_api_key.tenant_id);
  end if;

  created.id := gen_random_uuid();
  created.tenant_id := create_api_key.tenant_id;
  created.name := create_api_key.name;
  created.prefix := left(secret, 9);
  created.secret_hash := encode(sha256(convert_to(secret, 'UTF8')), 'hex');
  created.account := lower(create_api_key.account);
  created.scopes := array(select distinct scope from unnest(create_api_key.scopes) as scope order by scope);
  created.created_by := tickwork.caller_id();
  created.created_at := clock_timestamp();
  created.expires_at := create_api_key.expires_at;
  perform tickwork.check_new_key(created);

  if 100 <= (
    select count(*)
    from tickwork.api_keys
    where api_keys.tenant_id = created.tenant_id
      and api_keys.revoked_at is null
  ) then
    raise exception 'tenant_id: the tenant has 100 keys already'
      using errcode = 'TWFUL', hint = 'Revoke those that are not used: list_api_keys shows when each was last used.';
  end if;

  insert into tickwork.api_keys
  select created.*;

  return tickwork.shown(created, secret);
exception
  when unique_violation then
    raise exception 'account: there is a key for % already', created.account
      using errcode = 'TWDUP', hint = 'Revoke that one first.';
end
$$;

create function public.create_api_key(
  name text,
  scopes text[],
  tenant_id uuid,
  expires_at timestamptz default null,
  account text default null
)
returns tickwork.shown_key
language sql
volatile
return tickwork.create_api_key(name, scopes, tenant_id, expires_at, account);

comment on function public.create_api_key is
  'Sets up an API key of the tenant with the scopes read, enqueue, operate or worker:<family>, and returns it: the '
  'only time that the key itself is shown. If tenant_id is null, it serves every tenant. With account there is no key: '
  'the verified tokens of that Google account are accepted instead. For admins of the tenant; keys for every tenant, '
  'for an account or for a worker are for platform admins. Not with a key. Raises TWTNT, TWMEM, TWADM, TWARG, TWDUP, '
  'TWFUL.';

create function tickwork.list_api_keys(tenant_id uuid, with_revoked boolean, max_keys integer, after_id uuid)
returns setof tickwork.shown_key
language plpgsql
stable
security definer -- nobody may read keys, whose hashes are there too
set search_path = ''
as $$
declare
  last tickwork.api_keys;
begin
  if list_api_keys.tenant_id is not null then
    perform tickwork.check_manager(list_api_keys.tenant_id);
  end if;

  if (list_api_keys.max_keys between 1 and 1000) is not true then
    raise exception 'max_keys: it has to be within 1 and 1000'
      using errcode = 'TWARG', hint = 'Pass the id of the last key as after_id for the next ones.';
  end if;

  select * into last
  from tickwork.api_keys
  where api_keys.id = list_api_keys.after_id;

  return query
  select (tickwork.shown(api_keys, null)).*
  from tickwork.api_keys
  where (list_api_keys.tenant_id is null or api_keys.tenant_id = list_api_keys.tenant_id)
    and (list_api_keys.with_revoked or api_keys.revoked_at is null)
    and (last.id is null or (api_keys.created_at, api_keys.id) < (last.created_at, last.id))
    and case
      when api_keys.tenant_id is null then tickwork.caller_may_do_all()
      else tickwork.may_manage(api_keys.tenant_id)
    end
  order by api_keys.created_at desc, api_keys.id desc
  limit list_api_keys.max_keys;
end
$$;

create function public.list_api_keys(
  tenant_id uuid default null,
  with_revoked boolean default false,
  max_keys integer default 100,
  after_id uuid default null
)
returns setof tickwork.shown_key
language sql
stable
begin atomic
  select *
  from tickwork.list_api_keys(tenant_id, with_revoked, max_keys, after_id);
end;

comment on function public.list_api_keys is
  'Reads the API keys of the tenant, or of all tenants that the caller manages, the latest first; a key itself is '
  'never shown again. after_id is the last key of the page before. For admins. Raises TWTNT, TWMEM, TWADM, TWARG, '
  'TWAUT.';

create function tickwork.revoke_api_key(key_id uuid)
returns tickwork.shown_key
language plpgsql
volatile
security definer -- nobody else may write keys
set search_path = ''
as $$
declare
  revoked tickwork.api_keys;
begin
  perform tickwork.check_person();

  update tickwork.api_keys
  set revoked_at = coalesce(api_keys.revoked_at, clock_timestamp())
  where api_keys.id = revoke_api_key.key_id
    and case
      when api_keys.tenant_id is null then tickwork.caller_may_do_all()
      else tickwork.may_manage(api_keys.tenant_id)
    end
  returning * into revoked;

  if not found then
    raise exception 'key_id: there is no API key %', coalesce(revoke_api_key.key_id::text, 'null')
      using errcode = 'TWAPI', hint = 'list_api_keys shows those that you may manage.';
  end if;

  return tickwork.shown(revoked, null);
end
$$;

create function public.revoke_api_key(key_id uuid)
returns tickwork.shown_key
language sql
volatile
return tickwork.revoke_api_key(key_id);

comment on function public.revoke_api_key is
  'Sets revoked_at: from now on nobody can use the API key. A second call changes nothing. For those who may create '
  'it. Not with a key. Raises TWAPI, TWADM.';
