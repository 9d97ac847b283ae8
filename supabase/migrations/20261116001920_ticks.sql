-- When functions are called: at every tick of cron if something is due, and at once when a job is inserted.

create function tickwork.count_due(family text, most integer)
returns integer
language plpgsql
volatile
as $$
declare
  types constant text[] := array(
    select family_types.type
    from tickwork.family_types
    where family_types.family = count_due.family
      and not family_types.is_paused
      and family_types.full_until < clock_timestamp()
  );
  turns constant tickwork.turns := tickwork.next_turns(
    count_due.family, types, '-infinity', true, count_due.most, '{}', tickwork.read_turn(count_due.family)
  );
begin
  return (
    select count(*)
    from (
      select
      from unnest(turns.numbers) as turn(tenant_number)
      cross join unnest(tickwork.open_types(turn.tenant_number, count_due.family, types)) as served(type)
      cross join lateral (
        select
        from tickwork.waiting
        where waiting.family = count_due.family
          and waiting.type = served.type
          and waiting.tenant_number = turn.tenant_number
        limit count_due.most
      ) as standing
      limit count_due.most
    ) as counted
  );
end
$$;

create function tickwork.tick(family text, jitter_seconds double precision default 0)
returns integer
language plpgsql
volatile
security definer -- nobody else may access the tables of the queue
set search_path = ''
as $$
declare
  target tickwork.functions;
  due integer;
  requests bigint[] := array[]::bigint[];
begin
  -- Otherwise all families would tick at the same moment.
  perform pg_sleep(random() * tick.jitter_seconds);

  select * into target
  from tickwork.functions
  where functions.family = tick.family;

  if not found then
    raise exception 'the URL of the function of family % is missing', quote_nullable(tick.family)
      using errcode = 'TWCRN', hint = 'Pass it to `tickwork cron install`.';
  end if;

  -- Read even if nothing is due: if it is missing, that should show before it is needed.
  perform tickwork.call_secret();
  perform tickwork.maintain();

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
  -- A failed call must not undo the insert: the next tick reports what is wrong.
  when others then
    raise warning 'tickwork: the function of family % was not called: %', wake_function.target.family, sqlerrm;

    return null;
end
$$;

create function tickwork.wake_functions()
returns trigger
language plpgsql
security definer -- nobody else may access the tables of the queue
set search_path = ''
as $$
begin
  perform tickwork.wake_families(array(
    select distinct inserted.family
    from inserted
    where inserted.run_at <= clock_timestamp()
      and inserted.after is null
  ));
  return null;
end
$$;

create function tickwork.wake_families(families text[])
returns void
language plpgsql
volatile
as $$
declare
  target tickwork.functions;
begin
  -- In a burst no token is free, and this one lookup is all that it costs.
  for target in
    select functions.*
    from tickwork.functions
    where functions.family = any (wake_families.families)
      and exists (
        select
        from tickwork.call_tokens
        where call_tokens.family = functions.family
          and call_tokens.free_at <= clock_timestamp()
      )
  loop
    perform tickwork.wake_function(target);
  end loop;
end
$$;

create function tickwork.forget_ticks()
returns integer
language plpgsql
volatile
security definer -- nobody else may access the tables of the queue
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
  'How many jobs of a family a claim could start now, counted up to most. Limits may still hold some of them back.';
comment on function tickwork.tick is
  'What cron does for one family: maintains the queue, requests as many calls of its function as jobs are due, up to '
  'its max_calls, and records the tick. Returns how many. Raises TWCRN.';
comment on function tickwork.wake_function is
  'Requests a call of the function of a family, unless there were several in the last few seconds. Never waits, and '
  'never makes an insert fail.';
comment on function tickwork.wake_families is 'Wakes the functions of these families, as far as they are known.';
comment on function tickwork.wake_functions is
  'Wakes the functions of the jobs just inserted. Called by a trigger that `tickwork cron install` creates.';

select tickwork.open_verbs('service_role', array['tick', 'forget_ticks']);
