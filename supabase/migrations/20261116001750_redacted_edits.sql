-- People may edit the record: what they write is redacted like everything else, in the same transaction. Not before the
-- row is written, as elsewhere: a trigger for that would make every settle slower.

create function tickwork.redact_edit(old_job public.jobs, new_job public.jobs)
returns void
language plpgsql
volatile
as $$
declare
  job_type public.job_types;
begin
  if (new_job).payload is distinct from (old_job).payload then
    select * into job_type
    from public.job_types
    where job_types.key = (new_job).type;

    perform
    from tickwork.redacted_values
    where redacted_values.job_id = (new_job).id
      and redacted_values.payload is not null;

    if found and '[redacted]' in (select tickwork.leaves_of((new_job).payload)) then
      raise exception 'payload: contains "[redacted]" where the worker needs the value'
        using errcode = 'TWPAY', hint = 'Write the whole payload. reveal_job shows it to platform admins.';
    end if;

    perform tickwork.replace_payload(new_job, job_type, (new_job).payload);
  end if;

  if (new_job).result is distinct from (old_job).result then
    update public.jobs
    set result = tickwork.keep_result(jobs.id, jobs.result)
    where jobs.id = (new_job).id;
  end if;
end
$$;

comment on function tickwork.redact_edit is
  'Redacts a payload and a result that somebody has written by hand. Raises TWPAY if the payload has lost values.';
