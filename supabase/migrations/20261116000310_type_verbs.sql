-- The types of job for people: everybody reads them, platform admins change them.

create function public.list_job_types()
returns setof public.job_types
language sql
stable
set search_path = ''
as $$
  select *
  from public.job_types
  order by job_types.family, job_types.key;
$$;

comment on function public.list_job_types is
  'Reads the types of job, by family.';

create function tickwork.keep_job_type(job_type public.job_types, is_new boolean)
returns public.job_types
language plpgsql
volatile
security definer -- nobody but the service may write types directly
set search_path = ''
as $$
declare
  kept public.job_types := job_type;
  broken text;
begin
  if not tickwork.caller_may_do_all() then
    raise exception 'only platform admins and the service may change types of job'
      using errcode = 'TWADM', hint = 'Ask a platform admin.';
  end if;

  kept.updated_at := clock_timestamp();

  if keep_job_type.is_new then
    kept.created_at := kept.updated_at;

    insert into public.job_types
    select kept.*;
  else
    perform tickwork.update_job_type(kept);
  end if;

  return kept;
exception
  when check_violation or not_null_violation then
    get stacked diagnostics broken = constraint_name;
    raise exception 'the type breaks the rule %', coalesce(nullif(broken, ''), 'that every field has a value')
      using errcode = 'TWARG', hint = 'docs/reference/limits.md lists what is allowed.';
  when unique_violation then
    raise exception 'key: there is a type % already', quote_literal(kept.key)
      using errcode = 'TWDUP', hint = 'Change that one, or choose another key.';
end
$$;

comment on function tickwork.keep_job_type is
  'Stores a type of job. Raises TWADM, TWARG, TWDUP, TWSCH.';

create function tickwork.update_job_type(job_type public.job_types)
returns void
language plpgsql
volatile
as $$
begin
  update public.job_types
  set
    family = (job_type).family,
    description = (job_type).description,
    payload_schema = (job_type).payload_schema,
    result_schema = (job_type).result_schema,
    timeout_seconds = (job_type).timeout_seconds,
    max_attempts = (job_type).max_attempts,
    backoff = (job_type).backoff,
    lease_seconds = (job_type).lease_seconds,
    priority = (job_type).priority,
    enqueued_by = (job_type).enqueued_by,
    max_running = (job_type).max_running,
    max_running_per_tenant = (job_type).max_running_per_tenant,
    starts_per_minute = (job_type).starts_per_minute,
    follow_ups = (job_type).follow_ups,
    keep_days = (job_type).keep_days,
    redacted = (job_type).redacted,
    not_redacted = (job_type).not_redacted,
    is_active = (job_type).is_active
  where job_types.key = (job_type).key;
end
$$;

create function public.create_job_type(
  key text,
  family text default 'command',
  description text default '',
  payload_schema jsonb default null,
  result_schema jsonb default null,
  timeout_seconds integer default 300,
  max_attempts integer default 4,
  backoff jsonb default '[60, 300, 1800]',
  lease_seconds integer default 60,
  priority integer default 0,
  enqueued_by text default 'admin',
  max_running integer default null,
  max_running_per_tenant integer default null,
  starts_per_minute integer default null,
  follow_ups text[] default '{}',
  keep_days jsonb default '{}',
  redacted text[] default '{}',
  not_redacted text[] default '{}',
  is_active boolean default true
)
returns public.job_types
language sql
volatile
set search_path = ''
as $$
  select kept.*
  from tickwork.keep_job_type(
    jsonb_populate_record(null::public.job_types, jsonb_build_object(
      'key', create_job_type.key, 'family', create_job_type.family, 'description', create_job_type.description,
      'payload_schema', create_job_type.payload_schema, 'result_schema', create_job_type.result_schema,
      'timeout_seconds', create_job_type.timeout_seconds,
      'max_attempts', create_job_type.max_attempts, 'backoff', create_job_type.backoff,
      'lease_seconds', create_job_type.lease_seconds, 'priority', create_job_type.priority,
      'enqueued_by', create_job_type.enqueued_by, 'max_running', create_job_type.max_running,
      'max_running_per_tenant', create_job_type.max_running_per_tenant,
      'starts_per_minute', create_job_type.starts_per_minute, 'follow_ups', create_job_type.follow_ups,
      'keep_days', create_job_type.keep_days, 'redacted', create_job_type.redacted,
      'not_redacted', create_job_type.not_redacted, 'is_active', create_job_type.is_active
    )),
    is_new => true
  ) as kept;
$$;

comment on function public.create_job_type is
  'Sets up a type of job, which its family processes; admins of tenants may enqueue it unless enqueued_by says who. '
  'For platform admins. Raises TWADM, TWARG, TWDUP, TWSCH.';

create function public.change_job_type(type text, changes jsonb)
returns public.job_types
language plpgsql
volatile
set search_path = ''
as $$
declare
  job_type public.job_types;
begin
  select * into job_type
  from public.job_types
  where job_types.key = change_job_type.type;

  if not found then
    raise exception 'type: there is no type %', quote_literal(change_job_type.type)
      using errcode = 'TWTYP', hint = 'list_job_types shows them.';
  end if;

  perform tickwork.check_type_changes(change_job_type.changes);
  return tickwork.keep_job_type(jsonb_populate_record(job_type, change_job_type.changes), is_new => false);
end
$$;

comment on function public.change_job_type is
  'Sets fields of a type of job, named as the parameters of create_job_type. Its key stays. For platform admins. '
  'Raises TWTYP, TWADM, TWARG, TWSCH.';

create function tickwork.check_type_changes(changes jsonb)
returns void
language plpgsql
stable
security definer -- nobody may call what it calls
set search_path = ''
as $$
begin
  perform tickwork.check_objects('changes', jsonb_build_array(check_type_changes.changes), array[
    'family', 'description', 'payload_schema', 'result_schema', 'timeout_seconds', 'max_attempts', 'backoff',
    'lease_seconds', 'priority', 'enqueued_by', 'max_running', 'max_running_per_tenant', 'starts_per_minute',
    'follow_ups', 'keep_days', 'redacted', 'not_redacted', 'is_active'
  ]);
end
$$;

comment on function tickwork.check_type_changes is 'Returns if these are fields of a type. Raises TWARG, TWBIG.';

revoke execute on function
  public.list_job_types, public.create_job_type, public.change_job_type, tickwork.keep_job_type,
  tickwork.check_type_changes
from public, anon;
grant execute on function
  public.list_job_types, public.create_job_type, public.change_job_type, tickwork.keep_job_type,
  tickwork.check_type_changes
to authenticated, service_role;
