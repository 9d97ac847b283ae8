-- signed -> active, and active -> superseded for the version before it.

create function tickwork.check_activatable(version public.passport_versions)
returns void
language plpgsql
stable
as $$
begin
  if (version).status <> 'signed' then
    raise exception 'passport_version_id: the version is %, and only signed ones can be activated', (version).status
      using errcode = 'TWSTA', hint = 'explain_passport says what it is waiting for.';
  elsif (version).qr_payload is null then
    raise exception 'passport_version_id: the version has no QR code yet'
      using errcode = 'TWSTA', hint = 'The job generate_qr makes it. explain_passport says where it stands.';
  elsif exists (
    select
    from public.passport_versions
    where passport_versions.passport_id = (version).passport_id
      and passport_versions.status = 'active'
      and passport_versions.number > (version).number
  ) then
    raise exception 'passport_version_id: a later version of the passport is active already'
      using errcode = 'TWSTA', hint = 'Compile a new version: an old one does not replace a newer one.';
  end if;
end
$$;

comment on function tickwork.check_activatable is 'Returns if the version can be activated. Raises TWSTA.';

create function tickwork.activate_passport(passport_version_id uuid)
returns public.passport_version_overview
language plpgsql
volatile
security definer -- members may not update passport versions directly
set search_path = ''
as $$
declare
  now_at constant timestamptz := clock_timestamp();
  version constant public.passport_versions :=
    tickwork.lock_passport_version_for_caller(activate_passport.passport_version_id);
  superseded_id uuid;
  activated public.passport_version_overview;
begin
  perform tickwork.check_activatable(version);

  -- One statement: nobody ever sees the passport with two active versions, or with none in between.
  with superseded as (
    update public.passport_versions
    set
      status = 'superseded',
      superseded_at = now_at
    where passport_versions.passport_id = version.passport_id
      and passport_versions.status = 'active'
    returning passport_versions.id
  ),
  -- Reads the first part, which therefore comes first: the index of active versions allows only one.
  before as (
    select max(superseded.id::text)::uuid as id
    from superseded
  ),
  made_active as (
    update public.passport_versions
    set
      status = 'active',
      activated_at = now_at
    from before
    where passport_versions.id = version.id
    returning passport_versions.id
  )
  select before.id into superseded_id
  from before, made_active;

  perform tickwork.add_passport_event('passport.activated', version, jsonb_build_object('supersedes', superseded_id));

  perform tickwork.add_passport_event(
    'passport.superseded', passport_versions, jsonb_build_object('superseded_by', version.id)
  )
  from public.passport_versions
  where passport_versions.id = superseded_id;

  select * into activated
  from public.passport_version_overview
  where passport_version_overview.id = version.id;

  return activated;
end
$$;

create function tickwork.add_passport_event(type text, version public.passport_versions, more jsonb default '{}')
returns void
language plpgsql
volatile
as $$
begin
  perform tickwork.add_event(
    (version).tenant_id,
    add_passport_event.type,
    'passport:' || (version).passport_id::text,
    jsonb_build_object(
      'passport_id', (version).passport_id,
      'passport_version_id', (version).id,
      'number', (version).number,
      'receipt_hash', encode((version).receipt_hash, 'hex')
    ) || jsonb_strip_nulls(add_passport_event.more),
    tickwork.held_job()
  );
end
$$;

comment on function tickwork.add_passport_event is
  '-> queued. For verbs: an event about a version of a passport, in the order of that passport.';

create function public.activate_passport(passport_version_id uuid)
returns public.passport_version_overview
language sql
volatile
return tickwork.activate_passport(passport_version_id);

comment on function public.activate_passport is
  'Sets a signed version with a QR code active: it is the one that counts. The version that was active becomes '
  'superseded in the same statement. Emits passport.activated and passport.superseded. Raises TWPAS, TWSTA, TWENQ, '
  'TWAUT.';

select tickwork.open_verbs('authenticated, service_role', array['activate_passport']);
