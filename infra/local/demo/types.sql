-- The types of the demo. Their delays and leases are as short as can be, so that nobody has to wait.

insert into public.job_types (key, family, description, max_attempts, backoff, lease_seconds)
values
  ('demo_quick', 'demo', 'Is done at once', 4, '[1]', 10),
  ('demo_slow', 'demo', 'Takes two seconds and reports its progress', 4, '[1]', 10),
  ('demo_unlucky', 'demo', 'Fails twice, then works', 4, '[1]', 10),
  ('demo_hopeless', 'demo', 'Fails for good', 4, '[1]', 10),
  ('demo_crash', 'demo_crash', 'Kills its worker, every time', 2, '[1]', 10)
on conflict do nothing;
