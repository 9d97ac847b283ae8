-- What a storm is judged by: every change of a job, in order, and what its handlers wrote. For tests only.

create schema storm;

-- One sequence for both. Whoever may only act after another transaction has committed gets a higher number than that.
create sequence storm.steps;

create table storm.history (
  step bigint not null default nextval('storm.steps'),
  at timestamptz not null default clock_timestamp(),
  transaction xid8 not null default pg_current_xact_id(),
  job_id uuid not null,
  tenant_id uuid not null,
  type text not null,
  lane text,
  dedupe_key text,
  old_status text,
  new_status text,
  old_attempts integer,
  new_attempts integer,
  error_code text,
  attempt_of_outcome integer
);

create function storm.note_change()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
begin
  insert into storm.history (
    job_id, tenant_id, type, lane, dedupe_key, old_status, new_status, old_attempts, new_attempts, error_code,
    attempt_of_outcome
  )
  values (
    new.id, new.tenant_id, new.type, new.lane, new.dedupe_key, old.status, new.status, old.attempts, new.attempts,
    new.error_code,
    -- The handlers say in their results and errors which attempt they were.
    case
      when new.status = 'done' then (new.result ->> 'attempt')::integer
      when old.status = 'running' then substring(new.error_message from '^attempt (\d+)$')::integer
    end
  );

  return null;
end
$$;

create trigger note_insert
after insert on public.jobs
for each row
execute function storm.note_change();

create trigger note_change
after update on public.jobs
for each row
when ((old.status, old.attempts) is distinct from (new.status, new.attempts))
execute function storm.note_change();

-- From when to when each token was the one that counts.

create table storm.tokens (
  step bigint not null default nextval('storm.steps'),
  transaction xid8 not null default pg_current_xact_id(),
  job_id uuid not null,
  token uuid not null,
  expires_at timestamptz not null,
  is_over boolean not null
);

create function storm.note_lease()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
begin
  if tg_op <> 'INSERT' then
    insert into storm.tokens (job_id, token, expires_at, is_over) values (old.job_id, old.token, old.expires_at, true);
  end if;

  if tg_op <> 'DELETE' then
    insert into storm.tokens (job_id, token, expires_at, is_over) values (new.job_id, new.token, new.expires_at, false);
  end if;

  return null;
end
$$;

create trigger note_lease
after insert or delete or update of token on tickwork.leases
for each row
execute function storm.note_lease();

-- Nothing here is unique: what must not be there twice has to be able to be.

create table storm.effects (
  step bigint not null default nextval('storm.steps'),
  transaction xid8 not null default pg_current_xact_id(),
  token uuid not null default current_setting('tickwork.lease_token')::uuid,
  tenant_id uuid not null,
  job_id uuid not null,
  attempt integer not null,
  kind text not null
);

comment on column storm.effects.kind is 'done: written with the completion. lease: by under_lease, whatever comes then.';

grant usage on schema storm to tickwork_worker;
grant usage on sequence storm.steps to tickwork_worker;
select tickwork.guard_table('storm.effects', worker => 'select, insert');

-- What was asked for, and whether the caller was told that it is there. Filled when the storm is over.

create table storm.orders (
  number integer primary key,
  tenant_id uuid not null,
  type text not null,
  idempotency_key text,
  dedupe_key text,
  fate text not null,
  effect text not null,
  follow_ups integer not null,
  is_acknowledged boolean not null,
  job_id uuid
);

create table storm.requests (
  job_id uuid not null,
  verb text not null
);

create table storm.executions (
  job_id uuid not null,
  attempt integer not null
);

create table storm.faults (
  kind text not null,
  began_at timestamptz not null,
  ended_at timestamptz not null default clock_timestamp()
);
