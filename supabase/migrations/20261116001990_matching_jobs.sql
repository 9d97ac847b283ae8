-- The jobs that match a filter, for the console: listed, counted, and grouped by their errors.

create function tickwork.filter_of(filter jsonb)
returns tickwork.job_filter
language plpgsql
immutable
as $$
declare
  unknown text;
begin
  select field into unknown
  from jsonb_object_keys(case jsonb_typeof(filter_of.filter) when 'object' then filter_of.filter end) as field
  where field <> all ('{
    tenant_id, family, type, status, lane, error_code, created_after, created_before, source, key_starts_with,
    finished_after, finished_before, correlation_id, payload, error_message
  }');

  if unknown is not null or (jsonb_typeof(filter_of.filter) = 'object') is not true then
    raise exception 'filter: %',
      coalesce('there is no filter ' || quote_literal(left(unknown, 100)), 'must be an object')
      using errcode = 'TWARG', hint = 'Its fields are those of list_jobs, payload and error_message.';
  end if;

  return jsonb_populate_record(null::tickwork.job_filter, filter_of.filter);
exception
  when data_exception then
    raise exception 'filter: %', sqlerrm
      using errcode = 'TWARG', hint = 'Ids are UUIDs, times are ISO 8601.';
end
$$;

comment on function tickwork.filter_of is 'The filter that an object describes. Raises TWARG.';

create function tickwork.find_matching_jobs(filter jsonb, max_jobs integer, after_id uuid, oldest_first boolean)
returns uuid[]
language plpgsql
stable
security definer -- uses tables that nobody may read, and returns only what the caller may see
set search_path = ''
set jit = off
as $$
declare
  wanted tickwork.job_filter := tickwork.filter_of(find_matching_jobs.filter);
begin
  wanted.after_id := find_matching_jobs.after_id;
  wanted.oldest_first := find_matching_jobs.oldest_first;
  return tickwork.find_jobs(tickwork.resolve_filter(wanted), find_matching_jobs.max_jobs);
end
$$;

create function public.find_matching_jobs(
  filter jsonb default '{}',
  max_jobs integer default 50,
  after_id uuid default null,
  oldest_first boolean default false
)
returns setof public.jobs
language sql
stable
set search_path = ''
as $$
  select jobs.*
  from (
    select tickwork.find_matching_jobs(
      find_matching_jobs.filter, greatest(least(find_matching_jobs.max_jobs, 1000), 0), find_matching_jobs.after_id,
      find_matching_jobs.oldest_first
    )
    -- Otherwise the planner searches too, to estimate how many there are.
    offset 0
  ) as matching(ids)
  cross join unnest(matching.ids) with ordinality as listed(id, place)
  cross join lateral (select * from public.jobs where jobs.id = listed.id limit 1) as jobs
  order by listed.place;
$$;

comment on function public.find_matching_jobs is
  'Reads jobs like list_jobs, whose filters are the fields of an object here. Two more: payload is an object that the '
  'payload must contain, error_message one of list_errors. Searches by these two read every job that the others leave, '
  'so pass created_after too. At most 1000 at a time. Raises TWJOB, TWARG.';

create function public.count_matching_jobs(filter jsonb default '{}', at_most integer default 10000)
returns integer
language sql
stable
set search_path = ''
as $$
  select cardinality(tickwork.find_matching_jobs(
    count_matching_jobs.filter, greatest(least(count_matching_jobs.at_most, 100000), 0), null, false
  ));
$$;

comment on function public.count_matching_jobs is
  'Reads how many jobs match a filter of find_matching_jobs, counting no further than at_most. Raises TWARG.';

create function tickwork.list_errors(tenant_id uuid, since timestamptz, steps integer)
returns table (
  error_code text,
  error_message text,
  jobs bigint,
  types text[],
  first_at timestamptz,
  last_at timestamptz,
  last_job_id uuid,
  per_step integer[]
)
language plpgsql
stable
security definer -- uses tables that nobody may read, and returns only what the caller may see
set search_path = ''
set jit = off
as $$
declare
  wanted constant tickwork.job_filter := tickwork.resolve_filter(
    tickwork.new_filter(list_errors.tenant_id, null, null, null, null, null, list_errors.since, null)
  );
  step constant interval := greatest(now() - list_errors.since, interval '1 second')
    / greatest(least(list_errors.steps, 120), 1);
begin
  return query
  with latest as materialized (
    select unsuccessful.*
    from unnest(array['failed', 'dead']) as wanted_status(status)
    cross join lateral (
      select unsuccessful.*
      from tickwork.unsuccessful
      where unsuccessful.status = wanted_status.status
        and unsuccessful.created_at >= list_errors.since
        and (wanted.tenant_ids is null or unsuccessful.tenant_id = any (wanted.tenant_ids))
      order by unsuccessful.created_at desc
      limit 2500
    ) as unsuccessful
  ),
  known as (
    select
      latest.*, tickwork.normalised_error(jobs.error_message) as message,
      least(
        floor(extract(epoch from latest.created_at - list_errors.since) / extract(epoch from step)),
        greatest(least(list_errors.steps, 120), 1) - 1
      )::integer as place
    from latest
    join public.jobs on jobs.id = latest.job_id
  ),
  counted as (
    select known.error_code, known.message, known.place, count(*)::integer as jobs
    from known
    group by known.error_code, known.message, known.place
  )
  select
    known.error_code, known.message, count(*), array_agg(distinct known.type), min(known.finished_at),
    max(known.finished_at), (array_agg(known.job_id order by known.finished_at desc))[1],
    (
      select array_agg(coalesce(counted.jobs, 0) order by place.number)
      from generate_series(0, greatest(least(list_errors.steps, 120), 1) - 1) as place(number)
      left join counted on counted.error_code is not distinct from known.error_code
        and counted.message is not distinct from known.message
        and counted.place = place.number
    )
  from known
  group by known.error_code, known.message
  order by count(*) desc, max(known.finished_at) desc
  limit 100;
end
$$;

create function public.list_errors(
  tenant_id uuid default null,
  since timestamptz default now() - interval '24 hours',
  steps integer default 24
)
returns table (
  error_code text,
  error_message text,
  jobs bigint,
  types text[],
  first_at timestamptz,
  last_at timestamptz,
  last_job_id uuid,
  per_step integer[]
)
language sql
stable
set search_path = ''
as $$
  select *
  from tickwork.list_errors(list_errors.tenant_id, list_errors.since, list_errors.steps);
$$;

comment on function public.list_errors is
  'Reads the errors of failed and dead jobs that were created since a time, the most frequent first: grouped by code '
  'and message, where ids, quoted text and numbers do not count, with how many jobs of which types, when they ended '
  'first and last, the last of them, and how many in each step of the window. Of the latest 2,500 failed and 2,500 '
  'dead jobs. Raises TWARG.';

select tickwork.open_verbs('authenticated, service_role', array[
  'find_matching_jobs', 'count_matching_jobs', 'list_errors'
]);
