-- Signing, QR codes, and the signed list of what was revoked or superseded.

insert into public.job_types (
  key, family, description, timeout_seconds, enqueued_by, priority, max_attempts, backoff
)
values
  (
    'sign_passport', 'sign', 'Sign the receipt of a passport version', 60, 'service', 20, 5,
    '{"base": 2, "factor": 2, "cap": 1024}'
  ),
  (
    'sign_status_list', 'sign', 'Sign the list of revoked and superseded passport versions', 60, 'service', 20, 5,
    '{"base": 2, "factor": 2, "cap": 1024}'
  ),
  (
    'generate_qr', 'passport', 'Make the QR codes of a signed passport version', 60, 'service', 10, 5,
    '{"base": 2, "factor": 2, "cap": 1024}'
  );

create table public.passport_status_lists (
  tenant_id uuid not null references public.tenant_settings (tenant_id) on delete cascade,
  number integer not null default 0,
  document jsonb not null,
  as_of timestamptz not null,
  signing_key_id text not null,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  primary key (tenant_id, number)
);

comment on table public.passport_status_lists is
  'For each tenant, the signed list of its revoked and superseded passport versions, to be published.';
comment on column public.passport_status_lists.number is 'Of a list of 131,072 entries; there is only the first yet.';
comment on column public.passport_status_lists.document is
  'A Bitstring Status List of the W3C with a proof (eddsa-jcs-2022), which names the hashes of receipts too.';
comment on column public.passport_status_lists.as_of is 'When it was signed. It says nothing about what came after.';

create trigger note_update before update on public.passport_status_lists
for each row execute function tickwork.note_update();

select tickwork.guard_table(
  'public.passport_status_lists', members => 'select', worker => 'select, insert, update', service => 'select'
);

create function public.passport_status_list(tenant_id uuid)
returns setof public.passport_status_lists
language sql
stable
begin atomic
  select *
  from public.passport_status_lists
  where passport_status_lists.tenant_id = passport_status_list.tenant_id;
end;

comment on function public.passport_status_list is
  'Reads the signed list of the tenant''s revoked and superseded passport versions. Without a row, nothing was revoked '
  'or superseded yet.';

select tickwork.open_verbs('authenticated, service_role', array['passport_status_list']);

create function tickwork.enqueue_status_list()
returns trigger
language plpgsql
security definer -- whoever changes a version may not read every job
set search_path = ''
as $$
begin
  -- sign_status_list takes the same lock before it reads: a job that is queued now sees this change.
  perform pg_advisory_xact_lock(hashtextextended('status list of ' || new.tenant_id::text, 0));

  if not exists (
    select
    from public.jobs
    where jobs.tenant_id = new.tenant_id
      and jobs.type = 'sign_status_list'
      and jobs.status = 'queued'
  ) then
    perform tickwork.insert_jobs(array[tickwork.new_job(new.tenant_id, 'sign_status_list', '{}', source => 'system')]);
  end if;

  return null;
exception
  -- A full queue must not keep a version from being revoked. The next change signs the list.
  when sqlstate 'TWFUL' or sqlstate 'TWTYP' then
    return null;
end
$$;

comment on function tickwork.enqueue_status_list is
  '-> queued. Has the status list of the tenant signed again, unless that is queued already.';

create trigger what_ends_is_listed
after update of status on public.passport_versions
for each row
when (old.status <> new.status and new.status in ('superseded', 'revoked'))
execute function tickwork.enqueue_status_list();
