-- What extractions have cost, for whoever bills: it stays when documents and extractions are deleted.

create table tickwork.early_usage (
  number bigint generated always as identity primary key,
  tenant_id uuid not null references public.tenant_settings (tenant_id) on delete cascade,
  month date not null,
  engine text not null,
  pages integer not null,
  cents integer not null
);

create table tickwork.monthly_usage (
  tenant_id uuid not null references public.tenant_settings (tenant_id) on delete cascade,
  month date not null,
  engine text not null,
  extractions bigint not null,
  pages bigint not null,
  cents bigint not null,
  primary key (tenant_id, month, engine)
);

comment on table tickwork.early_usage is
  'Extractions that are not in monthly_usage yet: each is a row of its own, so that no two wait for each other.';
comment on table tickwork.monthly_usage is 'Extractions, pages and cents by month (UTC).';

select tickwork.guard_table(usage_table, members => 'select', service => 'select')
from unnest(array['tickwork.early_usage', 'tickwork.monthly_usage']::regclass[]) as usage_table;

create function tickwork.note_usage()
returns trigger
language plpgsql
security definer -- handlers may not write it directly
set search_path = ''
as $$
begin
  insert into tickwork.early_usage (tenant_id, month, engine, pages, cents)
  values (
    new.tenant_id, date_trunc('month', new.finished_at at time zone 'UTC'), new.engine,
    coalesce(new.actual_pages, 0), coalesce(new.actual_cost_cents, 0)
  );

  return null;
end
$$;

create trigger note_usage_of_new_extractions
after insert on public.extractions
for each row
when (new.status = 'done')
execute function tickwork.note_usage();

create trigger note_usage
after update of status on public.extractions
for each row
when (new.status = 'done' and old.status <> 'done')
execute function tickwork.note_usage();

create function tickwork.roll_up_usage(most integer)
returns void
language sql
volatile
as $$
  with added as (
    delete from tickwork.early_usage
    where early_usage.number = any (array(
      select first.number from tickwork.early_usage as first order by first.number limit roll_up_usage.most
    ))
    returning early_usage.*
  )
  insert into tickwork.monthly_usage as known (tenant_id, month, engine, extractions, pages, cents)
  select added.tenant_id, added.month, added.engine, count(*), sum(added.pages), sum(added.cents)
  from added
  join tickwork.tenants on tenants.tenant_id = added.tenant_id
  group by added.tenant_id, added.month, added.engine
  on conflict (tenant_id, month, engine) do update
  set
    extractions = known.extractions + excluded.extractions,
    pages = known.pages + excluded.pages,
    cents = known.cents + excluded.cents;
$$;

create view public.usage
with (security_invoker = true)
as
select
  noted.tenant_id, noted.month, noted.engine, sum(noted.extractions)::bigint as extractions,
  sum(noted.pages)::bigint as pages, sum(noted.cents)::bigint as cents
from (
  select * from tickwork.monthly_usage
  union all
  select tenant_id, month, engine, 1, pages, cents from tickwork.early_usage
) as noted
group by noted.tenant_id, noted.month, noted.engine;

comment on view public.usage is
  'What each tenant has used per month (UTC) and engine: extractions, pages and cents, whether or not the documents '
  'still exist.';

revoke all on public.usage from public, anon, authenticated, service_role;
grant select on public.usage to authenticated, service_role, tickwork_owner;

insert into tickwork.metric_kinds (name, kind, help) values
  ('extractions_total', 'counter', 'Extractions that are done, by engine.'),
  ('extraction_pages_total', 'counter', 'Pages that were extracted, by engine.'),
  ('extraction_cents_total', 'counter', 'What extractions have cost, in cents, by engine.');

create function tickwork.extraction_samples(tenants uuid[], tenant_label text)
returns setof tickwork.sample
language sql
stable
as $$
  select
    counted.metric, null,
    concat_ws(
      ',', tickwork.label('engine', usage.engine),
      tickwork.label(extraction_samples.tenant_label, usage.tenant_id::text)
    ),
    sum(counted.value)
  from public.usage
  cross join lateral (
    values
      ('extractions_total', usage.extractions), ('extraction_pages_total', usage.pages),
      ('extraction_cents_total', usage.cents)
  ) as counted(metric, value)
  where extraction_samples.tenants is null
    or usage.tenant_id = any (extraction_samples.tenants)
  group by 1, 3;
$$;

comment on function tickwork.note_usage is 'Notes what an extraction has used, when it is done.';
comment on function tickwork.roll_up_usage is 'Adds up what extractions have used.';
comment on function tickwork.extraction_samples is 'Extractions, pages and cents, of these tenants or of all together.';
