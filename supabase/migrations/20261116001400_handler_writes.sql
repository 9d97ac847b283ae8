-- What a handler writes is committed with the completion of its job, under its lease, and for its tenant only.

create function tickwork.hold_job(job_id uuid, lease_token uuid, traceparent text)
returns void
language plpgsql
volatile
security definer -- the worker may not read leases directly
set search_path = ''
as $$
begin
  -- Weak enough to allow a heartbeat, strong enough that nobody else can end the lease.
  perform
  from tickwork.leases
  where leases.job_id = hold_job.job_id
    and leases.token = hold_job.lease_token
  for key share;

  if not found then
    perform tickwork.raise_lease_lost(hold_job.job_id);
  end if;

  perform
    set_config('tickwork.job_id', hold_job.job_id::text, true),
    set_config('tickwork.lease_token', hold_job.lease_token::text, true),
    set_config('tickwork.traceparent', hold_job.traceparent, true);
end
$$;

create function public.hold_job(job_id uuid, lease_token uuid, traceparent text default null)
returns void
language sql
volatile
return tickwork.hold_job(job_id, lease_token, traceparent);

comment on function public.hold_job is
  'running -> running. Until the end of the transaction nobody else can settle the job, and the worker may access the '
  'rows of its tenant. Events that are emitted continue the trace of traceparent, if it is valid, else that of the '
  'job. Raises TWLSE.';

create function tickwork.held_job()
returns uuid
language sql
stable
return nullif(current_setting('tickwork.job_id', true), '')::uuid;

comment on function tickwork.held_job is
  'The job that hold_job has named in this transaction, or null. Whether it is held is checked by held_tenant.';

create function tickwork.held_tenant()
returns uuid
language sql
stable
security definer -- the worker may not read leases directly
set search_path = ''
as $$
  -- The token is the credential: without it, the settings give access to nothing.
  select leases.tenant_id
  from tickwork.leases
  where leases.job_id = nullif(current_setting('tickwork.job_id', true), '')::uuid
    and leases.token = nullif(current_setting('tickwork.lease_token', true), '')::uuid;
$$;

comment on function tickwork.held_tenant is
  'The tenant of the job held by hold_job in this transaction, or null. For the policies of tables that handlers '
  'access: using (tenant_id = (select tickwork.held_tenant())).';

create function tickwork.tenant_of_held_job()
returns uuid
language plpgsql
stable
as $$
declare
  tenant_id constant uuid := tickwork.held_tenant();
begin
  if tenant_id is null then
    raise exception 'no job is held in this transaction'
      using errcode = 'TWLSE', hint = 'Call hold_job first. If that was refused, drop the result.';
  end if;

  return tenant_id;
end
$$;

comment on function tickwork.tenant_of_held_job is 'The same, for callers that need one. Raises TWLSE.';
