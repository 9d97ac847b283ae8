-- running -> queued or dead: the lease ran out

create function tickwork.reap(family text, most integer)
returns integer
language plpgsql
volatile
set search_path = ''
as $$
declare
  expired tickwork.outcome[];
  spent uuid[];
begin
  with free as (
    select served_types.family, served_types.type
    from tickwork.served_types
    where served_types.family = reap.family
    for no key update skip locked
  )
  update tickwork.served_types
  -- All that runs is read: often enough once a second.
  set reap_at = clock_timestamp() + interval '1 second'
  from free
  where served_types.family = free.family
    and served_types.type = free.type;

  -- Each one is settled under the token seen here: whoever settled or claimed it meanwhile was faster.
  select array_agg(row(
    lapsed_job.id,
    lapsed_job.lease_token,
    'lease_expired',
    null,
    'LEASE_EXPIRED',
    format('%s stopped renewing the lease: it crashed, hung or lost its connection', lapsed_job.worker_id),
    true,
    0,
    null
  )::tickwork.outcome)
  into expired
  from (
    select jobs.id, jobs.lease_token, jobs.worker_id
    from tickwork.served_types
    join public.jobs on jobs.type = served_types.type
    where served_types.family = reap.family
      and jobs.family = reap.family
      and jobs.status = 'running'
      and jobs.lease_expires_at < clock_timestamp()
    limit reap.most
    for no key update of jobs skip locked
  ) as lapsed_job;

  if expired is not null then
    perform tickwork.settle_undone(expired);
    perform tickwork.note_settled(array(select lapsed.job_id from unnest(expired) as lapsed));
  end if;

  -- No verb leaves such a row, but a hand that edits the table might, and it would lie there for ever.
  with spent_jobs as (
    select jobs.id
    from public.jobs
    where jobs.family = reap.family
      and jobs.status = 'queued'
      and jobs.attempts >= jobs.max_attempts
    limit reap.most
    for no key update skip locked
  ),
  ended as (
    update public.jobs
    set
      status = 'dead',
      error_code = coalesce(jobs.error_code, 'NO_ATTEMPTS_LEFT'),
      error_message = coalesce(jobs.error_message, 'It was queued with no attempts left'),
      updated_at = clock_timestamp(),
      finished_at = clock_timestamp()
    from spent_jobs
    where jobs.id = spent_jobs.id
    returning jobs.id
  )
  select array_agg(ended.id)
  into spent
  from ended;

  if spent is not null then
    perform tickwork.end_deliveries(spent);
    perform tickwork.emit_job_events(spent);
  end if;

  if reap.family = tickwork.delivery_family() then
    -- This may be part of a claim, which waits for nobody who is enqueuing: what finds no room now comes later.
    perform set_config('tickwork.has_enqueued', 'yes', true);
    perform tickwork.enqueue_late_deliveries();
  end if;

  return coalesce(cardinality(expired), 0) + coalesce(cardinality(spent), 0);
end
$$;

create function tickwork.reap_expired_leases()
returns integer
language plpgsql
volatile
security definer -- nobody may update jobs itself
set search_path = ''
as $$
declare
  family text;
  reaped integer := 0;
begin
  -- From the jobs and not from their types, which may have moved to another family meanwhile.
  insert into tickwork.served_types (family, type, is_alone, is_held)
  select
    jobs.family,
    jobs.type,
    false,
    tickwork.is_held(tickwork.type_scope(jobs.type)) or tickwork.is_held(tickwork.family_scope(jobs.family))
  from public.jobs
  where jobs.status = 'running'
    and not exists (
      select
      from tickwork.served_types
      where served_types.family = jobs.family
        and served_types.type = jobs.type
    )
  group by jobs.family, jobs.type
  on conflict do nothing;

  for family in
    select served_types.family
    from tickwork.served_types
    union
    select jobs.family
    from public.jobs
    where jobs.status = 'queued'
      and jobs.attempts >= jobs.max_attempts
  loop
    reaped := reaped + tickwork.reap(family, 10000);
  end loop;

  perform tickwork.wake_forgotten_lines();
  perform tickwork.enqueue_late_deliveries();

  return reaped;
end
$$;

create function public.reap_expired_leases()
returns integer
language sql
volatile
set search_path = ''
as $$
  select tickwork.reap_expired_leases();
$$;

comment on function tickwork.reap is
  'running -> queued, dead or cancelled. Ends the attempts of one family whose lease ran out, at most so many.';

comment on function public.reap_expired_leases is
  'running -> queued, dead or cancelled. Ends every attempt whose lease ran out: back to the head of the queue at '
  'once, or dead when the attempts are spent. Answers how many. The claim does the same for its own family.';

alter function tickwork.reap_expired_leases owner to tickwork_owner;

revoke execute on function
  tickwork.reap,
  tickwork.reap_expired_leases,
  public.reap_expired_leases
from public, anon, authenticated, service_role;

grant execute on function tickwork.reap to tickwork_owner;
grant execute on function public.reap_expired_leases, tickwork.reap_expired_leases to service_role;
