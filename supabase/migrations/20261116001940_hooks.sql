-- The hooks of modules: jobs were enqueued, ended or deleted, and time has passed. The only file of the core that names
-- modules, and it calls those that are installed.

create table tickwork.hooks (
  moment text not null,
  function_name text not null,
  primary key (moment, function_name)
);

select tickwork.guard_table('tickwork.hooks');

create function tickwork.after_end(job_ids uuid[], are_done boolean)
returns void
language plpgsql
volatile
as $$
begin
  if not after_end.are_done and to_regproc('tickwork.end_extractions') is not null then
    perform tickwork.end_extractions(after_end.job_ids);
  end if;

  if not after_end.are_done and to_regproc('tickwork.end_document_versions') is not null then
    perform tickwork.end_document_versions(after_end.job_ids);
  end if;

  if to_regproc('tickwork.emit_job_events') is not null then
    if not after_end.are_done then
      perform tickwork.end_deliveries(after_end.job_ids);
    end if;

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
      perform tickwork.emit_job_events(after_end.job_ids);
    end if;
  end if;
end
$$;

comment on function tickwork.after_end is
  'Called by the queue when jobs have ended, in the same transaction. Unless all of them are done, some may be queued '
  'again.';

create function tickwork.check_wait_for_event(event_name text, condition text)
returns void
language plpgsql
stable
as $$
begin
  if to_regproc('tickwork.check_awaited_event') is null then
    raise exception 'event_name: there are no events in this database'
      using errcode = 'TWARG', hint = 'Add the module: tickwork migrate --with webhooks.';
  end if;

  perform tickwork.check_awaited_event(check_wait_for_event.event_name, check_wait_for_event.condition);
end
$$;

comment on function tickwork.check_wait_for_event is 'Raises TWARG, TWBIG unless a job can wait for such an event.';

create function tickwork.on_artifact(job_id uuid, tenant_id uuid, payload jsonb)
returns void
language plpgsql
volatile
as $$
begin
  if not on_artifact.payload ? 'artifact_ref' then
    return;
  end if;

  if to_regproc('tickwork.take_artifact') is null then
    raise exception 'payload: there are no artifacts in this database'
      using errcode = 'TWPAY', hint = 'Run `tickwork migrate URL --with reports`.';
  end if;

  perform tickwork.take_artifact(on_artifact.job_id, on_artifact.tenant_id, on_artifact.payload -> 'artifact_ref');
end
$$;

comment on function tickwork.on_artifact is
  'Called by the queue for a new job whose payload may be an artifact, in the same transaction.';

create function tickwork.after_delete(job_ids uuid[])
returns void
language plpgsql
volatile
as $$
begin
  if to_regproc('tickwork.give_up_artifacts') is not null then
    perform tickwork.give_up_artifacts(after_delete.job_ids);
  end if;
end
$$;

comment on function tickwork.after_delete is
  'Called by the queue when jobs have been deleted, in the same transaction.';

create function tickwork.on_tick(most integer)
returns void
language plpgsql
volatile
as $$
begin
  perform tickwork.fire_schedules(clock_timestamp(), least(on_tick.most * 5, 10000));
  perform tickwork.forget_fires(100);
  perform tickwork.forget_workers();

  if to_regproc('tickwork.enqueue_late_deliveries') is not null then
    perform tickwork.enqueue_late_deliveries();
    perform tickwork.purge_event_portion();
    perform tickwork.forget_decisions(1000);
  end if;

  if to_regproc('tickwork.enqueue_removals') is not null then
    perform tickwork.enqueue_removals();
  end if;
end
$$;

comment on function tickwork.on_tick is
  'Called by the queue regularly, by claims as well as by cron, with how much it may do: most. Never waits.';
