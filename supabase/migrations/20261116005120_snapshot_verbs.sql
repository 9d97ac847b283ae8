-- Snapshots: building -> ready -> sealed.

insert into public.job_types (key, family, description, timeout_seconds, max_attempts, backoff, priority, enqueued_by)
values (
  'build_snapshot', 'passport', 'Check the facts of a snapshot', 300, 5, '{"base": 2, "factor": 2, "cap": 1024}', 10,
  'member'
);

create function tickwork.create_snapshot(tenant_id uuid, name text)
returns public.snapshots
language plpgsql
volatile
security definer -- clients may not insert snapshots directly
set search_path = ''
as $$
declare
  added public.snapshots;
  rule text;
  field text;
begin
  perform tickwork.check_caller(create_snapshot.tenant_id, '{enqueue, operate}');

  insert into public.snapshots (tenant_id, name)
  values (create_snapshot.tenant_id, create_snapshot.name)
  returning * into added;

  return added;
exception
  when check_violation or not_null_violation then
    get stacked diagnostics rule = constraint_name, field = column_name;
    perform tickwork.raise_broken_rule(rule, field);
    return null;
end
$$;

create function public.create_snapshot(tenant_id uuid, name text)
returns public.snapshots
language sql
volatile
return tickwork.create_snapshot(tenant_id, name);

comment on function public.create_snapshot is
  '-> building. Creates an empty snapshot. Raises TWTNT, TWMEM, TWENQ, TWARG, TWAUT.';

create function tickwork.lock_snapshot_for_caller(snapshot_id uuid)
returns public.snapshots
language plpgsql
volatile
as $$
declare
  snapshot public.snapshots;
begin
  select * into snapshot
  from public.snapshots
  where snapshots.id = lock_snapshot_for_caller.snapshot_id
    and tickwork.may_act_for(snapshots.tenant_id)
  for no key update;

  if not found then
    raise exception 'snapshot_id: there is no snapshot %', coalesce(lock_snapshot_for_caller.snapshot_id::text, 'null')
      using errcode = 'TWSNP', hint = 'list_snapshots shows the snapshots that you may see.';
  end if;

  perform tickwork.check_caller(snapshot.tenant_id, '{enqueue, operate}');

  if snapshot.status = 'sealed' then
    raise exception 'snapshot_id: snapshot % is sealed', snapshot.id
      using errcode = 'TWSTA', hint = 'Create another snapshot.';
  end if;

  return snapshot;
end
$$;

create function tickwork.note_snapshot_change(snapshot_id uuid)
returns public.snapshots
language plpgsql
volatile
as $$
declare
  changed public.snapshots;
begin
  update public.snapshots
  set
    status = 'building',
    item_count = (
      select count(*)
      from public.snapshot_items
      where snapshot_items.snapshot_id = note_snapshot_change.snapshot_id
    )
  where snapshots.id = note_snapshot_change.snapshot_id
  returning * into changed;

  return changed;
exception
  when check_violation then
    raise exception 'snapshot_id: a snapshot has at most 20000 facts'
      using errcode = 'TWBIG', hint = 'Add only the facts of one battery model.';
end
$$;

create function tickwork.add_snapshot_items(snapshot_id uuid, fact_ids uuid[], document_version_id uuid)
returns public.snapshots
language plpgsql
volatile
security definer -- clients may not write items directly
set search_path = ''
as $$
declare
  snapshot constant public.snapshots := tickwork.lock_snapshot_for_caller(add_snapshot_items.snapshot_id);
  missing uuid;
begin
  select named.id into missing
  from unnest(add_snapshot_items.fact_ids) as named(id)
  left join public.facts
    on facts.id = named.id
    -- A fact of another tenant is not there, even for a member of both.
    and facts.tenant_id = snapshot.tenant_id
  where facts.id is null
  limit 1;

  if found then
    raise exception 'fact_ids: there is no fact %', coalesce(missing::text, 'null')
      using errcode = 'TWFCT', hint = 'list_facts shows the facts of the tenant.';
  end if;

  if add_snapshot_items.document_version_id is not null and not exists (
    select
    from public.document_versions
    where document_versions.id = add_snapshot_items.document_version_id
      and document_versions.tenant_id = snapshot.tenant_id
      and document_versions.status = 'validated'
  ) then
    raise exception 'document_version_id: there is no validated version %', add_snapshot_items.document_version_id
      using errcode = 'TWDOC', hint = 'list_document_versions shows the versions and their status.';
  end if;

  insert into public.snapshot_items (tenant_id, snapshot_id, fact_id)
  select snapshot.tenant_id, snapshot.id, added.id
  from (
    select unnest(add_snapshot_items.fact_ids) as id
    union
    select fact_sources.fact_id
    from public.fact_sources
    where fact_sources.tenant_id = snapshot.tenant_id
      and fact_sources.document_version_id = add_snapshot_items.document_version_id
  ) as added
  on conflict on constraint snapshot_items_pkey do nothing;

  return tickwork.note_snapshot_change(snapshot.id);
end
$$;

create function public.add_snapshot_items(
  snapshot_id uuid,
  fact_ids uuid[] default '{}',
  document_version_id uuid default null
)
returns public.snapshots
language sql
volatile
return tickwork.add_snapshot_items(snapshot_id, fact_ids, document_version_id);

comment on function public.add_snapshot_items is
  'ready -> building. Adds facts to a snapshot: those that are named, and all of a validated version of a document. '
  'Raises TWSNP, TWFCT, TWDOC, TWSTA, TWBIG, TWENQ, TWADM.';

create function tickwork.remove_snapshot_items(snapshot_id uuid, fact_ids uuid[])
returns public.snapshots
language plpgsql
volatile
security definer -- clients may not write items directly
set search_path = ''
as $$
declare
  snapshot constant public.snapshots := tickwork.lock_snapshot_for_caller(remove_snapshot_items.snapshot_id);
begin
  delete from public.snapshot_items
  where snapshot_items.snapshot_id = snapshot.id
    and snapshot_items.fact_id = any (remove_snapshot_items.fact_ids);

  return tickwork.note_snapshot_change(snapshot.id);
end
$$;

create function public.remove_snapshot_items(snapshot_id uuid, fact_ids uuid[])
returns public.snapshots
language sql
volatile
return tickwork.remove_snapshot_items(snapshot_id, fact_ids);

comment on function public.remove_snapshot_items is
  'ready -> building. Takes facts out of a snapshot; those that it does not have are ignored. Raises TWSNP, TWSTA, '
  'TWENQ, TWADM.';

create function tickwork.request_build(snapshot_id uuid)
returns tickwork.enqueued_jobs
language plpgsql
volatile
security definer -- the snapshot is locked, so that it is not sealed meanwhile
set search_path = ''
as $$
declare
  snapshot constant public.snapshots := tickwork.lock_snapshot_for_caller(request_build.snapshot_id);
begin
  return tickwork.enqueue_job(tickwork.new_job(
    snapshot.tenant_id, 'build_snapshot', jsonb_build_object('snapshot_id', snapshot.id),
    dedupe_key => 'build_snapshot ' || snapshot.id
  ));
end
$$;

comment on function tickwork.request_build is
  '-> queued. Enqueues build_snapshot, once while such a job is queued or running.';

create function public.request_build(snapshot_id uuid)
returns tickwork.enqueued_jobs
language sql
volatile
return tickwork.request_build(snapshot_id);

comment on function public.request_build is
  '-> queued. Has the facts of a snapshot checked by the job build_snapshot, which makes it ready or names what is '
  'wrong. While such a job is queued or running, a second request returns it. Raises TWSNP, TWSTA and what enqueue_job '
  'raises.';

select tickwork.open_verbs('authenticated, service_role', array[
  'create_snapshot', 'add_snapshot_items', 'remove_snapshot_items', 'request_build'
]);
