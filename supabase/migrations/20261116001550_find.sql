-- Which jobs are meant: filters, and the way to what matches them by an index, whatever else there is.

create type tickwork.job_filter as (
  tenant_ids uuid[],
  family text,
  type text,
  status text,
  lane text,
  source text,
  error_code text,
  key_starts_with text,
  finished_after timestamptz,
  finished_before timestamptz,
  oldest_first boolean,
  low_at timestamptz,
  low_id uuid,
  high_at timestamptz,
  high_id uuid
);

comment on type tickwork.job_filter is
  'What jobs have to be like; null is anything. By created_at and id they lie between low and high, neither included.';

create function tickwork.tenants_to_read(tenant_id uuid)
returns uuid[]
language sql
stable
set search_path = ''
as $$
  select case
    when tenants_to_read.tenant_id is not null then
      array(select tenants_to_read.tenant_id where tickwork.may_act_for(tenants_to_read.tenant_id))
    when not tickwork.caller_is_service() and not tickwork.caller_is_platform_admin() then
      array(select tickwork.caller_tenants())
  end;
$$;

comment on function tickwork.tenants_to_read is
  'The tenant if the caller may see its jobs; without one, all whose jobs he may see. Null is every tenant.';

create function tickwork.new_filter(
  tenant_ids uuid[],
  family text,
  type text,
  status text,
  lane text,
  source text,
  error_code text,
  key_starts_with text,
  created_after timestamptz,
  created_before timestamptz,
  finished_after timestamptz,
  finished_before timestamptz,
  oldest_first boolean,
  after_id uuid
)
returns tickwork.job_filter
language plpgsql
stable
set search_path = ''
as $$
declare
  made tickwork.job_filter := row(
    new_filter.tenant_ids, new_filter.family, new_filter.type, new_filter.status, new_filter.lane, new_filter.source,
    new_filter.error_code, nullif(new_filter.key_starts_with, ''), new_filter.finished_after,
    new_filter.finished_before, coalesce(new_filter.oldest_first, false),
    -- Up to and without the smallest of all ids, from and without the largest.
    coalesce(new_filter.created_after, '-infinity') - interval '1 microsecond', 'ffffffff-ffff-ffff-ffff-ffffffffffff',
    -- What finished before was created before.
    least(new_filter.created_before, new_filter.finished_before, 'infinity'), '00000000-0000-0000-0000-000000000000'
  );
  seen public.jobs;
begin
  if new_filter.status not in ('queued', 'running', 'done', 'failed', 'dead', 'cancelled') then
    raise exception 'status: there is no status %', quote_literal(new_filter.status)
      using errcode = 'TWARG', hint = 'It is queued, running, done, failed, dead or cancelled.';
  end if;

  if new_filter.after_id is null then
    return made;
  end if;

  select * into seen
  from public.jobs
  where jobs.id = new_filter.after_id
    and tickwork.may_act_for(jobs.tenant_id);

  if not found then
    raise exception 'after_id: there is no job %', new_filter.after_id
      using errcode = 'TWJOB', hint = 'It was purged meanwhile, or is not yours. Start again without after_id.';
  end if;

  return tickwork.filter_after(made, seen.created_at, seen.id);
end
$$;

comment on function tickwork.new_filter is 'The filter that these values make. Raises TWARG, TWJOB.';

create function tickwork.filter_after(wanted tickwork.job_filter, seen_at timestamptz, seen_id uuid)
returns tickwork.job_filter
language plpgsql
immutable
set search_path = ''
as $$
begin
  if wanted.oldest_first then
    if (filter_after.seen_at, filter_after.seen_id) > (wanted.low_at, wanted.low_id) then
      wanted.low_at := filter_after.seen_at;
      wanted.low_id := filter_after.seen_id;
    end if;
  elsif (filter_after.seen_at, filter_after.seen_id) < (wanted.high_at, wanted.high_id) then
    wanted.high_at := filter_after.seen_at;
    wanted.high_id := filter_after.seen_id;
  end if;

  return wanted;
end
$$;

comment on function tickwork.filter_after is 'The same filter, for what comes after that job.';

create function tickwork.matches(job public.jobs, wanted tickwork.job_filter)
returns boolean
language sql
immutable
-- Parsed here and now, it becomes part of the statement that calls it, where the planner leaves out what is null.
return ((wanted).tenant_ids is null or (job).tenant_id = any ((wanted).tenant_ids))
  and ((wanted).family is null or (job).family = (wanted).family)
  and ((wanted).type is null or (job).type = (wanted).type)
  and ((wanted).status is null or (job).status = (wanted).status)
  and ((wanted).lane is null or (job).lane = (wanted).lane)
  and ((wanted).source is null or (job).source = (wanted).source)
  and ((wanted).error_code is null or (job).error_code = (wanted).error_code)
  and ((wanted).finished_after is null or (job).finished_at >= (wanted).finished_after)
  and ((wanted).finished_before is null or (job).finished_at < (wanted).finished_before)
  and (
    (wanted).key_starts_with is null
    or starts_with((job).idempotency_key, (wanted).key_starts_with)
    or starts_with((job).dedupe_key, (wanted).key_starts_with)
    or starts_with((job).correlation_id, (wanted).key_starts_with)
  )
  and ((job).created_at, (job).id) > ((wanted).low_at, (wanted).low_id)
  and ((job).created_at, (job).id) < ((wanted).high_at, (wanted).high_id);

create function tickwork.find_jobs(wanted tickwork.job_filter, max_jobs integer)
returns uuid[]
language plpgsql
stable
set search_path = ''
as $$
declare
  many constant integer := 10000;
  -- Where very many are queued, most of the newest jobs are; but not most of the oldest, or of those with an error.
  reads_all_queued constant boolean := (find_jobs.wanted).oldest_first
    or (find_jobs.wanted).lane is not null
    or (find_jobs.wanted).source is not null
    or (find_jobs.wanted).error_code is not null;
  ids uuid[];
begin
  if (find_jobs.wanted).key_starts_with is not null then
    ids := tickwork.jobs_by_key(find_jobs.wanted, many + 1);
  end if;

  -- How keys of very many jobs start says little: they are found by the rest.
  if ids is null or cardinality(ids) > many then
    ids := case (find_jobs.wanted).status
      when 'running' then tickwork.running_jobs(find_jobs.wanted)
      when 'queued' then tickwork.queued_jobs(find_jobs.wanted, case when not reads_all_queued then many + 1 end)
    end;
  end if;

  if cardinality(ids) <= many or (find_jobs.wanted).status = 'running' or reads_all_queued and ids is not null then
    return tickwork.pick_jobs(ids, find_jobs.wanted, find_jobs.max_jobs);
  end if;

  case
    when (find_jobs.wanted).status in ('failed', 'dead', 'cancelled') then
      return tickwork.walk_unsuccessful(
        find_jobs.wanted, array[(find_jobs.wanted).status], find_jobs.max_jobs
      );
    when (find_jobs.wanted).status is null and (find_jobs.wanted).error_code is not null then
      return tickwork.walk_unsuccessful(find_jobs.wanted, array['failed', 'dead', 'cancelled'], find_jobs.max_jobs);
    else
      return tickwork.walk_jobs(find_jobs.wanted, find_jobs.max_jobs);
  end case;
end
$$;

comment on function tickwork.find_jobs is
  'The jobs that match, in their order, at most so many. What is queued or running, or has a key that starts like '
  'that, is read in full, unless that is very much; everything else in the order of an index until there are enough.';

create function tickwork.running_jobs(wanted tickwork.job_filter)
returns uuid[]
language sql
stable
set search_path = ''
as $$
  select array(
    select leases.job_id
    from tickwork.leases
    where ((running_jobs.wanted).tenant_ids is null or leases.tenant_id = any ((running_jobs.wanted).tenant_ids))
      and ((running_jobs.wanted).family is null or leases.family = (running_jobs.wanted).family)
      and ((running_jobs.wanted).type is null or leases.type = (running_jobs.wanted).type)
  );
$$;

create function tickwork.queued_jobs(wanted tickwork.job_filter, most integer)
returns uuid[]
language sql
stable
set search_path = ''
as $$
  with places as materialized (
    select family_types.family, family_types.type, tenants.number
    from tickwork.family_types
    cross join tickwork.tenants
    where tenants.tenant_id = any ((queued_jobs.wanted).tenant_ids)
      and ((queued_jobs.wanted).family is null or family_types.family = (queued_jobs.wanted).family)
      and ((queued_jobs.wanted).type is null or family_types.type = (queued_jobs.wanted).type)
  )
  select array(
    (
      select waiting.job_id
      from tickwork.waiting
      where (queued_jobs.wanted).tenant_ids is null
        and ((queued_jobs.wanted).family is null or waiting.family = (queued_jobs.wanted).family)
        and ((queued_jobs.wanted).type is null or waiting.type = (queued_jobs.wanted).type)
    )
    union all
    (
      select parked.job_id
      from tickwork.parked
      where (queued_jobs.wanted).tenant_ids is null
        and ((queued_jobs.wanted).family is null or parked.family = (queued_jobs.wanted).family)
        and ((queued_jobs.wanted).type is null or parked.type = (queued_jobs.wanted).type)
    )
    union all
    (
      select waiting.job_id
      from places
      join tickwork.waiting on waiting.family = places.family
        and waiting.type = places.type
        and waiting.tenant_number = places.number
    )
    union all
    (
      select parked.job_id
      from (select distinct places.family, places.number from places) as places
      join tickwork.parked on parked.family = places.family
        and parked.tenant_number = places.number
      where (queued_jobs.wanted).type is null or parked.type = (queued_jobs.wanted).type
    )
    limit queued_jobs.most
  );
$$;

create function tickwork.jobs_by_key(wanted tickwork.job_filter, most integer)
returns uuid[]
language plpgsql
stable
set search_path = ''
as $$
declare
  start constant text := (jobs_by_key.wanted).key_starts_with;
  -- Behind everything that starts like that.
  stop constant text := (jobs_by_key.wanted).key_starts_with || chr(1114111);
begin
  return array(
    select keyed.id
    from unnest(coalesce((jobs_by_key.wanted).tenant_ids, tickwork.all_tenants())) as tenant(id)
    cross join lateral (
      (
        select jobs.id
        from public.jobs
        where jobs.tenant_id = tenant.id
          and jobs.idempotency_key ~>=~ start
          and jobs.idempotency_key ~<~ stop
        limit jobs_by_key.most
      )
      union all
      (
        select jobs.id
        from public.jobs
        where jobs.tenant_id = tenant.id
          and jobs.dedupe_key ~>=~ start
          and jobs.dedupe_key ~<~ stop
        limit jobs_by_key.most
      )
      union all
      (
        select jobs.id
        from public.jobs
        where jobs.tenant_id = tenant.id
          and jobs.correlation_id ~>=~ start
          and jobs.correlation_id ~<~ stop
        limit jobs_by_key.most
      )
    ) as keyed
    limit jobs_by_key.most
  );
end
$$;

create function tickwork.all_tenants()
returns uuid[]
language sql
stable
return array(select tenants.tenant_id from tickwork.tenants);

create function tickwork.pick_jobs(ids uuid[], wanted tickwork.job_filter, max_jobs integer)
returns uuid[]
language sql
stable
set search_path = ''
as $$
  select array(
    select jobs.id
    from public.jobs
    where jobs.id = any (pick_jobs.ids)
      and tickwork.matches(jobs, pick_jobs.wanted)
    order by
      case when (pick_jobs.wanted).oldest_first then jobs.created_at end,
      case when (pick_jobs.wanted).oldest_first then jobs.id end,
      jobs.created_at desc,
      jobs.id desc
    limit pick_jobs.max_jobs
  );
$$;

comment on function tickwork.pick_jobs is 'Those of the jobs that match, in their order, at most so many.';


-- In the order of an index: the first few of each tenant or type, and of these the first. A direction cannot be a
-- parameter, so these statements are built; planned with the values at hand, they leave out what is not asked for.

create function tickwork.walk_jobs(wanted tickwork.job_filter, max_jobs integer)
returns uuid[]
language plpgsql
stable
set search_path = ''
as $$
declare
  goes_by_tenant constant boolean := (walk_jobs.wanted).tenant_ids is not null
    or (walk_jobs.wanted).lane is not null
    or coalesce((walk_jobs.wanted).source, 'manual') <> 'manual';
  ids uuid[];
begin
  execute format(
    $walk$
      select array(
        select first_ones.id
        from unnest(%1$s) as part(key)
        cross join lateral (
          select jobs.id, jobs.created_at
          from public.jobs
          where jobs.%2$I = part.key
            and tickwork.matches(jobs, $1)
          order by jobs.created_at %3$s, jobs.id %3$s
          limit $2
        ) as first_ones
        order by first_ones.created_at %3$s, first_ones.id %3$s
        limit $2
      )
    $walk$,
    case when goes_by_tenant then '$3' else '$4' end,
    case when goes_by_tenant then 'tenant_id' else 'type' end,
    case when (walk_jobs.wanted).oldest_first then 'asc' else 'desc' end
  )
  into ids
  using
    walk_jobs.wanted, walk_jobs.max_jobs, coalesce((walk_jobs.wanted).tenant_ids, tickwork.all_tenants()),
    tickwork.types_of((walk_jobs.wanted).family, (walk_jobs.wanted).type);

  return ids;
end
$$;

create function tickwork.types_of(family text, type text)
returns text[]
language sql
stable
set search_path = ''
as $$
  select case
    when types_of.type is not null then array[types_of.type]
    else array(
      select distinct family_types.type
      from tickwork.family_types
      where types_of.family is null or family_types.family = types_of.family
    )
  end;
$$;

create function tickwork.walk_unsuccessful(wanted tickwork.job_filter, statuses text[], max_jobs integer)
returns uuid[]
language plpgsql
stable
set search_path = ''
as $$
declare
  goes_by_tenant constant boolean := (walk_unsuccessful.wanted).tenant_ids is not null
    or (walk_unsuccessful.wanted).error_code is not null
    or (walk_unsuccessful.wanted).finished_after is not null;
  -- What only the record knows. The rest said twice would let the planner expect next to nothing.
  of_record constant tickwork.job_filter := row(
    null, null, null, null, (walk_unsuccessful.wanted).lane, (walk_unsuccessful.wanted).source, null,
    (walk_unsuccessful.wanted).key_starts_with, null, null, null, '-infinity', (walk_unsuccessful.wanted).low_id,
    'infinity', (walk_unsuccessful.wanted).high_id
  );
  ids uuid[];
begin
  execute format(
    $walk$
      select array(
        select first_ones.job_id
        from unnest($3) as ended(status)
        cross join unnest($4) as tenant(id)
        cross join lateral (
          select unsuccessful.job_id, unsuccessful.created_at
          from tickwork.unsuccessful
          join public.jobs on jobs.id = unsuccessful.job_id
          where unsuccessful.status = ended.status
            and %1$s
            and (($1).family is null or unsuccessful.family = ($1).family)
            and (($1).type is null or unsuccessful.type = ($1).type)
            and (($1).error_code is null or unsuccessful.error_code = ($1).error_code)
            and (($1).finished_after is null or unsuccessful.finished_at >= ($1).finished_after)
            and (($1).finished_before is null or unsuccessful.finished_at < ($1).finished_before)
            and (unsuccessful.created_at, unsuccessful.job_id) > (($1).low_at, ($1).low_id)
            and (unsuccessful.created_at, unsuccessful.job_id) < (($1).high_at, ($1).high_id)
            and tickwork.matches(jobs, $5)
          order by unsuccessful.created_at %2$s, unsuccessful.job_id %2$s
          limit $2
        ) as first_ones
        order by first_ones.created_at %2$s, first_ones.job_id %2$s
        limit $2
      )
    $walk$,
    case when goes_by_tenant then 'unsuccessful.tenant_id = tenant.id' else 'tenant.id is null' end,
    case when (walk_unsuccessful.wanted).oldest_first then 'asc' else 'desc' end
  )
  into ids
  using
    walk_unsuccessful.wanted, walk_unsuccessful.max_jobs, walk_unsuccessful.statuses,
    case
      when goes_by_tenant then coalesce((walk_unsuccessful.wanted).tenant_ids, tickwork.all_tenants())
      else array[null::uuid]
    end,
    of_record;

  return ids;
end
$$;
