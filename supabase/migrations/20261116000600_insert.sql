-- What happens to every job that is inserted, by a client or by the queue itself.

create function tickwork.check_job(
  type text,
  job_type public.job_types,
  payload jsonb,
  priority integer,
  run_at timestamptz,
  idempotency_key text,
  dedupe_key text,
  lane text,
  max_attempts integer,
  correlation_id text
)
returns void
language plpgsql
stable
set search_path = ''
as $$
begin
  if (check_job.job_type).key is null then
    raise exception 'type: there is no job type %', coalesce(quote_literal(check_job.type), 'null')
      using errcode = 'TWTYP', hint = 'Insert it into job_types, or correct the spelling.';
  end if;

  if not (check_job.job_type).is_active then
    raise exception 'type: job type % is inactive and takes no new jobs', quote_literal(check_job.type)
      using errcode = 'TWTYP', hint = 'Set is_active in job_types to take jobs again.';
  end if;

  perform tickwork.check_payload(check_job.payload, (check_job.job_type).payload_schema);
  perform tickwork.check_run_at(check_job.run_at);
  perform tickwork.check_key('idempotency_key', check_job.idempotency_key);
  perform tickwork.check_key('dedupe_key', check_job.dedupe_key);
  perform tickwork.check_key('lane', check_job.lane);
  perform tickwork.check_key('correlation_id', check_job.correlation_id);

  if check_job.priority not between 0 and 100 then
    raise exception 'priority: % is out of range, 0 to 100 are allowed', check_job.priority
      using errcode = 'TWPRI', hint = 'Higher runs first; 0 is the default.';
  end if;

  if check_job.max_attempts not between 1 and 25 then
    raise exception 'max_attempts: % is out of range, 1 to 25 are allowed', check_job.max_attempts
      using errcode = 'TWATT', hint = 'Leave it out to take the number of the job''s type.';
  end if;
end
$$;

-- Asked for by the triggers that look at what clients insert and hands edit. A constraint would be read and compiled
-- anew by every statement of the queue's own functions, which keep it true anyway.

create function tickwork.check_state(
  state text,
  lease_token uuid,
  lease_expires_at timestamptz,
  finished_at timestamptz
)
returns void
language plpgsql
immutable
set search_path = ''
as $$
begin
  if not (case check_state.state
    when 'queued' then check_state.lease_token is null and check_state.finished_at is null
    when 'running' then
      check_state.lease_token is not null
      and check_state.lease_expires_at is not null
      and check_state.finished_at is null
    else
      check_state.state in ('done', 'failed', 'dead', 'cancelled')
      and check_state.lease_token is null
      and check_state.finished_at is not null
  end) then
    raise exception 'status: % does not go with what else is set', quote_nullable(check_state.state)
      using errcode = 'check_violation',
        hint = 'A running job has a lease_token, one that is done, failed, dead or cancelled a finished_at.';
  end if;
end
$$;

create function tickwork.fill_in_job()
returns trigger
language plpgsql
set search_path = ''
as $$
declare
  job_type public.job_types;
begin
  perform tickwork.check_caller(new.tenant_id);

  select * into job_type
  from public.job_types
  where job_types.key = new.type;

  new.family := job_type.family;
  new.max_attempts := coalesce(new.max_attempts, job_type.max_attempts);
  new.payload := coalesce(new.payload, '{}');
  new.priority := coalesce(new.priority, 0);
  new.run_at := coalesce(new.run_at, clock_timestamp());
  new.created_by := tickwork.caller_id();

  perform tickwork.check_job(
    new.type, job_type, new.payload, new.priority, new.run_at, new.idempotency_key, new.dedupe_key, new.lane,
    new.max_attempts, new.correlation_id
  );

  perform tickwork.check_state(new.status, new.lease_token, new.lease_expires_at, new.finished_at);

  return new;
end
$$;

create trigger fill_in_job
before insert on public.jobs
for each row
-- The queue's own functions have checked and filled in already, many rows at once.
when (current_user <> 'tickwork_owner')
execute function tickwork.fill_in_job();


-- A tenant may have so many jobs queued and no more.

create function tickwork.take_allowance(tenant_id uuid, jobs integer)
returns void
language plpgsql
volatile
set search_path = ''
as $$
declare
  left_over integer;
  done text;
begin
  -- Replaced and not updated: of a row that was updated meanwhile the lock would stay with whoever came too late.
  delete from tickwork.allowances
  where allowances.ctid = (
    select free.ctid
    from tickwork.allowances as free
    where free.tenant_id = take_allowance.tenant_id
      and free.jobs_left >= take_allowance.jobs
    limit 1
    for update skip locked
  )
  returning allowances.jobs_left - take_allowance.jobs into left_over;

  if left_over is null then
    done := tickwork.renew_allowances(take_allowance.tenant_id)::text;
    return;
  end if;

  insert into tickwork.allowances (tenant_id, jobs_left)
  values (take_allowance.tenant_id, left_over);
end
$$;

comment on function tickwork.take_allowance is
  'Counts jobs just inserted against max_queued of their tenant. Raises TWFUL.';

create function tickwork.renew_allowances(tenant_id uuid)
returns void
language plpgsql
volatile
set search_path = ''
as $$
declare
  -- Who has enqueued before in this transaction must not wait, or two could wait for each other.
  may_wait constant boolean := current_setting('tickwork.has_enqueued', true) is distinct from 'yes';
  most integer;
  queued integer;
  held_by_others bigint;
begin
  if may_wait then
    perform pg_advisory_xact_lock(7466, hashtext(renew_allowances.tenant_id::text));
  elsif not pg_try_advisory_xact_lock(7466, hashtext(renew_allowances.tenant_id::text)) then
    raise exception 'tenant_id: others are enqueuing for tenant %, which is close to all it may have queued',
      renew_allowances.tenant_id
      using errcode = 'TWFUL', hint = 'Try again, or raise max_queued of the tenant.';
  end if;

  -- Whoever else enqueues for the tenant holds an allowance until his jobs can be counted, and leaves another one.
  loop
    exit when not may_wait;

    delete from tickwork.allowances
    where allowances.tenant_id = renew_allowances.tenant_id;

    exit when not found;
  end loop;

  delete from tickwork.allowances
  where allowances.ctid = any (array(
    select free.ctid
    from tickwork.allowances as free
    where free.tenant_id = renew_allowances.tenant_id
    for update skip locked
  ));

  -- As if they had used all of it.
  select coalesce(sum(allowances.jobs_left), 0) into held_by_others
  from tickwork.allowances
  where allowances.tenant_id = renew_allowances.tenant_id;

  select organizations.max_queued into most
  from public.organizations
  where organizations.id = renew_allowances.tenant_id;

  select count(*) into queued
  from (
    select
    from public.jobs
    where jobs.tenant_id = renew_allowances.tenant_id
      and jobs.status = 'queued'
    limit most::bigint + 1
  ) as counted;

  if queued + held_by_others > most then
    raise exception 'tenant_id: tenant % has % jobs queued, which is all it may have', renew_allowances.tenant_id, most
      using errcode = 'TWFUL', hint = 'Enqueue again when some of them have run, or raise max_queued of the tenant.';
  end if;

  insert into tickwork.allowances (tenant_id, jobs_left)
  select renew_allowances.tenant_id, (most - queued - held_by_others) / 8
  from generate_series(1, 8);
end
$$;

comment on function tickwork.renew_allowances is
  'Counts what the tenant has queued and shares out what it may still enqueue. Raises TWFUL.';

create function tickwork.share_out_allowances()
returns trigger
language plpgsql
security definer -- nobody may touch allowances
set search_path = ''
as $$
begin
  -- Whoever is counting by the old number at this moment comes first, and is forgotten too.
  perform pg_advisory_xact_lock(7466, hashtext(new.id::text));

  loop
    delete from tickwork.allowances
    where allowances.tenant_id = new.id;

    exit when not found;
  end loop;

  if tg_op = 'INSERT' then
    insert into tickwork.allowances (tenant_id, jobs_left)
    select new.id, new.max_queued / 8
    from generate_series(1, 8);
  end if;

  return null;
end
$$;

create trigger share_out_allowances
after insert on public.organizations
for each row
execute function tickwork.share_out_allowances();

create trigger renew_allowances
after update of max_queued on public.organizations
for each row
execute function tickwork.share_out_allowances();


-- Lets the next claim know of new jobs.

create type tickwork.place as (
  family text,
  type text,
  priority integer,
  tenant_id uuid,
  lane text,
  run_at timestamptz,
  jobs integer
);

create function tickwork.wake_line(place tickwork.place)
returns void
language plpgsql
volatile
set search_path = ''
as $$
declare
  own_turn constant bigint := tickwork.turn_id(place.family, place.type, place.priority, place.tenant_id);
  done text;
begin
  -- Until the end of this transaction no claim finds the line empty and closes it. A claim never waits for this lock,
  -- and holds it for a moment only. The number of locks is bounded, as their memory is.
  done := pg_advisory_xact_lock_shared(7464, (own_turn & 1023)::integer)::text;

  -- Who opens a gate wakes whatever stands behind it.
  perform
  from tickwork.lines
  where lines.id = hashtextextended(coalesce(place.lane, ''), own_turn)
    and (lines.is_open or lines.gate is not null);

  -- An older snapshot does not tell whether the line is open now.
  if not found or current_setting('transaction_isolation') <> 'read committed' then
    insert into tickwork.wakes (family, type, priority, tenant_id, lane, wake_at)
    values (place.family, place.type, place.priority, place.tenant_id, place.lane, place.run_at);
  end if;
end
$$;

create function tickwork.announce(places tickwork.place[])
returns void
language plpgsql
volatile
set search_path = ''
as $$
declare
  place tickwork.place;
  done text;
begin
  -- All of a tenant at once, and tenants in their order, so that no two wait for each other in a circle.
  perform tickwork.take_allowance(tenant.id, tenant.jobs)
  from (
    select listed.tenant_id, sum(listed.jobs)::integer
    from unnest(announce.places) as listed
    group by listed.tenant_id
    order by listed.tenant_id
  ) as tenant(id, jobs);

  foreach place in array announce.places loop
    done := tickwork.announce_place(place)::text;
  end loop;
end
$$;

create function tickwork.announce_place(place tickwork.place)
returns void
language plpgsql
volatile
set search_path = ''
as $$
declare
  done text;
begin
  -- From now on this transaction holds what others may have to wait for.
  done := set_config('tickwork.has_enqueued', 'yes', true);

  if current_setting('synchronous_commit') = 'off' then
    done := tickwork.wait_for_disk()::text;
  end if;

  done := tickwork.wake_line(place)::text;

  if place.run_at <= clock_timestamp() then
    done := pg_notify('tickwork', place.family)::text;
  end if;
end
$$;

create function tickwork.announce_jobs()
returns trigger
language plpgsql
security definer -- nobody else may touch turns and allowances
set search_path = ''
as $$
begin
  perform tickwork.announce(array(
    select row(
      inserted.family, inserted.type, inserted.priority, inserted.tenant_id, inserted.lane,
      min(inserted.run_at), count(*)
    )::tickwork.place
    from inserted
    group by inserted.family, inserted.type, inserted.priority, inserted.tenant_id, inserted.lane
  ));

  return null;
end
$$;

create trigger announce_jobs
after insert on public.jobs
referencing new table as inserted
for each statement
-- The queue's own functions announce what they insert themselves.
when (current_user <> 'tickwork_owner')
execute function tickwork.announce_jobs();

-- A hand that edits the table is heard as well: what it has made due is due, a lease that it has ended is over, and
-- what makes no sense is refused.

create function tickwork.notice_edit()
returns trigger
language plpgsql
security definer -- nobody else may touch wakes
set search_path = ''
as $$
begin
  perform tickwork.check_state(new.status, new.lease_token, new.lease_expires_at, new.finished_at);

  if new.status = 'queued' then
    perform tickwork.wake_line(row(
      new.family, new.type, new.priority, new.tenant_id, new.lane, new.run_at, 1
    )::tickwork.place);
  end if;

  update tickwork.served_types
  set reap_at = '-infinity'
  where served_types.family = new.family
    and served_types.reap_at > clock_timestamp();

  return null;
end
$$;

create trigger notice_edit
after update of status, run_at, attempts, max_attempts, lease_token, lease_expires_at, finished_at on public.jobs
for each row
when (current_user <> 'tickwork_owner')
execute function tickwork.notice_edit();

alter function tickwork.notice_edit owner to tickwork_owner;
alter function tickwork.announce_jobs owner to tickwork_owner;
alter function tickwork.share_out_allowances owner to tickwork_owner;

revoke execute on function
  tickwork.check_job,
  tickwork.check_state,
  tickwork.fill_in_job,
  tickwork.take_allowance,
  tickwork.renew_allowances,
  tickwork.share_out_allowances,
  tickwork.wake_line,
  tickwork.announce,
  tickwork.announce_place,
  tickwork.announce_jobs,
  tickwork.notice_edit
from public, anon, authenticated, service_role;

grant execute on function tickwork.check_job, tickwork.check_state to authenticated, service_role, tickwork_owner;
grant execute on function
  tickwork.take_allowance,
  tickwork.renew_allowances,
  tickwork.wake_line,
  tickwork.announce,
  tickwork.announce_place
to tickwork_owner;
