-- Artifacts: payloads and results that are too large for a row, and files that jobs make. They are in the vault. A row
-- says which job each belongs to: it is kept as long as that job.

create table public.artifacts (
  id uuid primary key default gen_random_uuid(),
  tenant_id uuid not null references public.tenant_settings (tenant_id) on delete cascade,
  job_id uuid,
  name text not null,
  vault_path text not null generated always as (
    'tenant/' || tenant_id::text || '/artifacts/' || id::text || '-' || name
  ) stored,
  mime_type text not null,
  size bigint,
  sha256 text,
  created_at timestamptz not null default clock_timestamp(),
  remove_at timestamptz default clock_timestamp() + interval '1 day',
  is_being_removed boolean not null default false,
  -- It is part of the path, and never begins with a dot: those are files that are still being written.
  constraint name_is_plain check (name ~ '^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,99}$'),
  constraint mime_type_is_one check (mime_type ~ '^[a-z0-9.+-]{1,100}/[a-z0-9.+-]{1,100}$'),
  constraint size_is_0_to_1_tb check (size between 0 and 1000000000000),
  constraint sha256_is_64_hex_digits check (sha256 ~ '^[0-9a-f]{64}$')
);

comment on table public.artifacts is
  'Payloads and results that are too large for a row, and files that jobs make. They are in the vault, at vault_path.';
comment on column public.artifacts.job_id is
  'The job that it belongs to. Null until a job is enqueued with it, and after that job was deleted.';
comment on column public.artifacts.size is 'In bytes. Null, like sha256, while a job is still writing it.';
comment on column public.artifacts.remove_at is
  'From when on it is removed: a day after it was added, unless a job has it by then, or when its job was deleted.';
comment on column public.artifacts.is_being_removed is 'Its file may be gone already: no job can have it any more.';

create index artifacts_of_a_tenant on public.artifacts (tenant_id, created_at, id);
create index artifacts_of_a_job on public.artifacts (job_id) where job_id is not null;
create index artifacts_to_remove on public.artifacts (tenant_id, remove_at) where remove_at is not null;

select tickwork.guard_table(
  'public.artifacts', members => 'select', worker => 'select, insert, update, delete', service => 'select'
);


-- A job is enqueued with {"artifact_ref": {"id": ..., "sha256": ..., "size": ...}} as its payload.

create function tickwork.take_artifact(job_id uuid, tenant_id uuid, ref jsonb)
returns void
language plpgsql
volatile
as $$
begin
  update public.artifacts
  set
    job_id = take_artifact.job_id,
    remove_at = null
  where artifacts.id = (ref ->> 'id')::uuid
    -- What another tenant has is not there, whatever its id.
    and artifacts.tenant_id = take_artifact.tenant_id
    and artifacts.sha256 = ref ->> 'sha256'
    and artifacts.size = (ref ->> 'size')::bigint
    and artifacts.job_id is null
    and not artifacts.is_being_removed;

  if not found then
    raise exception 'payload: there is no artifact % with this hash and size that no job has yet', ref ->> 'id'
      using
        errcode = 'TWART',
        hint = 'Add one for each job with add_artifact, and pass on id, sha256 and size as they are.';
  end if;
end
$$;

comment on function tickwork.take_artifact is
  'Makes the artifact that is the payload of a new job belong to that job. Raises TWART.';

create function tickwork.give_up_artifacts(job_ids uuid[])
returns void
language sql
volatile
as $$
  update public.artifacts
  set
    job_id = null,
    remove_at = clock_timestamp()
  where artifacts.job_id = any (give_up_artifacts.job_ids);
$$;

comment on function tickwork.give_up_artifacts is 'The artifacts of deleted jobs are to be removed.';

insert into tickwork.hooks (moment, function_name)
values ('artifact', 'take_artifact'), ('delete', 'give_up_artifacts')
on conflict do nothing;

create function tickwork.add_artifact(tenant_id uuid, name text, mime_type text, size bigint, sha256 text)
returns public.artifacts
language plpgsql
volatile
security definer -- clients may not write artifacts directly
set search_path = ''
as $$
declare
  artifact public.artifacts;
begin
  perform tickwork.check_caller(add_artifact.tenant_id, '{enqueue, operate}');

  if add_artifact.size is null or add_artifact.sha256 is null then
    raise exception 'sha256: the size and the hash of an artifact must be given'
      using errcode = 'TWARG', hint = 'They are checked when the file is read.';
  end if;

  insert into public.artifacts (tenant_id, name, mime_type, size, sha256)
  values (
    add_artifact.tenant_id, add_artifact.name, add_artifact.mime_type, add_artifact.size, add_artifact.sha256
  )
  returning * into artifact;

  return artifact;
exception
  when check_violation then
    raise exception 'artifact: %', sqlerrm
      using
        errcode = 'TWARG',
        hint = 'A name has letters, digits, dots and dashes, a MIME type a slash, and a hash 64 digits in lower case.';
end
$$;

create function public.add_artifact(
  tenant_id uuid,
  size bigint,
  sha256 text,
  name text default 'payload.json',
  mime_type text default 'application/json'
)
returns public.artifacts
language sql
volatile
return tickwork.add_artifact(tenant_id, name, mime_type, size, sha256);

comment on function public.add_artifact is
  'Sets where in the vault the caller is to write a large payload, which is then enqueued as {"artifact_ref": '
  '{"id": ..., "sha256": ..., "size": ...}}. Without a job it is removed after a day. Raises TWARG, TWMEM, TWTNT.';


-- Reads

create function public.list_artifacts(
  tenant_id uuid default null,
  job_id uuid default null,
  max_rows integer default 50
)
returns setof public.artifacts
language sql
stable
set search_path = ''
as $$
  select artifacts.*
  from public.artifacts
  where (list_artifacts.tenant_id is null or artifacts.tenant_id = list_artifacts.tenant_id)
    and (list_artifacts.job_id is null or artifacts.job_id = list_artifacts.job_id)
    and not artifacts.is_being_removed
  order by artifacts.created_at desc, artifacts.id desc
  limit greatest(least(list_artifacts.max_rows, 1000), 0);
$$;

comment on function public.list_artifacts is
  'Reads the artifacts of a tenant or a job, the newest first. At most 1000 at a time.';

create function public.sign_artifact(artifact_id uuid, seconds integer default 300)
returns table (tenant_id uuid, vault_path text, size bigint, sha256 text)
language plpgsql
stable
set search_path = ''
as $$
begin
  if sign_artifact.seconds is null or sign_artifact.seconds not between 1 and 86400 then
    raise exception 'seconds: % is out of range, it must be 1 to 86400',
      coalesce(sign_artifact.seconds::text, 'null')
      using errcode = 'TWARG', hint = 'A URL is valid for at most a day. Sign the artifact again when needed.';
  end if;

  -- Row-level security shows a member the artifacts of his tenants and nobody else's.
  return query
  select artifacts.tenant_id, artifacts.vault_path, artifacts.size, artifacts.sha256
  from public.artifacts
  where artifacts.id = sign_artifact.artifact_id
    and artifacts.sha256 is not null
    and not artifacts.is_being_removed;

  if not found then
    raise exception 'artifact_id: there is no artifact %', coalesce(sign_artifact.artifact_id::text, 'null')
      using errcode = 'TWART', hint = 'list_artifacts shows the artifacts that you may see.';
  end if;
end
$$;

comment on function public.sign_artifact is
  'Reads which file of the vault an artifact is that the caller may see, to sign a URL for so many seconds. The client '
  'of the same name does that with the key of the vault, which the database does not have. Raises TWART, TWARG.';

select tickwork.open_verbs('authenticated, service_role', array['add_artifact', 'list_artifacts', 'sign_artifact']);
