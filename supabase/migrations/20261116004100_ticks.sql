-- When functions are called: as often as cron ticks and something is due, and at once when a job is inserted.

create function tickwork.count_due(family text, most integer)
returns integer
language plpgsql
stable
set search_path = ''
as $$
declare
  due_by constant timestamptz := clock_timestamp();
begin
  return (
    select count(*)
    from (
      select
      from (
        -- Lines that the next claim would serve, and those that it would open first.
        select turns.tenant_id, lines.id
        from tickwork.served_types
        join tickwork.turns on turns.family = served_types.family and turns.type = served_types.type and turns.is_open
        join tickwork.lines on lines.turn_id = turns.id and lines.is_open
        where served_types.family = count_due.family
          and not served_types.is_held
          and served_types.full_until < due_by
        union
        select
          wakes.tenant_id,
          tickwork.line_id(wakes.family, wakes.type, wakes.priority, wakes.tenant_id, wakes.lane)
        from tickwork.wakes
        where wakes.family = count_due.family
          and wakes.wake_at <= due_by
          and wakes.is_for_line
          and not tickwork.is_held(tickwork.family_scope(wakes.family))
          and not tickwork.is_held(tickwork.type_scope(wakes.type))
          and not tickwork.is_held(tickwork.tenant_scope(wakes.tenant_id))
          and not tickwork.is_held(tickwork.lane_scope(wakes.family, wakes.tenant_id, wakes.lane))
        union
        select wakes.tenant_id, lines.id
        from tickwork.wakes
        join tickwork.lines
          on lines.turn_id = tickwork.turn_id(wakes.family, wakes.type, wakes.priority, wakes.tenant_id)
          and lines.is_open
        where wakes.family = count_due.family
          and wakes.wake_at <= due_by
          and not wakes.is_for_line
      ) as line
      cross join lateral (
        select
        from public.jobs
        where jobs.tenant_id = line.tenant_id
          and tickwork.line_id(jobs.family, jobs.type, jobs.priority, jobs.tenant_id, jobs.lane) = line.id
          and jobs.status = 'queued'
          and jobs.run_at <= due_by
        limit count_due.most
      ) as due
      limit count_due.most
    ) as counted
  );
end
$$;

create function tickwork.tick(family text, jitter_seconds double precision default 0)
returns integer
language plpgsql
volatile
security definer -- nobody else may touch the tables of the queue
set search_path = ''
as $$
declare
  target tickwork.functions;
  due integer;
  requests bigint[] := array[]::bigint[];
begin
  -- All families tick at the same moment otherwise.
  perform pg_sleep(random() * tick.jitter_seconds);

  select * into target
  from tickwork.functions
  where functions.family = tick.family;

  if not found then
    raise exception 'the URL of the function of family % is missing', quote_nullable(tick.family)
      using errcode = 'TWCRN', hint = 'Name it in `tickwork cron install`.';
  end if;

  -- Asked for although nothing may be due: what is missing should show before it is needed.
  perform tickwork.call_secret();
  perform tickwork.reap(tick.family, 1000);

  due := tickwork.count_due(tick.family, target.max_calls);

  for number in 1 .. due loop
    requests := requests || tickwork.call_function(target);
  end loop;

  insert into tickwork.ticks (family, due_jobs, request_ids)
  values (tick.family, due, requests);

  return due;
end
$$;

create function tickwork.wake_function(family text)
returns bigint
language plpgsql
volatile
set search_path = ''
as $$
declare
  target tickwork.functions;
  token integer;
  sent bigint;
begin
  select * into target
  from tickwork.functions
  where functions.family = wake_function.family;

  if not found then
    return null;
  end if;

  update tickwork.call_tokens
  set free_at = clock_timestamp() + interval '5 seconds'
  where call_tokens.ctid = (
    select free.ctid
    from tickwork.call_tokens as free
    where free.family = wake_function.family
      and free.free_at <= clock_timestamp()
    limit 1
    for update skip locked
  )
  returning call_tokens.number into token;

  if token is null then
    return null;
  end if;

  sent := tickwork.call_function(target);

  update tickwork.call_tokens
  set request_id = sent
  where call_tokens.family = wake_function.family
    and call_tokens.number = token;

  return sent;
exception
  -- The job matters and the call is a hint: the next tick says what is wrong.
  when others then
    raise warning 'tickwork: the function of family % was not called: %', wake_function.family, sqlerrm;

    return null;
end
$$;

create function tickwork.wake_functions()
returns trigger
language plpgsql
security definer -- nobody else may touch the tables of the queue
set search_path = ''
as $$
declare
  family text;
begin
  for family in
    select distinct inserted.family
    from inserted
    where inserted.run_at <= clock_timestamp()
  loop
    perform tickwork.wake_function(family);
  end loop;

  return null;
end
$$;

create function tickwork.forget_ticks()
returns integer
language plpgsql
volatile
security definer -- nobody else may touch the tables of the queue
set search_path = ''
as $$
declare
  forgotten integer;
begin
  delete from tickwork.ticks
  where ticks.ticked_at < now() - interval '1 day';

  get diagnostics forgotten = row_count;

  return forgotten;
end
$$;

comment on function tickwork.count_due is
  'How many jobs of a family a claim could start now, counted up to so many. Limits may still hold some of them back.';
comment on function tickwork.tick is
  'What cron does for one family: gives expired leases back, asks for as many calls of its function as jobs are due, '
  'up to its max_calls, and notes that it was here. Answers how many. Raises TWCRN.';
comment on function tickwork.wake_function is
  'Asks for a call of the function of a family, unless there were several in the last seconds. Waits for nobody, and '
  'fails no insert.';
comment on function tickwork.wake_functions is
  'Wakes the functions of the jobs just inserted. A trigger of `tickwork cron install` calls it.';

alter function tickwork.tick owner to tickwork_owner;
alter function tickwork.wake_functions owner to tickwork_owner;
alter function tickwork.forget_ticks owner to tickwork_owner;

revoke execute on function
  tickwork.count_due,
  tickwork.tick,
  tickwork.wake_function,
  tickwork.wake_functions,
  tickwork.forget_ticks
from public, anon, authenticated, service_role;

grant execute on function tickwork.count_due, tickwork.wake_function to tickwork_owner;
grant execute on function tickwork.tick, tickwork.forget_ticks to service_role;
