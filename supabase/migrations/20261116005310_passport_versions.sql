-- compiling -> signed -> active -> superseded, and revoked. What was compiled and signed never changes.

create table public.passport_versions (
  id uuid primary key,
  tenant_id uuid not null,
  passport_id uuid not null,
  snapshot_id uuid not null,
  rule_package_version_id uuid not null,
  number integer not null,
  payload_canonical bytea not null,
  payload_hash bytea not null,
  proof_canonical bytea not null,
  proof_root_hash bytea not null,
  leaf_count integer not null,
  receipt_canonical bytea not null,
  receipt_hash bytea not null,
  compiler_build_id text not null,
  issued_at timestamptz not null,
  status text not null default 'compiling',
  signature bytea,
  signing_key_id text,
  signing_key_public bytea,
  credential_proof jsonb,
  qr_payload text,
  qr_png bytea,
  activated_at timestamptz,
  superseded_at timestamptz,
  revoked_at timestamptz,
  revocation_reason text,
  status_index integer,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  constraint passport_is_the_tenants_own foreign key (tenant_id, passport_id)
    references public.passports (tenant_id, id) on delete cascade,
  -- Deferred, so that a tenant can be deleted with all it has, and nothing else that a version is made from.
  constraint snapshot_is_the_tenants_own foreign key (tenant_id, snapshot_id)
    references public.snapshots (tenant_id, id) deferrable initially deferred,
  constraint rules_are_there foreign key (rule_package_version_id)
    references public.rule_package_versions (id) deferrable initially deferred,
  constraint number_is_1_to_10000 check (number between 1 and 10000),
  constraint number_is_unique_in_its_passport unique (tenant_id, passport_id, number),
  constraint what_is_compiled_is_compiled_once
    unique (tenant_id, passport_id, snapshot_id, rule_package_version_id, compiler_build_id, issued_at),
  constraint payload_is_hashed check (payload_hash = sha256(payload_canonical)),
  constraint receipt_is_hashed check (receipt_hash = sha256(receipt_canonical)),
  constraint proof_root_hash_is_32_bytes check (octet_length(proof_root_hash) = 32),
  constraint payload_is_at_most_1_mb check (octet_length(payload_canonical) <= 1000000),
  constraint proof_is_at_most_8_mb check (octet_length(proof_canonical) <= 8000000),
  constraint receipt_is_at_most_16_kb check (octet_length(receipt_canonical) <= 16000),
  constraint leaf_count_is_positive check (leaf_count > 0),
  constraint issued_at_is_in_whole_seconds check (issued_at = date_trunc('second', issued_at)),
  constraint status_is_known check (status in ('compiling', 'signed', 'active', 'superseded', 'revoked')),
  constraint signature_is_64_bytes check (octet_length(signature) = 64),
  constraint signing_key_public_is_32_bytes check (octet_length(signing_key_public) = 32),
  constraint signature_has_its_key check (num_nulls(signature, signing_key_id, signing_key_public) in (0, 3)),
  constraint only_what_is_compiling_has_no_signature check ((status = 'compiling') = (signature is null)),
  constraint qr_is_complete check ((qr_payload is null) = (qr_png is null)),
  constraint active_versions_have_a_qr check (status not in ('active', 'superseded') or qr_payload is not null),
  constraint active_versions_were_activated check (status not in ('active', 'superseded') or activated_at is not null),
  constraint superseded_versions_have_a_time check (status <> 'superseded' or superseded_at is not null),
  constraint revoked_versions_have_a_time check ((status = 'revoked') = (revoked_at is not null)),
  constraint revocation_reason_is_at_most_1000_characters check (length(revocation_reason) <= 1000)
);

comment on table public.passport_versions is
  'What a passport says: the payload for whoever may see everything, the proof that lets single attributes be shown, '
  'and the receipt, whose hash is signed. Written by compile_passport, sign_passport and generate_qr.';
comment on column public.passport_versions.id is
  'UUID version 5 of passport, snapshot, rules, compiler and issued_at: a repeated compilation has the same.';
comment on column public.passport_versions.number is 'Counts the versions of the passport from 1.';
comment on column public.passport_versions.payload_canonical is 'Every attribute, as RFC 8785 writes it.';
comment on column public.passport_versions.proof_canonical is
  'The leaves of the tree of RFC 9162, with their salts. Whoever has them all can guess restricted values: disclose '
  'shows single ones.';
comment on column public.passport_versions.receipt_canonical is 'What the version was made from, and its hashes.';
comment on column public.passport_versions.issued_at is 'Chosen by the request, in whole seconds.';
comment on column public.passport_versions.signature is 'ED25519 over the 32 bytes of receipt_hash.';
comment on column public.passport_versions.credential_proof is
  'The proof (eddsa-jcs-2022) of the public view as JSON-LD.';
comment on column public.passport_versions.qr_payload is 'The text of its QR code, BPC-QR-1.';
comment on column public.passport_versions.status_index is 'Its place in the signed list of revoked versions.';

create unique index one_active_version_of_a_passport on public.passport_versions (tenant_id, passport_id)
where status = 'active';
create unique index passport_versions_of_their_tenant on public.passport_versions (tenant_id, id);
create index passport_versions_of_a_passport on public.passport_versions (passport_id, number);
create unique index passport_versions_by_status_index on public.passport_versions (tenant_id, status_index)
where status_index is not null;
create index passport_versions_of_a_snapshot on public.passport_versions (tenant_id, snapshot_id);
create index passport_versions_by_rules on public.passport_versions (rule_package_version_id);
create index passport_versions_by_receipt on public.passport_versions (receipt_hash);

create trigger note_update before update on public.passport_versions
for each row execute function tickwork.note_update();

create function tickwork.refuse_passport_change()
returns trigger
language plpgsql
as $$
begin
  raise exception 'passport version % is % and cannot be changed so', old.id, old.status
    using errcode = 'TWSTA', hint = 'Compile a new version.';
end
$$;

-- Only an update that sets one of these columns reads them.
create trigger what_was_compiled_stays
before update of
  id, tenant_id, passport_id, snapshot_id, rule_package_version_id, number, payload_canonical, payload_hash,
  proof_canonical, proof_root_hash, leaf_count, receipt_canonical, receipt_hash, compiler_build_id, issued_at
on public.passport_versions
for each row execute function tickwork.refuse_passport_change();

create trigger what_was_set_stays
before update of
  signature, signing_key_id, signing_key_public, credential_proof, qr_payload, qr_png, status_index
on public.passport_versions
for each row
when (
  old.signature is not null and old.signature is distinct from new.signature
  or old.signing_key_id is not null and old.signing_key_id is distinct from new.signing_key_id
  or old.signing_key_public is not null and old.signing_key_public is distinct from new.signing_key_public
  or old.credential_proof is not null and old.credential_proof is distinct from new.credential_proof
  or old.qr_payload is not null and old.qr_payload is distinct from new.qr_payload
  or old.qr_png is not null and old.qr_png is distinct from new.qr_png
  or old.status_index is not null and old.status_index is distinct from new.status_index
)
execute function tickwork.refuse_passport_change();

create trigger status_follows_the_chart
before update of status on public.passport_versions
for each row
when (
  old.status <> new.status
  and (old.status, new.status) not in (
    ('compiling', 'signed'), ('signed', 'active'), ('active', 'superseded'),
    ('signed', 'revoked'), ('active', 'revoked'), ('superseded', 'revoked')
  )
)
execute function tickwork.refuse_passport_change();

select tickwork.guard_table(
  'public.passport_versions',
  members => 'select',
  worker => 'select, insert, update (status, signature, signing_key_id, signing_key_public, credential_proof, '
    'qr_payload, qr_png, status_index)',
  service => 'select'
);

create function tickwork.lock_passport_version_for_caller(passport_version_id uuid)
returns public.passport_versions
language plpgsql
volatile
as $$
declare
  version public.passport_versions;
begin
  select * into version
  from public.passport_versions
  where passport_versions.id = lock_passport_version_for_caller.passport_version_id
    and tickwork.may_act_for(passport_versions.tenant_id);

  if not found then
    perform tickwork.raise_no_passport_version(lock_passport_version_for_caller.passport_version_id);
  end if;

  -- Whoever changes a version holds its passport, so that two versions never become active at once.
  perform tickwork.lock_passport_for_caller(version.passport_id);

  select * into version
  from public.passport_versions
  where passport_versions.id = version.id;

  return version;
end
$$;

comment on function tickwork.lock_passport_version_for_caller is
  'The version, its passport locked, if the caller may change it. Raises TWPAS, TWENQ, TWAUT.';

create function tickwork.raise_no_passport_version(passport_version_id uuid)
returns void
language plpgsql
immutable
as $$
begin
  raise exception 'passport_version_id: there is no passport version %',
    coalesce(raise_no_passport_version.passport_version_id::text, 'null')
    using errcode = 'TWPAS', hint = 'list_passport_versions shows the versions that you may see.';
end
$$;
