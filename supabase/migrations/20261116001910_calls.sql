-- How functions are woken over HTTP: by a tick of pg_cron and by an insert, both signed and sent through pg_net.
-- `tickwork cron install` adds what needs the extensions, see supabase/cron.sql.

create table tickwork.functions (
  family text primary key,
  url text not null,
  max_calls integer not null default 4,
  timeout_milliseconds integer not null default 5000,
  constraint url_is_http check (url ~ '^https?://[^[:space:]]+$'),
  constraint max_calls_are_1_to_100 check (max_calls between 1 and 100),
  -- pg_net waits for the slowest request of a batch before it sends the next one.
  constraint timeout_is_1_to_30_s check (timeout_milliseconds between 1000 and 30000)
);

create table tickwork.call_tokens (
  family text not null,
  number integer not null,
  free_at timestamptz not null default '-infinity',
  request_id bigint,
  primary key (family, number)
)
with (fillfactor = 50);

create table tickwork.ticks (
  id bigint generated always as identity primary key,
  family text not null,
  ticked_at timestamptz not null default clock_timestamp(),
  due_jobs integer not null,
  request_ids bigint[] not null
);

create index ticks_of_a_family on tickwork.ticks (family, ticked_at);
create index ticks_by_age on tickwork.ticks (ticked_at);

create table tickwork.call_secrets (
  key text primary key,
  secret text not null,
  constraint secret_is_long check (secret ~ '^[!-~]{32,}$')
);

comment on table tickwork.functions is
  'The URL of the function of each family, and how many calls a tick makes at most.';
comment on table tickwork.call_tokens is
  'Each allows one call by an insert every five seconds, so that a burst of inserts makes only a few calls.';
comment on table tickwork.ticks is
  'When cron ticked, how many due jobs it found, up to the limit, and which calls it requested.';
comment on table tickwork.call_secrets is 'What calls are signed with if there is no Supabase Vault.';

select tickwork.guard_table(inner_table)
from unnest(array[
  'tickwork.functions', 'tickwork.call_tokens', 'tickwork.ticks', 'tickwork.call_secrets'
]::regclass[]) as inner_table;


-- HMAC-SHA256 (RFC 2104), since not every server has pgcrypto.

create function tickwork.hmac_sha256(key bytea, message bytea)
returns bytea
language plpgsql
immutable
strict
as $$
declare
  -- A key that is longer than a block is hashed first; a shorter one is padded with zeros.
  block constant bytea := case
    when octet_length(hmac_sha256.key) > 64 then sha256(hmac_sha256.key)
    else hmac_sha256.key
  end;
  inner_pad bytea := decode(repeat('36', 64), 'hex');
  outer_pad bytea := decode(repeat('5c', 64), 'hex');
begin
  for place in 0 .. octet_length(block) - 1 loop
    inner_pad := set_byte(inner_pad, place, get_byte(block, place) # 54);
    outer_pad := set_byte(outer_pad, place, get_byte(block, place) # 92);
  end loop;

  return sha256(outer_pad || sha256(inner_pad || hmac_sha256.message));
end
$$;

create function tickwork.call_secret()
returns text
language plpgsql
stable
as $$
declare
  found_secret text;
begin
  if to_regclass('vault.decrypted_secrets') is not null then
    -- By format rather than as a constant: a linter would look for the table on servers without Vault.
    execute format('select decrypted_secret from %I.decrypted_secrets where name = $1', 'vault')
    into found_secret
    using 'tickwork_hmac_secret';
  else
    select call_secrets.secret into found_secret
    from tickwork.call_secrets
    where call_secrets.key = 'tickwork_hmac_secret';
  end if;

  -- pg_net would drop a null header and send the call unsigned.
  if coalesce(found_secret, '') = '' then
    raise exception 'the secret tickwork_hmac_secret is missing, and calls are never sent unsigned'
      using errcode = 'TWCRN', hint = 'Set TICKWORK_HMAC_SECRET and run `tickwork cron install`.';
  end if;

  return found_secret;
end
$$;

create function tickwork.call_function(target tickwork.functions)
returns bigint
language plpgsql
volatile
as $$
declare
  signed_at constant text := extract(epoch from clock_timestamp())::bigint::text;
  -- No two calls are the same, so that a function can refuse a replayed one.
  nonce constant text := replace(gen_random_uuid()::text, '-', '');
  signature text;
  request_id bigint;
begin
  if to_regprocedure('tickwork.send_call(text,jsonb,integer)') is null then
    raise exception 'there is no way to send a call'
      using errcode = 'TWCRN', hint = 'Run `tickwork cron install` on a server with pg_net.';
  end if;

  signature := 'sha256=' || encode(tickwork.hmac_sha256(
    convert_to(tickwork.call_secret(), 'utf8'),
    convert_to(concat_ws('.', signed_at, call_function.target.family, nonce), 'utf8')
  ), 'hex');

  execute format('select %I.send_call($1, $2, $3)', 'tickwork')
  into request_id
  using
    call_function.target.url,
    jsonb_build_object(
      'Content-Type', 'application/json',
      'X-Tickwork-Timestamp', signed_at,
      'X-Tickwork-Nonce', nonce,
      'X-Tickwork-Signature', signature
    ),
    call_function.target.timeout_milliseconds;

  return request_id;
end
$$;

comment on function tickwork.hmac_sha256 is 'HMAC-SHA256 of a message.';
comment on function tickwork.call_secret is
  'What calls are signed with: from Supabase Vault, or from call_secrets if there is no Vault. Raises TWCRN.';
comment on function tickwork.call_function is
  'Asks pg_net to call a function once, with a signature, when this transaction commits. Returns the id of the request '
  'in pg_net. Raises TWCRN.';
