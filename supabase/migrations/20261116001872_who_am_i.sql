-- Who the caller is, as the caller sees it.

create type tickwork.caller as (
  kind text,
  id uuid,
  name text,
  tenants jsonb,
  scopes text[],
  is_platform_admin boolean,
  expires_at timestamptz
);

comment on type tickwork.caller is
  'Who the caller is: kind is user, key, account or service, name that of the key, tenants those that the caller may '
  'act for with the role of a user in each, scopes those of a key.';

create function tickwork.note_use(key_id uuid)
returns void
language plpgsql
volatile
as $$
begin
  if current_setting('transaction_read_only')::boolean then
    return;
  end if;

  update tickwork.api_keys
  set last_used_at = clock_timestamp()
  where api_keys.id = (
    select stale.id
    from tickwork.api_keys as stale
    where stale.id = note_use.key_id
      and (stale.last_used_at > clock_timestamp() - interval '1 minute') is not true
    -- Whoever has it locked notes the same.
    for no key update skip locked
  );
end
$$;

comment on function tickwork.note_use is 'Notes that an API key is used, at most once a minute.';

create function tickwork.who_am_i()
returns tickwork.caller
language plpgsql
volatile
security definer -- reads and marks the caller's key
set search_path = ''
as $$
declare
  caller tickwork.caller;
  key tickwork.api_keys;
begin
  select * into key
  from tickwork.caller_key();

  if found then
    perform tickwork.note_use(key.id);
    caller.kind := case when key.account is null then 'key' else 'account' end;
    caller.name := key.name;
    caller.scopes := key.scopes;
    caller.expires_at := key.expires_at;
  elsif tickwork.caller_is_service() then
    caller.kind := 'service';
  elsif tickwork.caller_id() is not null then
    caller.kind := 'user';
  else
    raise exception 'nobody is signed in'
      using errcode = 'TWAUT', hint = 'Call with the token of a user or with an API key.';
  end if;

  caller.id := tickwork.caller_id();
  caller.is_platform_admin := tickwork.caller_is_service() or tickwork.caller_is_platform_admin();
  caller.tenants := (
    select coalesce(jsonb_agg(
      jsonb_build_object('tenant_id', organizations.id, 'name', organizations.name, 'role', own.role)
      order by organizations.name, organizations.id
    ), '[]')
    from (
      select key.tenant_id, null as role
      union all
      select membership.tenant_id, membership.role
      from tickwork.caller_memberships() as membership
      where caller.kind = 'user'
    ) as own
    join tickwork.organizations on organizations.id = own.tenant_id
  );
  return caller;
end
$$;

create function public.who_am_i()
returns tickwork.caller
language sql
volatile
return tickwork.who_am_i();

comment on function public.who_am_i is
  'Reads who the caller is: a user, key, account or the service, with the tenants that they may act for, the role in '
  'each, and the scopes of a key. Notes that a key is used, at most once a minute. Raises TWAUT.';
