-- The types of job, each processed by the function of its family.

create function tickwork.is_backoff(backoff jsonb)
returns boolean
language sql
immutable
set search_path = ''
as $$
  select case jsonb_typeof(is_backoff.backoff)
    when 'array' then
      jsonb_array_length(is_backoff.backoff) between 1 and 25
      and not jsonb_path_exists(is_backoff.backoff, 'strict $[*] ? (@.type() != "number" || @ < 0 || @ > 2592000)')
    when 'object' then
      -- A path that is missing makes it null, which a constraint would accept.
      (
        is_backoff.backoff @@ 'strict $.base >= 0 && $.base <= 2592000 && $.factor >= 1 && $.factor <= 100 '
          '&& $.cap >= 0 && $.cap <= 2592000'
      ) is true
    else false
  end;
$$;

comment on function tickwork.is_backoff is
  'Whether the value is a list of delays in seconds, or {base, factor, cap} for exponential backoff.';

create function tickwork.are_keep_days(keep_days jsonb)
returns boolean
language sql
immutable
set search_path = ''
as $$
  select jsonb_typeof(are_keep_days.keep_days) = 'object'
    and are_keep_days.keep_days - array['done', 'failed', 'dead', 'cancelled'] = '{}'
    and not jsonb_path_exists(
      are_keep_days.keep_days,
      'strict $.* ? (@.type() != "null" && (@.type() != "number" || @ < 0 || @ > 36500 || @.floor() != @))'
    );
$$;

comment on function tickwork.are_keep_days is
  'Whether the value is an object with any of done, failed, dead and cancelled, each a whole number of days up to '
  '36500, or null for forever.';

create table public.job_types (
  key text primary key,
  family text not null,
  description text not null default '',
  payload_schema jsonb,
  result_schema jsonb,
  timeout_seconds integer not null default 300,
  max_attempts integer not null default 4,
  backoff jsonb not null default '[60, 300, 1800]',
  lease_seconds integer not null default 60,
  priority integer not null default 0,
  enqueued_by text not null default 'service',
  max_running integer,
  max_running_per_tenant integer,
  starts_per_minute integer,
  follow_ups text[] not null default '{}',
  keep_days jsonb not null default '{}',
  is_active boolean not null default true,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  constraint key_is_words check (key ~ '^[a-z][a-z0-9_.-]{0,99}$'),
  constraint family_is_a_word check (family ~ '^[a-z][a-z0-9_]{0,49}$'),
  constraint payload_schema_is_an_object check (jsonb_typeof(payload_schema) = 'object'),
  constraint result_schema_is_an_object check (jsonb_typeof(result_schema) = 'object'),
  constraint timeout_is_1_s_to_1_day check (timeout_seconds between 1 and 86400),
  constraint attempts_are_1_to_25 check (max_attempts between 1 and 25),
  constraint backoff_is_a_list_or_exponential check (tickwork.is_backoff(backoff)),
  constraint lease_is_10_s_to_1_h check (lease_seconds between 10 and 3600),
  constraint priority_is_0_to_100 check (priority between 0 and 100),
  constraint enqueued_by_is_known check (enqueued_by in ('service', 'admin', 'member')),
  constraint keep_days_are_days check (tickwork.are_keep_days(keep_days)),
  constraint max_running_is_1_or_more check (max_running >= 1),
  constraint max_running_per_tenant_is_1_or_more check (max_running_per_tenant >= 1),
  constraint starts_per_minute_are_1_or_more check (starts_per_minute >= 1)
);

comment on table public.job_types is
  'The types of job. A change takes effect at the next enqueue (family, attempts), claim (lease, timeout, limits) or '
  'failed attempt (backoff).';
comment on column public.job_types.payload_schema is
  'JSON Schema of the payload, checked on enqueue. docs/reference/payload-schemas.md lists what works without '
  'pg_jsonschema.';
comment on column public.job_types.result_schema is
  'JSON Schema of the result, in the same keywords: for `tickwork types`. No result is checked against it.';
comment on column public.job_types.backoff is
  'Delays before the next attempt: a list of seconds (the last one repeats) or {"base": 5, "factor": 2, "cap": 3600}.';
comment on column public.job_types.priority is
  'Types with a higher priority come first, for all tenants. Also the default priority of their jobs.';
comment on column public.job_types.enqueued_by is
  'Who may enqueue it: the service only, admins of the tenant too, or every member.';
comment on column public.job_types.keep_days is
  'For how many days jobs are kept once they are done, failed, dead or cancelled, such as {"done": 1, "dead": null}; '
  'null means forever. For a status that is missing, the tenant decides.';
comment on column public.job_types.max_running is 'How many jobs of the type may run at once; null means no limit.';
comment on column public.job_types.max_running_per_tenant is 'How many of these may belong to one tenant.';
comment on column public.job_types.starts_per_minute is
  'How many jobs of the type one tenant may start per minute: all of them at once after a quiet minute, then evenly.';
comment on column public.job_types.follow_ups is
  'Types of the follow-up jobs that its handler enqueues when it is done. extract_document passes on the document_id.';
comment on column public.job_types.is_active is
  'An inactive type takes no new jobs; those already queued still run.';

create function tickwork.note_update()
returns trigger
language plpgsql
set search_path = ''
as $$
begin
  new.updated_at := clock_timestamp();
  return new;
end
$$;

create trigger note_update before update on public.job_types
for each row execute function tickwork.note_update();

create function tickwork.check_job_type()
returns trigger
language plpgsql
security definer -- those who write types may not call the queue's own functions
set search_path = ''
as $$
declare
  problem constant text := case
    when not tickwork.knows_json_schema() then
      coalesce(
        case when new.payload_schema is not null then tickwork.schema_problem(new.payload_schema, 'payload_schema') end,
        case when new.result_schema is not null then tickwork.schema_problem(new.result_schema, 'result_schema') end
      )
  end;
begin
  if problem is not null then
    raise exception '%', problem
      using
        errcode = 'TWSCH',
        hint = 'docs/reference/payload-schemas.md lists what works on every server; pg_jsonschema adds the rest.';
  end if;

  return new;
end
$$;

comment on function tickwork.check_job_type is
  'Raises TWSCH if neither pg_jsonschema nor payload_problem can check values against a schema of the type.';

create trigger check_job_type
before insert or update of payload_schema, result_schema on public.job_types
for each row
when (new.payload_schema is not null or new.result_schema is not null)
execute function tickwork.check_job_type();

-- No delete: finished jobs still refer to their type. Set is_active to false instead.
select tickwork.guard_table(
  'public.job_types', signed_in => 'select', service => 'select, insert, update', queue => 'select, insert, update'
);


-- The types of a family as a claim sees them. A type that moved to another family or was deleted may still have jobs.

create table tickwork.family_types (
  family text collate "C" not null,
  type text collate "C" not null,
  priority integer not null default 0,
  lease_seconds integer not null default 60,
  timeout_seconds integer,
  turn regclass not null,
  front regclass not null,
  is_limited boolean not null default false,
  is_paused boolean not null default false,
  full_until timestamptz not null default '-infinity',
  asked_at timestamptz,
  reaped_at timestamptz not null default '-infinity',
  purged_at timestamptz not null default '-infinity',
  purged_to timestamptz not null default '-infinity',
  primary key (family, type)
)
with (fillfactor = 50);

comment on table tickwork.family_types is 'The types of each family. Kept in step with job_types and pauses.';
comment on column tickwork.family_types.turn is 'The sequence that keeps whose turn it is in the family.';
comment on column tickwork.family_types.front is
  'The sequence that keeps where the waiting jobs of the family begin, see move_front.';
comment on column tickwork.family_types.full_until is
  'Until when claims skip the type, because as many of its jobs are running as may run.';
comment on column tickwork.family_types.asked_at is 'When a worker last asked for jobs of the type, to the minute.';
comment on column tickwork.family_types.reaped_at is 'When expired leases were last looked for.';
comment on column tickwork.family_types.purged_at is 'When jobs that have been kept long enough were last looked for.';
comment on column tickwork.family_types.purged_to is 'How far that got, by created_at.';

select tickwork.guard_table('tickwork.family_types');

-- Families, types and tenants that are paused, and why.

create table tickwork.pauses (
  scope text primary key,
  reason text not null default '',
  created_at timestamptz not null default clock_timestamp()
);

select tickwork.guard_table('tickwork.pauses');

-- Each family keeps whose turn it is in a sequence, and where its waiting jobs begin in another: nobody ever waits for
-- one, and a rollback does not change it. Not logged: after a crash they begin anew.

create function tickwork.add_family_type(family text, type text)
returns void
language plpgsql
volatile
as $$
declare
  turn constant text := format('tickwork.%I', 'turn_of_' || add_family_type.family);
  front constant text := format('tickwork.%I', 'front_of_' || add_family_type.family);
begin
  -- One at a time: two transactions that add the same family would conflict in the catalog.
  perform pg_advisory_xact_lock(hashtextextended('family types', 0));

  execute format('create unlogged sequence if not exists %s minvalue 0', turn);
  execute format('create unlogged sequence if not exists %s minvalue 0', front);

  insert into tickwork.family_types (family, type, turn, front, is_paused)
  values (
    add_family_type.family,
    add_family_type.type,
    turn::regclass,
    front::regclass,
    exists (
      select
      from tickwork.pauses
      where pauses.scope in ('family ' || add_family_type.family, 'type ' || add_family_type.type)
    )
  )
  on conflict do nothing;
end
$$;

create function tickwork.follow_type()
returns trigger
language plpgsql
security definer -- nobody may write family_types
set search_path = ''
as $$
begin
  if tg_op = 'DELETE' then
    update tickwork.family_types
    set
      lease_seconds = default,
      timeout_seconds = default,
      priority = default,
      is_limited = default
    where family_types.type = old.key;

    return null;
  end if;

  perform tickwork.add_family_type(new.family, new.key);

  update tickwork.family_types
  set
    priority = new.priority,
    lease_seconds = new.lease_seconds,
    timeout_seconds = new.timeout_seconds,
    is_limited = num_nonnulls(new.max_running, new.max_running_per_tenant, new.starts_per_minute) > 0,
    full_until = default
  where family_types.type = new.key;

  if tg_op = 'UPDATE' then
    delete from tickwork.blocked
    where blocked.type = new.key;
  end if;

  return null;
end
$$;

create trigger follow_type
after insert or delete
or update of family, priority, lease_seconds, timeout_seconds, max_running, max_running_per_tenant, starts_per_minute
on public.job_types
for each row
execute function tickwork.follow_type();

alter function tickwork.follow_type owner to tickwork_owner;
grant execute on function tickwork.add_family_type to tickwork_owner;
