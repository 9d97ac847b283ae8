-- The rules for everything that is passed to the queue, each with an error of its own.

create function tickwork.check_size(field text, value text, most integer)
returns void
language plpgsql
immutable
as $$
begin
  if octet_length(check_size.value) > check_size.most then
    raise exception '%: % bytes is too large, the maximum is %',
      check_size.field, octet_length(check_size.value), check_size.most
      using errcode = 'TWBIG', hint = 'Store large data elsewhere and put a reference to it in the job.';
  end if;
end
$$;

comment on function tickwork.check_size is 'Raises TWBIG if the value has more bytes than most.';

create function tickwork.is_key(value text)
returns boolean
language sql
immutable
return octet_length(value) between 1 and 200;

create function tickwork.check_key(field text, value text)
returns void
language plpgsql
immutable
as $$
begin
  if tickwork.is_key(check_key.value) is not false then
    return;
  end if;

  if check_key.value = '' then
    raise exception '%: must not be empty', check_key.field
      using errcode = 'TWKEY', hint = 'Leave it out, or give it a value.';
  end if;

  perform tickwork.check_size(check_key.field, check_key.value, 200);
end
$$;

comment on function tickwork.check_key is 'Raises TWKEY if the value is empty, TWBIG if it is too long. Null is fine.';

-- The rules that every enqueue checks are SQL expressions that return the name of the rule that is broken, or null. So
-- they become part of the statements that check many values at once. The messages are where the errors are raised.

create function tickwork.broken_payload_rule(payload jsonb, as_text text)
returns text
language sql
immutable
return case
  when jsonb_typeof(payload) <> 'object' then 'object'
  when octet_length(as_text) > 65536 then 'size'
  -- The text is checked first: 33 levels take 66 characters, and such numbers are rare.
  when octet_length(as_text) >= 66
    and jsonb_path_exists(payload, 'strict $.**{32} ? (@.type() == "object" || @.type() == "array")')
  then 'depth'
  when octet_length(as_text) >= 255
    and as_text ~ '[0-9]{255}'
    and jsonb_path_exists(payload, 'strict $.** ? (@.type() == "number" && (@ > 1e308 || @ < -1e308))')
  then 'number'
end;

comment on function tickwork.broken_payload_rule is
  'Null if the payload is an object that can be stored; otherwise object, size, depth or number.';

create function tickwork.check_payload(payload jsonb, schema jsonb)
returns void
language plpgsql
stable
as $$
declare
  problem text;
begin
  case tickwork.broken_payload_rule(check_payload.payload, check_payload.payload::text)
    when 'object' then
      raise exception 'payload: must be an object, not %', jsonb_typeof(check_payload.payload)
        using errcode = 'TWPAY', hint = 'Wrap the value: {"value": ...}.';
    when 'size' then
      perform tickwork.check_size('payload', check_payload.payload::text, 65536);
    when 'depth' then
      raise exception 'payload: nested deeper than 32 levels'
        using errcode = 'TWPAY', hint = 'Flatten the payload.';
    when 'number' then
      raise exception 'payload: contains a number beyond 1e308'
        using errcode = 'TWPAY', hint = 'Few languages can read it. Send it as a string.';
    else
      if check_payload.schema is not null then
        problem := tickwork.schema_mismatch(check_payload.payload, check_payload.schema);
      end if;
  end case;

  if problem is not null then
    raise exception '%', problem
      using errcode = 'TWPAY', hint = 'See payload_schema in job_types.';
  end if;
end
$$;

comment on function tickwork.check_payload is
  'Raises TWPAY or TWBIG unless the payload is an object that can be stored and matches the schema.';

create function tickwork.check_artifact_ref(payload jsonb, job_type public.job_types)
returns void
language plpgsql
immutable
as $$
declare
  ref constant jsonb := check_artifact_ref.payload -> 'artifact_ref';
begin
  if (
    check_artifact_ref.payload - 'artifact_ref' = '{}'
    and jsonb_typeof(ref) = 'object'
    and ref - array['id', 'sha256', 'size'] = '{}'
    and ref ->> 'id' ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
    and ref ->> 'sha256' ~ '^[0-9a-f]{64}$'
    and jsonb_typeof(ref -> 'size') = 'number'
    and ref ->> 'size' ~ '^[0-9]{1,13}$'
  ) is not true then
    raise exception 'payload: artifact_ref must be the id, sha256 and size of an artifact, and nothing else beside it'
      using errcode = 'TWPAY', hint = 'Such as {"artifact_ref": {"id": ..., "sha256": ..., "size": ...}}.';
  end if;

  if (job_type).redacted <> '{}' then
    raise exception 'payload: the type % redacts values, which an artifact would show', quote_literal((job_type).key)
      using errcode = 'TWPAY', hint = 'Store the values as secrets, or pass a payload that fits into the job.';
  end if;
end
$$;

comment on function tickwork.check_artifact_ref is
  'Raises TWPAY unless the payload is a reference to an artifact and nothing else, and its type redacts nothing.';

create function tickwork.is_run_at(run_at timestamptz)
returns boolean
language sql
immutable
return run_at between '1900-01-01 00:00Z' and '9998-12-31 00:00Z';

create function tickwork.check_run_at(run_at timestamptz)
returns void
language plpgsql
immutable
as $$
begin
  if tickwork.is_run_at(check_run_at.run_at) then
    return;
  end if;

  if check_run_at.run_at is null or not isfinite(check_run_at.run_at) then
    raise exception 'run_at: must be a point in time, not %', coalesce(check_run_at.run_at::text, 'null')
      using errcode = 'TWRUN', hint = 'Pass now() to run the job as soon as possible.';
  end if;

  raise exception 'run_at: % is out of range, the year must be 1900 to 9998', check_run_at.run_at
    using errcode = 'TWRUN', hint = 'Not every language can read such a date.';
end
$$;

comment on function tickwork.check_run_at is
  'Raises TWRUN unless the value is a point in time that every client can read.';

create function tickwork.raise_lease_lost(job_id uuid)
returns void
language plpgsql
immutable
set search_path = ''
as $$
begin
  raise exception 'job % is no longer held under this lease', raise_lease_lost.job_id
    using
      errcode = 'TWLSE',
      hint = 'The lease expired and the job went to another worker, or it has ended. Drop the result.';
end
$$;

comment on function tickwork.raise_lease_lost is 'Raises TWLSE.';

create function tickwork.check_objects(field text, objects jsonb, names text[])
returns void
language plpgsql
immutable
as $$
declare
  stranger text;
begin
  if jsonb_typeof(check_objects.objects) is distinct from 'array' then
    raise exception '%: must be an array of objects', check_objects.field
      using errcode = 'TWARG', hint = format('For a single one: [{%s: ...}].', to_json(check_objects.names[1]));
  end if;

  if jsonb_array_length(check_objects.objects) > 10000 then
    raise exception '%: % objects are too many, the maximum is 10000',
      check_objects.field, jsonb_array_length(check_objects.objects)
      using errcode = 'TWBIG', hint = 'Send them in several batches.';
  end if;

  -- One is rarely wrong, and finding out which one takes three times as long.
  perform
  from jsonb_array_elements(check_objects.objects) as object(value)
  where case jsonb_typeof(object.value) when 'object' then object.value - check_objects.names <> '{}' else true end;

  if not found then
    return;
  end if;

  select format(
    '%s[%s]: %s',
    check_objects.field, object.ordinality - 1, coalesce('unknown field ' || name.of_field, 'must be an object')
  )
  into stranger
  from jsonb_array_elements(check_objects.objects) with ordinality as object
  left join lateral jsonb_object_keys(
    case jsonb_typeof(object.value) when 'object' then object.value else '{}' end
  ) as name(of_field) on true
  where jsonb_typeof(object.value) <> 'object'
    or name.of_field <> all (check_objects.names)
  limit 1;

  if found then
    raise exception '%', stranger
      using errcode = 'TWARG', hint = format('The fields are %s.', array_to_string(check_objects.names, ', '));
  end if;
end
$$;

comment on function tickwork.check_objects is
  'Raises TWARG or TWBIG unless the value is an array of objects with no other fields than these.';

create function tickwork.check_delay(field text, seconds double precision)
returns double precision
language plpgsql
immutable
as $$
begin
  if check_delay.seconds not between 0 and 2592000 then
    raise exception '%: % is out of range, it must be 0 to 2592000 (30 days)', check_delay.field, check_delay.seconds
      using errcode = 'TWARG', hint = 'Leave it out to use the backoff of the job''s type.';
  end if;

  return check_delay.seconds;
end
$$;

comment on function tickwork.check_delay is 'Returns the delay. Raises TWARG if it is out of range.';


-- Which verbs wait for the disk. A crash may lose a claim, but never an enqueue or a result. The function attribute
-- `set synchronous_commit` would be undone before the commit that it is meant for; a local setting is not.

create function tickwork.wait_for_disk()
returns text
language sql
volatile
return case when current_setting('synchronous_commit') = 'off' then set_config('synchronous_commit', 'on', true) end;

create function tickwork.skip_disk()
returns void
language plpgsql
volatile
as $$
begin
  -- A transaction that has already written something may have promised somebody that it is durable.
  if pg_current_xact_id_if_assigned() is null then
    perform set_config('synchronous_commit', 'off', true);
  end if;
end
$$;
