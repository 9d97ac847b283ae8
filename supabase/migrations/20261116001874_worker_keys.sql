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

-- A worker of one tenant takes nobody else's turn, so the pointer of the turns is neither read nor moved.

create function tickwork.claim_of_tenant(
  tenant_id uuid, family text, worker_id text, max_jobs integer, lease_seconds integer, types text[]
)
returns tickwork.claimed_job[]
language plpgsql
volatile
as $$
declare
  request constant tickwork.claim_request := row(
    claim_of_tenant.family, claim_of_tenant.worker_id, claim_of_tenant.lease_seconds
  );
  served constant tickwork.family_types[] := tickwork.keep_up(claim_of_tenant.family, claim_of_tenant.types);
  so_far tickwork.claimed_so_far := row(array[]::tickwork.claimed_job[], null, false);
  tenant tickwork.tenants;
begin
  select * into tenant
  from tickwork.tenants
  where tenants.tenant_id = claim_of_tenant.tenant_id;

  if served is null or (tenant.is_paused) is not false then
    return so_far.jobs;
  end if;

  -- Nothing starves: one claim in ten begins with another priority.
  if random() < 0.1 then
    so_far := tickwork.claim_of_tenant_at(
      request, served, (served[1 + floor(random() * cardinality(served))::integer]).priority, 1, tenant, so_far
    );
  end if;

  for number in 1 .. cardinality(served) loop
    exit when cardinality(so_far.jobs) >= claim_of_tenant.max_jobs;
    continue when (served[number]).priority = (served[number - 1]).priority;

    so_far := tickwork.claim_of_tenant_at(
      request, served, (served[number]).priority, claim_of_tenant.max_jobs, tenant, so_far
    );
  end loop;

  return so_far.jobs;
end
$$;

create function tickwork.claim_of_tenant_at(
  request tickwork.claim_request,
  served tickwork.family_types[],
  priority integer,
  max_jobs integer,
  tenant tickwork.tenants,
  so_far tickwork.claimed_so_far
)
returns tickwork.claimed_so_far
language plpgsql
volatile
as $$
declare
  types constant text[] := array(
    select each.type from unnest(claim_of_tenant_at.served) as each where each.priority = claim_of_tenant_at.priority
  );
  is_limited constant boolean := tenant.is_limited or exists (
    select from unnest(claim_of_tenant_at.served) as each where each.type = any (types) and each.is_limited
  );
  open_types text[];
  targets tickwork.claim_target[];
  started tickwork.claimed_job[];
begin
  -- More than once: a type may turn out to be at its limit while another still has room.
  for pass in 1 .. 10 loop
    open_types := case
      when is_limited then tickwork.open_types(tenant.number, (request).family, types)
      else types
    end;
    exit when open_types = '{}';

    targets := tickwork.targets_of(
      (request).family,
      array[row(
        tenant.number, tenant.tenant_id, tenant.weight, is_limited, open_types,
        claim_of_tenant_at.max_jobs - cardinality(so_far.jobs)
      )::tickwork.turn],
      true, floor(random() * 65536)::integer, so_far.has_locks
    );
    started := tickwork.start_jobs(request, targets, so_far.has_locks);
    so_far.has_locks := true;
    so_far.jobs := so_far.jobs || started;

    exit when cardinality(so_far.jobs) >= claim_of_tenant_at.max_jobs
      or started = '{}' and open_types = tickwork.open_types(tenant.number, (request).family, open_types);
  end loop;

  return so_far;
end
$$;

comment on function tickwork.claim_of_tenant is
  'queued -> running. Like claim, of one tenant: types with the highest priority first, and of each the most urgent '
  'and oldest jobs, as far as limits and lanes allow.';
comment on function tickwork.claim_of_tenant_at is 'Starts jobs of the tenant whose types have that priority.';
