-- What the responses of an endpoint mean for its waiting deliveries. The chart is in docs/design/webhook-delivery.md.

create function tickwork.judge_endpoint(
  endpoint public.webhook_endpoints,
  verdict text,
  retry_after_seconds double precision,
  reason text
)
returns void
language plpgsql
volatile
as $$
declare
  now_open constant boolean := judge_endpoint.verdict in ('down', 'throttled')
    and ((endpoint).breaker = 'open' or ((endpoint).failures >= 4 and judge_endpoint.verdict = 'down'));
  -- An attempt that was under way when the breaker opened says nothing new.
  is_late constant boolean := (endpoint).breaker = 'open' and (endpoint).probe_at > clock_timestamp();
begin
  if judge_endpoint.verdict = 'delivered' and (endpoint).breaker = 'closed' and (endpoint).failures = 0 then
    return;
  end if;

  update public.webhook_endpoints
  set
    failures = case judge_endpoint.verdict when 'delivered' then 0 else webhook_endpoints.failures + 1 end,
    failing_since = case
      when judge_endpoint.verdict <> 'delivered' then coalesce(webhook_endpoints.failing_since, clock_timestamp())
    end
  where webhook_endpoints.id = (endpoint).id
  returning webhook_endpoints.* into endpoint;

  case
    when judge_endpoint.verdict = 'gone' then
      perform tickwork.disable_endpoint(endpoint, 'It answered 410 Gone');
    when (endpoint).failures >= 5 and (endpoint).failing_since < clock_timestamp() - interval '5 days' then
      perform tickwork.disable_endpoint(endpoint, 'All attempts have failed for five days, most recently: ' || reason);
    when now_open and not is_late then
      perform tickwork.open_breaker(endpoint, judge_endpoint.retry_after_seconds, judge_endpoint.reason);
    when judge_endpoint.verdict = 'throttled' and not now_open then
      perform tickwork.set_hold(
        tickwork.delivery_family(), (endpoint).tenant_id, tickwork.endpoint_lane((endpoint).id),
        clock_timestamp() + make_interval(secs => coalesce(judge_endpoint.retry_after_seconds, 60)),
        'the endpoint asked to wait'
      );
    when judge_endpoint.verdict in ('delivered', 'refused') and (endpoint).breaker <> 'closed' then
      perform tickwork.close_breaker(endpoint);
    else
      null;
  end case;
end
$$;

comment on function tickwork.judge_endpoint is
  'What follows from an attempt: delivered, down (no response or a bad one), throttled (429), refused (another 4xx, so '
  'the endpoint is up) or gone (410). Updates the breaker, and disables an endpoint that keeps failing.';

create function tickwork.open_breaker(
  endpoint public.webhook_endpoints,
  retry_after_seconds double precision,
  reason text
)
returns void
language plpgsql
volatile
as $$
declare
  probes_made constant integer := case (endpoint).breaker when 'open' then (endpoint).probes + 1 else 0 end;
  -- 30 s, then twice as long each time, up to ten minutes.
  pause constant double precision := greatest(
    coalesce(open_breaker.retry_after_seconds, 0),
    (0.8 + 0.4 * random()) * least(30 * 2 ^ least(probes_made, 10), 600)
  );
  lane constant text := tickwork.endpoint_lane((endpoint).id);
begin
  update public.webhook_endpoints
  set
    breaker = 'open',
    probes = probes_made,
    probe_at = clock_timestamp() + make_interval(secs => pause)
  where webhook_endpoints.id = (endpoint).id;

  perform tickwork.set_limits(tickwork.delivery_family(), (endpoint).tenant_id, lane, 1, null);
  perform tickwork.set_hold(
    tickwork.delivery_family(), (endpoint).tenant_id, lane, clock_timestamp() + make_interval(secs => pause),
    'the endpoint is down, and the next attempt will show whether it is back: ' || rtrim(open_breaker.reason, '.')
  );
end
$$;

create function tickwork.close_breaker(endpoint public.webhook_endpoints)
returns void
language plpgsql
volatile
as $$
declare
  lane constant text := tickwork.endpoint_lane((endpoint).id);
  family constant text := tickwork.delivery_family();
  is_back constant boolean := (endpoint).breaker = 'recovering' and (endpoint).successes >= 19;
begin
  update public.webhook_endpoints
  set
    breaker = case when is_back then 'closed' else 'recovering' end,
    successes = case webhook_endpoints.breaker when 'open' then 1 else webhook_endpoints.successes + 1 end,
    probes = 0,
    probe_at = null
  where webhook_endpoints.id = (endpoint).id;

  if is_back then
    perform tickwork.set_limits(family, (endpoint).tenant_id, lane, null, null);
  elsif (endpoint).breaker = 'open' then
    perform tickwork.set_limits(family, (endpoint).tenant_id, lane, null, 60);
    perform tickwork.hasten_lane(family, (endpoint).tenant_id, lane);
    perform tickwork.end_hold(family, (endpoint).tenant_id, lane);
  end if;
end
$$;

create function tickwork.delivery_family()
returns text
language plpgsql
stable
as $$
begin
  return (select job_types.family from public.job_types where job_types.key = 'deliver_webhook');
end
$$;

create function tickwork.disable_endpoint(endpoint public.webhook_endpoints, reason text)
returns void
language plpgsql
volatile
as $$
begin
  update public.webhook_endpoints
  set
    status = 'disabled',
    disabled_reason = left(disable_endpoint.reason, 500)
  where webhook_endpoints.id = (endpoint).id;

  perform tickwork.add_event(
    (endpoint).tenant_id,
    'webhook_endpoint.disabled',
    'webhook_endpoint:' || (endpoint).id,
    -- Without the URL, which may contain a token: the event goes to the other endpoints.
    jsonb_build_object(
      'webhook_endpoint_id', (endpoint).id,
      'description', (endpoint).description,
      'reason', left(disable_endpoint.reason, 500)
    )
  );
end
$$;

comment on function tickwork.disable_endpoint is 'Stops deliveries to the endpoint, and tells its owner by an event.';


-- Nothing more is sent to an endpoint that is disabled or deleted; one that is enabled again starts afresh.

create function tickwork.follow_endpoint()
returns trigger
language plpgsql
security definer -- nobody may write jobs, secrets and lane rules
set search_path = ''
as $$
declare
  lane constant text := tickwork.endpoint_lane(old.id);
begin
  perform tickwork.cancel_lane(
    tickwork.delivery_family(), old.tenant_id, lane, 'ENDPOINT_DISABLED', 'The endpoint was disabled or deleted'
  );

  update public.webhook_deliveries
  set
    status = 'failed',
    error_code = 'ENDPOINT_DISABLED'
  where webhook_deliveries.webhook_endpoint_id = old.id
    and webhook_deliveries.tenant_id = old.tenant_id
    and webhook_deliveries.job_id is null
    and webhook_deliveries.status = 'pending';

  if tg_op = 'DELETE' then
    delete from tickwork.secrets
    where secrets.tenant_id = old.tenant_id
      and secrets.owner = lane;
  end if;

  perform tickwork.set_limits(tickwork.delivery_family(), old.tenant_id, lane, null, null);
  perform tickwork.end_hold(tickwork.delivery_family(), old.tenant_id, lane);
  return null;
end
$$;

create trigger follow_endpoint after delete on public.webhook_endpoints
for each row execute function tickwork.follow_endpoint();

create trigger follow_status
after update of status on public.webhook_endpoints
for each row
when (old.status is distinct from new.status)
execute function tickwork.follow_endpoint();

create function tickwork.start_afresh()
returns trigger
language plpgsql
set search_path = ''
as $$
begin
  new.disabled_reason := case new.status when 'disabled' then new.disabled_reason end;
  new.breaker := 'closed';
  new.failures := 0;
  new.failing_since := null;
  new.probes := 0;
  new.probe_at := null;
  new.successes := 0;
  return new;
end
$$;

create trigger start_afresh
before update of status on public.webhook_endpoints
for each row
when (old.status is distinct from new.status)
execute function tickwork.start_afresh();
