-- The rules of battery passports: packages, their versions, and the runs of their tests.

create table public.rule_packages (
  id uuid primary key default gen_random_uuid(),
  tenant_id uuid references public.tenant_settings (tenant_id) on delete cascade,
  name text not null,
  created_at timestamptz not null default clock_timestamp(),
  constraint name_is_plain check (name ~ '^[A-Za-z0-9][A-Za-z0-9 _.-]{0,99}$'),
  constraint name_is_unique_in_its_tenant unique nulls not distinct (tenant_id, name)
);

comment on table public.rule_packages is
  'Packages of rules for battery passports: those that every tenant has, and the tenant''s own.';
comment on column public.rule_packages.tenant_id is 'The tenant whose package it is; null means every tenant.';

-- For foreign keys that include the tenant, because foreign keys bypass row-level security.
create unique index rule_packages_of_their_tenant on public.rule_packages (tenant_id, id);

create table public.rule_package_versions (
  id uuid primary key default gen_random_uuid(),
  tenant_id uuid references public.tenant_settings (tenant_id) on delete cascade,
  rule_package_id uuid not null references public.rule_packages (id) on delete cascade,
  version text not null,
  status text not null default 'draft',
  dsl_source jsonb not null,
  tests_source jsonb,
  rules_hash bytea,
  revision integer not null default 1,
  publish_when_validated boolean not null default false,
  valid_from date,
  created_by uuid,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  published_by uuid,
  published_at timestamptz,
  retired_at timestamptz,
  constraint package_is_the_tenants_own foreign key (tenant_id, rule_package_id)
    references public.rule_packages (tenant_id, id) on delete cascade,
  constraint version_is_plain check (version ~ '^[A-Za-z0-9][A-Za-z0-9_.-]{0,49}$'),
  constraint version_is_unique_in_its_package unique nulls not distinct (tenant_id, rule_package_id, version),
  constraint status_is_known check (status in ('draft', 'validated', 'published', 'retired')),
  constraint dsl_source_is_an_object check (jsonb_typeof(dsl_source) = 'object'),
  constraint dsl_source_is_up_to_512_kb check (octet_length(dsl_source::text) <= 524288),
  constraint tests_source_is_an_object check (jsonb_typeof(tests_source) = 'object'),
  constraint tests_source_is_up_to_1_mb check (octet_length(tests_source::text) <= 1048576),
  constraint rules_hash_is_32_bytes check (octet_length(rules_hash) = 32),
  constraint tested_rules_have_a_hash check (status = 'draft' or rules_hash is not null)
);

comment on table public.rule_package_versions is
  'Versions of rule packages: draft, validated by their tests, published for passports, retired.';
comment on column public.rule_package_versions.dsl_source is
  'The rules: schemas of facts, attributes and checks. Published rules cannot change.';
comment on column public.rule_package_versions.tests_source is
  'Examples and properties of the tests. Without it, no tests run.';
comment on column public.rule_package_versions.rules_hash is
  'SHA-256 of the rules as canonical JSON, set by the tests that validate them.';
comment on column public.rule_package_versions.revision is
  'Counts the edits: tests validate only the revision that they read.';
comment on column public.rule_package_versions.publish_when_validated is
  'Whether publish_rules was called for this revision: it is published when its tests pass.';
comment on column public.rule_package_versions.valid_from is 'The first day that passports may be issued by it.';
comment on column public.rule_package_versions.published_by is 'Who called publish_rules; null means the service.';

create unique index rule_package_versions_of_their_tenant on public.rule_package_versions (tenant_id, id);

create trigger note_update before update on public.rule_package_versions
for each row execute function tickwork.note_update();

create table public.rule_tests_runs (
  id uuid primary key default gen_random_uuid(),
  tenant_id uuid references public.tenant_settings (tenant_id) on delete cascade,
  rule_package_version_id uuid not null references public.rule_package_versions (id) on delete cascade,
  revision integer not null,
  rules_hash bytea,
  seed bigint not null,
  status text not null,
  total_cases integer not null,
  passed_count integer not null,
  failed_count integer not null,
  first_failure jsonb,
  mutants integer not null default 0,
  mutants_caught integer not null default 0,
  compiler_build_id text,
  job_id uuid,
  created_at timestamptz not null default clock_timestamp(),
  constraint version_is_the_tenants_own foreign key (tenant_id, rule_package_version_id)
    references public.rule_package_versions (tenant_id, id) on delete cascade,
  -- Canonical JSON has no integers beyond it, and a receipt names the seed.
  constraint seed_is_up_to_2_to_the_53 check (seed between -9007199254740991 and 9007199254740991),
  constraint status_is_known check (status in ('passed', 'failed')),
  constraint cases_add_up check (passed_count >= 0 and failed_count >= 0 and total_cases = passed_count + failed_count),
  constraint caught_are_among_the_mutants check (mutants_caught between 0 and mutants),
  constraint passed_runs_have_500_cases check (status = 'failed' or failed_count = 0 and passed_count >= 500)
);

comment on table public.rule_tests_runs is 'Runs of the tests of rules, with how many of their cases passed.';
comment on column public.rule_tests_runs.seed is 'What the cases were made from: the same seed gives the same cases.';
comment on column public.rule_tests_runs.total_cases is 'How many distinct cases there were.';
comment on column public.rule_tests_runs.first_failure is
  'The first case that failed: its number, its input, what was expected, what happened, and a smaller input.';
comment on column public.rule_tests_runs.mutants is
  'How many versions of the rules with one deliberate error were tested; mutants_caught counts those that failed.';

create index rule_tests_runs_of_a_version on public.rule_tests_runs (rule_package_version_id, created_at, id);
create index rule_tests_runs_of_a_tenant on public.rule_tests_runs (tenant_id, created_at, id);

select tickwork.guard_table(
  'public.rule_packages',
  members => 'select', worker => 'select', service => 'select, insert, update, delete', queue => 'select, insert'
);
select tickwork.guard_table(
  'public.rule_package_versions',
  members => 'select', worker => 'select, update', service => 'select, insert, update, delete',
  queue => 'select, insert, update'
);
select tickwork.guard_table(
  'public.rule_tests_runs',
  members => 'select', worker => 'select, insert', service => 'select, insert, update, delete', queue => 'select'
);

create policy everybody_signed_in_reads_common_packages on public.rule_packages
for select to authenticated, tickwork_worker
using (tenant_id is null);

create policy everybody_signed_in_reads_common_versions on public.rule_package_versions
for select to authenticated, tickwork_worker
using (tenant_id is null);

create policy everybody_signed_in_reads_common_runs on public.rule_tests_runs
for select to authenticated, tickwork_worker
using (tenant_id is null);

insert into public.job_types (
  key, family, description, timeout_seconds, max_attempts, backoff, priority, enqueued_by, max_running_per_tenant
)
values (
  'run_rule_tests', 'passport', 'Test a version of a rule package', 600, 5, '{"base": 2, "factor": 2, "cap": 1024}',
  10, 'service', 2
);
