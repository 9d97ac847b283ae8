-- What admins do with the cloud drives of their tenant.

create function tickwork.connector_to_manage(connector_id uuid)
returns public.connectors
language plpgsql
volatile
as $$
declare
  connector public.connectors;
begin
  select * into connector
  from public.connectors
  where connectors.id = connector_to_manage.connector_id
    and tickwork.may_act_for(connectors.tenant_id)
  for no key update;

  -- The same error for a foreign connector as for a missing one, so that nobody learns which ids exist.
  if not found then
    raise exception 'connector_id: there is no connector %', coalesce(connector_to_manage.connector_id::text, 'null')
      using errcode = 'TWCTR', hint = 'list_connectors shows the connectors that you may see.';
  end if;

  perform tickwork.check_manager(connector.tenant_id);
  perform tickwork.wait_for_disk();
  return connector;
end
$$;

comment on function tickwork.connector_to_manage is
  'Locks a connector that the caller may manage. Raises TWCTR, TWADM.';

create function tickwork.check_connector(connector public.connectors)
returns void
language plpgsql
volatile
as $$
declare
  most constant integer := 100;
  others integer;
begin
  perform pg_advisory_xact_lock(hashtextextended('connectors of ' || (connector).tenant_id, 0));

  select count(*) into others
  from public.connectors as other
  where other.tenant_id = (connector).tenant_id
    and other.id is distinct from (connector).id;

  if others >= most then
    raise exception 'tenant_id: tenant % has % connectors, which is the limit', (connector).tenant_id, others
      using errcode = 'TWBIG', hint = 'Delete one that is no longer needed.';
  end if;

  if exists (
    select
    from public.connectors as other
    where other.tenant_id = (connector).tenant_id
      and other.name = (connector).name
      and other.id is distinct from (connector).id
  ) then
    raise exception 'name: the tenant has another connector named %', quote_literal((connector).name)
      using errcode = 'TWDUP', hint = 'Choose another name, or give that one a new token.';
  end if;

  if (connector).extract <> all (array(select extraction_engines.key from public.extraction_engines)) then
    raise exception 'engine: there is no engine %', quote_literal((connector).extract)
      using errcode = 'TWARG', hint = 'extraction_engines lists them.';
  end if;

  if (connector).extract <> 'local' and (connector).consent_given_at is null then
    raise exception 'engine: % sends documents to a third party', (connector).extract
      using errcode = 'TWCON', hint = 'Ask for consent, and pass consent => true.';
  end if;
end
$$;

comment on function tickwork.check_connector is
  'Returns if the connector may be stored. Raises TWBIG, TWDUP, TWARG, TWCON.';

create function tickwork.create_connector(tenant_id uuid, provider text, name text, engine text, consent boolean)
returns public.connectors
language plpgsql
volatile
security definer -- nobody may write connectors directly
set search_path = ''
as $$
declare
  connector public.connectors;
  rule text;
  field text;
begin
  perform tickwork.check_manager(create_connector.tenant_id);
  perform tickwork.wait_for_disk();
  connector.tenant_id := create_connector.tenant_id;
  connector.name := create_connector.name;
  connector.extract := create_connector.engine;

  if create_connector.consent then
    connector.consent_given_at := clock_timestamp();
    connector.consent_given_by := tickwork.caller_id();
  end if;

  perform tickwork.check_connector(connector);

  insert into public.connectors (tenant_id, provider, name, extract, consent_given_at, consent_given_by)
  values (
    connector.tenant_id, create_connector.provider, connector.name, connector.extract, connector.consent_given_at,
    connector.consent_given_by
  )
  returning * into connector;

  return connector;
exception
  when check_violation or not_null_violation then
    get stacked diagnostics rule = constraint_name, field = column_name;
    perform tickwork.raise_broken_rule(rule, field);
    return null;
end
$$;

create function public.create_connector(
  tenant_id uuid,
  provider text,
  name text,
  engine text default null,
  consent boolean default false
)
returns public.connectors
language sql
volatile
return tickwork.create_connector(tenant_id, provider, name, engine, consent);

comment on function public.create_connector is
  'Sets up a cloud drive of the tenant: dropbox, onedrive or gdrive. It needs a token, by set_connector_token. engine '
  'reads what is imported; one that sends documents to a third party needs consent. For admins. '
  'Raises TWTNT, TWMEM, TWADM, TWARG, TWBIG, TWDUP, TWCON.';

create function tickwork.change_connector(connector_id uuid, changes jsonb)
returns public.connectors
language plpgsql
volatile
security definer -- nobody may write connectors directly
set search_path = ''
as $$
declare
  connector public.connectors := tickwork.connector_to_manage(change_connector.connector_id);
  rule text;
  field text;
begin
  perform tickwork.check_objects('changes', jsonb_build_array(change_connector.changes), array[
    'name', 'status', 'engine', 'consent'
  ]);
  connector := jsonb_populate_record(connector, change_connector.changes);

  if change_connector.changes ? 'engine' then
    connector.extract := change_connector.changes ->> 'engine';
  end if;

  if connector.status = 'reauthorize' and change_connector.changes ? 'status' then
    raise exception 'status: must be active or disabled'
      using errcode = 'TWARG', hint = 'set_connector_token gives it another token.';
  end if;

  if change_connector.changes -> 'consent' = 'true' then
    connector.consent_given_at := clock_timestamp();
    connector.consent_given_by := tickwork.caller_id();
  end if;

  perform tickwork.check_connector(connector);

  update public.connectors
  set
    name = connector.name,
    status = connector.status,
    extract = connector.extract,
    consent_given_at = connector.consent_given_at,
    consent_given_by = connector.consent_given_by
  where connectors.id = connector.id
  returning * into connector;

  return connector;
exception
  when check_violation or not_null_violation then
    get stacked diagnostics rule = constraint_name, field = column_name;
    perform tickwork.raise_broken_rule(rule, field);
    return null;
end
$$;

create function public.change_connector(connector_id uuid, changes jsonb)
returns public.connectors
language sql
volatile
return tickwork.change_connector(connector_id, changes);

comment on function public.change_connector is
  'Sets fields of a connector: name, status (active or disabled), engine, and consent, which is given and not '
  'taken back. For admins. Raises TWCTR, TWADM, TWARG, TWDUP, TWCON.';

create function tickwork.set_connector_token(connector_id uuid, refresh_token text, is_sealed boolean)
returns void
language plpgsql
volatile
security definer -- nobody may read or write secrets
set search_path = ''
as $$
declare
  connector constant public.connectors := tickwork.connector_to_manage(set_connector_token.connector_id);
  owner constant text := tickwork.connector_lane(connector.id);
begin
  if set_connector_token.is_sealed then
    perform tickwork.check_sealed('refresh_token', coalesce(set_connector_token.refresh_token, ''));
  elsif (set_connector_token.refresh_token ~ '^[!-~]+$') is not true
    or length(set_connector_token.refresh_token) not between 8 and 8000
  then
    raise exception 'refresh_token: must be 8 to 8000 ASCII characters without spaces'
      using errcode = 'TWARG', hint = 'It is the refresh token that the provider issues, not an access token.';
  end if;

  perform tickwork.put_secret(
    connector.tenant_id, owner, 'refresh_token', set_connector_token.refresh_token,
    coalesce(set_connector_token.is_sealed, false), null, '{}'
  );
  -- An access token obtained with the old one may belong to another account.
  perform tickwork.drop_secrets(connector.tenant_id, owner, 'access_token');
  perform tickwork.note_audit('connectors.token_set', connector.tenant_id, 'connectors ' || connector.id);
end
$$;

create function public.set_connector_token(connector_id uuid, refresh_token text, is_sealed boolean default false)
returns void
language sql
volatile
return tickwork.set_connector_token(connector_id, refresh_token, is_sealed);

comment on function public.set_connector_token is
  'Sets the refresh token of a connector, replacing any earlier one. is_sealed is for callers who have sealed it, as '
  'the HTTP API does. check_connector finds out whether the provider accepts it. For admins. Raises TWCTR, TWADM, '
  'TWARG, TWSEC.';

create function tickwork.delete_connector(connector_id uuid)
returns void
language plpgsql
volatile
security definer -- nobody may write connectors directly
set search_path = ''
as $$
declare
  connector constant public.connectors := tickwork.connector_to_manage(delete_connector.connector_id);
begin
  delete from public.connectors
  where connectors.id = connector.id;
end
$$;

create function public.delete_connector(connector_id uuid)
returns void
language sql
volatile
return tickwork.delete_connector(connector_id);

comment on function public.delete_connector is
  '-> gone: a connector with its tokens; imported documents stay. For admins. Raises TWCTR, TWADM.';

select tickwork.open_verbs('authenticated, service_role', array[
  'create_connector', 'change_connector', 'set_connector_token', 'delete_connector'
]);
