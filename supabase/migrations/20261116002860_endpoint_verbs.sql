-- What admins do with the endpoints of their tenant. A secret is shown once, when it is made. Whoever has the key that
-- seals secrets makes it and stores it sealed; otherwise it is made here and stored in Supabase Vault.

create type tickwork.endpoint_secret as (
  webhook_endpoint_id uuid,
  tenant_id uuid,
  secret text,
  previous_until timestamptz
);

comment on type tickwork.endpoint_secret is
  'The secret that signs what an endpoint gets; null if the caller has made it. Until previous_until the one before it '
  'is valid too.';

create function tickwork.new_webhook_secret()
returns text
language sql
volatile
-- 32 bytes, as Standard Webhooks recommends, of 244 random bits.
return 'whsec_' || encode(sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())), 'base64');

create function tickwork.endpoint_to_manage(webhook_endpoint_id uuid)
returns public.webhook_endpoints
language plpgsql
volatile
as $$
declare
  endpoint public.webhook_endpoints;
begin
  select * into endpoint
  from public.webhook_endpoints
  where webhook_endpoints.id = endpoint_to_manage.webhook_endpoint_id
    and tickwork.may_act_for(webhook_endpoints.tenant_id)
  for no key update;

  -- The same error for a foreign endpoint as for a missing one, so that nobody learns which ids exist.
  if not found then
    raise exception 'webhook_endpoint_id: there is no endpoint %',
      coalesce(endpoint_to_manage.webhook_endpoint_id::text, 'null')
      using errcode = 'TWEND', hint = 'list_webhook_endpoints shows the endpoints that you may see.';
  end if;

  perform tickwork.check_manager(endpoint.tenant_id);
  perform tickwork.wait_for_disk();
  return endpoint;
end
$$;

comment on function tickwork.endpoint_to_manage is
  'Locks an endpoint that the caller may manage. Raises TWEND, TWADM.';

create function tickwork.create_webhook_endpoint(endpoint public.webhook_endpoints, with_secret boolean)
returns tickwork.endpoint_secret
language plpgsql
volatile
security definer -- nobody may write endpoints and secrets directly
set search_path = ''
as $$
declare
  id constant uuid := gen_random_uuid();
  secret text;
  rule text;
  field text;
begin
  perform tickwork.check_manager((endpoint).tenant_id);
  perform tickwork.wait_for_disk();

  insert into public.webhook_endpoints (
    id, tenant_id, url, description, event_types, header_prefix, format, timeout_seconds
  )
  values (
    id, (endpoint).tenant_id, (endpoint).url, (endpoint).description, (endpoint).event_types, (endpoint).header_prefix,
    (endpoint).format, (endpoint).timeout_seconds
  );

  if create_webhook_endpoint.with_secret is not false then
    secret := tickwork.new_webhook_secret();
    perform tickwork.put_secret(
      (endpoint).tenant_id, tickwork.endpoint_lane(id), 'current', secret, false, null, '{}'
    );
  end if;

  return row(id, (endpoint).tenant_id, secret, null)::tickwork.endpoint_secret;
exception
  when check_violation or not_null_violation then
    get stacked diagnostics rule = constraint_name, field = column_name;
    perform tickwork.raise_broken_rule(rule, field);
    return null;
end
$$;

create function public.create_webhook_endpoint(
  tenant_id uuid,
  url text,
  event_types text[] default '{}',
  description text default '',
  header_prefix text default 'X-BPC-',
  format text default 'standard',
  timeout_seconds double precision default 30,
  with_secret boolean default true
)
returns tickwork.endpoint_secret
language sql
volatile
return tickwork.create_webhook_endpoint(
  row(
    null, tenant_id, url, description, event_types, header_prefix, format, timeout_seconds, null, null, null, null,
    null, null, null, null, null, null, null
  )::public.webhook_endpoints,
  with_secret
);

comment on function public.create_webhook_endpoint is
  'Sets up an endpoint of the tenant, and returns its secret: the only time that it is shown. With with_secret => '
  'false it has none until rotate_webhook_secret stores one, for callers who seal it themselves, as the HTTP API does. '
  'For admins. Raises TWTNT, TWMEM, TWADM, TWARG, TWBIG, TWSEC.';

create function tickwork.change_webhook_endpoint(webhook_endpoint_id uuid, changes jsonb)
returns public.webhook_endpoints
language plpgsql
volatile
security definer -- nobody may write endpoints directly
set search_path = ''
as $$
declare
  endpoint public.webhook_endpoints := tickwork.endpoint_to_manage(change_webhook_endpoint.webhook_endpoint_id);
  rule text;
  field text;
begin
  perform tickwork.check_objects('changes', jsonb_build_array(change_webhook_endpoint.changes), array[
    'url', 'event_types', 'description', 'header_prefix', 'format', 'timeout_seconds', 'status'
  ]);

  endpoint := jsonb_populate_record(endpoint, change_webhook_endpoint.changes);

  update public.webhook_endpoints
  set
    url = endpoint.url,
    event_types = endpoint.event_types,
    description = endpoint.description,
    header_prefix = endpoint.header_prefix,
    format = endpoint.format,
    timeout_seconds = endpoint.timeout_seconds,
    status = endpoint.status,
    disabled_reason = case endpoint.status
      when 'disabled' then coalesce(endpoint.disabled_reason, 'Somebody disabled it')
    end
  where webhook_endpoints.id = endpoint.id
  returning * into endpoint;

  return endpoint;
exception
  when check_violation or not_null_violation then
    get stacked diagnostics rule = constraint_name, field = column_name;
    perform tickwork.raise_broken_rule(rule, field);
    return null;
end
$$;

create function public.change_webhook_endpoint(webhook_endpoint_id uuid, changes jsonb)
returns public.webhook_endpoints
language sql
volatile
return tickwork.change_webhook_endpoint(webhook_endpoint_id, changes);

comment on function public.change_webhook_endpoint is
  'Sets fields of an endpoint, from its next attempt on: those that create_webhook_endpoint takes, and status, '
  'which is active or disabled. Its secret stays. For admins. Raises TWEND, TWADM, TWARG.';

create function tickwork.rotate_webhook_secret(
  webhook_endpoint_id uuid, overlap_hours double precision, sealed_secret text
)
returns tickwork.endpoint_secret
language plpgsql
volatile
security definer -- nobody may read or write secrets
set search_path = ''
as $$
declare
  endpoint constant public.webhook_endpoints := tickwork.endpoint_to_manage(rotate_webhook_secret.webhook_endpoint_id);
  owner constant text := tickwork.endpoint_lane(endpoint.id);
  is_sealed constant boolean := rotate_webhook_secret.sealed_secret is not null;
  secret constant text := case when not is_sealed then tickwork.new_webhook_secret() end;
  until constant timestamptz := clock_timestamp() + make_interval(secs => 3600 * rotate_webhook_secret.overlap_hours);
begin
  if (rotate_webhook_secret.overlap_hours between 0 and 720) is not true then
    raise exception 'overlap_hours: must be 0 to 720'
      using errcode = 'TWARG', hint = 'For so long deliveries are signed with the old secret too.';
  end if;

  perform tickwork.check_sealed('sealed_secret', rotate_webhook_secret.sealed_secret);
  perform tickwork.rename_secret(endpoint.tenant_id, owner, 'current', 'previous', until);
  perform tickwork.put_secret(
    endpoint.tenant_id, owner, 'current', coalesce(rotate_webhook_secret.sealed_secret, secret), is_sealed, null, '{}'
  );
  perform tickwork.note_audit('webhook_endpoints.rotated', endpoint.tenant_id, 'webhook_endpoints ' || endpoint.id);

  return row(endpoint.id, endpoint.tenant_id, secret, until)::tickwork.endpoint_secret;
end
$$;

create function public.rotate_webhook_secret(
  webhook_endpoint_id uuid,
  overlap_hours double precision default 24,
  sealed_secret text default null
)
returns tickwork.endpoint_secret
language sql
volatile
return tickwork.rotate_webhook_secret(webhook_endpoint_id, overlap_hours, sealed_secret);

comment on function public.rotate_webhook_secret is
  'Sets a new secret of an endpoint, and returns it: the only time that it is shown. For so many hours, at most 720, '
  'deliveries are signed with the old one too. sealed_secret is for callers who have made the secret and sealed it, as '
  'the HTTP API does. For admins. Raises TWEND, TWADM, TWARG, TWSEC.';

create function tickwork.delete_webhook_endpoint(webhook_endpoint_id uuid)
returns void
language plpgsql
volatile
security definer -- nobody may write endpoints directly
set search_path = ''
as $$
declare
  endpoint constant public.webhook_endpoints := tickwork.endpoint_to_manage(
    delete_webhook_endpoint.webhook_endpoint_id
  );
begin
  delete from public.webhook_endpoints
  where webhook_endpoints.id = endpoint.id;
end
$$;

create function public.delete_webhook_endpoint(webhook_endpoint_id uuid)
returns void
language sql
volatile
return tickwork.delete_webhook_endpoint(webhook_endpoint_id);

comment on function public.delete_webhook_endpoint is
  'queued -> cancelled. Deletes an endpoint with its secrets and deliveries, and cancels its queued jobs. For admins. '
  'Raises TWEND, TWADM.';

select tickwork.open_verbs('authenticated, service_role', array[
  'create_webhook_endpoint', 'change_webhook_endpoint', 'rotate_webhook_secret', 'delete_webhook_endpoint'
]);
