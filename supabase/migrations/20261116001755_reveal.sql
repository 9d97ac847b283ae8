-- Who may see what is redacted, and that they have.

alter table tickwork.platform_admins add column may_reveal boolean not null default true;

comment on column tickwork.platform_admins.may_reveal is 'Whether they may see redacted values, by reveal_job.';

create function tickwork.caller_may_reveal()
returns boolean
language sql
stable
security definer -- nobody may read the list of platform admins
set search_path = ''
as $$
  select tickwork.caller_is_platform_admin() and exists (
    select
    from tickwork.platform_admins
    where platform_admins.user_id = tickwork.caller_id()
      and platform_admins.may_reveal
  );
$$;

comment on function tickwork.caller_may_reveal is
  'Whether the signed-in user is a platform admin who may see redacted values. The service and '
  'API keys are nobody in particular and may not.';

create table tickwork.reveals (
  number bigint generated always as identity primary key,
  job_id uuid not null,
  tenant_id uuid not null references public.tenant_settings (tenant_id) on delete cascade,
  revealed_by uuid not null,
  reason text not null,
  revealed_at timestamptz not null default clock_timestamp()
);

comment on table tickwork.reveals is 'Who has seen the redacted values of which job, when and why. Nobody changes it.';

select tickwork.guard_table('tickwork.reveals', service => 'select', queue => 'select, insert');

create type tickwork.revealed_job as (
  payload jsonb,
  result jsonb
);

create function tickwork.reveal_job(job_id uuid, reason text)
returns tickwork.revealed_job
language plpgsql
volatile
security definer -- nobody may read redacted_values
set search_path = ''
as $$
declare
  job public.jobs;
  kept tickwork.redacted_values;
begin
  select * into job
  from public.jobs
  where jobs.id = reveal_job.job_id
    and tickwork.may_act_for(jobs.tenant_id);

  -- The same error for a foreign job as for a missing one, so that nobody learns which ids exist.
  if not found then
    perform tickwork.raise_no_job(reveal_job.job_id);
  end if;

  if not tickwork.caller_may_reveal() then
    raise exception 'job_id: only platform admins who may reveal redacted values may do that'
      using errcode = 'TWADM', hint = 'Sign in as one of them. platform_admins.may_reveal says who may.';
  end if;

  if coalesce(trim(reveal_job.reason), '') = '' then
    raise exception 'reason: must not be empty'
      using errcode = 'TWARG', hint = 'Say why, such as the number of a ticket. It is kept with your name.';
  end if;

  perform tickwork.check_size('reason', reveal_job.reason, 1000);
  perform tickwork.wait_for_disk();

  insert into tickwork.reveals (job_id, tenant_id, revealed_by, reason)
  values (job.id, job.tenant_id, tickwork.caller_id(), reveal_job.reason);

  perform tickwork.note_audit('jobs.revealed', job.tenant_id, 'jobs ' || job.id, detail => reveal_job.reason);

  select * into kept
  from tickwork.redacted_values
  where redacted_values.job_id = job.id;

  return row(coalesce(kept.payload, job.payload), coalesce(kept.result, job.result))::tickwork.revealed_job;
end
$$;

create function public.reveal_job(job_id uuid, reason text)
returns tickwork.revealed_job
language sql
volatile
return tickwork.reveal_job(job_id, reason);

comment on function public.reveal_job is
  'Reads the payload and the result of a job with all that is redacted in them. For platform admins who may reveal; '
  'who, when and why is kept. Raises TWJOB, TWADM, TWARG, TWBIG.';
