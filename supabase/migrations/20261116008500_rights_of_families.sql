-- Closes every function that the families have not opened.

select tickwork.close_functions();

-- What is created later is closed as well. Only a default for all schemas can take away what Postgres gives to public:
-- the functions of the application that this role creates need their own grants, too.
alter default privileges revoke execute on functions from public;
alter default privileges for role tickwork_owner revoke execute on functions from public;
