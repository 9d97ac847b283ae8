-- The end of the queue's own verbs.

select tickwork.finish_module();
