-- Every verb finds its rows by index, whatever the statistics say: in a churning table they always lag behind,
-- and a plan that was made while the table was empty lives on in its session.

do $$
declare
  verb regprocedure;
begin
  for verb in
    select pg_proc.oid
    from pg_catalog.pg_proc
    where pg_proc.pronamespace = 'tickwork'::regnamespace
      and pg_proc.prosecdef
      and pg_proc.provolatile = 'v'
  loop
    execute format('alter function %s set enable_seqscan = off', verb);
    execute format('alter function %s set enable_bitmapscan = off', verb);
    execute format('alter function %s set enable_sort = off', verb);
    execute format('alter function %s set enable_hashjoin = off', verb);
    execute format('alter function %s set enable_mergejoin = off', verb);
    execute format('alter function %s set plan_cache_mode = force_generic_plan', verb);
    -- What is switched off counts as endlessly dear before Postgres 18, and what is dear gets compiled, for 0.1 s.
    execute format('alter function %s set jit = off', verb);
  end loop;
end
$$;
