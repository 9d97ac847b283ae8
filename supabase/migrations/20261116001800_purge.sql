-- done, failed, dead, cancelled -> gone

create function tickwork.check_purge(older_than interval, batch_size integer)
returns void
language plpgsql
immutable
set search_path = ''
as $$
begin
  if check_purge.older_than is null or check_purge.older_than < interval '0' then
    raise exception 'older_than: must be an interval of 0 or more, not %',
      coalesce(check_purge.older_than::text, 'null')
      using errcode = 'TWARG', hint = 'For the usual 30 days: interval ''30 days''.';
  end if;

  if check_purge.batch_size is null or check_purge.batch_size not between 1 and 10000 then
    raise exception 'batch_size: % is out of range, 1 to 10000 are allowed',
      coalesce(check_purge.batch_size::text, 'null')
      using errcode = 'TWARG', hint = 'A large batch holds its locks for long.';
  end if;
end
$$;

create function tickwork.purge_jobs(older_than interval, batch_size integer)
returns integer
language plpgsql
volatile
security definer -- nobody may delete jobs itself
set search_path = ''
as $$
declare
  purged integer;
begin
  perform tickwork.check_purge(purge_jobs.older_than, purge_jobs.batch_size);

  with old_jobs as (
    select jobs.id
    from public.jobs
    where jobs.finished_at < now() - purge_jobs.older_than
    order by jobs.finished_at
    limit purge_jobs.batch_size
    for update skip locked
  )
  delete from public.jobs
  using old_jobs
  where jobs.id = old_jobs.id;

  get diagnostics purged = row_count;

  -- What nobody has used for so long: a missing line is a closed one, and is made again when it is needed.
  delete from tickwork.lines
  where not lines.is_open
    and lines.gate is null
    and lines.served_at < now() - purge_jobs.older_than;

  delete from tickwork.turns
  where not turns.is_open
    and turns.gate is null
    and turns.served_at < now() - purge_jobs.older_than
    and not exists (select from tickwork.lines where lines.turn_id = turns.id);

  return purged;
end
$$;

create function public.purge_jobs(older_than interval, batch_size integer default 1000)
returns integer
language sql
volatile
set search_path = ''
as $$
  select tickwork.purge_jobs(purge_jobs.older_than, purge_jobs.batch_size);
$$;

comment on function public.purge_jobs is
  'done, failed, dead, cancelled -> gone. Deletes one batch of the jobs that finished so long ago, with their '
  'attempts, the oldest first, and answers how many. Call it again until it answers 0. Raises TWARG.';

alter function tickwork.purge_jobs owner to tickwork_owner;

revoke execute on function public.purge_jobs, tickwork.purge_jobs, tickwork.check_purge
from public, anon, authenticated, service_role;

grant execute on function tickwork.check_purge to tickwork_owner;

grant execute on function public.purge_jobs, tickwork.purge_jobs to service_role;
