-- Which version the schema is of, for code that has to know whether it can serve it. A release that changes what older
-- code relies on adds a row; what only adds to the schema does not.

create table tickwork.schema_versions (
  number integer primary key,
  reached_at timestamptz not null default clock_timestamp()
);

comment on table tickwork.schema_versions is
  'The versions that the schema has had. The highest number is the one it is of.';

alter table tickwork.schema_versions enable row level security;
alter table tickwork.schema_versions force row level security;

create policy the_queue_reads_schema_versions on tickwork.schema_versions
for select to tickwork_owner, tickwork_worker, service_role
using (true);

revoke all on tickwork.schema_versions from public, anon, authenticated, service_role;
grant select on tickwork.schema_versions to tickwork_owner, tickwork_worker, service_role;

insert into tickwork.schema_versions (number) values (1);
