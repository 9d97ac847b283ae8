-- Links: where a tenant has a resolver and a battery its GTIN and serial number, generate_qr makes a second QR code.
-- It opens https://<resolver>/01/<gtin>/21/<serial>. It is not signed, so it can be made again at any time.

alter table public.tenant_settings add column resolver text;
-- The same rule as HOST in tickwork.passports.qr.
alter table public.tenant_settings add constraint resolver_is_the_name_of_a_host check (
  length(resolver) <= 200
  and resolver ~ '^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$'
);

comment on column public.tenant_settings.resolver is
  'The host that the links of its passports lead to, such as id.example.com; null means that they have none.';

-- No code that leads to the host of before can be read or exported any more, whoever changes the resolver.

create function tickwork.forget_links()
returns trigger
language plpgsql
security definer -- nobody may write passports
set search_path = ''
as $$
begin
  update public.passports
  set
    link_qr_payload = null,
    link_qr_png = null
  where passports.tenant_id = new.tenant_id
    and passports.link_qr_payload is not null;

  return null;
end
$$;

create trigger forget_links after update of resolver on public.tenant_settings
for each row when (old.resolver is distinct from new.resolver)
execute function tickwork.forget_links();

create function tickwork.set_resolver(tenant_id uuid, resolver text)
returns text
language plpgsql
volatile
security definer -- members may not update the settings of their tenant directly
set search_path = ''
as $$
begin
  perform tickwork.check_manager(set_resolver.tenant_id);

  update public.tenant_settings
  set resolver = set_resolver.resolver
  where tenant_settings.tenant_id = set_resolver.tenant_id;

  return set_resolver.resolver;
exception
  when check_violation then
    raise exception 'resolver: % is not the name of a host', quote_literal(left(set_resolver.resolver, 200))
      using
        errcode = 'TWARG',
        hint = 'Such as id.example.com: in lower case, without scheme, port or path. Null removes it.';
end
$$;

create function public.set_resolver(tenant_id uuid, resolver text default null)
returns text
language sql
volatile
return tickwork.set_resolver(tenant_id, resolver);

comment on function public.set_resolver is
  'Sets the host that the links of a tenant''s passports lead to, or removes it. Link QR codes that led to another '
  'host are deleted; request_link_qr makes new ones. Raises TWARG, TWTNT, TWMEM, TWADM, TWAUT.';

create function tickwork.get_resolver(tenant_id uuid)
returns text
language plpgsql
stable
security definer -- must be able to tell a tenant without a resolver from one that the caller may not see
set search_path = ''
as $$
begin
  perform tickwork.check_caller(get_resolver.tenant_id);

  return (
    select tenant_settings.resolver
    from public.tenant_settings
    where tenant_settings.tenant_id = get_resolver.tenant_id
  );
end
$$;

create function public.get_resolver(tenant_id uuid)
returns text
language sql
stable
return tickwork.get_resolver(tenant_id);

comment on function public.get_resolver is
  'Reads the host that the links of a tenant''s passports lead to; null if there is none. Raises TWTNT, TWMEM, TWADM, '
  'TWAUT.';

create function tickwork.held_resolver()
returns text
language sql
volatile
security definer -- workers may not read the settings of tenants
set search_path = ''
as $$
  select tenant_settings.resolver
  from public.tenant_settings
  where tenant_settings.tenant_id = tickwork.held_tenant()
  for share;
$$;

comment on function tickwork.held_resolver is
  'The resolver of the held job''s tenant, which cannot change before the end of the transaction: so no link to the '
  'host of before is stored after forget_links.';

create function tickwork.is_gtin(value text)
returns boolean
language sql
immutable
as $$
  select case
    when is_gtin.value !~ '^[0-9]{14}$' then false
    else (
      select sum(digit.value::integer * case when digit.place % 2 = 1 then 3 else 1 end) % 10 = 0
      from regexp_split_to_table(is_gtin.value, '') with ordinality as digit(value, place)
    )
  end;
$$;

comment on function tickwork.is_gtin is
  'Whether it is 14 digits, of which the last is the check digit, as in tickwork.passports.qr.';

create function tickwork.store_gtin(passport_id uuid, gtin text, serial text)
returns void
language plpgsql
volatile
as $$
begin
  if not tickwork.is_gtin(store_gtin.gtin) then
    raise exception 'gtin: % must be 14 digits, of which the last is the check digit',
      quote_literal(left(store_gtin.gtin, 100))
      using errcode = 'TWARG', hint = 'Put zeros in front of a shorter GTIN.';
  -- Browsers would take one or two dots for a folder.
  elsif store_gtin.serial !~ '^[0-9A-Za-z._-]{1,20}$' or store_gtin.serial in ('.', '..') then
    raise exception 'serial: % must be 1 to 20 letters, digits, dots, hyphens and underscores',
      quote_literal(left(store_gtin.serial, 100))
      using errcode = 'TWARG', hint = 'One or two dots alone are refused: in an address they mean a folder.';
  end if;

  update public.passports
  set
    gtin = store_gtin.gtin,
    serial = store_gtin.serial,
    link_qr_payload = null,
    link_qr_png = null
  where passports.id = store_gtin.passport_id
    and (passports.gtin, passports.serial) is distinct from (store_gtin.gtin, store_gtin.serial);
exception
  when unique_violation then
    raise exception 'serial: another battery of the tenant has GTIN % and serial number %',
      store_gtin.gtin, store_gtin.serial
      using errcode = 'TWDUP', hint = 'A link leads to one battery. list_passports shows the GTIN of each.';
end
$$;

comment on function tickwork.store_gtin is
  'Stores the GTIN and serial number of a passport''s battery, null for none, and deletes the link QR code of those '
  'before. Raises TWARG, TWDUP.';

create function tickwork.set_gtin(passport_id uuid, gtin text, serial text)
returns public.passport_overview
language plpgsql
volatile
security definer -- clients may not write passports directly
set search_path = ''
as $$
declare
  passport constant public.passports := tickwork.lock_passport_for_caller(set_gtin.passport_id);
  changed public.passport_overview;
begin
  perform tickwork.store_gtin(passport.id, set_gtin.gtin, set_gtin.serial);

  select * into changed
  from public.passport_overview
  where passport_overview.id = passport.id;

  return changed;
end
$$;

create function public.set_gtin(passport_id uuid, gtin text default null, serial text default null)
returns public.passport_overview
language sql
volatile
return tickwork.set_gtin(passport_id, gtin, serial);

comment on function public.set_gtin is
  'Sets the GTIN (14 digits) and the serial number of a passport''s battery, of which its link is made; null for none. '
  'They are not part of what is signed. The link QR code of others is deleted; request_link_qr makes it again. Raises '
  'TWPAS, TWARG, TWDUP, TWENQ, TWAUT.';

create function tickwork.request_link_qr(passport_id uuid)
returns tickwork.enqueued_jobs
language plpgsql
volatile
security definer -- members may not enqueue generate_qr directly
set search_path = ''
as $$
declare
  passport constant public.passports := tickwork.lock_passport_for_caller(request_link_qr.passport_id);
  version_id constant uuid := (
    select passport_versions.id
    from public.passport_versions
    where passport_versions.passport_id = passport.id
      and passport_versions.status in ('signed', 'active', 'superseded')
    order by passport_versions.number desc
    limit 1
  );
  missing constant text := case
    when passport.gtin is null or passport.serial is null then 'a GTIN and a serial number: set_gtin sets them'
    when version_id is null then 'a signed version: its first one comes with the link QR code'
    when not exists (
      select
      from public.tenant_settings
      where tenant_settings.tenant_id = passport.tenant_id
        and tenant_settings.resolver is not null
    ) then 'a resolver of its tenant: set_resolver sets it'
  end;
  job tickwork.enqueued_jobs;
begin
  if missing is not null then
    raise exception 'passport_id: the passport has no link yet'
      using errcode = 'TWSTA', hint = 'It needs ' || missing || '.';
  end if;

  select * into job
  from tickwork.insert_jobs(array[tickwork.new_job(
    passport.tenant_id,
    'generate_qr',
    jsonb_build_object('passport_version_id', version_id),
    dedupe_key => 'generate_qr ' || version_id::text
  )]);

  return job;
end
$$;

create function public.request_link_qr(passport_id uuid)
returns tickwork.enqueued_jobs
language sql
volatile
return tickwork.request_link_qr(passport_id);

comment on function public.request_link_qr is
  '-> queued. Makes the link QR code of a passport, after the resolver, the GTIN or the serial number were set. A new '
  'version comes with it anyway. Raises TWPAS, TWSTA, TWENQ and what enqueue_job raises.';

select tickwork.open_verbs(
  'authenticated, service_role', array['set_resolver', 'get_resolver', 'set_gtin', 'request_link_qr']
);
select tickwork.open_verbs('tickwork_worker', array['held_resolver']);
