-- Reads: the connected cloud drives.

create function public.list_connectors(tenant_id uuid default null)
returns setof public.connectors
language sql
stable
set search_path = ''
as $$
  select *
  from public.connectors
  where list_connectors.tenant_id is null
    or connectors.tenant_id = list_connectors.tenant_id
  order by connectors.created_at, connectors.id;
$$;

comment on function public.list_connectors is
  'Reads the connected cloud drives, the oldest first.';

select tickwork.open_verbs('authenticated, service_role', array['list_connectors']);
