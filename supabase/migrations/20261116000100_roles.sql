-- Who acts: three roles of our own, besides Supabase's anon, authenticated and service_role.

create schema tickwork;

comment on schema tickwork is 'Internal state and definer functions of the queue. Never exposed through the API.';

do $$
begin
  -- Roles belong to the whole server: another database may have created them already.
  if not exists (select from pg_catalog.pg_roles where rolname = 'tickwork_owner') then
    create role tickwork_owner nologin noinherit nobypassrls;
  end if;

  -- No password is set, so nobody can log in as the worker until the operator sets one.
  if not exists (select from pg_catalog.pg_roles where rolname = 'tickwork_worker') then
    create role tickwork_worker login noinherit nobypassrls;
  end if;

  if not exists (select from pg_catalog.pg_roles where rolname = 'tickwork_api') then
    create role tickwork_api login noinherit nobypassrls;
  end if;
end
$$;

comment on role tickwork_owner is 'Owns the definer functions. Accesses the queue''s tables and nothing else.';

comment on role tickwork_worker is
  'The role that the functions connect as. May call the worker verbs; sees rows only under a lease.';

comment on role tickwork_api is
  'The role that the API connects as. Has no rights of its own: each request becomes authenticated, with the claims of '
  'its caller.';

-- A hung worker must not hold a row lock, or hold back vacuum, for long.
alter role tickwork_worker set statement_timeout = '60s';
alter role tickwork_worker set idle_in_transaction_session_timeout = '60s';

-- A statement that its worker has broken off ends, even if the request to cancel it came before it began.
do $$
begin
  alter role tickwork_worker set client_connection_check_interval = '1s';
exception
  -- A server on Windows cannot tell.
  when invalid_parameter_value then
    null;
end
$$;

-- Nor must a request that nobody waits for any more.
alter role tickwork_api set statement_timeout = '30s';
alter role tickwork_api set lock_timeout = '10s';
alter role tickwork_api set idle_in_transaction_session_timeout = '30s';

-- It inherits nothing: without `set local role authenticated` it can do nothing.
grant authenticated to tickwork_api;

-- Only members of a role may make it the owner of functions.
grant tickwork_owner to current_user;

revoke all on schema tickwork from public;
grant usage, create on schema tickwork to tickwork_owner;
grant usage on schema tickwork to authenticated, service_role, tickwork_worker;
grant usage on schema public to tickwork_owner, tickwork_worker;

-- Where pg_jsonschema is installed on Supabase. Without the right to use it, payloads are checked in SQL.
do $$
begin
  grant usage on schema extensions to tickwork_owner;
exception
  when invalid_schema_name or insufficient_privilege then
    null;
end
$$;
