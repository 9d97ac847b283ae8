-- What people do with rules: save, test, publish and retire them.

create function tickwork.save_rules(
  tenant_id uuid,
  package text,
  version text,
  dsl_source jsonb,
  tests_source jsonb,
  valid_from date
)
returns public.rule_package_versions
language plpgsql
volatile
security definer -- nobody may write rules directly
set search_path = ''
as $$
declare
  most constant integer := 1000;
  package_id uuid;
  saved public.rule_package_versions;
  rule text;
  field text;
begin
  perform tickwork.check_caller(save_rules.tenant_id, '{enqueue, operate}');
  perform tickwork.wait_for_disk();
  perform pg_advisory_xact_lock(hashtextextended('rules of ' || save_rules.tenant_id, 0));

  if (
    select count(*)
    from public.rule_package_versions
    where rule_package_versions.tenant_id = save_rules.tenant_id
  ) >= most then
    raise exception 'tenant_id: tenant % has % versions of rules already', save_rules.tenant_id, most
      using errcode = 'TWBIG', hint = 'Change a draft instead of saving another version.';
  end if;

  insert into public.rule_packages (tenant_id, name)
  values (save_rules.tenant_id, save_rules.package)
  on conflict on constraint name_is_unique_in_its_tenant do nothing;

  select rule_packages.id into package_id
  from public.rule_packages
  where rule_packages.tenant_id = save_rules.tenant_id
    and rule_packages.name = save_rules.package;

  insert into public.rule_package_versions (
    tenant_id, rule_package_id, version, dsl_source, tests_source, valid_from, created_by
  )
  values (
    save_rules.tenant_id, package_id, save_rules.version, save_rules.dsl_source, save_rules.tests_source,
    save_rules.valid_from, tickwork.caller_id()
  )
  on conflict on constraint version_is_unique_in_its_package do update
  set
    dsl_source = excluded.dsl_source,
    tests_source = excluded.tests_source,
    valid_from = excluded.valid_from
  returning rule_package_versions.* into saved;

  return saved;
exception
  when check_violation or not_null_violation then
    get stacked diagnostics rule = constraint_name, field = column_name;
    perform tickwork.raise_broken_rule(rule, field);
    return null;
end
$$;

create function public.save_rules(
  tenant_id uuid,
  package text,
  version text,
  dsl_source jsonb,
  tests_source jsonb default null,
  valid_from date default null
)
returns public.rule_package_versions
language sql
volatile
return tickwork.save_rules(tenant_id, package, version, dsl_source, tests_source, valid_from);

comment on function public.save_rules is
  'Sets a version of a rule package, as a draft: a new one, or a change to one that was not published. The types of '
  'its expressions are checked by its tests. Raises TWTNT, TWMEM, TWENQ, TWAUT, TWARG, TWBIG, TWSTA.';

create function tickwork.lock_rules_for_caller(rule_package_version_id uuid)
returns public.rule_package_versions
language plpgsql
volatile
as $$
declare
  rules public.rule_package_versions;
begin
  -- Those of every tenant are read by all and changed by nobody.
  select * into rules
  from public.rule_package_versions
  where rule_package_versions.id = lock_rules_for_caller.rule_package_version_id
    and rule_package_versions.tenant_id is not null
    and tickwork.may_act_for(rule_package_versions.tenant_id)
  for no key update;

  -- The same error for foreign rules as for missing ones, so that nobody learns which ids exist.
  if not found then
    raise exception 'rule_package_version_id: there is no version % of rules of your own',
      coalesce(lock_rules_for_caller.rule_package_version_id::text, 'null')
      using errcode = 'TWRUL', hint = 'list_rules shows the rules that you may see.';
  end if;

  return rules;
end
$$;

comment on function tickwork.lock_rules_for_caller is
  'Locks a version of rules of a tenant that the caller may see. Raises TWRUL.';

create function tickwork.enqueue_rule_tests(rules public.rule_package_versions, seed bigint)
returns tickwork.enqueued_jobs
language plpgsql
volatile
as $$
declare
  largest constant bigint := 9007199254740991;
  job tickwork.enqueued_jobs;
begin
  if (rules).tests_source is null then
    raise exception 'rule_package_version_id: version % has no tests', (rules).version
      using errcode = 'TWARG', hint = 'Save the rules with tests_source.';
  end if;

  if enqueue_rule_tests.seed not between -largest and largest then
    raise exception 'seed: % is out of range, it must be within 2^53', enqueue_rule_tests.seed
      using errcode = 'TWARG', hint = 'Leave it out to have one chosen.';
  end if;

  select * into job
  from tickwork.insert_jobs(array[tickwork.new_job(
    (rules).tenant_id,
    'run_rule_tests',
    jsonb_build_object(
      'rule_package_version_id', (rules).id,
      'seed', coalesce(enqueue_rule_tests.seed, floor(random() * largest)::bigint)
    ),
    -- A run of an earlier revision says nothing about this one.
    dedupe_key => concat_ws(
      ' ', 'run_rule_tests', (rules).id, (rules).revision, coalesce(enqueue_rule_tests.seed::text, 'any')
    )
  )]);

  return job;
end
$$;

comment on function tickwork.enqueue_rule_tests is
  '-> queued. Enqueues the tests of a version of rules, with a seed that nobody knows before. Raises TWARG and what '
  'enqueue_job raises.';

create function tickwork.request_rule_tests(rule_package_version_id uuid, seed bigint)
returns tickwork.enqueued_jobs
language plpgsql
volatile
security definer -- members may not enqueue tests directly
set search_path = ''
as $$
declare
  rules public.rule_package_versions := tickwork.lock_rules_for_caller(request_rule_tests.rule_package_version_id);
begin
  perform tickwork.check_caller(rules.tenant_id, '{enqueue, operate}');

  return tickwork.enqueue_rule_tests(rules, request_rule_tests.seed);
end
$$;

create function public.request_rule_tests(rule_package_version_id uuid, seed bigint default null)
returns tickwork.enqueued_jobs
language sql
volatile
return tickwork.request_rule_tests(rule_package_version_id, seed);

comment on function public.request_rule_tests is
  '-> queued. Tests a version of rules; a draft that passes 500 cases becomes validated. The same seed gives the same '
  'cases; without one, it is chosen. While the same tests are queued or running, it returns their job. Raises TWRUL, '
  'TWENQ, TWARG and what enqueue_job raises.';

select tickwork.open_verbs('authenticated, service_role', array['save_rules', 'request_rule_tests']);
