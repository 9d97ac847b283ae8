-- Passports: one for each battery. What is said about it is in its versions.

create table public.passports (
  id uuid primary key default gen_random_uuid(),
  tenant_id uuid not null references public.tenant_settings (tenant_id) on delete cascade,
  battery_identifier text not null,
  model text not null default '',
  category text not null,
  gtin text,
  serial text,
  link_qr_payload text,
  link_qr_png bytea,
  salt_commitment bytea,
  compile_job_id uuid,
  created_by uuid default tickwork.caller_id(),
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  constraint battery_identifier_is_1_to_200_characters check (length(battery_identifier) between 1 and 200),
  constraint battery_identifier_is_normalized check (battery_identifier is nfc normalized),
  constraint model_is_at_most_200_characters check (length(model) <= 200),
  constraint model_is_normalized check (model is nfc normalized),
  constraint category_is_known check (category in ('ev', 'lmt', 'industrial', 'stationary')),
  constraint link_qr_is_complete check ((link_qr_payload is null) = (link_qr_png is null)),
  constraint salt_commitment_is_32_bytes check (octet_length(salt_commitment) = 32),
  constraint battery_identifier_is_unique_in_its_tenant unique (tenant_id, battery_identifier),
  constraint gtin_and_serial_are_unique_in_their_tenant unique (tenant_id, gtin, serial)
);

comment on table public.passports is 'Battery passports, one for each battery.';
comment on column public.passports.battery_identifier is 'As it is printed on the battery.';
comment on column public.passports.category is 'ev, lmt, industrial or stationary: the rules differ.';
comment on column public.passports.gtin is 'Of its model, by GS1: 14 digits.';
comment on column public.passports.serial is 'Of the battery, by GS1. With the GTIN it makes the link.';
comment on column public.passports.link_qr_payload is
  'The text of its link QR code: a GS1 Digital Link at the resolver of the tenant. It is not signed.';
comment on column public.passports.salt_commitment is
  'The SHA-256 of its salt key, which the first compilation makes. The key itself is a secret of the tenant.';
comment on column public.passports.compile_job_id is 'The last job that was requested to compile it.';

create index passports_of_a_tenant on public.passports (tenant_id, created_at, id);
-- For foreign keys that include the tenant, because foreign keys bypass row-level security.
create unique index passports_of_their_tenant on public.passports (tenant_id, id);

create trigger note_update before update on public.passports
for each row execute function tickwork.note_update();

select tickwork.guard_table(
  'public.passports',
  members => 'select',
  worker => 'select, update (salt_commitment, link_qr_payload, link_qr_png)',
  service => 'select'
);

create function tickwork.lock_passport_for_caller(passport_id uuid)
returns public.passports
language plpgsql
volatile
as $$
declare
  passport public.passports;
begin
  select * into passport
  from public.passports
  where passports.id = lock_passport_for_caller.passport_id
    and tickwork.may_act_for(passports.tenant_id)
  for no key update;

  if not found then
    perform tickwork.raise_no_passport(lock_passport_for_caller.passport_id);
  end if;

  perform tickwork.check_caller(passport.tenant_id, '{enqueue, operate}');
  return passport;
end
$$;

comment on function tickwork.lock_passport_for_caller is
  'The passport, locked, if the caller may change it. Raises TWPAS, TWENQ, TWAUT.';

-- The same error for a foreign passport as for a missing one, so that nobody learns which ids exist.

create function tickwork.raise_no_passport(passport_id uuid)
returns void
language plpgsql
immutable
as $$
begin
  raise exception 'passport_id: there is no passport %', coalesce(raise_no_passport.passport_id::text, 'null')
    using errcode = 'TWPAS', hint = 'list_passports shows the passports that you may see.';
end
$$;
