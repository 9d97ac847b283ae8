-- The audit log for people, and what is audited in the core. Modules name their tables themselves.

create function tickwork.bounded(document jsonb)
returns jsonb
language sql
immutable
as $$
  select jsonb_object_agg(
    field.key,
    case
      when octet_length(field.value::text) > 2000 then to_jsonb(left(field.value::text, 500) || '…')
      else field.value
    end
  )
  from jsonb_each(tickwork.redacted('', bounded.document, '{}', '{}')) as field;
$$;

comment on function tickwork.bounded is
  'The fields of an object, without what is usually a secret, and only the beginning of what is long.';

select tickwork.audit_table('public.job_types', 'key');
select tickwork.audit_table('tickwork.platform_admins', 'user_id');
select tickwork.audit_table('tickwork.api_keys', 'id', 'secret_hash,last_used_at');
select tickwork.audit_table('tickwork.pauses', 'scope');
select tickwork.audit_table(
  'public.schedules', 'id', 'next_nominal_at,look_at,failures_since'
);

-- A tenant that comes or goes is for the table of tenants to tell.
create trigger audit_change after update on public.tenant_settings
for each row execute function tickwork.audit_change('tenant_id', '');

do $$
begin
  -- Where the application keeps its members itself, their changes are its own to note.
  if to_regprocedure('tickwork.set_member(uuid, uuid, text)') is not null then
    perform tickwork.audit_table('public.memberships', 'tenant_id,user_id');
  end if;
end
$$;

create function public.list_audit(
  tenant_id uuid default null,
  action text default null,
  target text default null,
  actor_id uuid default null,
  created_after timestamptz default null,
  created_before timestamptz default null,
  after_id bigint default null,
  max_rows integer default 100
)
returns setof public.audit_log
language sql
stable
-- Parsed at its definition, it is inlined where it is called, so that the conditions that are given use their index.
begin atomic
  select *
  from public.audit_log
  where (list_audit.tenant_id is null or audit_log.tenant_id = list_audit.tenant_id)
    and (list_audit.action is null or audit_log.action = list_audit.action)
    and (list_audit.target is null or audit_log.target = list_audit.target)
    and (list_audit.actor_id is null or audit_log.actor_id = list_audit.actor_id)
    -- Written so that no index is used for them: it would find every row of that time, which must then be sorted.
    and (audit_log.at < list_audit.created_after) is not true
    and (audit_log.at >= list_audit.created_before) is not true
    and (list_audit.after_id is null or audit_log.id < list_audit.after_id)
    -- Rows are read by id. Where no tenant is asked for, the ids at that time say where to begin and where to end: an
    -- hour beyond it, since two rows of the same moment may have their ids in any order. The coalesce is within: under
    -- row-level security no index is used for one outside.
    and (
      list_audit.created_after is null
      or list_audit.tenant_id is not null
      or audit_log.id > (select coalesce((
        select earlier.id
        from public.audit_log as earlier
        where earlier.at < list_audit.created_after - interval '1 hour'
        order by earlier.at desc
        limit 1
      ), 0))
    )
    and (
      list_audit.created_before is null
      or list_audit.tenant_id is not null
      or audit_log.id < (select coalesce((
        select later.id
        from public.audit_log as later
        where later.at > list_audit.created_before + interval '1 hour'
        order by later.at
        limit 1
      ), 9223372036854775807))
    )
  order by audit_log.id desc
  limit greatest(least(list_audit.max_rows, 1000), 0);
end;

comment on function public.list_audit is
  'Reads the audit log, the latest first: who did what to which target, from where, before and after. Admins see what '
  'is their tenant''s, platform admins everything. For the next page, pass the last id of this one as after_id. At '
  'most 1000 at a time.';

create function tickwork.note_refusal(action text, target text, code text, detail text)
returns void
language plpgsql
volatile
security definer -- nobody may write the audit log
set search_path = ''
as $$
declare
  actor constant tickwork.actor := tickwork.actor();
  -- Under the tenant of the key, or the only one of the user; otherwise for platform admins alone.
  own constant uuid[] := case
    when tickwork.caller_has_key() then array(select key.tenant_id from tickwork.live_key() as key)
    else array(select membership.tenant_id from tickwork.caller_memberships() as membership limit 2)
  end;
begin
  -- Users must not be able to fill the log: only the API, which they cannot log in as, and the service write to it.
  if session_user <> 'tickwork_api' and not tickwork.caller_is_service() then
    raise exception 'only the API may note what it has refused'
      using errcode = 'TWADM', hint = 'Read the log with list_audit.';
  end if;

  if 60 > (
    select count(*)
    from (
      select
      from public.audit_log
      where audit_log.action like 'refused%'
        and coalesce(audit_log.actor_id, '00000000-0000-0000-0000-000000000000')
          = coalesce(actor.id, '00000000-0000-0000-0000-000000000000')
        and audit_log.at > clock_timestamp() - interval '1 minute'
      limit 60
    ) as lately
  ) then
    perform tickwork.note_audit(
      'refused ' || coalesce(note_refusal.action, ''), case when cardinality(own) = 1 then own[1] end,
      note_refusal.target, code => note_refusal.code, detail => note_refusal.detail
    );
  end if;
end
$$;

create function public.note_refusal(
  action text,
  target text default null,
  code text default null,
  detail text default null
)
returns void
language sql
volatile
return tickwork.note_refusal(action, target, code, detail);

comment on function public.note_refusal is
  'Sets down in the audit log that the caller was refused something, since what is refused is rolled back: for the '
  'API, which calls it in a transaction of its own with the claims of the caller. Of one caller at most 60 within a '
  'minute are noted. Raises TWADM.';

create function tickwork.purge_audit()
returns integer
language plpgsql
volatile
security definer -- nobody may delete rows of the audit log
set search_path = ''
as $$
declare
  purged integer;
begin
  delete from public.audit_log
  where audit_log.id = any (array(
    select old.id
    from public.tenant_settings
    cross join lateral (
      select audit_log.id
      from public.audit_log
      where audit_log.tenant_id = tenant_settings.tenant_id
        and audit_log.at < clock_timestamp() - make_interval(days => tenant_settings.keep_audit_days)
      order by audit_log.tenant_id, audit_log.id
      limit 1000
    ) as old
    union all
    (
      select audit_log.id
      from public.audit_log
      where audit_log.at < clock_timestamp() - interval '400 days'
        and not exists (select from public.tenant_settings where tenant_settings.tenant_id = audit_log.tenant_id)
      order by audit_log.id
      limit 1000
    )
  ));

  get diagnostics purged = row_count;
  return purged;
end
$$;

comment on function tickwork.purge_audit is
  'Deletes rows of the audit log that have been kept long enough, up to a thousand of each tenant. Returns how many.';

create function public.purge_audit()
returns integer
language sql
volatile
return tickwork.purge_audit();

comment on function public.purge_audit is
  'Sets the audit log free of rows that have been kept long enough (tenant_settings.keep_audit_days), up to a thousand '
  'of each tenant, and returns how many. The housekeeping of `tickwork cron install` calls it.';
