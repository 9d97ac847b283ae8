-- Three tenants to try things with, a user who belongs to the first two, and an admin of the first.

insert into public.organizations (id, name)
values
  ('00000000-0000-4000-8000-00000000000a', 'acme'),
  ('00000000-0000-4000-8000-00000000000b', 'birch'),
  ('00000000-0000-4000-8000-00000000000c', 'cedar')
on conflict do nothing;

insert into public.memberships (tenant_id, user_id, role)
values
  ('00000000-0000-4000-8000-00000000000a', '00000000-0000-4000-8000-000000000001', 'owner'),
  ('00000000-0000-4000-8000-00000000000b', '00000000-0000-4000-8000-000000000001', 'member'),
  ('00000000-0000-4000-8000-00000000000a', '00000000-0000-4000-8000-000000000002', 'admin')
on conflict do nothing;
