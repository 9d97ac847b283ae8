-- What can be done: the kinds of job, each worked off by the function of its family.

create function tickwork.is_backoff(backoff jsonb)
returns boolean
language sql
immutable
set search_path = ''
as $$
  select case jsonb_typeof(is_backoff.backoff)
    when 'array' then
      jsonb_array_length(is_backoff.backoff) between 1 and 25
      and not jsonb_path_exists(is_backoff.backoff, 'strict $[*] ? (@.type() != "number" || @ < 0 || @ > 2592000)')
    when 'object' then
      jsonb_path_exists(is_backoff.backoff, 'strict $.base ? (@ >= 0 && @ <= 2592000)', silent => true)
      and jsonb_path_exists(is_backoff.backoff, 'strict $.factor ? (@ >= 1 && @ <= 100)', silent => true)
      and jsonb_path_exists(is_backoff.backoff, 'strict $.cap ? (@ >= 0 && @ <= 2592000)', silent => true)
    else false
  end;
$$;

comment on function tickwork.is_backoff is
  'Whether the value is a list of delays in seconds, or {base, factor, cap} for exponential ones.';

revoke execute on function tickwork.is_backoff from public, anon, authenticated, service_role;
grant execute on function tickwork.is_backoff to service_role;

create table public.job_types (
  key text primary key,
  family text not null,
  description text not null default '',
  payload_schema jsonb,
  timeout_seconds integer not null default 300,
  max_attempts integer not null default 4,
  backoff jsonb not null default '[60, 300, 1800]',
  lease_seconds integer not null default 60,
  max_running integer,
  max_running_per_tenant integer,
  starts_per_minute integer,
  follow_ups text[] not null default '{}',
  is_active boolean not null default true,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  constraint key_is_a_verb_object check (key ~ '^[a-z][a-z0-9_]{0,99}$'),
  constraint family_is_a_word check (family ~ '^[a-z][a-z0-9_]{0,49}$'),
  constraint payload_schema_is_an_object check (jsonb_typeof(payload_schema) = 'object'),
  constraint timeout_is_1_s_to_1_day check (timeout_seconds between 1 and 86400),
  constraint attempts_are_1_to_25 check (max_attempts between 1 and 25),
  constraint backoff_is_a_list_or_exponential check (tickwork.is_backoff(backoff)),
  constraint lease_is_10_s_to_1_h check (lease_seconds between 10 and 3600),
  constraint max_running_is_1_or_more check (max_running >= 1),
  constraint max_running_per_tenant_is_1_or_more check (max_running_per_tenant >= 1),
  constraint starts_per_minute_are_1_or_more check (starts_per_minute >= 1)
);

comment on table public.job_types is
  'The kinds of job. A change takes effect at the next enqueue (family, attempts), claim (lease, timeout, limits) or '
  'failed attempt (backoff).';
comment on column public.job_types.payload_schema is
  'JSON Schema of the payload, checked at enqueue. supabase/README.md lists the keywords that need no pg_jsonschema.';
comment on column public.job_types.backoff is
  'Delays before the next attempt: a list of seconds (the last one repeats) or {"base": 5, "factor": 2, "cap": 3600}.';
comment on column public.job_types.max_running is 'How many jobs of the type run at once; null is any number.';
comment on column public.job_types.max_running_per_tenant is 'How many of them may be one tenant''s.';
comment on column public.job_types.starts_per_minute is
  'How many jobs of the type one tenant may start in a minute: as many at once after a quiet one, then evenly.';
comment on column public.job_types.follow_ups is
  'Types of the jobs that its handler hands over to when it is done, such as classify_document.';
comment on column public.job_types.is_active is
  'An inactive type takes no new jobs; those already queued still run.';

create function tickwork.note_update()
returns trigger
language plpgsql
set search_path = ''
as $$
begin
  new.updated_at := clock_timestamp();
  return new;
end
$$;

create trigger note_update
before update on public.job_types
for each row
execute function tickwork.note_update();

create function tickwork.check_job_type()
returns trigger
language plpgsql
set search_path = ''
as $$
begin
  perform tickwork.check_payload_schema(new.payload_schema);
  return new;
end
$$;

create trigger check_job_type
before insert or update of payload_schema on public.job_types
for each row
when (new.payload_schema is not null)
execute function tickwork.check_job_type();

revoke execute on function
  tickwork.note_update,
  tickwork.check_job_type
from public, anon, authenticated, service_role;

alter table public.job_types enable row level security;
alter table public.job_types force row level security;

create policy everybody_signed_in_reads_types on public.job_types
for select to authenticated
using (true);

create policy the_queue_reads_types on public.job_types
for select to tickwork_owner, tickwork_worker
using (true);

revoke all on public.job_types from public, anon, authenticated, service_role;
grant select on public.job_types to authenticated, tickwork_owner, tickwork_worker;
-- No delete: finished jobs keep pointing at their type. Set is_active to false instead.
grant select, insert, update on public.job_types to service_role;

insert into public.job_types (key, family, description, timeout_seconds)
values
  ('extract_document', 'extract', 'Turn a file of the vault into searchable text', 600),
  ('import_dropbox', 'import', 'Bring files from Dropbox into the vault', 3000),
  ('import_onedrive', 'import', 'Bring files from OneDrive into the vault', 3000),
  ('import_gdrive', 'import', 'Bring files from Google Drive into the vault', 3000),
  ('classify_document', 'classify', 'Find out what kind of document it is', 60);

-- So many at once that a tenant whose receivers are slow leaves workers for the others; raise it with the number of
-- instances of the function. Deliveries go by the schedule of Standard Webhooks, some 75 hours in all.
insert into public.job_types (key, family, description, timeout_seconds, max_attempts, backoff, max_running_per_tenant)
values
  (
    'deliver_webhook', 'webhook', 'Post an event to a subscriber', 60, 10,
    '[5, 300, 1800, 7200, 18000, 36000, 50400, 72000, 86400]', 3
  ),
  ('http_request', 'webhook', 'Call an HTTP API', 60, 4, '[60, 300, 1800]', 3);

update public.job_types
set follow_ups = array['classify_document']
where job_types.key = 'extract_document';
