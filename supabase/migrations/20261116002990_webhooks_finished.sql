-- The end of the module webhooks.

select tickwork.audit_table(
  'public.webhook_endpoints', 'id', 'breaker,failures,failing_since,probes,probe_at,successes,hears_of_jobs'
);

select tickwork.finish_module();
