-- The end of the module reports.

select tickwork.finish_module();
