-- Workers that come with an API key: whoever has worker:<family> claims and settles jobs of that family, fenced by the
-- lease like every other worker. The key of a tenant gets jobs of that tenant only.

create function tickwork.check_worker(family text)
returns uuid
language plpgsql
stable
as $$
declare
  key tickwork.api_keys;
begin
  if tickwork.caller_is_service() then
    return null;
  end if;

  select * into key
  from tickwork.caller_key();

  if ('worker:' || check_worker.family = any (key.scopes)) is not true then
    raise exception 'family: that takes a key with the scope worker:%', coalesce(check_worker.family, '<family>')
      using errcode = 'TWADM', hint = 'A platform admin can create one with create_api_key.';
  end if;

  return key.tenant_id;
end
$$;

comment on function tickwork.check_worker is
  'The tenant whose jobs of the family the caller may claim; null: of every tenant. Raises TWADM, TWAUT.';

create function tickwork.check_lease(job_id uuid, lease_token uuid)
returns void
language plpgsql
stable
as $$
declare
  lease tickwork.leases;
begin
  select * into lease
  from tickwork.leases
  where leases.job_id = check_lease.job_id
    and leases.token = check_lease.lease_token;

  if not found then
    perform tickwork.raise_lease_lost(check_lease.job_id);
  end if;

  if tickwork.check_worker(lease.family) <> lease.tenant_id then
    perform tickwork.raise_lease_lost(check_lease.job_id);
  end if;
end
$$;

comment on function tickwork.check_lease is
  'Returns if the job is held under this lease, and by a worker with the caller''s rights. Raises TWLSE, TWADM, TWAUT.';
