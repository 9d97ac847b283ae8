-- -> queued, for a connector: because somebody wants it, or because the provider says that something has changed.

insert into public.job_types (key, family, description, timeout_seconds, enqueued_by)
values
  ('check_connector', 'import', 'See whether a provider still takes the token of a connector', 60, 'member'),
  ('watch_connector', 'import', 'Have a provider notify us of changes', 60, 'member');

-- Each attempt goes on where the last one was: a worker that is stopped often is no reason to give up.
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
  -- One that runs may have read the changes before this request: another one waits behind it, and no third.
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
security definer -- clients choose neither the lane nor the keys
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

  -- The same answer for a foreign and a missing connector: ids are nobody else's business.
  if not found then
    raise exception 'connector_id: there is no connector %', coalesce(request_import.connector_id::text, 'null')
      using errcode = 'TWCTR', hint = 'connectors shows those that you may see.';
  end if;

  if jsonb_typeof(request_import.files) <> 'array'
    or jsonb_path_exists(request_import.files, '$[*] ? (@.type() != "string")')
  then
    raise exception 'files: must be a list of paths'
      using errcode = 'TWARG', hint = 'Leave it out to import everything below remote_path.';
  end if;

  if connector.status <> 'active' then
    raise exception 'connector_id: the connector is %, it takes no imports', connector.status
      using errcode = 'TWARG', hint = 'Connect it again, or set its status to active.';
  end if;

  perform tickwork.check_enqueuer(connector.tenant_id, array['import_' || connector.provider]);

  job := tickwork.enqueue_import(
    connector, request_import.remote_path, request_import.files, request_import.priority, 'manual'
  );

  -- Anybody of the tenant may have given another job that key.
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
  '-> queued. Imports what is new below remote_path of a connected drive (empty is all of it, null all that was '
  'imported before), or just the files. While the same is queued, a second request answers it; while it runs, one more '
  'waits behind it. Raises TWCTR, TWARG, TWDUP and what enqueue_job raises.';

create function tickwork.note_changes(provider text, account_ids text[], connector_ids uuid[])
returns void
language plpgsql
volatile
security definer -- a notification comes to the function and not to a job, and may be of any tenant
set search_path = ''
as $$
declare
  connector public.connectors;
begin
  -- Only where something was imported before: a notification says that there is news, not what is wanted of it.
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
      perform tickwork.enqueue_import(connector, null, null, 0, 'event');
    exception
      -- A tenant that has no room must not cost the others their hint.
      when sqlstate 'TWFUL' or sqlstate 'TWTYP' or sqlstate 'TWDUP' then
        null;
    end;
  end loop;
end
$$;

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
  '-> queued. What a verified notification of a provider leads to: one import for each active connector that is meant, '
  'of the folders that were imported before. Answers nothing, whether or not there is such a connector.';

select tickwork.open_verbs('authenticated, service_role', array['request_import']);
select tickwork.open_verbs('tickwork_worker, service_role', array['note_changes']);
