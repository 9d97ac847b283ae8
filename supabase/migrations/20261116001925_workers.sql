-- Who works: each process says so now and then, apart from what it claims and settles.

create table public.job_workers (
  worker_id text primary key,
  hostname text not null,
  version text not null default '',
  families text[] not null default '{}',
  started_at timestamptz not null,
  last_seen_at timestamptz not null default clock_timestamp(),
  running_count integer not null default 0,
  metadata jsonb not null default '{}',
  constraint running_count_is_not_negative check (running_count >= 0)
)
with (fillfactor = 50);

comment on table public.job_workers is
  'The processes that claim jobs: functions and workers. For the operator; forgotten a day after they were last seen.';
comment on column public.job_workers.metadata is
  'kind: function or worker; types: what it has handlers for; process, python.';

create index job_workers_by_age on public.job_workers (last_seen_at);

select tickwork.guard_table('public.job_workers', service => 'select');

create function tickwork.note_worker(worker public.job_workers, is_stopped boolean)
returns void
language plpgsql
volatile
security definer -- workers may not write the table directly
set search_path = ''
as $$
begin
  perform tickwork.check_claim('any', (worker).worker_id, 1, null);
  perform tickwork.check_size('hostname', (worker).hostname, 300);
  perform tickwork.check_size('version', (worker).version, 100);
  perform tickwork.check_size('families', (worker).families::text, 4000);
  perform tickwork.check_size('metadata', (worker).metadata::text, 16384);
  -- Nobody has to wait for this one.
  perform tickwork.skip_disk();

  if note_worker.is_stopped then
    delete from public.job_workers
    where job_workers.worker_id = (worker).worker_id;

    return;
  end if;

  insert into public.job_workers
  values (worker.*)
  on conflict on constraint job_workers_pkey do update
  set
    version = excluded.version,
    families = excluded.families,
    last_seen_at = excluded.last_seen_at,
    running_count = excluded.running_count,
    metadata = excluded.metadata;
end
$$;

create function public.note_worker(
  worker_id text,
  hostname text,
  version text default '',
  families text[] default '{}',
  running_count integer default 0,
  uptime_seconds double precision default 0,
  metadata jsonb default '{}',
  is_stopped boolean default false
)
returns void
language sql
volatile
return tickwork.note_worker(
  row(
    worker_id, coalesce(hostname, ''), coalesce(version, ''), coalesce(families, '{}'),
    clock_timestamp() - make_interval(secs => least(greatest(uptime_seconds, 0), 1e9)), clock_timestamp(),
    greatest(running_count, 0), coalesce(metadata, '{}')
  )::public.job_workers,
  coalesce(is_stopped, false)
);

comment on function public.note_worker is
  'Sets that a worker is there, since when, what it works on and how many jobs it holds; with is_stopped that it is '
  'not there any more. Functions and workers call it themselves, at most every 15 seconds. Raises TWARG, TWBIG.';

create function tickwork.forget_workers()
returns void
language sql
volatile
as $$
  delete from public.job_workers
  where job_workers.ctid = any (array(
    select old.ctid
    from public.job_workers as old
    -- Not clock_timestamp(), for which no index is used.
    where old.last_seen_at < now() - interval '1 day'
    limit 100
    for update skip locked
  ));
$$;

comment on function tickwork.forget_workers is 'Deletes workers that were last seen a day ago. Called by every tick.';

create function tickwork.list_workers(tenant_id uuid)
returns table (
  worker_id text,
  hostname text,
  version text,
  families text[],
  started_at timestamptz,
  last_seen_at timestamptz,
  is_stale boolean,
  running bigint,
  oldest_started_at timestamptz,
  expired bigint,
  metadata jsonb
)
language sql
stable
security definer -- job_workers belongs to no tenant; list_jobs returns only what the caller may see
set search_path = ''
as $$
  with busy as (
    select
      jobs.worker_id, array_agg(distinct jobs.family order by jobs.family) as families, count(*) as running,
      min(jobs.started_at) as oldest_started_at,
      count(*) filter (where jobs.lease_expires_at < clock_timestamp()) as expired
    from unnest(tickwork.list_jobs(
      tickwork.new_filter(list_workers.tenant_id, null, null, 'running', null, null, null, null), 1000
    )) as running(id)
    join public.jobs on jobs.id = running.id
    group by jobs.worker_id
  ),
  known as (
    select *
    from public.job_workers
    -- What others run, and on which machines, is the operator's business alone.
    where tickwork.caller_is_service() or tickwork.caller_reads_all()
  )
  select
    coalesce(known.worker_id, busy.worker_id), known.hostname, known.version, coalesce(known.families, busy.families),
    known.started_at, known.last_seen_at,
    -- A function is silent between two calls, and that is no reason to worry.
    known.last_seen_at < clock_timestamp() - interval '1 minute'
      and (known.metadata ->> 'kind' = 'worker' or known.running_count > 0),
    coalesce(busy.running, 0), busy.oldest_started_at, coalesce(busy.expired, 0), known.metadata
  from known
  full join busy on busy.worker_id = known.worker_id
  where list_workers.tenant_id is null
    or busy.worker_id is not null
  order by 1;
$$;

create function public.list_workers(tenant_id uuid default null)
returns table (
  worker_id text,
  hostname text,
  version text,
  families text[],
  started_at timestamptz,
  last_seen_at timestamptz,
  is_stale boolean,
  running bigint,
  oldest_started_at timestamptz,
  expired bigint,
  metadata jsonb
)
language sql
stable
begin atomic
  select *
  from tickwork.list_workers(tenant_id);
end;

comment on function public.list_workers is
  'Reads the workers. The operator sees all that were seen within a day, with host, version and handlers (metadata), '
  'and whether one has not been heard of for a minute although it should (is_stale); everybody else, and whoever names '
  'a tenant, those that have running jobs of the tenants that the caller may see. running, the start of the oldest and '
  'expired leases are counted over at most 1000 of these jobs.';

select tickwork.open_verbs('authenticated, service_role', array['list_workers']);
select tickwork.open_verbs('tickwork_worker, service_role', array['note_worker']);
