-- What the api function asks the database beside the verbs.

create function tickwork.only_tenant()
returns uuid
language plpgsql
stable
set search_path = ''
as $$
declare
  own constant uuid[] := case
    when tickwork.caller_has_key() then array_remove(array[tickwork.key_tenant('{read, enqueue, operate}')], null)
    else array(select distinct tenant from tickwork.caller_tenants() as tenant limit 2)
  end;
begin
  if cardinality(own) <> 1 then
    raise exception 'tenant_id: is missing, and the caller belongs to % tenants',
      case cardinality(own) when 0 then 'no' else 'several' end
      using errcode = 'TWARG', hint = 'Say which tenant it is for.';
  end if;

  return own[1];
end
$$;

comment on function tickwork.only_tenant is
  'The tenant of a caller who belongs to one only: for requests that name none. Raises TWARG.';

revoke execute on function tickwork.only_tenant from public;
grant execute on function tickwork.only_tenant to authenticated, service_role;
