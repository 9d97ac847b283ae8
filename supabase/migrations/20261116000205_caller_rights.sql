-- What the caller may do for which tenant. A user's role in the tenant decides, or the scopes of his API key: read and
-- operate let it read, enqueue and operate enqueue, operate manage. A key without a tenant serves every tenant. One
-- that is unknown, revoked or expired has no right, and sees nothing: were that an error, it would be one only where
-- there is a row to ask about, and so tell which ids exist.

create function tickwork.key_serves_all(scopes text[])
returns boolean
language plpgsql
stable
security definer -- nobody may read the keys
set search_path = ''
as $$
begin
  return tickwork.caller_has_key() and exists (
    select
    from tickwork.live_key() as key
    where key.tenant_id is null
      and key.scopes && key_serves_all.scopes
  );
end
$$;

create function tickwork.key_tenant(scopes text[])
returns uuid
language plpgsql
stable
security definer -- nobody may read the keys
set search_path = ''
as $$
begin
  return (
    select key.tenant_id
    from tickwork.live_key() as key
    where key.scopes && key_tenant.scopes
  );
end
$$;

create function tickwork.caller_tenants()
returns setof uuid
language plpgsql
stable
set search_path = ''
as $$
begin
  if tickwork.caller_has_key() then
    return query
    select tenant.id
    from tickwork.key_tenant('{read, operate}') as tenant(id)
    where tenant.id is not null;
  else
    return query
    select membership.tenant_id
    from tickwork.caller_memberships() as membership;
  end if;
end
$$;

create function tickwork.caller_reads_all()
returns boolean
language plpgsql -- policies call it in every statement: this way it is not parsed each time
stable
security definer -- nobody may read the list of platform admins
set search_path = ''
as $$
begin
  if tickwork.caller_has_key() then
    return tickwork.key_serves_all('{read, operate}');
  end if;

  return exists (
    select
    from tickwork.platform_admins
    where platform_admins.user_id = tickwork.caller_id()
  );
end
$$;

create function tickwork.caller_may_do_all()
returns boolean
language sql
stable
return tickwork.caller_is_service()
  or tickwork.caller_is_platform_admin()
  or tickwork.key_serves_all('{operate}');

create function tickwork.caller_may_add()
returns boolean
language plpgsql
stable
security definer -- nobody may read the keys
set search_path = ''
as $$
begin
  return not tickwork.caller_has_key() or exists (
    select
    from tickwork.live_key() as key
    where key.scopes && '{enqueue, operate}'
  );
end
$$;

create function tickwork.may_act_for(tenant_id uuid)
returns boolean
language sql
stable
return tickwork.caller_is_service()
  or tickwork.caller_reads_all()
  or tenant_id in (select tickwork.caller_tenants());

create function tickwork.may_manage(tenant_id uuid)
returns boolean
language plpgsql
stable
set search_path = ''
as $$
begin
  if tickwork.caller_has_key() then
    return exists (
      select
      from tickwork.live_key() as key
      where (key.tenant_id is null or key.tenant_id = may_manage.tenant_id)
        and 'operate' = any (key.scopes)
    );
  end if;

  return tickwork.caller_may_do_all() or exists (
    select
    from tickwork.caller_memberships() as membership
    where membership.tenant_id = may_manage.tenant_id
      and membership.role in ('admin', 'owner')
  );
end
$$;

create function tickwork.check_caller(tenant_id uuid, scopes text[] default '{read, operate}')
returns void
language plpgsql
stable
security definer -- must be able to tell an unknown tenant from a known one
set search_path = ''
as $$
begin
  if not tickwork.caller_is_service() then
    if tickwork.caller_has_key() then
      perform tickwork.check_api_key(check_caller.tenant_id, check_caller.scopes);
    elsif exists (select from tickwork.caller_tenants() as own(id) where own.id = check_caller.tenant_id) then
      return;
    -- The same error for a foreign tenant as for a missing one, so that nobody learns which ids exist.
    elsif not tickwork.caller_is_platform_admin() then
      raise exception 'tenant_id: you are not a member of tenant %', coalesce(check_caller.tenant_id::text, 'null')
        using errcode = 'TWMEM', hint = 'Sign in as a member of the tenant, or ask one of its admins to add you.';
    end if;
  end if;

  if not exists (
    select
    from public.tenant_settings
    where tenant_settings.tenant_id = check_caller.tenant_id
  ) then
    perform tickwork.raise_no_tenant(check_caller.tenant_id);
  end if;
end
$$;

create function tickwork.raise_no_tenant(tenant_id uuid)
returns void
language plpgsql
immutable
set search_path = ''
as $$
begin
  raise exception 'tenant_id: there is no tenant %', coalesce(raise_no_tenant.tenant_id::text, 'null')
    using
      errcode = 'TWTNT',
      hint = 'Insert it into the table of tenants first: organizations, or the one that the application has.';
end
$$;

comment on function tickwork.raise_no_tenant is 'Raises TWTNT.';

create function tickwork.check_manager(tenant_id uuid)
returns void
language plpgsql
stable
as $$
begin
  perform tickwork.check_caller(check_manager.tenant_id, '{operate}');

  if not tickwork.may_manage(check_manager.tenant_id) then
    raise exception 'tenant_id: only admins of the tenant may do that'
      using errcode = 'TWADM', hint = 'Ask an admin or owner of the tenant.';
  end if;
end
$$;

create function tickwork.check_person()
returns void
language plpgsql
stable
as $$
begin
  if tickwork.caller_has_key() then
    raise exception 'an API key may not manage keys, members or admins'
      using errcode = 'TWADM', hint = 'Sign in as an admin of the tenant, or as a platform admin.';
  end if;
end
$$;

create function tickwork.check_platform_admin(deed text)
returns void
language plpgsql
stable
as $$
begin
  if not tickwork.caller_may_do_all() then
    raise exception 'only platform admins and the service may %', check_platform_admin.deed
      using errcode = 'TWADM', hint = 'Ask a platform admin.';
  end if;
end
$$;

comment on function tickwork.key_serves_all is
  'Whether the caller''s API key has one of these scopes for every tenant.';
comment on function tickwork.key_tenant is
  'The tenant of the caller''s API key if it has one of these scopes; null otherwise.';
comment on function tickwork.caller_tenants is
  'The tenants that the caller may read: those that a user is a member of, or the tenant of a key.';
comment on function tickwork.caller_reads_all is
  'Whether the caller may read the rows of every tenant, other than as the service.';
comment on function tickwork.caller_may_do_all is
  'Whether the caller is the service, a platform admin or a key that operates every tenant.';
comment on function tickwork.caller_may_add is
  'Whether the caller may insert rows at all: everybody but a key that is only for reading.';
comment on function tickwork.may_act_for is
  'Whether the caller may read what is the tenant''s.';
comment on function tickwork.may_manage is
  'Whether the caller is an admin or owner of the tenant, a platform admin, the service or a key that operates the '
  'tenant.';
comment on function tickwork.check_caller is
  'Returns if the caller may act for the tenant; of an API key, one of the scopes is asked for. Raises TWTNT (who '
  'serves every tenant, of an unknown one) or TWMEM (anybody else), TWAUT, TWADM, TWENQ.';
comment on function tickwork.check_manager is
  'Returns if the caller may manage the tenant. Raises TWTNT, TWMEM, TWADM, TWAUT.';
comment on function tickwork.check_person is
  'Returns unless the caller comes with an API key. Raises TWADM.';
comment on function tickwork.check_platform_admin is
  'Returns if the caller is the service, a platform admin or a key that operates every tenant. Raises TWADM.';
