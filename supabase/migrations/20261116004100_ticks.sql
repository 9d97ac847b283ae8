-- When functions are called: as often as cron ticks and something is due, and at once when a job is inserted.

create function tickwork.count_due(family text, most integer)
returns integer
language plpgsql
stable
set search_path = ''
as $$
declare
  due_by constant timestamptz := clock_timestamp();
  found_wakes integer;
  found_jobs integer;
begin
  with due_wakes as (
    select wakes.type, wakes.priority, wakes.tenant_id, wakes.lane, wakes.is_for_line
    from tickwork.wakes
    where wakes.family = count_due.family
      and wakes.wake_at <= due_by
    order by wakes.family, wakes.wake_at
    limit 1000
  ),
  woken as (
    select distinct due_wakes.type, due_wakes.priority, due_wakes.tenant_id, due_wakes.lane, due_wakes.is_for_line
    from due_wakes
  ),
  -- Lines that the next claim would serve, and those that it would open first.
  due_lines as (
    select turns.tenant_id, lines.id
    from tickwork.served_types
    join tickwork.turns on turns.family = served_types.family and turns.type = served_types.type and turns.is_open
    join tickwork.lines on lines.turn_id = turns.id and lines.is_open
    where served_types.family = count_due.family
      and not served_types.is_held
      and served_types.full_until < due_by
    union
    select
      woken.tenant_id,
      tickwork.line_id(count_due.family, woken.type, woken.priority, woken.tenant_id, woken.lane)
    from woken
    where woken.is_for_line
      and not tickwork.is_held(tickwork.family_scope(count_due.family))
      and not tickwork.is_held(tickwork.type_scope(woken.type))
      and not tickwork.is_held(tickwork.tenant_scope(woken.tenant_id))
      and not tickwork.is_held(tickwork.lane_scope(count_due.family, woken.tenant_id, woken.lane))
    union
    select woken.tenant_id, lines.id
    from woken
    join tickwork.lines
      on lines.turn_id = tickwork.turn_id(count_due.family, woken.type, woken.priority, woken.tenant_id)
      and lines.is_open
    where not woken.is_for_line
  )
  select
    (select count(*) from due_wakes),
    (
      select count(*)
      from (
        select
        from due_lines
        cross join lateral (
          select
          from public.jobs
          where jobs.tenant_id = due_lines.tenant_id
            and tickwork.line_id(jobs.family, jobs.type, jobs.priority, jobs.tenant_id, jobs.lane) = due_lines.id
            and jobs.status = 'queued'
            and jobs.run_at <= due_by
          order by
            jobs.tenant_id,
            tickwork.line_id(jobs.family, jobs.type, jobs.priority, jobs.tenant_id, jobs.lane),
            jobs.run_at
          limit count_due.most
        ) as due_jobs
        limit count_due.most
      ) as counted
    )
  into found_wakes, found_jobs;

  -- So many wakes hide what is behind them until a claim takes them away: let one come.
  return case when found_wakes = 1000 then greatest(found_jobs, 1) else found_jobs end;
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

create function tickwork.wake_function(target tickwork.functions)
returns bigint
language plpgsql
volatile
set search_path = ''
as $$
declare
  token integer;
  sent bigint;
begin
  update tickwork.call_tokens
  set free_at = clock_timestamp() + interval '5 seconds'
  where call_tokens.ctid = (
    select free.ctid
    from tickwork.call_tokens as free
    where free.family = wake_function.target.family
      and free.free_at <= clock_timestamp()
    limit 1
    for update skip locked
  )
  returning call_tokens.number into token;

  if token is null then
    return null;
  end if;

  sent := tickwork.call_function(wake_function.target);

  update tickwork.call_tokens
  set request_id = sent
  where call_tokens.family = wake_function.target.family
    and call_tokens.number = token;

  return sent;
exception
  -- The job matters and the call is a hint: the next tick says what is wrong.
  when others then
    raise warning 'tickwork: the function of family % was not called: %', wake_function.target.family, sqlerrm;

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
  target tickwork.functions;
begin
  -- In a burst no token is free, and this one look is all that it costs.
  for target in
    select functions.*
    from tickwork.functions
    where exists (
        select
        from tickwork.call_tokens
        where call_tokens.family = functions.family
          and call_tokens.free_at <= clock_timestamp()
      )
      and exists (
        select
        from inserted
        where inserted.family = functions.family
          and inserted.run_at <= clock_timestamp()
      )
  loop
    perform tickwork.wake_function(target);
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
