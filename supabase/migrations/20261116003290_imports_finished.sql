-- The end of the module imports.

select tickwork.audit_table('public.connectors', 'id', 'watched_until');

select tickwork.finish_module();
