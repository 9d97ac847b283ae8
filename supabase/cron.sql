-- What `tickwork cron install` adds to the schema on a server with pg_net. It may be run again.

create or replace function tickwork.send_call(url text, headers jsonb, timeout_milliseconds integer)
returns bigint
language sql
volatile
-- Owned by the role that installs it, not by tickwork_owner: on Supabase only its own roles may use pg_net, and they
-- cannot grant that right.
security definer
set search_path = ''
as $$
  select net.http_post(
    url := send_call.url,
    body := '{}'::jsonb,
    headers := send_call.headers,
    timeout_milliseconds := send_call.timeout_milliseconds
  );
$$;

comment on function tickwork.send_call is
  'Has pg_net send one request when this transaction commits.';

revoke execute on function tickwork.send_call from public, anon, authenticated, service_role;
grant execute on function tickwork.send_call to tickwork_owner;

create or replace trigger wake_functions
after insert on public.jobs
referencing new table as inserted
for each statement
execute function tickwork.wake_functions();
