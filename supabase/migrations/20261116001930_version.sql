-- The version of the schema, for code that has to know whether it can work with it. A release that changes what older
-- code relies on adds a row; one that only adds to the schema does not.

create table tickwork.schema_versions (
  number integer primary key,
  reached_at timestamptz not null default clock_timestamp()
);

comment on table tickwork.schema_versions is
  'The versions that the schema has had. The highest number is the current one.';

select tickwork.guard_table('tickwork.schema_versions', service => 'select', queue => 'select');

-- It belongs to no tenant: a worker reads it before it holds a job.
grant select on tickwork.schema_versions to tickwork_worker;

create policy the_worker_reads_schema_versions on tickwork.schema_versions
for select to tickwork_worker
using (true);

insert into tickwork.schema_versions (number) values (1);
