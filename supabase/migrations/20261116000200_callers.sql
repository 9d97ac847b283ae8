-- Who the caller is: the service, a signed-in user, or whoever has an API key. Everything else asks here. Of the claims
-- of a request only three count: sub, tickwork_key and tickwork_account.

create table tickwork.platform_admins (
  user_id uuid primary key,
  created_at timestamptz not null default clock_timestamp()
);

comment on table tickwork.platform_admins is 'Users who may act as an admin of every tenant.';

create function tickwork.caller_has_key()
returns boolean
language sql
stable
-- The claims of nearly all callers are not even parsed. A user has a sub, and whatever else is in his token, no key.
return case
  when strpos(current_setting('request.jwt.claims', true), '"tickwork_') > 0 then
    current_setting('request.jwt.claims')::jsonb ?| array['tickwork_key', 'tickwork_account']
    and not current_setting('request.jwt.claims')::jsonb ? 'sub'
  else false
end;

create function tickwork.caller_key_id()
returns uuid
language plpgsql
stable
security definer -- nobody may read the keys
set search_path = ''
as $$
begin
  return (select key.id from tickwork.live_key() as key);
end
$$;

create function tickwork.caller_id()
returns uuid
language sql
stable
-- The same as auth.uid(), without needing any right on the schema auth.
return coalesce(
  coalesce(
    nullif(current_setting('request.jwt.claim.sub', true), ''),
    nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'sub'
  )::uuid,
  case when tickwork.caller_has_key() then tickwork.caller_key_id() end
);

create function tickwork.caller_is_service()
returns boolean
language sql
stable
-- The setting `role` is kept by the server: inside a definer function it still names the caller.
-- 'usage' rather than 'member': Supabase's authenticator may switch to service_role but has not done so.
return pg_has_role(
  case current_setting('role') when 'none' then session_user else current_setting('role')::name end,
  'service_role',
  'usage'
);

-- The place to adapt: an application that keeps its members otherwise replaces this body.

create function tickwork.caller_memberships()
returns table (tenant_id uuid, role text)
language plpgsql
stable
security definer -- reads memberships, whose own policy depends on the caller's tenants
set search_path = ''
as $$
begin
  return query
  select memberships.tenant_id, memberships.role
  from tickwork.memberships
  where memberships.user_id = tickwork.caller_id();
end
$$;

create function tickwork.caller_is_platform_admin()
returns boolean
language plpgsql
stable
security definer -- nobody may read the list of platform admins
set search_path = ''
as $$
begin
  return not tickwork.caller_has_key() and exists (
    select
    from tickwork.platform_admins
    where platform_admins.user_id = tickwork.caller_id()
  );
end
$$;

comment on function tickwork.caller_has_key is
  'Whether the caller comes with an API key, or with an account that a key is bound to, instead of a user''s token.';
comment on function tickwork.caller_key_id is
  'The id of the caller''s API key; null if he has none, or one that has ended.';
comment on function tickwork.caller_id is
  'The signed-in user, from the claims of the verified token, or the id of the API key; null if there is neither.';
comment on function tickwork.caller_is_service is
  'Whether the service role, or a role with its rights, issued the statement. A missing setting never makes it true.';
comment on function tickwork.caller_memberships is
  'Which tenants the signed-in user belongs to, and as what: admins and owners manage the tenant, everybody else is a '
  'member. The one function to replace where members are kept in another way.';
comment on function tickwork.caller_is_platform_admin is
  'Whether the caller is a signed-in user who is a platform admin. No key is one.';
