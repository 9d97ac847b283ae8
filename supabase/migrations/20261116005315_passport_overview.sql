-- Reads: passports with their latest versions. Neither shows the bytes of a version, which may be megabytes.

create view public.passport_version_overview
with (security_invoker = true)
as
select
  passport_versions.id,
  passport_versions.tenant_id,
  passport_versions.passport_id,
  passports.battery_identifier,
  passport_versions.snapshot_id,
  passport_versions.rule_package_version_id,
  passport_versions.number,
  passport_versions.status,
  passport_versions.issued_at,
  encode(passport_versions.payload_hash, 'hex') as payload_hash,
  encode(passport_versions.proof_root_hash, 'hex') as proof_root_hash,
  encode(passport_versions.receipt_hash, 'hex') as receipt_hash,
  passport_versions.leaf_count,
  passport_versions.compiler_build_id,
  passport_versions.signing_key_id,
  passport_versions.qr_payload,
  passports.link_qr_payload,
  passport_versions.activated_at,
  passport_versions.superseded_at,
  passport_versions.revoked_at,
  passport_versions.revocation_reason,
  passport_versions.created_at
from public.passport_versions
join public.passports on passports.id = passport_versions.passport_id;

comment on view public.passport_version_overview is
  'The versions of passports without their bytes. Row-level security decides which rows are visible.';

create view public.passport_overview
with (security_invoker = true)
as
select
  passports.id,
  passports.tenant_id,
  passports.battery_identifier,
  passports.model,
  passports.category,
  passports.gtin,
  passports.serial,
  passports.link_qr_payload,
  passports.created_at,
  active.id as active_version_id,
  active.number as active_number,
  active.activated_at,
  latest.id as latest_version_id,
  latest.number as latest_number,
  latest.status as latest_status,
  latest.issued_at as latest_issued_at,
  jobs.id as compile_job_id,
  jobs.status as compile_status,
  jobs.error_code as compile_error_code,
  jobs.error_message as compile_error_message
from public.passports
left join public.passport_versions as active on active.passport_id = passports.id
  and active.status = 'active'
left join lateral (
  select passport_versions.id, passport_versions.number, passport_versions.status, passport_versions.issued_at
  from public.passport_versions
  where passport_versions.passport_id = passports.id
  order by passport_versions.number desc
  limit 1
) as latest on true
left join public.jobs on jobs.id = passports.compile_job_id;

comment on view public.passport_overview is
  'Each passport with its active version, its latest one, and the last job that was to compile it. Row-level security '
  'decides which rows are visible.';

revoke all on public.passport_version_overview, public.passport_overview from public, anon, authenticated, service_role;
grant select on public.passport_version_overview, public.passport_overview to authenticated, service_role;
-- The verbs return rows of them.
grant select on public.passport_version_overview, public.passport_overview to tickwork_owner;

create function public.list_passports(
  tenant_id uuid default null,
  battery_identifier text default null,
  after_passport_id uuid default null,
  max_rows integer default 50
)
returns setof public.passport_overview
language sql
stable
set search_path = ''
as $$
  select passport_overview.*
  from public.passport_overview
  where (list_passports.tenant_id is null or passport_overview.tenant_id = list_passports.tenant_id)
    and (
      list_passports.battery_identifier is null
      or passport_overview.battery_identifier = list_passports.battery_identifier
    )
    and (
      list_passports.after_passport_id is null
      or (passport_overview.created_at, passport_overview.id) < (
        select last.created_at, last.id
        from public.passports as last
        where last.id = list_passports.after_passport_id
      )
    )
  order by passport_overview.created_at desc, passport_overview.id desc
  limit greatest(least(list_passports.max_rows, 1000), 0);
$$;

comment on function public.list_passports is
  'Reads passports, each with its active and its latest version, the newest first. For the next page, pass the last id '
  'of this one as after_passport_id. At most 1000 at a time.';

create function public.get_passport(passport_id uuid)
returns public.passport_overview
language plpgsql
stable
set search_path = ''
as $$
declare
  passport public.passport_overview;
begin
  select * into passport
  from public.passport_overview
  where passport_overview.id = get_passport.passport_id;

  if not found then
    raise exception 'passport_id: there is no passport %', coalesce(get_passport.passport_id::text, 'null')
      using errcode = 'TWPAS', hint = 'list_passports shows the passports that you may see.';
  end if;

  return passport;
end
$$;

comment on function public.get_passport is
  'Reads a passport with its active and its latest version. Raises TWPAS.';

create function public.list_passport_versions(
  tenant_id uuid default null,
  passport_id uuid default null,
  status text default null,
  max_rows integer default 50
)
returns setof public.passport_version_overview
language sql
stable
set search_path = ''
as $$
  select overview.*
  from public.passport_version_overview as overview
  where (list_passport_versions.tenant_id is null or overview.tenant_id = list_passport_versions.tenant_id)
    and (list_passport_versions.passport_id is null or overview.passport_id = list_passport_versions.passport_id)
    and (list_passport_versions.status is null or overview.status = list_passport_versions.status)
  order by overview.created_at desc, overview.number desc, overview.id desc
  limit greatest(least(list_passport_versions.max_rows, 1000), 0);
$$;

comment on function public.list_passport_versions is
  'Reads versions of passports without their bytes, the newest first. At most 1000 at a time.';

create index passport_versions_by_age on public.passport_versions (tenant_id, created_at, number, id);

select tickwork.open_verbs(
  'authenticated, service_role', array['list_passports', 'get_passport', 'list_passport_versions']
);
