-- The type verb_object, and the table that it writes to.

create table public.my_table (
  id uuid primary key default gen_random_uuid(),
  tenant_id uuid not null references public.tenant_settings (tenant_id) on delete cascade,
  job_id uuid not null unique,
  text text not null,
  created_at timestamptz not null default clock_timestamp()
);

create index my_table_of_tenant on public.my_table (tenant_id);

-- Members read the rows of their tenants; the worker reaches those of the tenant whose job it holds.
select tickwork.guard_table('public.my_table', members => 'select', worker => 'select, insert', queue => null);

insert into public.job_types (key, family, enqueued_by, payload_schema, result_schema)
values (
  'verb_object',
  'my_family',
  'member',
  '{"type": "object", "required": ["text"], "properties": {"text": {"type": "string", "minLength": 1}}}',
  '{"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}}'
);
