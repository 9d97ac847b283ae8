-- Where the waiting jobs of a family begin: a claim looks at nothing that has been waiting since an earlier time. So
-- it does not step over jobs that were there before, whose rows remain until no transaction can see them any more.
--
-- Only a hint, in a sequence, as microseconds since 1970. It may be lower than necessary. For a job whose transaction
-- was open while others moved it, it may be too high: maintain finds that job.

create function tickwork.front_at(front bigint)
returns timestamptz
language sql
immutable
return timestamptz 'epoch' + coalesce(front, 0) * interval '1 microsecond';

create function tickwork.is_time_to_move(starts bigint, more integer)
returns boolean
language sql
immutable
return starts >> 10 < starts + more >> 10;

comment on function tickwork.is_time_to_move is
  'True for one start in 1,024, so that claims need not step over more than so many jobs.';

create function tickwork.lower_front(family text, run_at timestamptz)
returns void
language plpgsql
volatile
as $$
declare
  front regclass;
begin
  select family_types.front into front
  from tickwork.family_types
  where family_types.family = lower_front.family
  limit 1;

  if lower_front.run_at < tickwork.front_at(pg_sequence_last_value(front)) then
    perform setval(front, greatest(0, floor(extract(epoch from lower_front.run_at) * 1000000))::bigint);
  end if;
end
$$;

comment on function tickwork.lower_front is 'A job with this run_at is about to wait.';

create function tickwork.move_front(family text, since timestamptz, max_steps integer)
returns void
language plpgsql
volatile
as $$
declare
  -- Jobs that are being enqueued are not visible yet.
  latest constant timestamptz := clock_timestamp() - interval '2 seconds';
  front regclass;
  first_at timestamptz;
  steps integer;
begin
  -- From the first job of one type, tenant and priority to that of the next.
  with recursive heads as (
    (
      select waiting.type, waiting.tenant_number, waiting.priority, waiting.run_at, 1 as step
      from tickwork.waiting
      where waiting.family = move_front.family
        and waiting.run_at >= move_front.since
      order by waiting.family, waiting.type, waiting.tenant_number, waiting.priority desc, waiting.run_at
      limit 1
    )
    union all
    select next.type, next.tenant_number, next.priority, next.run_at, heads.step + 1
    from heads
    cross join lateral (
      (
        select waiting.type, waiting.tenant_number, waiting.priority, waiting.run_at
        from tickwork.waiting
        where waiting.family = move_front.family
          and waiting.type = heads.type
          and waiting.tenant_number = heads.tenant_number
          and waiting.priority < heads.priority
          and waiting.run_at >= move_front.since
        order by waiting.family, waiting.type, waiting.tenant_number, waiting.priority desc, waiting.run_at
        limit 1
      )
      union all
      (
        select waiting.type, waiting.tenant_number, waiting.priority, waiting.run_at
        from tickwork.waiting
        where waiting.family = move_front.family
          and waiting.type = heads.type
          and waiting.tenant_number > heads.tenant_number
          and waiting.run_at >= move_front.since
        order by waiting.family, waiting.type, waiting.tenant_number, waiting.priority desc, waiting.run_at
        limit 1
      )
      union all
      (
        select waiting.type, waiting.tenant_number, waiting.priority, waiting.run_at
        from tickwork.waiting
        where waiting.family = move_front.family
          and waiting.type > heads.type
          and waiting.run_at >= move_front.since
        order by waiting.family, waiting.type, waiting.tenant_number, waiting.priority desc, waiting.run_at
        limit 1
      )
      limit 1
    ) as next
    where heads.step < move_front.max_steps
  )
  select min(heads.run_at), count(*)
  into first_at, steps
  from heads;

  select family_types.front into front
  from tickwork.family_types
  where family_types.family = move_front.family
  limit 1;

  -- Where it takes more steps, each tenant has few jobs to step over.
  first_at := case when steps < move_front.max_steps then least(first_at, latest) else move_front.since end;
  perform setval(front, greatest(0, floor(extract(epoch from first_at) * 1000000))::bigint);
end
$$;

comment on function tickwork.move_front is
  'Moves the front of a family to the first of its waiting jobs that are not before `since`, or to `since` if that '
  'would take too many steps; not all the way, because there may be jobs that are not visible yet.';
