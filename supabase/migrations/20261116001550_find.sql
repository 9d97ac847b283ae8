-- How jobs that match a filter are found by an index, however many others there are. A sort direction cannot be a
-- parameter, so the statements are generated. They are planned with the actual values and skip filters that are null.

create function tickwork.find_jobs(wanted tickwork.job_filter, max_jobs integer)
returns uuid[]
language plpgsql
stable
as $$
declare
  many constant integer := 10000;
  -- If very many jobs are queued, so are most of the newest; but not most of the oldest, or of those with an error.
  reads_all constant boolean := (wanted).status = 'running'
    or (wanted).oldest_first
    or num_nonnulls((wanted).lane, (wanted).source, (wanted).error_code, (wanted).error_message) > 0;
  ids uuid[];
  is_unsuccessful boolean;
  part text;
begin
  if (wanted).correlation_id is not null then
    ids := tickwork.jobs_of_correlation(wanted, many + 1);
  elsif (wanted).key_starts_with is not null then
    ids := tickwork.jobs_by_key(wanted, many + 1);
  end if;

  -- If very many jobs have such keys, the other filters find them faster.
  if ids is null or cardinality(ids) > many then
    ids := tickwork.unfinished_jobs(wanted, case when not reads_all then many + 1 end);
  end if;

  if cardinality(ids) > many and not reads_all then
    ids := null;
  end if;

  is_unsuccessful := ids is null and case
    when (wanted).status is null then num_nonnulls((wanted).error_code, (wanted).error_message) > 0
    else (wanted).status in ('failed', 'dead', 'cancelled')
  end;
  part := case
    when ids is not null then 'id'
    when (wanted).tenant_ids is not null then 'tenant_id'
    when is_unsuccessful and num_nonnulls((wanted).error_code, (wanted).finished_after) > 0 then 'tenant_id'
    when is_unsuccessful then 'status'
    when (wanted).lane is not null or (wanted).source <> 'manual' then 'tenant_id'
    else 'type'
  end;

  return tickwork.search_jobs(
    wanted,
    case when is_unsuccessful then 'tickwork.unsuccessful_jobs' else 'public.jobs' end,
    part,
    ids,
    case part
      when 'tenant_id' then coalesce((wanted).tenant_ids, array(select tenants.tenant_id from tickwork.tenants))::text[]
      when 'status' then array[(wanted).status]
      when 'type' then array(
        select distinct family_types.type
        from tickwork.family_types
        where family_types.family = coalesce((wanted).family, family_types.family)
          and family_types.type = coalesce((wanted).type, family_types.type)
      )
    end,
    find_jobs.max_jobs
  );
end
$$;

comment on function tickwork.find_jobs is
  'The jobs that match, in their order, at most max_jobs. Jobs that are queued or running, or whose key starts with '
  'the given text, are all read, unless there are very many; everything else is read in the order of an index until '
  'there are enough.';

create function tickwork.unfinished_jobs(wanted tickwork.job_filter, most integer)
returns uuid[]
language plpgsql
stable
as $$
declare
  ids uuid[];
begin
  if coalesce((wanted).status not in ('queued', 'running'), true) then
    return null;
  end if;

  -- Where everything is asked for, there is no need to look up what belongs to whom.
  if (wanted).status = 'queued' and num_nonnulls((wanted).tenant_ids, (wanted).family, (wanted).type) = 0 then
    return array(
      select waiting.job_id from tickwork.waiting
      union all
      select parked.job_id from tickwork.parked
      union all
      select awaiting.job_id from tickwork.awaiting
      limit unfinished_jobs.most
    );
  end if;

  execute
    $search$
      select array(
        select unfinished.job_id
        from tickwork.unfinished
        where unfinished.status = ($1).status
          and (($1).tenant_ids is null or unfinished.tenant_id = any (($1).tenant_ids))
          and (($1).family is null or unfinished.family = ($1).family)
          and (($1).type is null or unfinished.type = ($1).type)
        limit $2
      )
    $search$
  into ids
  using wanted, unfinished_jobs.most;

  return ids;
end
$$;

create function tickwork.jobs_by_key(wanted tickwork.job_filter, most integer)
returns uuid[]
language plpgsql
stable
as $$
declare
  ids uuid[];
begin
  execute (
    select 'select array(' || string_agg(
      format(
        $search$
          (
            select keyed.id
            from unnest($1) as tenant(id)
            cross join lateral (
              select jobs.id
              from public.jobs
              where jobs.tenant_id = tenant.id
                and jobs.%1$I ~>=~ $2
                -- After every key that starts with it.
                and jobs.%1$I ~<~ ($2 || chr(1114111))
              limit $3
            ) as keyed
          )
        $search$,
        key
      ),
      ' union all '
    ) || ' limit $3)'
    from unnest(array['idempotency_key', 'dedupe_key', 'correlation_id']) as key
  )
  into ids
  using
    coalesce((wanted).tenant_ids, array(select tenants.tenant_id from tickwork.tenants)), (wanted).key_starts_with,
    jobs_by_key.most;

  return ids;
end
$$;

create function tickwork.jobs_of_correlation(wanted tickwork.job_filter, most integer)
returns uuid[]
language plpgsql
stable
as $$
begin
  return array(
    select related.id
    from unnest(coalesce((wanted).tenant_ids, array(select tenants.tenant_id from tickwork.tenants))) as tenant(id)
    cross join lateral (
      select jobs.id
      from public.jobs
      where jobs.tenant_id = tenant.id
        and jobs.correlation_id = (wanted).correlation_id
      limit jobs_of_correlation.most
    ) as related
    limit jobs_of_correlation.most
  );
end
$$;

create function tickwork.search_jobs(
  wanted tickwork.job_filter,
  relation text,
  part text,
  ids uuid[],
  keys text[],
  max_jobs integer
)
returns uuid[]
language plpgsql
stable
as $$
declare
  matching uuid[];
begin
  execute format(
    $search$
      select array(
        select first_ones.id
        from %3$s as part
        cross join lateral (
          select jobs.id, jobs.created_at
          from %1$s as jobs
          where jobs.%2$I = %6$s
            and (($1).family is null or jobs.family = ($1).family)
            and (($1).type is null or jobs.type = ($1).type)
            and (($1).status is null or jobs.status = ($1).status)
            and (($1).lane is null or jobs.lane = ($1).lane)
            and (($1).source is null or jobs.source = ($1).source)
            and (($1).error_code is null or jobs.error_code = ($1).error_code)
            and (($1).correlation_id is null or jobs.correlation_id = ($1).correlation_id)
            and (($1).payload is null or jobs.payload @> ($1).payload)
            and (($1).error_message is null or tickwork.normalised_error(jobs.error_message) = ($1).error_message)
            and (($1).created_after is null or jobs.created_at >= ($1).created_after)
            and (($1).created_before is null or jobs.created_at < ($1).created_before)
            and (($1).finished_after is null or jobs.finished_at >= ($1).finished_after)
            and (($1).finished_before is null or jobs.finished_at < ($1).finished_before)
            and (($1).after_id is null or (jobs.created_at, jobs.id) %4$s (($1).after_at, ($1).after_id))
            and (
              ($1).key_starts_with is null
              or starts_with(jobs.idempotency_key, ($1).key_starts_with)
              or starts_with(jobs.dedupe_key, ($1).key_starts_with)
              or starts_with(jobs.correlation_id, ($1).key_starts_with)
            )
          order by jobs.created_at %5$s, jobs.id %5$s
          limit $2
        ) as first_ones
        order by first_ones.created_at %5$s, first_ones.id %5$s
        limit $2
      )
    $search$,
    search_jobs.relation,
    search_jobs.part,
    case search_jobs.part
      when 'id' then '(select)'
      when 'tenant_id' then 'unnest($3::uuid[])'
      else 'unnest($3)'
    end,
    case when (wanted).oldest_first then '>' else '<' end,
    case when (wanted).oldest_first then 'asc' else 'desc' end,
    -- A hundred thousand ids are looked up at once, in their order. The planner would take long to look at each.
    case search_jobs.part when 'id' then 'any (array(select unnest($4)))' else 'part' end
  )
  into matching
  using wanted, search_jobs.max_jobs, search_jobs.keys, search_jobs.ids;

  return matching;
end
$$;

comment on function tickwork.search_jobs is
  'Reads jobs part by part, such as tenant by tenant, in the order of an index: the first few of each, and then the '
  'first of all these. Or those with the given ids, all at once.';
