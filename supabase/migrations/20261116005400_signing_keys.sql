-- The keys that sign passports: active, then retired, or revoked from a time on. The private halves are never here.

create table public.signing_keys (
  id text primary key,
  name text not null default '',
  public_key text not null,
  status text not null default 'active',
  valid_from timestamptz not null default clock_timestamp(),
  retired_at timestamptz,
  revoked_at timestamptz,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  constraint public_key_is_32_bytes_in_base64
    check (public_key = encode(decode(public_key, 'base64'), 'base64') and length(public_key) = 44),
  constraint name_is_at_most_100_characters check (length(name) <= 100),
  constraint status_is_known check (status in ('active', 'retired', 'revoked')),
  constraint retired_keys_have_a_time check (status <> 'retired' or retired_at is not null),
  constraint revoked_keys_have_a_time check ((status = 'revoked') = (revoked_at is not null))
);

comment on table public.signing_keys is
  'The public keys that sign passports, for every tenant. sign_passport signs with active ones only.';
comment on column public.signing_keys.id is 'The RFC 7638 thumbprint: a hash of the key, so it cannot be another''s.';
comment on column public.signing_keys.name is 'For people.';
comment on column public.signing_keys.public_key is 'An Ed25519 key, 32 bytes in base64.';
comment on column public.signing_keys.retired_at is 'It verifies what was issued before.';
comment on column public.signing_keys.revoked_at is 'What was issued from then on is not to be trusted.';

create function tickwork.as_base64url(base64 text)
returns text
language sql
immutable
return translate(base64, E'+/=\n', '-_');

comment on function tickwork.as_base64url is 'Base64 as base64url without padding.';

create function tickwork.thumbprint(public_key text)
returns text
language sql
immutable
return tickwork.as_base64url(encode(
  sha256(convert_to(
    format('{"crv":"Ed25519","kty":"OKP","x":"%s"}', tickwork.as_base64url(public_key)), 'UTF8'
  )),
  'base64'
));

comment on function tickwork.thumbprint is 'The RFC 7638 thumbprint of an Ed25519 key.';

alter table public.signing_keys add constraint id_is_the_thumbprint check (id = tickwork.thumbprint(public_key));

create trigger note_update before update on public.signing_keys
for each row execute function tickwork.note_update();

select tickwork.guard_table('public.signing_keys', service => 'select', signed_in => 'select');

create function tickwork.register_signing_key(public_key text, name text)
returns public.signing_keys
language plpgsql
volatile
security definer -- nobody writes keys directly
set search_path = ''
as $$
declare
  key text;
  registered public.signing_keys;
begin
  perform tickwork.check_platform_admin('change the keys that sign passports');

  key := tickwork.checked_signing_key(register_signing_key.public_key);

  if (length(register_signing_key.name) <= 100) is not true then
    raise exception 'name: must have at most 100 characters'
      using errcode = 'TWARG', hint = 'It is for people; the id of the key is its thumbprint.';
  end if;

  insert into public.signing_keys (id, name, public_key)
  values (tickwork.thumbprint(key), register_signing_key.name, key)
  on conflict (id) do update
  set name = excluded.name
  where signing_keys.status = 'active'
  returning * into registered;

  if not found then
    raise exception 'public_key: key % is retired or revoked', tickwork.thumbprint(key)
      using errcode = 'TWSTA', hint = 'Make a new one, such as by openssl rand -base64 32.';
  end if;

  return registered;
end
$$;

create function tickwork.checked_signing_key(public_key text)
returns text
language plpgsql
immutable
as $$
declare
  key bytea;
begin
  key := decode(checked_signing_key.public_key, 'base64');

  if octet_length(key) = 32 then
    return encode(key, 'base64');
  end if;

  raise invalid_parameter_value;
exception
  when invalid_parameter_value then
    raise exception 'public_key: must be the 32 bytes of an Ed25519 key in base64'
      using errcode = 'TWARG', hint = '`tickwork passport register-key` takes it from TICKWORK_SIGNING_KEY.';
end
$$;

comment on function tickwork.checked_signing_key is 'The key in base64 as it is stored. Raises TWARG.';

create function tickwork.retire_signing_key(signing_key_id text)
returns public.signing_keys
language plpgsql
volatile
security definer -- nobody writes keys directly
set search_path = ''
as $$
begin
  perform tickwork.check_platform_admin('change the keys that sign passports');

  return tickwork.end_signing_key(retire_signing_key.signing_key_id, 'retired', clock_timestamp());
end
$$;

create function tickwork.revoke_signing_key(signing_key_id text, revoked_at timestamptz)
returns public.signing_keys
language plpgsql
volatile
security definer -- nobody writes keys directly
set search_path = ''
as $$
begin
  perform tickwork.check_platform_admin('change the keys that sign passports');

  return tickwork.end_signing_key(
    revoke_signing_key.signing_key_id, 'revoked', coalesce(revoke_signing_key.revoked_at, clock_timestamp())
  );
end
$$;

create function tickwork.end_signing_key(signing_key_id text, status text, ended_at timestamptz)
returns public.signing_keys
language plpgsql
volatile
as $$
declare
  ended public.signing_keys;
begin
  update public.signing_keys
  set
    status = end_signing_key.status,
    retired_at = case end_signing_key.status when 'retired' then ended_at else signing_keys.retired_at end,
    revoked_at = case end_signing_key.status when 'revoked' then ended_at end
  where signing_keys.id = end_signing_key.signing_key_id
    -- A revocation may be moved to an earlier time, never taken back.
    and (
      signing_keys.status = 'active'
      or (end_signing_key.status = 'revoked' and coalesce(signing_keys.revoked_at > ended_at, true))
    )
  returning * into ended;

  if not found then
    raise exception 'signing_key_id: there is no key % that can be %',
      coalesce(quote_literal(left(end_signing_key.signing_key_id, 100)), 'null'), end_signing_key.status
      using errcode = 'TWSTA', hint = 'list_signing_keys shows the keys.';
  end if;

  return ended;
end
$$;

comment on function tickwork.end_signing_key is 'active -> retired or revoked. For the verbs. Raises TWSTA.';

create function public.register_signing_key(public_key text, name text default '')
returns public.signing_keys
language sql
volatile
return tickwork.register_signing_key(public_key, name);

create function public.retire_signing_key(signing_key_id text)
returns public.signing_keys
language sql
volatile
return tickwork.retire_signing_key(signing_key_id);

create function public.revoke_signing_key(signing_key_id text, revoked_at timestamptz default null)
returns public.signing_keys
language sql
volatile
return tickwork.revoke_signing_key(signing_key_id, revoked_at);

create function public.list_signing_keys()
returns setof public.signing_keys
language sql
stable
begin atomic
  select *
  from public.signing_keys
  order by signing_keys.created_at desc, signing_keys.id;
end;

comment on function public.register_signing_key is
  'Sets a key active: sign_passport may sign with its private half. It is an Ed25519 key of 32 bytes in base64. For '
  'platform admins and the service: a worker that could add a key could sign anything. Raises TWADM, TWARG, TWSTA.';
comment on function public.retire_signing_key is
  'Sets an active key retired: nothing more is signed with it, and what it signed stays valid. For platform admins '
  'and the service. Raises TWADM, TWSTA.';
comment on function public.revoke_signing_key is
  'Sets a key revoked: what was issued from revoked_at on, by default from now on, is no longer to be trusted. Again '
  'with an earlier time, it moves back. For platform admins and the service. Raises TWADM, TWSTA.';
comment on function public.list_signing_keys is
  'Reads the public keys that sign passports, the newest first: what verifiers need to know.';

select tickwork.open_verbs('authenticated, service_role', array[
  'register_signing_key', 'retire_signing_key', 'revoke_signing_key', 'list_signing_keys'
]);
