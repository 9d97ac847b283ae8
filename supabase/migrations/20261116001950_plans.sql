-- The end of a module: functions that its chapters have not opened are closed, and the plans of its verbs are fixed.
--
-- Every verb finds its rows by index, whatever the statistics say: for a table that changes this much they are always
-- out of date, and a session keeps a plan that was made while the table was empty.

create function tickwork.finish_module()
returns void
language plpgsql
volatile
set search_path = ''
as $$
declare
  verb regprocedure;
begin
  perform tickwork.close_functions();

  for verb in
    select pg_proc.oid
    from pg_catalog.pg_proc
    where pg_proc.pronamespace = 'tickwork'::regnamespace
      and pg_proc.prosecdef
      and pg_proc.provolatile = 'v'
      -- Those of earlier modules have them already.
      and not coalesce('enable_bitmapscan=off' = any (pg_proc.proconfig), false)
  loop
    -- Before Postgres 18, disabled plan types count as very expensive, and expensive plans are compiled, for 0.1 s.
    execute format(
      'alter function %s set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off '
      'set enable_hashjoin = off set enable_mergejoin = off set plan_cache_mode = force_generic_plan set jit = off',
      verb
    );
  end loop;
end
$$;

comment on function tickwork.finish_module is
  'Called at the end of each module: closes the functions that its chapters have not opened, and fixes the plans of '
  'its verbs.';

select tickwork.finish_module();

-- Only for tickwork's own role: a default of the role that migrates would also close the application's functions.
alter default privileges for role tickwork_owner revoke execute on functions from public;
