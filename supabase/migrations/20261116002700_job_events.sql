-- The queue's own events: job.done, job.failed, job.dead and job.cancelled, for tenants that listen.

create function tickwork.is_heard_of(tenant_id uuid, type text, event_type text)
returns boolean
language plpgsql
stable
as $$
begin
  -- If a delivery caused an event, every delivery would lead to another one.
  return is_heard_of.type <> 'deliver_webhook'
    and (
      exists (
        select
        from public.webhook_endpoints
        where webhook_endpoints.tenant_id = is_heard_of.tenant_id
          and webhook_endpoints.hears_of_jobs
          and webhook_endpoints.status = 'active'
          and tickwork.hears(webhook_endpoints.event_types, is_heard_of.event_type)
      )
      or exists (
        select
        from public.event_triggers
        where event_triggers.tenant_id = is_heard_of.tenant_id
          and event_triggers.event_name = any (tickwork.patterns_of(is_heard_of.event_type))
          and event_triggers.paused_at is null
      )
    );
end
$$;

comment on function tickwork.is_heard_of is
  'Whether an endpoint or a trigger of the tenant listens to this event of a job of this type.';

create function tickwork.result_to_tell(result jsonb)
returns jsonb
language sql
immutable
as $$
  select case
    when result_to_tell.result is null then '{}'
    -- A result that is too large, too deep or unreadable for an event must not undo the end of the job.
    when octet_length(result_to_tell.result::text) > 32768
      or jsonb_path_exists(
        result_to_tell.result, 'strict $.**{31} ? (@.type() == "object" || @.type() == "array")'
      )
      or result_to_tell.result::text ~ '[0-9]{255}'
    then '{"result_left_out": true}'
    else jsonb_build_object('result', result_to_tell.result)
  end;
$$;

comment on function tickwork.result_to_tell is
  'The result as an event shows it: the result itself, or a note that it was left out. Receivers who may read the job '
  'can then fetch it.';

create function tickwork.emit_job_events(job_ids uuid[])
returns void
language plpgsql
volatile
as $$
begin
  -- Two batches whose events start the same jobs in another order could deadlock.
  if cardinality(emit_job_events.job_ids) > 1 then
    perform pg_advisory_xact_lock(hashtextextended('triggers of ' || tenant.id, 0))
    from (
      select distinct jobs.tenant_id
      from unnest(emit_job_events.job_ids) as ended(id)
      join public.jobs on jobs.id = ended.id
      join public.event_triggers on event_triggers.tenant_id = jobs.tenant_id
      where event_triggers.paused_at is null
        and (event_triggers.event_name = '*' or event_triggers.event_name like 'job.%')
      order by jobs.tenant_id
    ) as tenant(id);
  end if;

  perform tickwork.add_event(
    jobs.tenant_id,
    'job.' || jobs.status,
    'job:' || jobs.id,
    jsonb_strip_nulls(jsonb_build_object(
      'job_id', jobs.id,
      'type', jobs.type,
      'family', jobs.family,
      'status', jobs.status,
      'attempts', jobs.attempts,
      'correlation_id', jobs.correlation_id,
      'error_code', jobs.error_code,
      'error_message', left(jobs.error_message, 1000),
      'error', case
        when jobs.error_code is not null then
          jsonb_build_object('code', jobs.error_code, 'message', left(jobs.error_message, 1000))
      end,
      'created_by', jobs.created_by,
      'notify', nullif(jobs.notify, false),
      'created_at', jobs.created_at,
      'finished_at', jobs.finished_at
    )) || tickwork.result_to_tell(jobs.result),
    jobs.id
  )
  from unnest(emit_job_events.job_ids) as ended(id)
  join public.jobs on jobs.id = ended.id
  where jobs.status in ('done', 'failed', 'dead', 'cancelled')
    and tickwork.is_heard_of(jobs.tenant_id, jobs.type, 'job.' || jobs.status);
end
$$;

comment on function tickwork.emit_job_events is
  '-> queued. Emits an event for each of the jobs that has ended and whose tenant listens.';

-- Whoever settles jobs calls it only as long as somebody listens to events of jobs.

create function tickwork.note_listeners()
returns trigger
language plpgsql
security definer -- nobody else may write the hooks
set search_path = ''
as $$
begin
  -- It runs when the transaction commits: what others have committed is visible once they have released this lock, and
  -- whoever holds it waits for nobody.
  perform pg_advisory_xact_lock(7469, 0);

  if exists (
    select
    from public.webhook_endpoints
    where webhook_endpoints.hears_of_jobs
      and webhook_endpoints.status = 'active'
  ) or exists (
    select
    from public.event_triggers
    where event_triggers.paused_at is null
      and (event_triggers.event_name = '*' or event_triggers.event_name like 'job.%')
  ) then
    insert into tickwork.hooks (moment, function_name)
    values ('done', 'emit_job_events')
    on conflict do nothing;
  -- A transaction that sees only what existed when it began may miss somebody. Then nobody is told, at some cost.
  elsif current_setting('transaction_isolation') = 'read committed' then
    delete from tickwork.hooks
    where hooks.moment = 'done'
      and hooks.function_name = 'emit_job_events';
  end if;

  return null;
end
$$;

comment on function tickwork.note_listeners is
  'Registers emit_job_events as long as there is an endpoint or a trigger that hears of jobs.';

create constraint trigger note_listeners
after insert or update of event_types, status or delete on public.webhook_endpoints
deferrable initially deferred
for each row
execute function tickwork.note_listeners();

create constraint trigger note_listeners
after insert or update of event_name, paused_at or delete on public.event_triggers
deferrable initially deferred
for each row
execute function tickwork.note_listeners();

revoke execute on function
  tickwork.is_heard_of,
  tickwork.result_to_tell,
  tickwork.emit_job_events
from public, anon, authenticated, service_role;

grant execute on function
  tickwork.is_heard_of,
  tickwork.result_to_tell,
  tickwork.emit_job_events
to tickwork_owner;
