-- The payloads and results of which jobs shows only a part. Values are moved here before jobs is written, so that
-- nothing that reads jobs, its changes included, can show them.

create table tickwork.redacted_values (
  job_id uuid primary key,
  tenant_id uuid not null,
  payload jsonb,
  result jsonb
);

comment on table tickwork.redacted_values is
  'The whole payload and the whole result of jobs in which something is redacted; null where nothing is. A claim and '
  'reveal_job read it, nobody else. Deleted with the job.';

select tickwork.guard_table('tickwork.redacted_values');

create function tickwork.keep_payload(job_id uuid, tenant_id uuid, job_type public.job_types, payload jsonb)
returns jsonb
language plpgsql
volatile
as $$
declare
  shown constant jsonb := tickwork.redacted_payload(keep_payload.payload, job_type);
begin
  if shown <> keep_payload.payload then
    insert into tickwork.redacted_values as kept (job_id, tenant_id, payload)
    values (keep_payload.job_id, keep_payload.tenant_id, keep_payload.payload)
    on conflict on constraint redacted_values_pkey do update
    set payload = excluded.payload;
  end if;

  return shown;
end
$$;

comment on function tickwork.keep_payload is
  'Returns the payload as everybody may see it. If that is not all of it, the whole payload is kept for the worker.';

create function tickwork.replace_payload(job public.jobs, job_type public.job_types, payload jsonb)
returns void
language plpgsql
volatile
as $$
begin
  update tickwork.redacted_values
  set payload = null
  where redacted_values.job_id = (job).id;

  update public.jobs
  set
    payload = tickwork.keep_payload(jobs.id, jobs.tenant_id, job_type, replace_payload.payload),
    is_redacted = tickwork.is_to_redact((job_type).redacted, replace_payload.payload::text)
  where jobs.id = (job).id;
end
$$;

comment on function tickwork.replace_payload is 'Gives a job another payload, which the caller has checked.';

create function tickwork.keep_result(job_id uuid, result jsonb)
returns jsonb
language plpgsql
volatile
as $$
declare
  job public.jobs;
  shown jsonb;
begin
  select * into job
  from public.jobs
  where jobs.id = keep_result.job_id;

  if (job.is_redacted or tickwork.may_hold_secrets(keep_result.result::text)) is not true then
    return keep_result.result;
  end if;

  select tickwork.redacted(
    'result', keep_result.result, job_types.redacted, job_types.not_redacted, tickwork.hidden_values(job.id)
  )
  into shown
  from (values (job.type)) as kind(of_job)
  left join public.job_types on job_types.key = kind.of_job;

  if shown <> keep_result.result then
    insert into tickwork.redacted_values as kept (job_id, tenant_id, result)
    values (job.id, job.tenant_id, keep_result.result)
    on conflict on constraint redacted_values_pkey do update
    set result = excluded.result;
  end if;

  return shown;
end
$$;

comment on function tickwork.keep_result is
  'Returns the result as everybody may see it, without the values that are redacted in the payload. If that is not all '
  'of it, the whole result is kept.';

create function tickwork.whole_payload(job_id uuid, shown jsonb)
returns jsonb
language plpgsql
stable
as $$
begin
  return coalesce(
    (
      select redacted_values.payload
      from tickwork.redacted_values
      where redacted_values.job_id = whole_payload.job_id
    ),
    whole_payload.shown
  );
end
$$;

comment on function tickwork.whole_payload is 'The payload as it was enqueued, for the worker.';


-- Workers quote values in errors, logs and progress messages.

create function tickwork.leaves_of(document jsonb)
returns setof text
language sql
immutable
as $$
  select leaf.value #>> '{}'
  from jsonb_path_query(
    leaves_of.document, 'strict $.**{0 to 66} ? (@.type() == "string" || @.type() == "number")'
  ) as leaf(value);
$$;

comment on function tickwork.leaves_of is 'The strings and numbers of a document, as far down as it is redacted.';

create function tickwork.hidden_values(job_id uuid)
returns text[]
language plpgsql
stable
as $$
begin
  return array(
    with kept as (
      select
        jsonb_build_array(redacted_values.payload, redacted_values.result, step.results) as whole,
        jsonb_build_array(jobs.payload, jobs.result, step.shown) as shown
      from tickwork.redacted_values
      join public.jobs on jobs.id = redacted_values.job_id
      cross join lateral (
        select jsonb_agg(steps.result) as results, jsonb_agg(steps.shown) as shown
        from tickwork.steps
        where steps.job_id = redacted_values.job_id
          and steps.shown is not null
      ) as step
      where redacted_values.job_id = hidden_values.job_id
    ),
    hidden as (
      select tickwork.leaves_of(kept.whole) as value
      from kept
      except
      select tickwork.leaves_of(kept.shown)
      from kept
    )
    select distinct on (length(form.value), form.value) form.value
    from hidden
    -- As it is, and as a part of JSON.
    cross join lateral (
      values (hidden.value), (regexp_replace(to_json(hidden.value)::text, '^"|"$', '', 'g'))
    ) as form(value)
    -- A shorter one would be found in unrelated text.
    where length(form.value) >= 6
    order by length(form.value) desc, form.value
  );
end
$$;

comment on function tickwork.hidden_values is
  'The redacted values of a job and its steps, the longest first, without those that appear elsewhere in its payload, '
  'its result or such a step.';
