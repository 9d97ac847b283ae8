-- Tables whose changes go to the audit log.

create function tickwork.audit_change()
returns trigger
language plpgsql
security definer -- nobody may write the audit log
set search_path = ''
as $$
declare
  keys constant text[] := string_to_array(tg_argv[0], ',');
  left_out constant text[] := string_to_array(tg_argv[1], ',') || array['created_at', 'updated_at'];
  old_row constant jsonb := case when tg_op <> 'INSERT' then to_jsonb(old) end;
  new_row constant jsonb := case when tg_op <> 'DELETE' then to_jsonb(new) end;
  row constant jsonb := coalesce(new_row, old_row);
  owner constant uuid := coalesce(row ->> 'tenant_id', substring(row ->> 'scope' from '^tenant (.{36})$'));
  before jsonb := old_row - left_out;
  after jsonb := new_row - left_out;
begin
  if tg_op = 'UPDATE' then
    select jsonb_object_agg(field.key, field.value), jsonb_object_agg(field.key, new_row -> field.key)
    into before, after
    from jsonb_each(old_row - left_out) as field
    where field.value is distinct from new_row -> field.key;
  end if;

  -- What a worker changes, no person has. What goes with a tenant is not missed.
  if (tg_op = 'UPDATE' and before is null)
    or (tickwork.actor()).kind = 'worker'
    or owner is not null and not exists (select from public.tenant_settings where tenant_settings.tenant_id = owner)
  then
    return null;
  end if;

  perform tickwork.note_audit(
    tg_table_name || case tg_op when 'INSERT' then '.created' when 'UPDATE' then '.changed' else '.deleted' end,
    owner,
    tg_table_name || ' ' || array_to_string(array(select row ->> name from unnest(keys) as name), ' '),
    case when tg_op = 'DELETE' then jsonb_strip_nulls(before) else before end,
    case when tg_op = 'INSERT' then jsonb_strip_nulls(after) else after end
  );
  return null;
end
$$;

comment on function tickwork.audit_change is
  'Writes a row of the audit log for a changed row. Its arguments are the columns of the key, and those that are left '
  'out: secrets, and what the queue itself changes.';

create function tickwork.audit_table(target regclass, key text, left_out text default '')
returns void
language plpgsql
volatile
as $$
begin
  execute format(
    'create trigger audit_change after insert or delete or update of %s on %s for each row '
    'execute function tickwork.audit_change(%L, %L)',
    (
      select string_agg(quote_ident(pg_attribute.attname), ', ' order by pg_attribute.attnum)
      from pg_catalog.pg_attribute
      where pg_attribute.attrelid = audit_table.target
        and pg_attribute.attnum > 0
        and not pg_attribute.attisdropped
        and pg_attribute.attname <> all (string_to_array(audit_table.left_out, ',') || array['updated_at']::name[])
    ),
    audit_table.target, audit_table.key, audit_table.left_out
  );
end
$$;

comment on function tickwork.audit_table is
  'From now on changes of the table go to the audit log, each under the columns of its key. An update that sets none '
  'but the columns that are left out costs nothing.';
