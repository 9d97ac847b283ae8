-- What follows an insert, whoever made it.

create function tickwork.note_enqueued(owners uuid[], families text[], parked uuid[], awaiting uuid[])
returns void
language plpgsql
volatile
as $$
declare
  waiting_owners bigint[];
begin
  perform tickwork.wait_for_disk();

  if note_enqueued.parked is not null then
    perform tickwork.file_jobs(note_enqueued.parked);
  end if;

  if note_enqueued.awaiting is not null then
    waiting_owners := tickwork.file_awaiting(note_enqueued.awaiting);
  end if;

  -- All jobs of a tenant at once, and tenants in a fixed order, so that calls cannot deadlock.
  perform tickwork.take_allowance(tenant.id, tenant.jobs)
  from (
    select owner.id, count(*)::integer
    from unnest(note_enqueued.owners) as owner(id)
    group by owner.id
    order by owner.id
  ) as tenant(id, jobs);

  -- From now on this transaction holds locks that others may have to wait for.
  perform set_config('tickwork.has_enqueued', 'yes', true);

  perform pg_notify('tickwork', due.family)
  from unnest(note_enqueued.families) as due(family);

  -- Last: it locks jobs, and from then on waits for nobody.
  if waiting_owners is not null then
    perform tickwork.check_awaited(waiting_owners);
  end if;
end
$$;

comment on function tickwork.note_enqueued is
  'Files new jobs that a claim must not find yet, counts the jobs of each owner against max_queued, wakes the workers '
  'of the families with due jobs, and checks what some of them wait for. There is an owner for each job.';

-- The same for rows that clients insert themselves.

create function tickwork.fill_in_job()
returns trigger
language plpgsql
security definer -- clients may not call the queue's own functions
set search_path = ''
as $$
declare
  job_type public.job_types;
begin
  perform tickwork.check_enqueuer(new.tenant_id, array[new.type]);
  perform tickwork.hold_tenants(array[new.tenant_id]);

  select * into job_type
  from public.job_types
  where job_types.key = new.type;

  new.family := job_type.family;
  new.max_attempts := coalesce(new.max_attempts, job_type.max_attempts);
  new.payload := coalesce(new.payload, '{}');
  new.priority := coalesce(new.priority, job_type.priority);
  new.run_at := coalesce(new.run_at, clock_timestamp());
  new.notify := coalesce(new.notify, false);
  new.after := nullif(new.after, '{}');
  new.after_when := case when new.after is not null then coalesce(new.after_when, 'all_done') end;
  new.correlation_id := coalesce(new.correlation_id, (
    select awaited.correlation_id from public.jobs as awaited where awaited.id = new.after[1]
  ));
  new.traceparent := coalesce(new.traceparent, tickwork.caller_traceparent());
  new.created_by := tickwork.caller_id();

  perform tickwork.check_job(
    tickwork.new_job(
      new.tenant_id, new.type, new.payload, new.priority, new.run_at, new.idempotency_key, new.dedupe_key, new.lane,
      new.max_attempts, new.correlation_id, after => new.after, after_when => new.after_when,
      traceparent => new.traceparent
    ),
    job_type
  );

  perform tickwork.check_state(new.status, new.lease_expires_at, new.finished_at);

  if tickwork.is_to_redact(job_type.redacted, new.payload::text) then
    new.is_redacted := true;
    new.payload := tickwork.keep_payload(new.id, new.tenant_id, job_type, new.payload);
    -- The row may still be left out: on conflict do nothing.
    perform set_config(
      'tickwork.kept', concat_ws(',', nullif(current_setting('tickwork.kept', true), ''), new.id), true
    );
  end if;

  return new;
end
$$;

alter table public.jobs alter column priority drop default;

create trigger fill_in_job
before insert on public.jobs
for each row
-- The queue's own functions have already checked and filled in their rows, many at once.
when (current_user <> 'tickwork_owner')
execute function tickwork.fill_in_job();

create function tickwork.note_inserted()
returns trigger
language plpgsql
security definer -- nobody else may write the queue's tables
set search_path = ''
as $$
declare
  due_by constant timestamptz := clock_timestamp();
begin
  perform tickwork.take_keys(array(select inserted.id from inserted));

  perform tickwork.on_artifact(inserted.id, inserted.tenant_id, inserted.payload)
  from inserted
  where inserted.payload ? 'artifact_ref';

  perform tickwork.note_enqueued(
    array_agg(inserted.tenant_id),
    array_agg(distinct inserted.family) filter (where inserted.run_at <= due_by and inserted.after is null),
    array_agg(inserted.id) filter (where inserted.after is null),
    array_agg(inserted.id) filter (where inserted.after is not null)
  )
  from inserted
  having count(*) > 0;

  if current_setting('tickwork.kept', true) <> '' then
    delete from tickwork.redacted_values
    where redacted_values.job_id = any (string_to_array(current_setting('tickwork.kept'), ',')::uuid[])
      and not exists (select from public.jobs where jobs.id = redacted_values.job_id);

    perform set_config('tickwork.kept', '', true);
  end if;

  return null;
end
$$;

create trigger note_inserted
after insert on public.jobs
referencing new table as inserted
for each statement
when (current_user <> 'tickwork_owner')
execute function tickwork.note_inserted();

create function tickwork.take_keys(ids uuid[])
returns void
language sql
volatile
as $$
  insert into tickwork.taken_keys (tenant_id, dedupe_key, job_id)
  select jobs.tenant_id, jobs.dedupe_key, jobs.id
  from unnest(take_keys.ids) as taker(id)
  cross join lateral (select * from public.jobs where jobs.id = taker.id limit 1) as jobs
  where jobs.dedupe_key is not null
    and jobs.status in ('queued', 'running')
  order by jobs.tenant_id, jobs.dedupe_key;
$$;

comment on function tickwork.take_keys is
  'Takes the dedupe keys of jobs that are queued or running. Raises unique_violation if another job has one.';

-- Called by the triggers that check what clients insert and people edit. A constraint would also be evaluated by every
-- statement of the queue's own functions, which never violate it.

create function tickwork.check_state(state text, lease_expires_at timestamptz, finished_at timestamptz)
returns void
language plpgsql
immutable
as $$
begin
  if not (case check_state.state
    when 'queued' then check_state.lease_expires_at is null and check_state.finished_at is null
    when 'running' then check_state.lease_expires_at is not null and check_state.finished_at is null
    else
      check_state.state in ('done', 'failed', 'dead', 'cancelled')
      and check_state.lease_expires_at is null
      and check_state.finished_at is not null
  end) then
    raise exception 'status: % does not match the other columns', quote_nullable(check_state.state)
      using errcode = 'check_violation',
        hint = 'A running job, and no other, has a lease_expires_at; a done, failed, dead or cancelled job has a '
          'finished_at.';
  end if;
end
$$;
