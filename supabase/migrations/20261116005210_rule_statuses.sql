-- What holds for versions of rules, whoever writes them: an edit makes a draft, and what was published stays.

create function tickwork.note_rules_edit()
returns trigger
language plpgsql
set search_path = ''
as $$
begin
  if (new.dsl_source, new.tests_source, new.valid_from)
    is not distinct from (old.dsl_source, old.tests_source, old.valid_from)
  then
    return new;
  end if;

  if old.status in ('published', 'retired') then
    raise exception 'rule_package_version_id: version % is % and cannot change', old.version, old.status
      using errcode = 'TWSTA', hint = 'Save the rules as another version: passports refer to this one.';
  end if;

  new.status := 'draft';
  new.rules_hash := null;
  new.publish_when_validated := false;
  new.revision := old.revision + 1;
  return new;
end
$$;

comment on function tickwork.note_rules_edit is
  'An edit of rules or of their tests makes a draft of them. Raises TWSTA if they were published.';

create function tickwork.check_rules_status()
returns trigger
language plpgsql
set search_path = ''
as $$
begin
  if (old.status, new.status) not in (
    ('draft', 'validated'), ('validated', 'draft'), ('validated', 'published'), ('published', 'retired')
  ) or old.status <> 'draft' and new.status <> 'draft' and new.rules_hash is distinct from old.rules_hash then
    raise exception 'rule_package_version_id: version % is %, and cannot become %', old.version, old.status, new.status
      using errcode = 'TWSTA', hint = 'Rules are validated by their tests, then published, then retired.';
  end if;

  return new;
end
$$;

comment on function tickwork.check_rules_status is
  'Lets rules go from draft to validated, published and retired, and back to draft before that. Raises TWSTA.';

create function tickwork.emit_rules_event()
returns trigger
language plpgsql
security definer -- nobody may write events directly
set search_path = ''
as $$
begin
  -- Those of every tenant have nobody to tell.
  if new.tenant_id is not null then
    perform tickwork.add_event(
      new.tenant_id,
      'rules.' || new.status,
      'rules:' || new.id,
      jsonb_build_object(
        'rule_package_version_id', new.id,
        'rule_package_id', new.rule_package_id,
        'version', new.version,
        'rules_hash', encode(new.rules_hash, 'hex')
      )
    );
  end if;

  return null;
end
$$;

comment on function tickwork.emit_rules_event is
  '-> queued. Emits rules.validated, rules.published or rules.retired.';

create function tickwork.emit_tests_failed()
returns trigger
language plpgsql
security definer -- nobody may write events directly
set search_path = ''
as $$
begin
  perform tickwork.add_event(
    new.tenant_id,
    'rules.tests_failed',
    'rules:' || new.rule_package_version_id,
    jsonb_build_object(
      'rule_package_version_id', new.rule_package_version_id,
      'rule_tests_run_id', new.id,
      'seed', new.seed,
      'failed_count', new.failed_count,
      'total_cases', new.total_cases
    )
  );

  return null;
end
$$;

comment on function tickwork.emit_tests_failed is '-> queued. Emits rules.tests_failed.';

-- Triggers fire in the order of their names: an edit sets the status before it is checked.
create trigger edit_makes_a_draft before update of dsl_source, tests_source, valid_from on public.rule_package_versions
for each row execute function tickwork.note_rules_edit();

create trigger status_follows_the_order before update on public.rule_package_versions
for each row when (old.status is distinct from new.status)
execute function tickwork.check_rules_status();

create trigger emit_status after update on public.rule_package_versions
for each row when (old.status is distinct from new.status and new.status <> 'draft')
execute function tickwork.emit_rules_event();

create trigger emit_failure after insert on public.rule_tests_runs
for each row when (new.status = 'failed' and new.tenant_id is not null)
execute function tickwork.emit_tests_failed();
