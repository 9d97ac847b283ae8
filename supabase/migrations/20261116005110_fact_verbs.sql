-- Facts: read, confirmed, and what the columns of tables mean.

create function public.list_facts(
  tenant_id uuid default null,
  document_version_id uuid default null,
  snapshot_id uuid default null,
  fact_type text default null,
  after_fact_id uuid default null,
  max_rows integer default 50
)
returns setof public.facts
language sql
stable
set search_path = ''
as $$
  select facts.*
  from public.facts
  where (list_facts.tenant_id is null or facts.tenant_id = list_facts.tenant_id)
    and (list_facts.fact_type is null or facts.fact_type = list_facts.fact_type)
    and (
      list_facts.after_fact_id is null
      or (facts.created_at, facts.id) > (
        select last.created_at, last.id
        from public.facts as last
        where last.id = list_facts.after_fact_id
      )
    )
    and (
      list_facts.document_version_id is null
      or exists (
        select
        from public.fact_sources
        where fact_sources.fact_id = facts.id
          and fact_sources.document_version_id = list_facts.document_version_id
      )
    )
    and (
      list_facts.snapshot_id is null
      or exists (
        select
        from public.snapshot_items
        where snapshot_items.fact_id = facts.id
          and snapshot_items.snapshot_id = list_facts.snapshot_id
      )
    )
  order by facts.created_at, facts.id
  limit greatest(least(list_facts.max_rows, 1000), 0);
$$;

comment on function public.list_facts is
  'Reads facts, of a version of a document or of a snapshot, the oldest first. For the next page, pass the last id of '
  'this one as after_fact_id. At most 1000 at a time.';

create function tickwork.confirm_facts(fact_ids uuid[])
returns setof public.facts
language plpgsql
volatile
security definer -- members may not update facts directly
set search_path = ''
as $$
declare
  missing uuid;
  owner uuid;
begin
  select named.id into missing
  from unnest(confirm_facts.fact_ids) as named(id)
  left join public.facts
    on facts.id = named.id
    and tickwork.may_act_for(facts.tenant_id)
  where facts.id is null
  limit 1;

  if found then
    raise exception 'fact_ids: there is no fact %', coalesce(missing::text, 'null')
      using errcode = 'TWFCT', hint = 'list_facts shows the facts that you may see.';
  end if;

  for owner in
    select distinct facts.tenant_id
    from public.facts
    where facts.id = any (confirm_facts.fact_ids)
  loop
    perform tickwork.check_caller(owner, '{enqueue, operate}');
  end loop;

  return query
  update public.facts
  set
    confirmed_by = coalesce(facts.confirmed_by, tickwork.caller_id()),
    confirmed_at = coalesce(facts.confirmed_at, clock_timestamp())
  where facts.id = any (confirm_facts.fact_ids)
  returning facts.*;
end
$$;

create function public.confirm_facts(fact_ids uuid[])
returns setof public.facts
language sql
volatile
begin atomic
  select * from tickwork.confirm_facts(fact_ids);
end;

comment on function public.confirm_facts is
  'Sets down that the caller has checked these facts: an extraction was not sure of them, and no snapshot can be '
  'sealed with them before. Raises TWFCT, TWENQ, TWADM.';

create function tickwork.map_fact_label(tenant_id uuid, kind text, label text, field text, unit text)
returns public.fact_mappings
language plpgsql
volatile
security definer -- members may not write mappings directly
set search_path = ''
as $$
declare
  mapping public.fact_mappings;
  rule text;
  empty_field text;
begin
  perform tickwork.check_caller(map_fact_label.tenant_id, '{enqueue, operate}');

  insert into public.fact_mappings (tenant_id, kind, label, field, unit)
  values (
    map_fact_label.tenant_id, map_fact_label.kind, lower(btrim(map_fact_label.label)), map_fact_label.field,
    map_fact_label.unit
  )
  on conflict on constraint label_is_unique_in_its_kind do update
  set
    field = excluded.field,
    unit = excluded.unit,
    created_by = excluded.created_by,
    created_at = excluded.created_at
  returning * into mapping;

  return mapping;
exception
  when check_violation or not_null_violation then
    get stacked diagnostics rule = constraint_name, empty_field = column_name;
    perform tickwork.raise_broken_rule(rule, empty_field);
    return null;
end
$$;

create function public.map_fact_label(tenant_id uuid, kind text, label text, field text, unit text default null)
returns public.fact_mappings
language sql
volatile
return tickwork.map_fact_label(tenant_id, kind, label, field, unit);

comment on function public.map_fact_label is
  'Sets what a column with this head means in tables of the tenant''s documents of this kind: the field of a fact, and '
  'the unit of its numbers. Raises TWTNT, TWMEM, TWENQ, TWARG.';

create function public.list_fact_mappings(tenant_id uuid default null, max_rows integer default 50)
returns setof public.fact_mappings
language sql
stable
set search_path = ''
as $$
  select fact_mappings.*
  from public.fact_mappings
  where list_fact_mappings.tenant_id is null
    or fact_mappings.tenant_id = list_fact_mappings.tenant_id
  order by fact_mappings.kind, fact_mappings.label, fact_mappings.id
  limit greatest(least(list_fact_mappings.max_rows, 1000), 0);
$$;

comment on function public.list_fact_mappings is
  'Reads what the columns of tables mean, by kind and head. At most 1000 at a time.';

select tickwork.open_verbs('authenticated, service_role', array[
  'list_facts', 'confirm_facts', 'map_fact_label', 'list_fact_mappings'
]);
