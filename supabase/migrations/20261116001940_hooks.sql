-- What modules do when jobs are enqueued, end or are deleted, when a job waits for an event, and when time has passed.
-- Each module registers functions of its own, and the core names none of them.

create table tickwork.hooks (
  moment text not null,
  function_name text not null,
  primary key (moment, function_name),
  constraint moment_is_known check (moment in ('end', 'done', 'delete', 'artifact', 'tick', 'wait'))
);

comment on table tickwork.hooks is
  'Functions in the schema tickwork that modules have registered. They run in the transaction of what has happened.';
comment on column tickwork.hooks.moment is
  'end: jobs have ended, and not all of them are done; some may be queued again. done: jobs have ended, however. '
  'delete: jobs have been deleted. These three get the ids. artifact: the payload of a new job is an artifact; gets '
  'the job, its tenant and the reference. wait: a job is to wait for an event; gets its name and the condition. tick: '
  'the queue is being looked after; must not wait.';

select tickwork.guard_table('tickwork.hooks');

create function tickwork.after_end(job_ids uuid[], are_done boolean)
returns void
language plpgsql
volatile
as $$
declare
  hook text;
begin
  for hook in
    select hooks.function_name
    from tickwork.hooks
    where hooks.moment = 'done'
      or (hooks.moment = 'end' and not after_end.are_done)
    -- What a module has of a job is up to date before anybody hears of the end.
    order by hooks.moment = 'done', hooks.function_name
  loop
    execute format('select tickwork.%I($1)', hook) using after_end.job_ids;
  end loop;
end
$$;

comment on function tickwork.after_end is
  'Called by the queue when jobs have ended, in the same transaction. Unless all of them are done, some may be queued '
  'again. If they are, it does nothing where no hook is registered for done.';

create function tickwork.check_wait_for_event(event_name text, condition text)
returns void
language plpgsql
stable
as $$
declare
  hook constant text := (select hooks.function_name from tickwork.hooks where hooks.moment = 'wait');
begin
  if hook is null then
    raise exception 'event_name: there are no events in this database'
      using errcode = 'TWARG', hint = 'Add the module: tickwork migrate --with webhooks.';
  end if;

  execute format('select tickwork.%I($1, $2)', hook)
  using check_wait_for_event.event_name, check_wait_for_event.condition;
end
$$;

comment on function tickwork.check_wait_for_event is 'Raises TWARG, TWBIG unless a job can wait for such an event.';

create function tickwork.on_artifact(job_id uuid, tenant_id uuid, payload jsonb)
returns void
language plpgsql
volatile
as $$
declare
  hook text;
begin
  if not on_artifact.payload ? 'artifact_ref' then
    return;
  end if;

  select hooks.function_name into hook
  from tickwork.hooks
  where hooks.moment = 'artifact';

  if hook is null then
    raise exception 'payload: there are no artifacts in this database'
      using errcode = 'TWPAY', hint = 'Run `tickwork migrate URL --with reports`.';
  end if;

  execute format('select tickwork.%I($1, $2, $3)', hook)
  using on_artifact.job_id, on_artifact.tenant_id, on_artifact.payload -> 'artifact_ref';
end
$$;

comment on function tickwork.on_artifact is
  'Called by the queue for a new job whose payload may be an artifact, in the same transaction.';

create function tickwork.after_delete(job_ids uuid[])
returns void
language plpgsql
volatile
as $$
declare
  hook text;
begin
  for hook in
    select hooks.function_name
    from tickwork.hooks
    where hooks.moment = 'delete'
    order by hooks.function_name
  loop
    execute format('select tickwork.%I($1)', hook) using after_delete.job_ids;
  end loop;
end
$$;

comment on function tickwork.after_delete is
  'Called by the queue when jobs have been deleted, in the same transaction.';

create function tickwork.on_tick()
returns void
language plpgsql
volatile
as $$
declare
  hook text;
begin
  for hook in
    select hooks.function_name
    from tickwork.hooks
    where hooks.moment = 'tick'
    order by hooks.function_name
  loop
    execute format('select tickwork.%I()', hook);
  end loop;
end
$$;

comment on function tickwork.on_tick is 'Called by the queue when it is being looked after. Never waits.';
