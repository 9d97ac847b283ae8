-- Passports are created, and -> queued: compiled.

insert into public.job_types (
  key, family, description, timeout_seconds, enqueued_by, priority, max_attempts, backoff
)
values (
  'compile_passport', 'passport', 'Make a version of a passport from a sealed snapshot and published rules', 300,
  'member', 20, 5, '{"base": 2, "factor": 2, "cap": 1024}'
);

create function tickwork.create_passport(
  tenant_id uuid,
  battery_identifier text,
  category text,
  model text,
  gtin text,
  serial text
)
returns public.passport_overview
language plpgsql
volatile
security definer -- clients may not write passports directly
set search_path = ''
as $$
declare
  passport_id uuid;
  passport public.passport_overview;
  rule text;
  field text;
begin
  perform tickwork.check_caller(create_passport.tenant_id, '{enqueue, operate}');
  perform tickwork.wait_for_disk();

  insert into public.passports (tenant_id, battery_identifier, category, model)
  values (
    create_passport.tenant_id, create_passport.battery_identifier, create_passport.category,
    coalesce(create_passport.model, '')
  )
  returning passports.id into passport_id;

  perform tickwork.store_gtin(passport_id, create_passport.gtin, create_passport.serial);

  select * into passport
  from public.passport_overview
  where passport_overview.id = passport_id;

  return passport;
exception
  when unique_violation then
    raise exception 'battery_identifier: there is a passport for battery % already',
      quote_literal(left(create_passport.battery_identifier, 200))
      using errcode = 'TWDUP', hint = 'list_passports shows it. A battery has one passport with many versions.';
  when check_violation or not_null_violation then
    get stacked diagnostics rule = constraint_name, field = column_name;
    perform tickwork.raise_broken_rule(rule, field);
    return null;
end
$$;

create function public.create_passport(
  tenant_id uuid,
  battery_identifier text,
  category text,
  model text default '',
  gtin text default null,
  serial text default null
)
returns public.passport_overview
language sql
volatile
return tickwork.create_passport(tenant_id, battery_identifier, category, model, gtin, serial);

comment on function public.create_passport is
  'Sets up the passport of a battery of the category ev, lmt, industrial or stationary. It has no version until '
  'request_compile. gtin and serial are what set_gtin sets. Raises TWTNT, TWMEM, TWENQ, TWARG, TWDUP, TWAUT.';

create function tickwork.check_compilable(passport public.passports, snapshot_id uuid, rule_package_version_id uuid)
returns void
language plpgsql
stable
as $$
declare
  snapshot_status text;
  rules_status text;
begin
  select snapshots.status into snapshot_status
  from public.snapshots
  where snapshots.id = check_compilable.snapshot_id
    and snapshots.tenant_id = passport.tenant_id;

  if not found then
    raise exception 'snapshot_id: there is no snapshot %', coalesce(check_compilable.snapshot_id::text, 'null')
      using errcode = 'TWSNP', hint = 'list_snapshots shows the snapshots that you may see.';
  elsif snapshot_status <> 'sealed' then
    raise exception 'snapshot_id: the snapshot is %, and only sealed ones are compiled', snapshot_status
      using errcode = 'TWSTA', hint = 'seal_snapshot seals it.';
  end if;

  select rule_package_versions.status into rules_status
  from public.rule_package_versions
  where rule_package_versions.id = check_compilable.rule_package_version_id
    and (rule_package_versions.tenant_id = passport.tenant_id or rule_package_versions.tenant_id is null);

  if not found then
    raise exception 'rule_package_version_id: there are no rules %',
      coalesce(check_compilable.rule_package_version_id::text, 'null')
      using errcode = 'TWRUL', hint = 'list_rules shows the rules that you may see.';
  elsif rules_status <> 'published' then
    raise exception 'rule_package_version_id: the rules are %, and only published ones are used', rules_status
      using errcode = 'TWSTA', hint = 'publish_rules publishes them.';
  end if;
end
$$;

comment on function tickwork.check_compilable is
  'Returns if the snapshot is sealed and the rules are published, and the passport''s tenant may use both. Raises '
  'TWSNP, TWRUL, TWSTA.';

create function tickwork.request_compile(
  passport_id uuid,
  snapshot_id uuid,
  rule_package_version_id uuid,
  issued_at timestamptz
)
returns tickwork.enqueued_jobs
language plpgsql
volatile
security definer -- clients may not choose the keys of the job
set search_path = ''
as $$
declare
  passport constant public.passports := tickwork.lock_passport_for_caller(request_compile.passport_id);
  -- In the payload and not taken by the handler: a retry must not make another version.
  issued_text constant text := to_char(
    coalesce(request_compile.issued_at, clock_timestamp()) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'
  );
  key constant text := concat_ws(
    ' ', 'compile', passport.id, request_compile.snapshot_id, request_compile.rule_package_version_id, issued_text
  );
  job tickwork.enqueued_jobs;
begin
  perform tickwork.check_compilable(passport, request_compile.snapshot_id, request_compile.rule_package_version_id);
  perform tickwork.check_enqueuer(passport.tenant_id, '{compile_passport}');

  select * into job
  from tickwork.insert_jobs(array[tickwork.new_job(
    passport.tenant_id,
    'compile_passport',
    jsonb_build_object(
      'passport_id', passport.id,
      'snapshot_id', request_compile.snapshot_id,
      'rule_package_version_id', request_compile.rule_package_version_id,
      'issued_at', issued_text
    ),
    idempotency_key => key,
    correlation_id => key
  )]);

  update public.passports
  set compile_job_id = job.id
  where passports.id = passport.id;

  return job;
end
$$;

create function public.request_compile(
  passport_id uuid,
  snapshot_id uuid,
  rule_package_version_id uuid,
  issued_at timestamptz default null
)
returns tickwork.enqueued_jobs
language sql
volatile
return tickwork.request_compile(passport_id, snapshot_id, rule_package_version_id, issued_at);

comment on function public.request_compile is
  '-> queued. Compiles a version of a passport from a sealed snapshot and published rules, then signs it and makes its '
  'QR code: three jobs with one correlation_id. issued_at is now by default, in whole seconds; the same request again '
  'returns the same job. Raises TWPAS, TWSNP, TWRUL, TWSTA, TWENQ and what enqueue_job raises.';

select tickwork.open_verbs('authenticated, service_role', array['create_passport', 'request_compile']);
