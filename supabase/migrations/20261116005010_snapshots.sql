-- Snapshots: the facts that a passport is compiled from. Once sealed, a snapshot is fixed by its hash.

create table public.snapshots (
  id uuid primary key default gen_random_uuid(),
  tenant_id uuid not null references public.tenant_settings (tenant_id) on delete cascade,
  name text not null,
  item_count integer not null default 0,
  snapshot_canonical bytea,
  snapshot_hash bytea generated always as (sha256(snapshot_canonical)) stored,
  sealed_at timestamptz,
  sealed_by uuid,
  created_by uuid default tickwork.caller_id(),
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  status text not null default 'building',
  constraint name_is_1_to_500_characters check (length(name) between 1 and 500),
  constraint status_is_known check (status in ('building', 'ready', 'sealed')),
  constraint items_are_at_most_20000 check (item_count between 0 and 20000),
  constraint sealed_snapshots_have_their_bytes check (
    (status = 'sealed') = (snapshot_canonical is not null) and (status = 'sealed') = (sealed_at is not null)
  )
);

comment on table public.snapshots is
  'The facts that passports are compiled from: building, then ready when they were checked, then sealed for good.';
comment on column public.snapshots.snapshot_canonical is
  'The list of its facts by type, key, schema version and hash, as RFC 8785 writes it.';
comment on column public.snapshots.snapshot_hash is 'SHA-256 of snapshot_canonical.';

create index snapshots_of_a_tenant on public.snapshots (tenant_id, created_at, id);
create unique index snapshots_of_their_tenant on public.snapshots (tenant_id, id);

create trigger note_update before update on public.snapshots
for each row execute function tickwork.note_update();

create table public.snapshot_items (
  snapshot_id uuid not null,
  fact_id uuid not null,
  tenant_id uuid not null,
  primary key (snapshot_id, fact_id),
  constraint snapshot_is_the_tenants_own foreign key (tenant_id, snapshot_id)
    references public.snapshots (tenant_id, id) on delete cascade,
  constraint fact_is_the_tenants_own foreign key (tenant_id, fact_id)
    references public.facts (tenant_id, id) on delete cascade
);

comment on table public.snapshot_items is
  'The facts of a snapshot. Two with the same type and key are a conflict, which build_snapshot and seal_snapshot '
  'name.';

create index snapshot_items_of_a_fact on public.snapshot_items (tenant_id, fact_id);

select tickwork.guard_table(
  'public.snapshots', members => 'select', worker => 'select', service => 'select'
);
select tickwork.guard_table(
  'public.snapshot_items', members => 'select', worker => 'select', service => 'select'
);

-- building -> ready is all that the worker does.
grant update (status) on public.snapshots to tickwork_worker;

create function tickwork.keep_snapshot()
returns trigger
language plpgsql
set search_path = ''
as $$
begin
  if old.status = 'sealed' then
    raise exception 'snapshot % is sealed and cannot be changed', old.id
      using errcode = 'TWSTA', hint = 'Create another snapshot.';
  end if;

  return new;
end
$$;

create trigger keep_snapshot before update on public.snapshots
for each row execute function tickwork.keep_snapshot();

create function tickwork.keep_snapshot_items()
returns trigger
language plpgsql
set search_path = ''
as $$
begin
  -- Of a snapshot that is being deleted itself, with its tenant, nothing is found.
  if exists (
    select
    from public.snapshots
    where snapshots.id = case when tg_op = 'INSERT' then new.snapshot_id else old.snapshot_id end
      and snapshots.status = 'sealed'
  ) then
    raise exception 'the items of a sealed snapshot cannot be changed'
      using errcode = 'TWSTA', hint = 'Create another snapshot.';
  end if;

  return case when tg_op = 'DELETE' then old else new end;
end
$$;

create trigger keep_snapshot_items before insert or update or delete on public.snapshot_items
for each row execute function tickwork.keep_snapshot_items();
