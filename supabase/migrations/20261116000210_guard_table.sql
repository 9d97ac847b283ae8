-- Who may access a table, in one place. A worker reaches the rows of the tenant whose job it holds, members reach the
-- rows of their tenants, and every signed-in user reaches the rows of a table that is the same for all.

create function tickwork.guard_table(
  target regclass,
  members text default null,
  worker text default null,
  service text default null,
  signed_in text default null,
  queue text default 'select, insert, update, delete'
)
returns void
language plpgsql
volatile
as $$
declare
  part record;
begin
  execute format('alter table %s enable row level security', target);
  execute format('alter table %s force row level security', target);
  execute format(
    'revoke all on %s from public, anon, authenticated, service_role, tickwork_worker, tickwork_owner', target
  );

  for part in
    select *
    from (
      values
        (queue, 'tickwork_owner', 'the_queue_reaches_all', 'all', 'true'),
        (service, 'service_role', null, null, null),
        (
          members, 'authenticated', 'members_reach_their_own', 'all',
          'tenant_id in (select tickwork.caller_tenants()) or (select tickwork.caller_reads_all())'
        ),
        (
          worker, 'tickwork_worker', 'the_worker_reaches_the_held_tenant', 'all',
          'tenant_id = (select tickwork.held_tenant())'
        ),
        (signed_in, 'authenticated, tickwork_worker', 'everybody_signed_in_reads', 'select', 'true')
    ) as given(rights, roles, policy, command, condition)
    where given.rights is not null
  loop
    execute format('grant %s on %s to %s', part.rights, target, part.roles);

    -- Rows that may be read may also be written, as far as the role has the right.
    if part.policy is not null then
      execute format(
        'create policy %I on %s for %s to %s using (%s) %s', part.policy, target, part.command, part.roles,
        part.condition,
        case when part.policy = 'members_reach_their_own' then
          format('with check ((%s) and (select tickwork.caller_may_add()))', part.condition)
        end
      );
    end if;
  end loop;
end
$$;

comment on function tickwork.guard_table is
  'Enables row-level security on a table and grants what each role may do: members on the rows of their tenants (by '
  'tenant_id), the worker on the rows of the tenant whose job it holds, signed_in on every row. Nobody else has any '
  'right.';

select tickwork.guard_table('tickwork.platform_admins', service => 'select, insert, update, delete', queue => 'select');
