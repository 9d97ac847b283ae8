-- The end of the module passports.

select tickwork.finish_module();
