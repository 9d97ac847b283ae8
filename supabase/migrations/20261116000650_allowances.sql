-- How many jobs a tenant may have queued.

create function tickwork.take_allowance(tenant_id uuid, jobs integer)
returns void
language plpgsql
volatile
as $$
declare
  left_over integer;
begin
  -- Replaced rather than updated: a latecomer would keep its lock on a row that was updated in the meantime.
  delete from tickwork.allowances
  where allowances.ctid = (
    select free.ctid
    from tickwork.allowances as free
    where free.tenant_id = take_allowance.tenant_id
      and free.jobs_left >= take_allowance.jobs
    limit 1
    for update skip locked
  )
  returning allowances.jobs_left - take_allowance.jobs into left_over;

  if left_over is null then
    perform tickwork.renew_allowances(take_allowance.tenant_id);
    return;
  end if;

  insert into tickwork.allowances (tenant_id, jobs_left)
  values (take_allowance.tenant_id, left_over);
end
$$;

comment on function tickwork.take_allowance is
  'Counts jobs just inserted against max_queued of their tenant. Raises TWFUL.';

create function tickwork.renew_allowances(tenant_id uuid)
returns void
language plpgsql
volatile
as $$
declare
  -- A transaction that has enqueued before must not wait, or two of them could deadlock.
  may_wait constant boolean := current_setting('tickwork.has_enqueued', true) is distinct from 'yes';
  most integer;
  queued integer;
  held_by_others bigint;
begin
  if may_wait then
    perform pg_advisory_xact_lock(7466, hashtext(renew_allowances.tenant_id::text));
  elsif not pg_try_advisory_xact_lock(7466, hashtext(renew_allowances.tenant_id::text)) then
    raise exception 'tenant_id: others are enqueuing for tenant %, which is close to its limit of queued jobs',
      renew_allowances.tenant_id
      using errcode = 'TWFUL', hint = 'Try again, or raise max_queued of the tenant.';
  end if;

  -- Others that enqueue for the tenant lock an allowance until their jobs can be counted, and leave another one.
  loop
    exit when not may_wait;

    delete from tickwork.allowances
    where allowances.tenant_id = renew_allowances.tenant_id;

    exit when not found;
  end loop;

  delete from tickwork.allowances
  where allowances.ctid = any (array(
    select free.ctid
    from tickwork.allowances as free
    where free.tenant_id = renew_allowances.tenant_id
    for update skip locked
  ));

  -- As if they had used all of it.
  select coalesce(sum(allowances.jobs_left), 0) into held_by_others
  from tickwork.allowances
  where allowances.tenant_id = renew_allowances.tenant_id;

  select tenant_settings.max_queued into most
  from public.tenant_settings
  where tenant_settings.tenant_id = renew_allowances.tenant_id;

  queued := tickwork.count_queued(renew_allowances.tenant_id, most);

  if queued + held_by_others > most then
    raise exception 'tenant_id: tenant % has % jobs queued, which is its limit', renew_allowances.tenant_id, most
      using errcode = 'TWFUL', hint = 'Try again when some of them have run, or raise max_queued of the tenant.';
  end if;

  insert into tickwork.allowances (tenant_id, jobs_left)
  select renew_allowances.tenant_id, (most - queued - held_by_others) / 8
  from generate_series(1, 8);
end
$$;

comment on function tickwork.renew_allowances is
  'Counts the queued jobs of the tenant and divides what it may still enqueue into allowances. Raises TWFUL.';

create function tickwork.count_queued(tenant_id uuid, most integer)
returns integer
language sql
stable
as $$
  select count(*)::integer
  from (
    select
    from tickwork.tenants
    cross join tickwork.family_types
    cross join lateral (
      select
      from tickwork.waiting
      where waiting.family = family_types.family
        and waiting.type = family_types.type
        and waiting.tenant_number = tenants.number
      limit count_queued.most::bigint + 1
    ) as in_sight
    where tenants.tenant_id = count_queued.tenant_id
    union all
    select
    from tickwork.tenants
    cross join (select distinct family_types.family from tickwork.family_types) as families
    cross join lateral (
      select
      from tickwork.parked
      where parked.family = families.family
        and parked.tenant_number = tenants.number
      limit count_queued.most::bigint + 1
    ) as out_of_sight
    where tenants.tenant_id = count_queued.tenant_id
    union all
    select
    from tickwork.tenants
    cross join (select distinct family_types.family from tickwork.family_types) as families
    cross join lateral (
      select
      from tickwork.awaiting
      where awaiting.family = families.family
        and awaiting.tenant_number = tenants.number
      limit count_queued.most::bigint + 1
    ) as after_others
    where tenants.tenant_id = count_queued.tenant_id
    limit count_queued.most::bigint + 1
  ) as counted;
$$;

comment on function tickwork.count_queued is
  'How many jobs the tenant has queued; stops counting at one more than most.';

create function tickwork.share_out_allowances()
returns trigger
language plpgsql
security definer -- nobody may write allowances
set search_path = ''
as $$
begin
  -- Wait for transactions that are still counting by the old limit, and remove their allowances too.
  perform pg_advisory_xact_lock(7466, hashtext(new.tenant_id::text));

  loop
    delete from tickwork.allowances
    where allowances.tenant_id = new.tenant_id;

    exit when not found;
  end loop;

  if tg_op = 'INSERT' then
    insert into tickwork.allowances (tenant_id, jobs_left)
    select new.tenant_id, new.max_queued / 8
    from generate_series(1, 8);
  end if;

  return null;
end
$$;

create trigger share_out_allowances after insert on public.tenant_settings
for each row execute function tickwork.share_out_allowances();

create trigger renew_allowances after update of max_queued on public.tenant_settings
for each row execute function tickwork.share_out_allowances();
