-- Exports: passport versions as files in the vault, each for an audience. The same request always gives the same bytes,
-- as long as the passport has the same link.

create table public.passport_exports (
  id uuid primary key default gen_random_uuid(),
  tenant_id uuid not null,
  passport_version_id uuid not null,
  format text not null,
  template text not null,
  audience text not null,
  vault_path text not null,
  sha256 text not null,
  size bigint not null,
  job_id uuid,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  constraint passport_version_is_the_tenants_own foreign key (tenant_id, passport_version_id)
    references public.passport_versions (tenant_id, id) on delete cascade,
  constraint what_is_exported_is_exported_once unique (tenant_id, passport_version_id, format, template, audience),
  constraint format_is_known check (format in ('pdf', 'json_ld', 'xml')),
  constraint template_is_a_word check (template ~ '^[a-z][a-z0-9_-]{0,99}$'),
  constraint audience_is_known check (audience in ('public', 'legitimate_interest', 'authorities', 'owner')),
  constraint json_ld_is_public check (format <> 'json_ld' or audience = 'public'),
  constraint vault_path_is_in_its_version check (
    vault_path ~ ('^tenant/' || tenant_id || '/derived/passports/' || passport_version_id || '/[0-9a-f]{64}\.[a-z]+$')
  ),
  constraint sha256_is_64_hex_digits check (sha256 ~ '^[0-9a-f]{64}$'),
  constraint size_is_up_to_20_mb check (size between 1 and 20000000)
);

comment on table public.passport_exports is
  'Passport versions as files. A version that is exported once more has the same row, and the same bytes unless the '
  'exporter or the link of the passport has changed.';
comment on column public.passport_exports.audience is
  'Who it may be given to: public, legitimate_interest, authorities, or only its owner.';
comment on column public.passport_exports.sha256 is 'Of the file.';
comment on column public.passport_exports.job_id is 'The job that wrote it last.';

create trigger note_update before update on public.passport_exports
for each row execute function tickwork.note_update();

select tickwork.guard_table(
  'public.passport_exports',
  members => 'select',
  worker => 'select, insert, update (vault_path, sha256, size, job_id)',
  service => 'select'
);

insert into public.job_types (
  key, family, description, timeout_seconds, enqueued_by, priority, max_attempts, backoff
)
values (
  'export_passport', 'passport', 'Write a passport version as PDF, JSON-LD or XML', 120, 'member', 0, 5,
  '{"base": 2, "factor": 2, "cap": 1024}'
);

create function tickwork.check_exportable(version public.passport_versions, format text, audience text)
returns void
language plpgsql
stable
as $$
begin
  if (check_exportable.format in ('pdf', 'json_ld', 'xml')) is not true then
    raise exception 'format: must be pdf, json_ld or xml, not %', quote_nullable(left(check_exportable.format, 100))
      using errcode = 'TWARG';
  elsif (check_exportable.audience in ('public', 'legitimate_interest', 'authorities', 'owner')) is not true then
    raise exception 'audience: must be public, legitimate_interest, authorities or owner, not %',
      quote_nullable(left(check_exportable.audience, 100))
      using errcode = 'TWARG', hint = 'The owner sees all of it, the others what Annex XIII lets them see.';
  elsif check_exportable.format = 'json_ld' and check_exportable.audience <> 'public' then
    raise exception 'audience: JSON-LD is signed for the public only, not for %', check_exportable.audience
      using errcode = 'TWARG', hint = 'Export a PDF or XML for other audiences, or use disclose.';
  elsif (version).status not in ('signed', 'active', 'superseded') then
    raise exception 'passport_version_id: the version is %, and only signed ones are exported', (version).status
      using errcode = 'TWSTA', hint = 'explain_passport says what it is waiting for.';
  end if;
end
$$;

comment on function tickwork.check_exportable is
  'Returns if the version can be exported in the format for the audience. Raises TWARG, TWSTA.';

create function tickwork.request_export(passport_version_id uuid, format text, template text, audience text)
returns tickwork.enqueued_jobs
language plpgsql
volatile
security definer -- clients may not choose the keys of the job
set search_path = ''
as $$
declare
  version constant public.passport_versions :=
    tickwork.lock_passport_version_for_caller(request_export.passport_version_id);
  wanted constant jsonb := jsonb_build_object(
    'passport_version_id', version.id,
    'format', request_export.format,
    'template', request_export.template,
    'audience', request_export.audience
  );
  job tickwork.enqueued_jobs;
begin
  perform tickwork.check_exportable(version, request_export.format, request_export.audience);

  if (request_export.template ~ '^[a-z][a-z0-9_-]{0,99}$') is not true then
    raise exception 'template: % is not the name of a template', quote_nullable(left(request_export.template, 100))
      using errcode = 'TWARG', hint = 'The template that there always is is called standard.';
  end if;

  perform tickwork.check_enqueuer(version.tenant_id, '{export_passport}');

  select * into job
  from tickwork.insert_jobs(array[tickwork.new_job(
    version.tenant_id,
    'export_passport',
    wanted,
    dedupe_key => concat_ws(' ', 'export_passport', version.id, wanted ->> 'format', wanted ->> 'template',
      wanted ->> 'audience')
  )]);

  return job;
end
$$;

create function public.request_export(
  passport_version_id uuid,
  format text,
  template text default 'standard',
  audience text default 'public'
)
returns tickwork.enqueued_jobs
language sql
volatile
return tickwork.request_export(passport_version_id, format, template, audience);

comment on function public.request_export is
  '-> queued. Writes a signed version as a file into the vault: pdf, json_ld or xml, for the audience public, '
  'legitimate_interest, authorities or owner. list_exports shows the file once the job is done. '
  'Raises TWPAS, TWSTA, TWARG, TWENQ and what enqueue_job raises.';

create function public.list_exports(
  tenant_id uuid default null,
  passport_version_id uuid default null,
  max_rows integer default 50
)
returns setof public.passport_exports
language sql
stable
set search_path = ''
as $$
  select passport_exports.*
  from public.passport_exports
  where (list_exports.tenant_id is null or passport_exports.tenant_id = list_exports.tenant_id)
    and (
      list_exports.passport_version_id is null
      or passport_exports.passport_version_id = list_exports.passport_version_id
    )
  order by passport_exports.created_at desc, passport_exports.id desc
  limit greatest(least(list_exports.max_rows, 1000), 0);
$$;

comment on function public.list_exports is
  'Reads the exports of a tenant or of a passport version, the newest first. At most 1000 at a time.';

create index passport_exports_by_age on public.passport_exports (tenant_id, created_at, id);

select tickwork.open_verbs('authenticated, service_role', array['request_export', 'list_exports']);
