-- Artifacts -> gone. The database cannot reach the vault, so a job removes them.

insert into public.job_types (key, family, description, timeout_seconds, enqueued_by, keep_days)
values ('remove_artifacts', 'report', 'Remove artifacts that no job has', 600, 'service', '{"done": 1}');

create function tickwork.enqueue_removals()
returns void
language plpgsql
volatile
as $$
declare
  owner uuid := gen_random_uuid();
  has_wrapped boolean := false;
begin
  -- Starting at a random tenant: one whose queue stays full must not keep the others waiting.
  for step in 1 .. 20 loop
    select artifacts.tenant_id into owner
    from public.artifacts
    where artifacts.remove_at <= clock_timestamp()
      and artifacts.tenant_id > owner
    order by artifacts.tenant_id
    limit 1;

    if found then
      perform tickwork.enqueue_removal(owner);
    else
      exit when has_wrapped;
      has_wrapped := true;
      owner := '00000000-0000-0000-0000-000000000000';
    end if;
  end loop;
end
$$;

comment on function tickwork.enqueue_removals is
  '-> queued. Enqueues a job for each tenant that has artifacts to remove, up to 20 at a time. Never waits.';

insert into tickwork.hooks (moment, function_name)
values ('tick', 'enqueue_removals')
on conflict do nothing;

create function tickwork.enqueue_removal(tenant_id uuid)
returns void
language plpgsql
volatile
as $$
begin
  if exists (
    select
    from tickwork.taken_keys
    where taken_keys.tenant_id = enqueue_removal.tenant_id
      and taken_keys.dedupe_key = 'remove_artifacts'
  ) or not pg_try_advisory_xact_lock(hashtextextended('artifacts of ' || enqueue_removal.tenant_id, 0)) then
    return;
  end if;

  perform tickwork.insert_jobs(array[tickwork.new_job(
    enqueue_removal.tenant_id, 'remove_artifacts', '{}', dedupe_key => 'remove_artifacts', source => 'system'
  )]);
exception
  when sqlstate 'TWFUL' or sqlstate 'TWTYP' or sqlstate 'TWDUP' then
    null;
end
$$;

comment on function tickwork.enqueue_removal is
  '-> queued. Enqueues a job that removes artifacts of a tenant, unless there is one or its queue is full.';
