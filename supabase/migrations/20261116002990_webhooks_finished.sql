-- The end of the module webhooks.

select tickwork.finish_module();
