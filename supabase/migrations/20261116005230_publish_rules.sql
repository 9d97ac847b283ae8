-- Rules become those of passports, and cease to be: people answer for that.

create function tickwork.publish_rules(rule_package_version_id uuid)
returns public.rule_package_versions
language plpgsql
volatile
security definer -- nobody may write rules directly
set search_path = ''
as $$
declare
  rules public.rule_package_versions := tickwork.lock_rules_for_caller(publish_rules.rule_package_version_id);
begin
  perform tickwork.check_manager(rules.tenant_id);

  if rules.status not in ('draft', 'validated') then
    raise exception 'rule_package_version_id: version % is % already', rules.version, rules.status
      using errcode = 'TWSTA', hint = 'Save the rules as another version to publish them again.';
  end if;

  -- The author of the rules does not choose the cases that they must pass.
  if rules.status = 'draft' then
    perform tickwork.enqueue_rule_tests(rules, null);
  end if;

  update public.rule_package_versions
  set
    status = case when rules.status = 'validated' then 'published' else rules.status end,
    publish_when_validated = true,
    published_by = tickwork.caller_id(),
    published_at = case when rules.status = 'validated' then clock_timestamp() end
  where rule_package_versions.id = rules.id
  returning rule_package_versions.* into rules;

  return rules;
end
$$;

create function public.publish_rules(rule_package_version_id uuid)
returns public.rule_package_versions
language sql
volatile
return tickwork.publish_rules(rule_package_version_id);

comment on function public.publish_rules is
  '-> queued, for a draft: tests it with a seed of the queue''s own and publishes it when it passes. Validated rules '
  'are published at once. Published rules never change. For admins. Raises TWRUL, TWADM, TWSTA, TWARG and what '
  'enqueue_job raises.';

create function tickwork.retire_rules(rule_package_version_id uuid)
returns public.rule_package_versions
language plpgsql
volatile
security definer -- nobody may write rules directly
set search_path = ''
as $$
declare
  rules public.rule_package_versions := tickwork.lock_rules_for_caller(retire_rules.rule_package_version_id);
begin
  perform tickwork.check_manager(rules.tenant_id);

  if rules.status <> 'published' then
    raise exception 'rule_package_version_id: version % is %, not published', rules.version, rules.status
      using errcode = 'TWSTA', hint = 'Only published rules are retired. A draft may be changed.';
  end if;

  update public.rule_package_versions
  set
    status = 'retired',
    retired_at = clock_timestamp()
  where rule_package_versions.id = rules.id
  returning rule_package_versions.* into rules;

  return rules;
end
$$;

create function public.retire_rules(rule_package_version_id uuid)
returns public.rule_package_versions
language sql
volatile
return tickwork.retire_rules(rule_package_version_id);

comment on function public.retire_rules is
  'Sets published rules to retired: no passport is compiled by them any more, those that were stay valid. For admins. '
  'Raises TWRUL, TWADM, TWSTA.';


-- Reads

create function public.list_rules(
  tenant_id uuid default null,
  package text default null,
  max_rows integer default 50
)
returns table (
  id uuid, tenant_id uuid, rule_package_id uuid, package text, version text, status text, rules_hash text,
  revision integer, valid_from date, created_at timestamptz, updated_at timestamptz, published_at timestamptz
)
language sql
stable
set search_path = ''
as $$
  select
    rules.id, rules.tenant_id, rules.rule_package_id, rule_packages.name, rules.version, rules.status,
    encode(rules.rules_hash, 'hex'), rules.revision, rules.valid_from, rules.created_at, rules.updated_at,
    rules.published_at
  from public.rule_package_versions as rules
  join public.rule_packages on rule_packages.id = rules.rule_package_id
  -- Those of every tenant are any tenant's.
  where (list_rules.tenant_id is null or rules.tenant_id is null or rules.tenant_id = list_rules.tenant_id)
    and (list_rules.package is null or rule_packages.name = list_rules.package)
  order by rules.created_at desc, rules.id desc
  limit greatest(least(list_rules.max_rows, 1000), 0);
$$;

comment on function public.list_rules is
  'Reads versions of rules without their text, the newest first: those of a tenant, and those that every tenant has. '
  'At most 1000 at a time.';

create function public.get_rules(rule_package_version_id uuid)
returns public.rule_package_versions
language plpgsql
stable
set search_path = ''
as $$
declare
  rules public.rule_package_versions;
begin
  select * into rules
  from public.rule_package_versions
  where rule_package_versions.id = get_rules.rule_package_version_id;

  if not found then
    raise exception 'rule_package_version_id: there is no version % of rules',
      coalesce(get_rules.rule_package_version_id::text, 'null')
      using errcode = 'TWRUL', hint = 'list_rules shows the rules that you may see.';
  end if;

  return rules;
end
$$;

comment on function public.get_rules is 'Reads a version of rules with its text. Raises TWRUL.';

create function public.list_rule_tests(rule_package_version_id uuid, max_rows integer default 50)
returns setof public.rule_tests_runs
language sql
stable
set search_path = ''
as $$
  select rule_tests_runs.*
  from public.rule_tests_runs
  where rule_tests_runs.rule_package_version_id = list_rule_tests.rule_package_version_id
  order by rule_tests_runs.created_at desc, rule_tests_runs.id desc
  limit greatest(least(list_rule_tests.max_rows, 1000), 0);
$$;

comment on function public.list_rule_tests is
  'Reads the runs of the tests of a version of rules, the newest first. At most 1000 at a time.';

select tickwork.open_verbs(
  'authenticated, service_role',
  array['publish_rules', 'retire_rules', 'list_rules', 'get_rules', 'list_rule_tests']
);
