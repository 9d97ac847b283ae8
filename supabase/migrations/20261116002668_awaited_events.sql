-- Events that jobs wait for.

create function tickwork.check_awaited_event(event_name text, condition text)
returns void
language plpgsql
stable
as $$
begin
  if tickwork.are_event_types(array[check_awaited_event.event_name]) is not true
    or check_awaited_event.event_name = '*'
    or check_awaited_event.event_name ~ '^job\.'
  then
    raise exception 'event_name: must be a type such as invoice.paid or a prefix such as invoice.*, and none of job.*'
      using errcode = 'TWARG', hint = 'To wait for the end of another job, enqueue a job with after.';
  end if;

  perform tickwork.check_condition(check_awaited_event.condition);
end
$$;

comment on function tickwork.check_awaited_event is 'Raises TWARG, TWBIG unless a job can wait for such an event.';

insert into tickwork.hooks (moment, function_name)
values ('wait', 'check_awaited_event')
on conflict do nothing;

create function tickwork.note_arrivals(event public.events)
returns void
language plpgsql
volatile
as $$
declare
  known constant jsonb := tickwork.values_of(event);
  tenant_number constant bigint := tickwork.tenant_number_of((event).tenant_id);
  families text[];
begin
  with added as (
    insert into tickwork.arrivals (tenant_number, job_id, name, event)
    select
      tenant_number, waits.job_id, waits.name,
      known - array['event', 'aggregate_type', 'aggregate_id', 'tenant_id']
      || jsonb_build_object('aggregate', (event).aggregate, 'payload', (event).payload)
    from tickwork.waits
    where waits.tenant_id = (event).tenant_id
      and waits.event_name = any (tickwork.patterns_of((event).type))
      and waits.ends_at > clock_timestamp()
      and (waits.condition is null or (known @@ waits.condition::jsonpath) is true)
      -- The first one counts.
      and not exists (
        select
        from tickwork.arrivals
        where arrivals.job_id = waits.job_id
          and arrivals.name = waits.name
      )
    returning arrivals.job_id
  )
  select array_agg(distinct jobs.family)
  into families
  from added
  join public.jobs on jobs.id = added.job_id;

  if families is null then
    return;
  end if;

  perform
    tickwork.set_alarm(family.name, tenant_number, clock_timestamp()),
    pg_notify('tickwork', family.name)
  from unnest(families) as family(name);

  perform tickwork.wake_families(families);
end
$$;

comment on function tickwork.note_arrivals is
  'Notes an event for the jobs that wait for it, in the transaction that emits it. Locks none of them.';
