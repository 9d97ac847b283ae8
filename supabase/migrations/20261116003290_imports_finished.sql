-- The end of the module imports.

select tickwork.finish_module();
