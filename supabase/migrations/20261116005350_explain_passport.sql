-- What stands between a passport and its activation, in words.

create function tickwork.explain_passport(passport_id uuid)
returns text
language plpgsql
volatile
security definer -- explain_job is for whoever may read the queue
set search_path = ''
as $$
declare
  passport public.passports;
  active public.passport_versions;
  latest public.passport_versions;
begin
  select * into passport
  from public.passports
  where passports.id = explain_passport.passport_id
    and tickwork.may_act_for(passports.tenant_id);

  if not found then
    perform tickwork.raise_no_passport(explain_passport.passport_id);
  end if;

  select * into active
  from public.passport_versions
  where passport_versions.passport_id = passport.id
    and passport_versions.status = 'active';

  select * into latest
  from public.passport_versions
  where passport_versions.passport_id = passport.id
  order by passport_versions.number desc
  limit 1;

  return concat_ws(
    ' ',
    case
      when active.id is null then 'No version is active.'
      else format('Version %s has been active since %s.', active.number, active.activated_at::timestamptz(0))
    end,
    tickwork.version_in_words(latest),
    tickwork.compilation_in_words(passport, latest),
    tickwork.link_in_words(passport, latest)
  );
end
$$;

create function public.explain_passport(passport_id uuid)
returns text
language sql
volatile
return tickwork.explain_passport(passport_id);

comment on function public.explain_passport is
  'Reads what stands between a passport and its activation, in words: no snapshot or rules to compile it from, a job '
  'that waits or failed, a missing signature or QR code, or only activate_passport. Says too what its link QR code '
  'lacks, which no activation waits for. Raises TWPAS.';

create function tickwork.passport_job_in_words(version public.passport_versions, type text)
returns text
language sql
volatile
as $$
  select format('The job %s: ', passport_job_in_words.type) || coalesce(
    (
      select tickwork.explain_job(jobs.id)
      from public.jobs
      where jobs.tenant_id = (version).tenant_id
        and jobs.dedupe_key = passport_job_in_words.type || ' ' || (version).id::text
        and jobs.type = passport_job_in_words.type
      order by jobs.created_at desc, jobs.id desc
      limit 1
    ),
    'there is none any more. Compile the passport again.'
  );
$$;

comment on function tickwork.passport_job_in_words is
  'How the job that signs a version or makes its QR code is getting on, in words.';

create function tickwork.version_in_words(version public.passport_versions)
returns text
language sql
volatile
return case (version).status
  when 'compiling' then
    format('Version %s is compiled, but not signed. ', (version).number)
    || tickwork.passport_job_in_words(version, 'sign_passport')
  when 'signed' then
    format('Version %s is signed', (version).number) || case
      when (version).qr_payload is null then
        ', but has no QR code. ' || tickwork.passport_job_in_words(version, 'generate_qr')
      else ' and has its QR code: activate_passport makes it active.'
    end
  when 'revoked' then
    format('Version %s was revoked at %s', (version).number, (version).revoked_at::timestamptz(0))
    || tickwork.reason_in_words((version).revocation_reason)
end;

comment on function tickwork.version_in_words is
  'What a version waits for before it can be activated, in words; null if it is or was active.';

create function tickwork.compilation_in_words(passport public.passports, latest public.passport_versions)
returns text
language sql
volatile
as $$
  select case
    when jobs.status = 'done' then null
    -- Not a case for retry_job: neither a sealed snapshot nor published rules change.
    when jobs.status = 'failed' then format(
      'Its last compilation failed (%s): %s. Correct the facts in a new snapshot, or use other rules, then try again.',
      jobs.error_code, rtrim(jobs.error_message, '.')
    )
    when jobs.id is not null then 'Its last compilation: ' || tickwork.explain_job(jobs.id)
    when (latest).id is not null then null
    else 'It was never compiled. ' || case
      when not exists (
        select
        from public.snapshots
        where snapshots.tenant_id = (passport).tenant_id
          and snapshots.status = 'sealed'
      ) then 'There is no sealed snapshot yet: seal_snapshot makes one.'
      when not exists (
        select
        from public.rule_package_versions
        where (rule_package_versions.tenant_id = (passport).tenant_id or rule_package_versions.tenant_id is null)
          and rule_package_versions.status = 'published'
      ) then 'There are no published rules yet: publish_rules makes some.'
      else 'request_compile compiles it from a sealed snapshot and published rules.'
    end
  end
  from (select (passport).compile_job_id) as requested(job_id)
  left join public.jobs on jobs.id = requested.job_id;
$$;

comment on function tickwork.compilation_in_words is
  'How the last requested compilation is getting on, in words, or what it needs; null if it is done.';

create function tickwork.link_in_words(passport public.passports, latest public.passport_versions)
returns text
language sql
stable
as $$
  select case
    when (passport).gtin is null or (passport).serial is null then
      format('It has no link at %s: set_gtin sets the GTIN and serial number that it needs.', tenant_settings.resolver)
    when (passport).link_qr_payload is null and (latest).qr_payload is not null then
      'Its link QR code was not made yet: request_link_qr makes it.'
  end
  from public.tenant_settings
  where tenant_settings.tenant_id = (passport).tenant_id
    and tenant_settings.resolver is not null;
$$;

comment on function tickwork.link_in_words is
  'What a passport lacks for its link QR code, in words; null if it lacks nothing, or its tenant has no resolver.';

select tickwork.open_verbs('authenticated, service_role', array['explain_passport']);
