-- -> queued, for a connector: because somebody asks for it, or because the provider reports a change.

insert into public.job_types (key, family, description, timeout_seconds, enqueued_by)
values
  ('check_connector', 'import', 'Check that a provider still accepts the token of a connector', 60, 'member'),
  ('watch_connector', 'import', 'Subscribe to a provider''s change notifications', 60, 'member');

-- Each attempt continues where the last one stopped: a worker that is stopped often is not a reason to give up.
update public.job_types
set
  max_attempts = 15,
  backoff = '[60, 300, 1800, 3600]'
where job_types.key in ('import_dropbox', 'import_onedrive', 'import_gdrive');

create function tickwork.enqueue_import(
  connector public.connectors,
  remote_path text,
  files jsonb,
  priority integer,
  source text
)
returns tickwork.enqueued_jobs
language plpgsql
volatile
as $$
declare
  payload constant jsonb := jsonb_strip_nulls(jsonb_build_object(
    'connector_id', connector.id, 'remote_path', enqueue_import.remote_path, 'files', enqueue_import.files
  ));
  usual_key constant text := concat_ws(' ', 'import', connector.id, md5(payload::text));
  key text;
  job tickwork.enqueued_jobs;
begin
  -- A running import may have read the changes before this request, so a second one waits behind it, but no third.
  foreach key in array array[usual_key, usual_key || ' next']
  loop
    select * into job
    from tickwork.insert_jobs(array[tickwork.new_job(
      connector.tenant_id,
      'import_' || connector.provider,
      payload,
      priority => enqueue_import.priority,
      dedupe_key => key,
      lane => tickwork.connector_lane(connector.id),
      source => enqueue_import.source
    )]);

    exit when job.status <> 'running';
  end loop;

  return job;
end
$$;

create function tickwork.request_import(connector_id uuid, remote_path text, files jsonb, priority integer)
returns tickwork.enqueued_jobs
language plpgsql
volatile
security definer -- clients may choose neither the lane nor the keys
set search_path = ''
as $$
declare
  connector public.connectors;
  job tickwork.enqueued_jobs;
begin
  select * into connector
  from public.connectors
  where connectors.id = request_import.connector_id
    and tickwork.may_act_for(connectors.tenant_id);

  -- The same error for a foreign connector as for a missing one, so that nobody learns which ids exist.
  if not found then
    raise exception 'connector_id: there is no connector %', coalesce(request_import.connector_id::text, 'null')
      using errcode = 'TWCTR', hint = 'connectors shows the connectors that you may see.';
  end if;

  if jsonb_typeof(request_import.files) <> 'array'
    or jsonb_path_exists(request_import.files, '$[*] ? (@.type() != "string")')
  then
    raise exception 'files: must be a list of paths'
      using errcode = 'TWARG', hint = 'Leave it out to import everything below remote_path.';
  end if;

  if connector.status <> 'active' then
    raise exception 'connector_id: the connector is % and accepts no imports', connector.status
      using errcode = 'TWARG', hint = 'Connect it again, or set its status to active.';
  end if;

  perform tickwork.check_enqueuer(connector.tenant_id, array['import_' || connector.provider]);

  job := tickwork.enqueue_import(
    connector, request_import.remote_path, request_import.files, request_import.priority, 'manual'
  );

  -- Any member of the tenant may have given that key to another job.
  if job.type <> 'import_' || connector.provider or job.payload ->> 'connector_id' <> connector.id::text then
    raise exception 'connector_id: another job holds the dedupe_key %', quote_literal(job.dedupe_key)
      using errcode = 'TWDUP', hint = 'Try again when that job has ended.';
  end if;

  return job;
end
$$;

create function public.request_import(
  connector_id uuid,
  remote_path text default '',
  files jsonb default null,
  priority integer default null
)
returns tickwork.enqueued_jobs
language sql
volatile
return tickwork.request_import(connector_id, remote_path, files, priority);

comment on function public.request_import is
  '-> queued. Imports what is new below remote_path of a connected drive (empty means all of it, null all folders '
  'imported before), or only the given files. While the same import is queued, a second request returns it; while it '
  'is running, one more waits behind it. Raises TWCTR, TWARG, TWDUP and what enqueue_job raises.';

create function tickwork.note_changes(provider text, account_ids text[], connector_ids uuid[])
returns void
language plpgsql
volatile
security definer -- a notification is received outside of any job, and may concern any tenant
set search_path = ''
as $$
declare
  connector public.connectors;
  job tickwork.enqueued_jobs;
begin
  -- Only connectors that were imported before: a notification says that something changed, not what is wanted.
  for connector in
    select connectors.*
    from public.connectors
    where connectors.id = any (
        array(
          select noted.id
          from public.connectors as noted
          where noted.provider = note_changes.provider
            and noted.account_id = any (note_changes.account_ids)
        ) || note_changes.connector_ids
      )
      and connectors.provider = note_changes.provider
      and connectors.status = 'active'
      and exists (select from public.connector_folders where connector_folders.connector_id = connectors.id)
    order by connectors.id
  loop
    begin
      job := tickwork.enqueue_import(connector, null, null, 0, 'event');

      -- While that import is waiting, further notifications say nothing new.
      if not job.deduplicated then
        perform tickwork.emit_folder_events(connector);
      end if;
    exception
      -- A tenant with a full queue must not cost the others their notification.
      when sqlstate 'TWFUL' or sqlstate 'TWTYP' or sqlstate 'TWDUP' then
        null;
    end;
  end loop;
end
$$;

create function tickwork.emit_folder_events(connector public.connectors)
returns void
language plpgsql
volatile
as $$
begin
  -- The provider does not say which folder has changed. A tenant with very many must not delay the notification.
  perform tickwork.add_event(
    connector.tenant_id,
    'provider.folder.updated',
    tickwork.connector_lane(connector.id),
    jsonb_build_object(
      'provider_id', connector.id,
      'provider', connector.provider,
      'folder_path', folder.remote_path
    )
  )
  from (
    select connector_folders.remote_path
    from public.connector_folders
    where connector_folders.connector_id = connector.id
    order by connector_folders.remote_path
    limit 100
  ) as folder;
end
$$;

comment on function tickwork.emit_folder_events is
  '-> queued. Emits provider.folder.updated for each folder of the connector that was imported before, at most 100.';

create function public.note_changes(
  provider text,
  account_ids text[] default '{}',
  connector_ids uuid[] default '{}'
)
returns void
language sql
volatile
return tickwork.note_changes(provider, account_ids, connector_ids);

comment on function public.note_changes is
  '-> queued. Handles a verified notification from a provider: for each active connector concerned, enqueues one '
  'import of the folders that were imported before and emits provider.folder.updated for them, unless such an import '
  'is waiting already. Returns nothing, whether or not there is such a connector.';

select tickwork.open_verbs('authenticated, service_role', array['request_import']);
select tickwork.open_verbs('tickwork_worker, service_role', array['note_changes']);
