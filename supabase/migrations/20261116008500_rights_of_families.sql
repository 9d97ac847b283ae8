-- What the families have not opened is closed.

select tickwork.close_functions();
