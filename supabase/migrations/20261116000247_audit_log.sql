-- Who did what to which, from where, before and after. Rows are added and, when they are old enough, deleted; nobody
-- may change one.

alter table public.tenant_settings add column keep_audit_days integer default 400;
alter table public.tenant_settings add constraint audit_days_are_1_to_36500 check (keep_audit_days between 1 and 36500);

comment on column public.tenant_settings.keep_audit_days is
  'How long the tenant''s rows of the audit log are kept; null means forever. Those of no tenant are kept for 400 '
  'days.';

create table public.audit_log (
  id bigint generated always as identity primary key,
  at timestamptz not null default clock_timestamp(),
  -- No reference: whoever deletes a tenant would wait for those who act for it, and they for him.
  tenant_id uuid,
  actor_kind text not null,
  actor_id uuid,
  actor_name text,
  action text not null,
  target text,
  before jsonb,
  after jsonb,
  code text,
  detail text,
  request_id text,
  ip text,
  user_agent text
);

create index audit_of_a_tenant on public.audit_log (tenant_id, id);
create index audit_of_an_actor on public.audit_log (actor_id, id);
create index audit_of_an_action on public.audit_log (action, id);
create index audit_of_a_target on public.audit_log (target, id);
create index audit_by_time on public.audit_log (at);

create index audit_refusals_of_an_actor
on public.audit_log (coalesce(actor_id, '00000000-0000-0000-0000-000000000000'), at)
where action like 'refused%';

comment on table public.audit_log is
  'Changes of the configuration, what people did to jobs, and what they were refused. Admins read what is their '
  'tenant''s, platform admins all of it.';
comment on column public.audit_log.actor_kind is 'user, key, account, service; nobody if the caller was unknown.';
comment on column public.audit_log.actor_name is 'The name of the key, or the database role of the service.';
comment on column public.audit_log.action is 'Such as schedules.changed, jobs.retried, or refused with a code.';
comment on column public.audit_log.before is 'The columns that changed, as they were; all of a row that was deleted.';
comment on column public.audit_log.ip is 'The last address of X-Forwarded-For, which the proxy in front of us added.';

select tickwork.guard_table('public.audit_log', service => 'select', queue => 'select, insert, delete');

create function tickwork.forget_audit_of_tenant()
returns trigger
language plpgsql
security definer -- nobody may delete rows of the audit log
set search_path = ''
as $$
begin
  delete from public.audit_log where audit_log.tenant_id = old.tenant_id;
  return null;
end
$$;

-- Fires after the cascades, whose triggers begin with a capital letter.
create trigger forget_audit_of_tenant after delete on public.tenant_settings
for each row execute function tickwork.forget_audit_of_tenant();

create function tickwork.managed_tenants()
returns setof uuid
language plpgsql
stable
set search_path = ''
as $$
begin
  if tickwork.caller_has_key() then
    return query
    select tenant.id
    from tickwork.key_tenant('{operate}') as tenant(id)
    where tenant.id is not null;
  else
    return query
    select membership.tenant_id
    from tickwork.caller_memberships() as membership
    where membership.role in ('admin', 'owner');
  end if;
end
$$;

comment on function tickwork.managed_tenants is
  'The tenants of which the caller is an admin or owner, or that his key operates.';

grant select on public.audit_log to authenticated;
revoke all on sequence public.audit_log_id_seq from anon, authenticated, service_role;

create policy admins_read_their_own on public.audit_log
for select to authenticated
using (
  tenant_id in (select tickwork.managed_tenants())
  or (select tickwork.caller_may_do_all())
);

create type tickwork.actor as (
  kind text,
  id uuid,
  name text
);

create function tickwork.actor()
returns tickwork.actor
language plpgsql
stable
as $$
declare
  role constant text := case current_setting('role') when 'none' then session_user else current_setting('role') end;
  key tickwork.api_keys;
begin
  if tickwork.caller_has_key() then
    select * into key
    from tickwork.live_key();

    return row(
      case when key.id is null then 'nobody' when key.account is null then 'key' else 'account' end, key.id, key.name
    )::tickwork.actor;
  end if;

  return row(
    case
      when tickwork.caller_is_service() then 'service'
      when role = 'tickwork_worker' then 'worker'
      when tickwork.caller_id() is null then 'nobody'
      else 'user'
    end,
    tickwork.caller_id(),
    case when tickwork.caller_is_service() then role end
  )::tickwork.actor;
end
$$;

comment on function tickwork.actor is 'Who acts, for the audit log. Never raises for a key that is unknown.';

create function tickwork.caller_header(name text)
returns text
language sql
stable
-- By its text and not as JSON: whatever the headers are, it is no error.
return substring(current_setting('request.headers', true) from '"' || name || '" ?: ?"([^"\\]*)');

comment on function tickwork.caller_header is
  'A header of the request that PostgREST or the API is serving, up to its first quote or backslash; null if there is '
  'none.';

create function tickwork.note_audit(
  action text,
  tenant_id uuid,
  target text,
  before jsonb default null,
  after jsonb default null,
  code text default null,
  detail text default null
)
returns void
language plpgsql
volatile
as $$
declare
  actor constant tickwork.actor := tickwork.actor();
begin
  insert into public.audit_log (
    tenant_id, actor_kind, actor_id, actor_name, action, target, before, after, code, detail, request_id, ip, user_agent
  )
  values (
    note_audit.tenant_id, actor.kind, actor.id, actor.name, left(note_audit.action, 100),
    left(note_audit.target, 200), tickwork.bounded(note_audit.before), tickwork.bounded(note_audit.after),
    left(note_audit.code, 10), left(note_audit.detail, 500), left(tickwork.caller_header('x-request-id'), 100),
    left(trim(split_part(tickwork.caller_header('x-forwarded-for'), ',', -1)), 100),
    left(tickwork.caller_header('user-agent'), 200)
  );
end
$$;

comment on function tickwork.note_audit is 'Adds a row to the audit log: who, from where and when is added here.';
