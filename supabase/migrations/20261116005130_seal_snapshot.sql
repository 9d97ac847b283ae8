-- building, ready -> sealed. What is wrong with a snapshot is found in one place, for the seal and for build_snapshot.

create function tickwork.snapshot_problem(snapshot_id uuid)
returns table (code text, message text)
language sql
stable
set search_path = ''
as $$
  with item as (
    select facts.fact_type, facts.fact_key, facts.confidence, facts.confirmed_at
    from public.snapshot_items
    join public.facts
      on facts.tenant_id = snapshot_items.tenant_id
      and facts.id = snapshot_items.fact_id
    where snapshot_items.snapshot_id = snapshot_problem.snapshot_id
  )
  (
    select 'SNAPSHOT_EMPTY', 'the snapshot has no facts; add some with add_snapshot_items'
    where not exists (select from item)
  )
  union all
  (
    select
      'FACT_CONFLICT',
      format('%s facts say different things about %s %s; remove all but one', count(*), item.fact_type, item.fact_key)
    from item
    group by item.fact_type, item.fact_key
    having count(*) > 1
    order by item.fact_type collate "C", item.fact_key collate "C"
    limit 1
  )
  union all
  (
    select
      'FACT_UNCONFIRMED',
      format('nobody has confirmed %s %s; check it and call confirm_facts', item.fact_type, item.fact_key)
    from item
    where item.confidence is not null
      and item.confirmed_at is null
    order by item.fact_type collate "C", item.fact_key collate "C"
    limit 1
  )
  limit 1;
$$;

comment on function tickwork.snapshot_problem is
  'The first reason why a snapshot cannot be sealed: SNAPSHOT_EMPTY, FACT_CONFLICT or FACT_UNCONFIRMED. No row: none.';

create function tickwork.snapshot_bytes(snapshot_id uuid)
returns bytea
language sql
stable
set search_path = ''
as $$
  -- to_json escapes strings as RFC 8785 does, and "C" orders them by code points.
  select convert_to(
    '{"facts":['
    || string_agg(
      format(
        '[%s,%s,%s,"%s"]', to_json(facts.fact_type), to_json(facts.fact_key), to_json(facts.schema_version),
        encode(facts.payload_hash, 'hex')
      ),
      ','
      order by
        facts.fact_type collate "C", facts.fact_key collate "C", facts.schema_version collate "C", facts.payload_hash
    )
    || '],"type":"BPC-SNAPSHOT-1"}',
    'UTF8'
  )
  from public.snapshot_items
  join public.facts
    on facts.tenant_id = snapshot_items.tenant_id
    and facts.id = snapshot_items.fact_id
  where snapshot_items.snapshot_id = snapshot_bytes.snapshot_id;
$$;

comment on function tickwork.snapshot_bytes is
  'The canonical bytes of a snapshot, the same as snapshot_bytes in tickwork/passports/snapshot.py.';

create function tickwork.seal_snapshot(snapshot_id uuid)
returns public.snapshots
language plpgsql
volatile
security definer -- clients may not update snapshots directly
set search_path = ''
as $$
declare
  snapshot public.snapshots := tickwork.lock_snapshot_for_caller(seal_snapshot.snapshot_id);
  problem record;
begin
  -- No fact is deleted meanwhile.
  perform
  from public.snapshot_items
  join public.facts
    on facts.tenant_id = snapshot_items.tenant_id
    and facts.id = snapshot_items.fact_id
  where snapshot_items.snapshot_id = snapshot.id
  order by facts.id
  for share of facts;

  select * into problem
  from tickwork.snapshot_problem(snapshot.id);

  if found then
    raise exception 'snapshot_id: %: %', problem.code, problem.message
      using errcode = 'TWSTA', hint = 'Correct the snapshot, then seal it.';
  end if;

  update public.snapshots
  set
    status = 'sealed',
    snapshot_canonical = tickwork.snapshot_bytes(snapshot.id),
    sealed_at = clock_timestamp(),
    sealed_by = tickwork.caller_id()
  where snapshots.id = snapshot.id
  returning * into snapshot;

  perform tickwork.add_event(
    snapshot.tenant_id, 'snapshot.sealed', 'snapshot:' || snapshot.id,
    jsonb_build_object(
      'snapshot_id', snapshot.id, 'name', snapshot.name, 'item_count', snapshot.item_count,
      'snapshot_hash', encode(snapshot.snapshot_hash, 'hex')
    )
  );

  return snapshot;
end
$$;

create function public.seal_snapshot(snapshot_id uuid)
returns public.snapshots
language sql
volatile
return tickwork.seal_snapshot(snapshot_id);

comment on function public.seal_snapshot is
  'building, ready -> sealed. Fixes the facts of a snapshot for good by their canonical bytes and hash. Raises TWSNP, '
  'TWENQ, TWADM, and TWSTA if it is sealed, empty, or has facts that conflict or that nobody has confirmed.';


-- Reads

create view public.snapshot_overview
with (security_invoker = true)
as
select
  snapshots.id,
  snapshots.tenant_id,
  snapshots.name,
  snapshots.status,
  snapshots.item_count,
  encode(snapshots.snapshot_hash, 'hex') as snapshot_hash,
  snapshots.sealed_at,
  snapshots.sealed_by,
  snapshots.created_by,
  snapshots.created_at,
  snapshots.updated_at
from public.snapshots;

comment on view public.snapshot_overview is
  'Snapshots without their bytes, which may be megabytes. Row-level security decides which rows are visible.';

revoke all on public.snapshot_overview from public, anon, authenticated, service_role;
grant select on public.snapshot_overview to authenticated, service_role;
-- list_snapshots returns rows of it.
grant select on public.snapshot_overview to tickwork_owner;

create function public.list_snapshots(
  tenant_id uuid default null,
  name text default null,
  status text default null,
  after_snapshot_id uuid default null,
  max_rows integer default 50
)
returns setof public.snapshot_overview
language sql
stable
set search_path = ''
as $$
  select overview.*
  from public.snapshot_overview as overview
  where (list_snapshots.tenant_id is null or overview.tenant_id = list_snapshots.tenant_id)
    and (list_snapshots.name is null or overview.name = list_snapshots.name)
    and (list_snapshots.status is null or overview.status = list_snapshots.status)
    and (
      list_snapshots.after_snapshot_id is null
      or (overview.created_at, overview.id) < (
        select last.created_at, last.id
        from public.snapshots as last
        where last.id = list_snapshots.after_snapshot_id
      )
    )
  order by overview.created_at desc, overview.id desc
  limit greatest(least(list_snapshots.max_rows, 1000), 0);
$$;

comment on function public.list_snapshots is
  'Reads snapshots without their bytes, the newest first. For the next page, pass the last id of this one as '
  'after_snapshot_id. At most 1000 at a time.';

select tickwork.open_verbs('tickwork_worker', array['snapshot_problem']);
select tickwork.open_verbs('authenticated, service_role', array['seal_snapshot', 'list_snapshots']);
