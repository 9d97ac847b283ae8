-- Passport documents and their versions: uploaded -> validated or rejected.

insert into public.job_types (
  key, family, description, timeout_seconds, max_attempts, backoff, priority, enqueued_by, max_running_per_tenant
)
values (
  'parse_facts', 'passport', 'Take the facts from a version of a passport document', 300, 5,
  '{"base": 2, "factor": 2, "cap": 1024}', 10, 'member', 3
);

create function tickwork.create_passport_document(tenant_id uuid, name text, kind text)
returns public.passport_documents
language plpgsql
volatile
security definer -- clients may not insert passport documents directly
set search_path = ''
as $$
declare
  added public.passport_documents;
  rule text;
  field text;
begin
  perform tickwork.check_caller(create_passport_document.tenant_id, '{enqueue, operate}');

  insert into public.passport_documents (tenant_id, name, kind)
  values (
    create_passport_document.tenant_id, create_passport_document.name, create_passport_document.kind
  )
  returning * into added;

  return added;
exception
  when check_violation or not_null_violation then
    get stacked diagnostics rule = constraint_name, field = column_name;
    perform tickwork.raise_broken_rule(rule, field);
    return null;
end
$$;

create function public.create_passport_document(tenant_id uuid, name text, kind text)
returns public.passport_documents
language sql
volatile
return tickwork.create_passport_document(tenant_id, name, kind);

comment on function public.create_passport_document is
  'Sets up a document for passports, of kind bom, pcf or dd, which gets its files by add_document_version. Raises '
  'TWTNT, TWMEM, TWENQ, TWARG, TWAUT.';

create function tickwork.insert_document_version(
  id uuid,
  document public.documents,
  passport_document_id uuid,
  schema_version text
)
returns public.document_versions
language plpgsql
volatile
set search_path = ''
as $$
declare
  added public.document_versions;
begin
  -- The lock keeps two versions from getting the same number.
  perform
  from public.passport_documents
  where passport_documents.id = insert_document_version.passport_document_id
    and passport_documents.tenant_id = (insert_document_version.document).tenant_id
  for no key update;

  if not found then
    raise exception 'passport_document_id: there is no passport document %',
      coalesce(insert_document_version.passport_document_id::text, 'null')
      using errcode = 'TWDOC', hint = 'list_passport_documents shows those that you may see.';
  end if;

  insert into public.document_versions (
    id, tenant_id, passport_document_id, version, document_id, sha256, schema_version
  )
  select
    insert_document_version.id, (insert_document_version.document).tenant_id,
    insert_document_version.passport_document_id, coalesce(max(document_versions.version), 0) + 1,
    (insert_document_version.document).id, (insert_document_version.document).sha256,
    insert_document_version.schema_version
  from public.document_versions
  where document_versions.passport_document_id = insert_document_version.passport_document_id
  returning * into added;

  return added;
end
$$;

comment on function tickwork.insert_document_version is
  '-> uploaded. Makes a file the next version of a passport document of its tenant. The caller enqueues parse_facts. '
  'Raises TWDOC.';

create function tickwork.add_document_version(passport_document_id uuid, document_id uuid, schema_version text)
returns public.document_versions
language plpgsql
volatile
security definer -- clients may not insert versions directly
set search_path = ''
as $$
declare
  document constant public.documents := tickwork.lock_document_for_caller(add_document_version.document_id);
  added public.document_versions;
  rule text;
  field text;
begin
  added := tickwork.insert_document_version(
    gen_random_uuid(), document, add_document_version.passport_document_id, add_document_version.schema_version
  );

  update public.document_versions
  set job_id = (tickwork.enqueue_job(tickwork.new_job(
    document.tenant_id, 'parse_facts', jsonb_build_object('document_version_id', added.id),
    dedupe_key => 'parse_facts ' || added.id
  ))).id
  where document_versions.id = added.id
  returning * into added;

  return added;
exception
  when check_violation or not_null_violation then
    get stacked diagnostics rule = constraint_name, field = column_name;
    perform tickwork.raise_broken_rule(rule, field);
    return null;
end
$$;

create function public.add_document_version(
  passport_document_id uuid,
  document_id uuid,
  schema_version text default '1'
)
returns public.document_versions
language sql
volatile
return tickwork.add_document_version(passport_document_id, document_id, schema_version);

comment on function public.add_document_version is
  '-> uploaded. Makes a file of the vault the next version of a passport document, and enqueues parse_facts, which '
  'makes it validated or rejected. Raises TWDOC, TWARG, TWENQ, TWADM and what enqueue_job raises.';

create function tickwork.end_document_versions(job_ids uuid[])
returns void
language plpgsql
volatile
as $$
declare
  rejected record;
begin
  for rejected in
    update public.document_versions
    set
      status = 'rejected',
      -- The message begins with the finer code.
      error_code = coalesce(substring(jobs.error_message from '^([A-Z][A-Z0-9_]+): '), jobs.error_code),
      error_message = left(regexp_replace(jobs.error_message, '^[A-Z][A-Z0-9_]+: ', ''), 2000)
    from public.jobs
    where document_versions.job_id = any (end_document_versions.job_ids)
      and document_versions.status = 'uploaded'
      and jobs.id = document_versions.job_id
      and jobs.status = 'failed'
      and jobs.error_code in ('DOCUMENT_REJECTED', 'UNSUPPORTED_DOCUMENT_KIND')
    returning document_versions.*
  loop
    perform tickwork.add_event(
      rejected.tenant_id, 'document_version.rejected', 'document_version:' || rejected.id,
      jsonb_build_object(
        'document_version_id', rejected.id, 'passport_document_id', rejected.passport_document_id,
        'version', rejected.version, 'error_code', rejected.error_code, 'error_message', rejected.error_message
      ),
      rejected.job_id
    );
  end loop;
end
$$;

comment on function tickwork.end_document_versions is
  'uploaded -> rejected. Marks the versions whose parse_facts has failed because of the document, in the transaction '
  'that settles the job.';

insert into tickwork.hooks (moment, function_name)
values ('end', 'end_document_versions')
on conflict do nothing;


-- Reads

create function public.list_passport_documents(
  tenant_id uuid default null,
  kind text default null,
  name text default null,
  after_document_id uuid default null,
  max_rows integer default 50
)
returns setof public.passport_documents
language sql
stable
set search_path = ''
as $$
  select passport_documents.*
  from public.passport_documents
  where (list_passport_documents.tenant_id is null or passport_documents.tenant_id = list_passport_documents.tenant_id)
    and (list_passport_documents.kind is null or passport_documents.kind = list_passport_documents.kind)
    and (list_passport_documents.name is null or passport_documents.name = list_passport_documents.name)
    and (
      list_passport_documents.after_document_id is null
      or (passport_documents.created_at, passport_documents.id) < (
        select last.created_at, last.id
        from public.passport_documents as last
        where last.id = list_passport_documents.after_document_id
      )
    )
  order by passport_documents.created_at desc, passport_documents.id desc
  limit greatest(least(list_passport_documents.max_rows, 1000), 0);
$$;

comment on function public.list_passport_documents is
  'Reads the documents for passports, the newest first. For the next page, pass the last id of this one as '
  'after_document_id. At most 1000 at a time.';

create function public.list_document_versions(
  tenant_id uuid default null,
  passport_document_id uuid default null,
  after_document_version_id uuid default null,
  max_rows integer default 50
)
returns setof public.document_versions
language sql
stable
set search_path = ''
as $$
  select document_versions.*
  from public.document_versions
  where (list_document_versions.tenant_id is null or document_versions.tenant_id = list_document_versions.tenant_id)
    and (
      list_document_versions.passport_document_id is null
      or document_versions.passport_document_id = list_document_versions.passport_document_id
    )
    and (
      list_document_versions.after_document_version_id is null
      or (document_versions.created_at, document_versions.id) < (
        select last.created_at, last.id
        from public.document_versions as last
        where last.id = list_document_versions.after_document_version_id
      )
    )
  order by document_versions.created_at desc, document_versions.id desc
  limit greatest(least(list_document_versions.max_rows, 1000), 0);
$$;

comment on function public.list_document_versions is
  'Reads the versions of passport documents, with their status and why they were rejected, the newest first. For the '
  'next page, pass the last id of this one as after_document_version_id. At most 1000 at a time.';

select tickwork.open_verbs('authenticated, service_role', array[
  'create_passport_document', 'add_document_version', 'list_passport_documents', 'list_document_versions'
]);
