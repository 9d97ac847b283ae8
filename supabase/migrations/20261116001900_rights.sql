-- Who may call what. Nothing is open to anon or public, and every security definer function runs as tickwork_owner.

create function tickwork.close_functions()
returns void
language plpgsql
volatile
as $$
declare
  routine record;
begin
  for routine in
    select
      pg_proc.oid::regprocedure as name,
      pg_proc.prosecdef,
      exists (
        select
        from aclexplode(coalesce(pg_proc.proacl, acldefault('f', pg_proc.proowner))) as entry
        where entry.grantee = 0
      ) as is_open,
      exists (
        select
        from aclexplode(pg_proc.proacl) as entry
        where entry.grantee = 'tickwork_owner'::regrole
      ) as is_owners,
      pg_proc.proowner = 'tickwork_owner'::regrole as is_owned
    from pg_catalog.pg_proc
    where pg_proc.pronamespace = 'tickwork'::regnamespace
  loop
    -- A function opened by open_verbs is no longer public, and stays as it is.
    if routine.is_open then
      execute format('revoke execute on function %s from public, anon, authenticated, service_role', routine.name);
    end if;

    if not routine.is_owners then
      execute format('grant execute on function %s to tickwork_owner', routine.name);
    end if;

    if routine.prosecdef and not routine.is_owned then
      execute format('alter function %s owner to tickwork_owner', routine.name);
    end if;
  end loop;
end
$$;

comment on function tickwork.close_functions is
  'Revokes public access to every function in tickwork, lets tickwork_owner call all of them, and makes it the owner '
  'of the definer functions. Called again after the last family.';

select tickwork.close_functions();

create function tickwork.open_verbs(roles text, verbs text[])
returns void
language plpgsql
volatile
as $$
declare
  routine regprocedure;
begin
  for routine in
    select pg_proc.oid
    from pg_catalog.pg_proc
    where pg_proc.proname = any (open_verbs.verbs)
      and pg_proc.pronamespace in ('public'::regnamespace, 'tickwork'::regnamespace)
  loop
    execute format('revoke execute on function %s from public, anon, authenticated, service_role', routine);
    execute format('grant execute on function %s to %s', routine, open_verbs.roles);
  end loop;
end
$$;

comment on function tickwork.open_verbs is
  'Lets these roles, and nobody else except the owner, call the verbs: the functions in public and those behind them.';

revoke execute on function tickwork.open_verbs from public, anon, authenticated, service_role;

-- Functions that policies, constraints and verbs call as the user who reads or writes.
grant execute on function
  tickwork.caller_id, tickwork.caller_has_key, tickwork.caller_key_id, tickwork.key_tenant, tickwork.key_serves_all,
  tickwork.caller_is_service, tickwork.caller_memberships, tickwork.caller_tenants,
  tickwork.caller_is_platform_admin, tickwork.caller_reads_all, tickwork.caller_may_do_all, tickwork.caller_may_add,
  tickwork.managed_tenants,
  tickwork.may_act_for, tickwork.new_job, tickwork.new_filter, tickwork.spread_of
to authenticated, service_role;

grant execute on function
  tickwork.is_backoff, tickwork.are_keep_days, tickwork.are_redacted_paths, tickwork.are_names
to service_role;

-- Members: the jobs of their own tenants. The functions themselves check who is an admin.
select tickwork.open_verbs('authenticated, service_role', array[
  'enqueue_job', 'cancel_job', 'retry_job', 'reschedule_job', 'bury_job', 'change_job', 'cancel_jobs', 'retry_jobs',
  'reschedule_jobs', 'change_jobs', 'list_jobs', 'queue_summary', 'count_jobs', 'explain_job', 'create_schedule',
  'change_schedule', 'pause_schedules', 'resume_schedules', 'run_schedule', 'backfill_schedule', 'delete_schedule',
  'preview_schedule', 'list_schedules', 'get_schedule', 'list_schedule_fires', 'create_api_key', 'list_api_keys',
  'revoke_api_key', 'who_am_i', 'list_audit', 'note_refusal', 'use_sign_in_link', 'set_member', 'remove_member',
  'enqueue_jobs', 'pause_jobs', 'resume_jobs', 'list_holds', 'hold_lane', 'release_lane', 'limit_lane', 'list_steps',
  'list_lanes'
]);

-- Workers that come with an API key. The functions themselves check its scope.
select tickwork.open_verbs('authenticated, service_role', array[
  'worker_claim_jobs', 'worker_heartbeat_job', 'worker_complete_job', 'worker_fail_job', 'worker_release_job',
  'worker_settle_one', 'worker_settle_and_claim'
]);

-- People only: whoever sees what is redacted is known by name.
select tickwork.open_verbs('authenticated', array['reveal_job']);

-- Workers: the verbs that request a lease or need one.
select tickwork.open_verbs('tickwork_worker, service_role', array[
  'claim_next_job', 'claim_jobs', 'heartbeat_job', 'heartbeat_jobs', 'complete_job', 'fail_job', 'release_job',
  'settle_one', 'settle_jobs', 'settle_and_claim', 'hold_job', 'held_tenant', 'hold_lane_of_job', 'raise_lease_lost'
]);

-- Handlers that run in steps, for the job that they hold.
select tickwork.open_verbs('tickwork_worker', array['read_held_steps', 'store_held_step', 'open_held_wait']);

-- The application's backend and the operator.
select tickwork.open_verbs('service_role', array[
  'rebuild_queue', 'purge_jobs', 'purge_audit', 'create_sign_in_link'
]);

grant execute on function tickwork.enqueue_job, tickwork.held_tenant, tickwork.raise_lease_lost to tickwork_owner;
