-- Jobs that start when something happens: which events start what, and what became of each event.

create table public.event_triggers (
  id uuid primary key default gen_random_uuid(),
  tenant_id uuid not null references public.tenant_settings (tenant_id) on delete cascade,
  label text not null,
  event_name text not null,
  type text not null,
  condition text,
  payload_template jsonb not null default '{}',
  dedupe_key text,
  dedupe_window_seconds integer not null default 300,
  debounce_seconds integer,
  debounce_max_seconds integer not null default 3600,
  max_per_minute integer,
  delay_seconds integer not null default 0,
  priority integer,
  lane text,
  paused_at timestamptz,
  paused_by uuid,
  pause_note text,
  created_by uuid,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  constraint label_of_a_trigger_is_unique unique (tenant_id, label)
);

-- Every event of the tenant looks here, and every settle at the other one. Both are empty if nobody has triggers.
create index event_triggers_by_name on public.event_triggers (tenant_id, event_name, id) where paused_at is null;
create index event_triggers_that_hear_of_jobs on public.event_triggers (tenant_id)
where paused_at is null and (event_name = '*' or event_name like 'job.%');

comment on table public.event_triggers is
  'What starts when something happens. An event that matches enqueues the job in its own transaction.';
comment on column public.event_triggers.label is 'For people. No two triggers of a tenant have the same one.';
comment on column public.event_triggers.event_name is 'A type of events, a prefix such as invoice.*, or * for all.';
comment on column public.event_triggers.condition is
  'An SQL/JSON path that must be true, such as $.event.amount > 100. It sees what the template sees.';
comment on column public.event_triggers.payload_template is
  'The payload. Placeholders: {{event.<field>}}, {{event_id}}, {{event_type}}, {{occurred_at}}, {{aggregate_type}}, '
  '{{aggregate_id}}, {{tenant_id}}.';
comment on column public.event_triggers.dedupe_key is
  'Which events count as the same, such as {{event.folder}}. By default those that lead to the same payload; for '
  'debouncing, all of them.';
comment on column public.event_triggers.dedupe_window_seconds is
  'For how long after a job has been started the same event starts no other one; 0 starts one for each.';
comment on column public.event_triggers.debounce_seconds is
  'The job starts once nothing has happened for so long, with the last event. Instead of the dedupe window.';
comment on column public.event_triggers.debounce_max_seconds is
  'The job starts so long after the first event at the latest, whatever happens.';
comment on column public.event_triggers.max_per_minute is 'How many jobs it starts within a minute at most.';
comment on column public.event_triggers.delay_seconds is 'How long after the event the job may start.';
comment on column public.event_triggers.paused_at is 'Since when it is paused; null if it is not.';

-- No foreign key to the trigger: everybody who emits the same event would lock its row.

create table public.trigger_fires (
  tenant_id uuid not null references public.tenant_settings (tenant_id) on delete cascade,
  trigger_id uuid not null,
  decided_at timestamptz not null default clock_timestamp(),
  event_id uuid not null,
  event_type text not null,
  outcome text not null,
  job_id uuid,
  depth integer not null,
  error text,
  primary key (trigger_id, decided_at, event_id),
  constraint trigger_outcome_is_known check (
    outcome in (
      'fired', 'condition_false', 'deduplicated', 'debounced', 'limited', 'not_rendered', 'refused', 'loop_stopped'
    )
  )
);

create index trigger_fires_by_age on public.trigger_fires (decided_at);
create index trigger_fires_of_a_tenant on public.trigger_fires (tenant_id, decided_at);
create index trigger_fires_that_started on public.trigger_fires (trigger_id, decided_at) where outcome = 'fired';
create index trigger_fires_by_job on public.trigger_fires (job_id, depth) where job_id is not null;

comment on table public.trigger_fires is
  'What each trigger made of each event: fired, condition_false, deduplicated, debounced (the queued job was moved), '
  'limited, not_rendered, refused (by the queue, with the error) or loop_stopped. Kept for 7 days.';
comment on column public.trigger_fires.job_id is 'The job that was started or moved.';
comment on column public.trigger_fires.depth is
  'How many triggers in a row led here: 1, or one more than that of the job that caused the event.';

create table tickwork.trigger_windows (
  tenant_id uuid not null references public.tenant_settings (tenant_id) on delete cascade,
  trigger_id uuid not null,
  key bytea not null,
  ends_at timestamptz not null,
  first_at timestamptz not null default clock_timestamp(),
  job_id uuid,
  primary key (tenant_id, trigger_id, key)
);

create index trigger_windows_by_end on tickwork.trigger_windows (ends_at);

comment on table tickwork.trigger_windows is
  'Until when the same event starts no other job and, for debouncing, the job that is moved and when its first event '
  'was.';

select tickwork.guard_table('public.event_triggers', members => 'select', service => 'select');
select tickwork.guard_table('public.trigger_fires', members => 'select', service => 'select');
select tickwork.guard_table('tickwork.trigger_windows');

select tickwork.audit_table('public.event_triggers', 'id');

create view public.job_triggers
with (security_invoker = true)
as
select
  schedules.id, schedules.tenant_id, schedules.label, schedules.paused_at is null as is_enabled,
  'schedule' as trigger_type, null as event_name, schedules.cron_expr, schedules.timezone, schedules.type,
  schedules.payload_template, null::integer as dedupe_window_seconds, schedules.created_by, schedules.created_at,
  schedules.updated_at
from public.schedules
union all
select
  event_triggers.id, event_triggers.tenant_id, event_triggers.label, event_triggers.paused_at is null, 'event',
  event_triggers.event_name, null, null, event_triggers.type, event_triggers.payload_template,
  event_triggers.dedupe_window_seconds, event_triggers.created_by, event_triggers.created_at,
  event_triggers.updated_at
from public.event_triggers;

comment on view public.job_triggers is 'Whatever starts jobs: the schedules and the event triggers.';
comment on column public.job_triggers.trigger_type is 'schedule or event.';

revoke all on public.job_triggers from public, anon, authenticated, service_role;
grant select on public.job_triggers to authenticated, service_role;

create function tickwork.check_trigger(trigger public.event_triggers, sample jsonb)
returns void
language plpgsql
stable
as $$
declare
  names constant text[] := array[
    'event', 'event_id', 'event_type', 'occurred_at', 'aggregate_type', 'aggregate_id', 'tenant_id'
  ];
  wrong constant text := case
    when char_length((trigger).label) between 1 and 200 is not true then 'label: must have 1 to 200 characters'
    when tickwork.are_event_types(array[(trigger).event_name]) is not true then
      'event_name: must be a type such as invoice.paid, a prefix such as invoice.*, or *'
    when (trigger).dedupe_window_seconds between 0 and 604800 is not true then
      'dedupe_window_seconds: must be 0 to 604800 (a week)'
    when (trigger).debounce_seconds not between 1 and 86400 then 'debounce_seconds: must be 1 to 86400 (a day)'
    when (trigger).debounce_max_seconds between coalesce((trigger).debounce_seconds, 1) and 604800 is not true then
      'debounce_max_seconds: must be at least debounce_seconds, and at most 604800 (a week)'
    when (trigger).max_per_minute not between 1 and 10000 then 'max_per_minute: must be 1 to 10000'
    when (trigger).delay_seconds between 0 and 2592000 is not true then
      'delay_seconds: must be 0 to 2592000 (30 days)'
    when (trigger).delay_seconds > 0 and (trigger).debounce_seconds is not null then
      'delay_seconds: a debounced job is delayed already'
  end;
begin
  if wrong is not null then
    raise exception '%', wrong
      using errcode = 'TWARG', hint = 'docs/guide/triggers.md says what each of them does.';
  end if;

  perform tickwork.check_condition((trigger).condition);
  perform tickwork.check_template((trigger).payload_template, names);

  if (trigger).dedupe_key is not null then
    perform tickwork.check_key('dedupe_key', (trigger).dedupe_key);
    perform tickwork.check_template(jsonb_build_object('dedupe_key', (trigger).dedupe_key), names);
  end if;

  perform tickwork.check_trigger_payload(trigger, check_trigger.sample);
end
$$;

comment on function tickwork.check_trigger is
  'Returns if everything in a trigger can be used, as far as that is known before there is an event. Raises TWARG, '
  'TWTPL, TWBIG, TWTYP, TWPAY, TWPRI, TWKEY.';

create function tickwork.check_trigger_payload(trigger public.event_triggers, sample jsonb)
returns void
language plpgsql
stable
as $$
declare
  payload jsonb := (trigger).payload_template;
  job_type public.job_types;
begin
  select * into job_type
  from public.job_types
  where job_types.key = (trigger).type;

  perform tickwork.check_template_secrets(payload, job_type);

  if check_trigger_payload.sample is not null then
    perform tickwork.check_event('a', null, check_trigger_payload.sample);

    payload := tickwork.render(payload, tickwork.values_of(row(
      gen_random_uuid(), (trigger).tenant_id, rtrim((trigger).event_name, '.*'), 'sample:1',
      check_trigger_payload.sample, clock_timestamp()
    )::public.events));
  elsif payload::text ~ tickwork.placeholder() then
    job_type.payload_schema := tickwork.schema_of_constants(payload, job_type.payload_schema);
  end if;

  perform tickwork.check_job(
    tickwork.new_job(
      (trigger).tenant_id, (trigger).type, payload, (trigger).priority, lane => (trigger).lane
    ),
    job_type
  );
end
$$;

comment on function tickwork.check_trigger_payload is
  'Checks the payload that a sample of an event leads to or, without one, the names of its fields and the fields that '
  'have no placeholders.';

create function tickwork.schema_of_constants(template jsonb, schema jsonb)
returns jsonb
language sql
immutable
return jsonb_strip_nulls(jsonb_build_object(
  'type', schema -> 'type',
  'required', schema -> 'required',
  'additionalProperties', case when schema -> 'additionalProperties' = 'false' then false end,
  'properties', schema -> 'properties' || (
    select coalesce(jsonb_object_agg(field.key, jsonb '{}'), '{}')
    from jsonb_each(template) as field
    where field.value::text ~ tickwork.placeholder()
      and schema -> 'properties' ? field.key
  )
));

comment on function tickwork.schema_of_constants is
  'The part of a schema that a template can be checked against as it is: where there are placeholders, any value is '
  'fine.';
