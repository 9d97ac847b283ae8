-- What a claim may ask for.

-- A condition of every claim: one short expression, which becomes a part of whoever asks.

create function tickwork.wrong_in_claim(family text, worker_id text, max_jobs integer, lease_seconds integer)
returns text
language sql
immutable
return case
  when coalesce(family, '') = '' then 'family'
  when coalesce(worker_id, '') = '' then 'worker_id'
  when octet_length(worker_id) > 200 then 'length'
  when (max_jobs between 1 and 1000) is not true then 'max_jobs'
  when lease_seconds not between 10 and 3600 then 'lease_seconds'
end;

comment on function tickwork.wrong_in_claim is 'Which argument of a claim is wrong; null if none is.';

create function tickwork.check_claim(family text, worker_id text, max_jobs integer, lease_seconds integer)
returns void
language plpgsql
immutable
as $$
begin
  case tickwork.wrong_in_claim(
    check_claim.family, check_claim.worker_id, check_claim.max_jobs, check_claim.lease_seconds
  )
    when 'family' then
      raise exception 'family: must not be empty'
        using errcode = 'TWARG', hint = 'Each family has a function of its own, such as extract.';
    when 'worker_id' then
      raise exception 'worker_id: must not be empty'
        using errcode = 'TWARG', hint = 'Name the worker, such as its host and process, or its function and instance.';
    when 'length' then
      perform tickwork.check_size('worker_id', check_claim.worker_id, 200);
    when 'max_jobs' then
      raise exception 'max_jobs: % is out of range, it must be 1 to 1000', coalesce(check_claim.max_jobs::text, 'null')
        using errcode = 'TWARG', hint = 'Claim only what can be started within the lease.';
    when 'lease_seconds' then
      raise exception 'lease_seconds: % is out of range, it must be 10 to 3600', check_claim.lease_seconds
        using errcode = 'TWLEA', hint = 'Leave it out to use the lease_seconds of each job''s type.';
    else
      return;
  end case;
end
$$;

comment on function tickwork.check_claim is 'Raises TWARG, TWBIG or TWLEA if something in a claim is wrong.';
