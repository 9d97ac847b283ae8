-- The end of the module documents.

select tickwork.finish_module();
