-- The end of the module documents.

select tickwork.audit_table('public.document_types', 'id');

select tickwork.finish_module();
