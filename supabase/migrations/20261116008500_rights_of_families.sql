-- Closes every function that the families have not opened.

select tickwork.close_functions();
