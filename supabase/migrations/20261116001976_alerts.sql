-- closed -> open -> closed: alerts, as ticks find them.

create function tickwork.check_alerts()
returns void
language plpgsql
volatile
as $$
declare
  rule public.alert_rules;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    return;
  end if;

  for rule in
    select *
    from public.alert_rules
    where alert_rules.is_on
      and coalesce(alert_rules.checked_at, '-infinity') < clock_timestamp() - interval '10 seconds'
    order by alert_rules.key
    for no key update skip locked
  loop
    begin
      execute format('select tickwork.%I()', 'measure_' || rule.key) into rule.value;
      perform tickwork.judge_alert(rule);
    exception
      -- What is wrong with a rule must keep neither the others nor the tick from their work.
      when others then
        raise warning 'tickwork: alert rule % was not checked: %', rule.key, sqlerrm;
    end;
  end loop;
end
$$;

create function tickwork.judge_alert(rule public.alert_rules)
returns void
language plpgsql
volatile
as $$
declare
  now_at constant timestamptz := clock_timestamp();
  is_open constant boolean := exists (
    select
    from public.alerts
    where alerts.rule = (judge_alert.rule).key
      and alerts.closed_at is null
  );
  -- Between the two, an alert stays as it is.
  turns constant boolean := case
    when is_open then (rule).value <= (rule).closes_at
    else (rule).value > (rule).threshold
  end;
  since timestamptz := case when turns then coalesce((rule).turned_at, now_at) end;
begin
  if is_open then
    update public.alerts
    set worst = greatest(alerts.worst, (judge_alert.rule).value)
    where alerts.rule = (judge_alert.rule).key
      and alerts.closed_at is null
      and alerts.worst < (judge_alert.rule).value;
  end if;

  if turns and since <= now_at - make_interval(secs => (rule).for_seconds) then
    since := null;

    if is_open then
      perform tickwork.close_alert(rule);
    else
      perform tickwork.open_alert(rule);
    end if;
  end if;

  update public.alert_rules
  set
    value = (judge_alert.rule).value,
    checked_at = now_at,
    turned_at = since
  where alert_rules.key = (judge_alert.rule).key;
end
$$;

create function tickwork.open_alert(rule public.alert_rules)
returns void
language plpgsql
volatile
as $$
declare
  opened public.alerts;
begin
  insert into public.alerts (rule, severity, message, value, worst)
  values (
    (rule).key, (rule).severity,
    format('%s: %s, more than %s', (rule).description, round((rule).value::numeric, 2), (rule).threshold),
    (rule).value, (rule).value
  )
  returning alerts.* into opened;

  raise warning 'tickwork: alert % opened: %', (rule).key, opened.message;
  perform tickwork.tell_platform('alert.opened', opened);
end
$$;

create function tickwork.close_alert(rule public.alert_rules)
returns void
language plpgsql
volatile
as $$
declare
  closed public.alerts;
begin
  update public.alerts
  set closed_at = clock_timestamp()
  where alerts.rule = (close_alert.rule).key
    and alerts.closed_at is null
  returning alerts.* into closed;

  raise warning 'tickwork: alert % closed after %', (rule).key,
    date_trunc('second', closed.closed_at - closed.opened_at);
  perform tickwork.tell_platform('alert.closed', closed);

  delete from public.alerts
  where alerts.closed_at < clock_timestamp() - interval '400 days';
end
$$;

create function tickwork.tell_platform(event text, alert public.alerts)
returns void
language plpgsql
volatile
as $$
declare
  tenant_id constant uuid := (select platform_tenant.tenant_id from tickwork.platform_tenant);
begin
  if tenant_id is not null and to_regproc('tickwork.add_event') is not null then
    perform tickwork.add_event(
      tenant_id, tell_platform.event, 'alert:' || (alert).id, jsonb_build_object(
        'rule', (alert).rule, 'severity', (alert).severity, 'message', (alert).message, 'value', (alert).value,
        'worst', (alert).worst, 'opened_at', (alert).opened_at, 'closed_at', (alert).closed_at
      )
    );
  end if;
end
$$;

comment on function tickwork.check_alerts is
  'Measures what was not measured for ten seconds, and opens and closes alerts. Never waits and never raises.';
comment on function tickwork.judge_alert is
  'closed -> open, open -> closed. What follows from the value just measured.';
comment on function tickwork.tell_platform is
  'alert.opened and alert.closed: events of the tenant of the platform, if there is one and there are events.';

create function tickwork.list_alerts(only_open boolean, max_alerts integer, after_id uuid)
returns setof public.alerts
language plpgsql
stable
security definer -- nobody may read alerts directly
set search_path = ''
as $$
begin
  perform tickwork.check_platform_admin('read alerts');

  return query
  select *
  from public.alerts
  where (alerts.closed_at is null or not list_alerts.only_open)
    and (
      list_alerts.after_id is null
      or (alerts.opened_at, alerts.id) < (
        select last.opened_at, last.id
        from public.alerts as last
        where last.id = list_alerts.after_id
      )
    )
  order by alerts.opened_at desc, alerts.id desc
  limit least(list_alerts.max_alerts, 1000);
end
$$;

create function tickwork.list_alert_rules()
returns setof public.alert_rules
language plpgsql
stable
security definer -- nobody may read rules directly
set search_path = ''
as $$
begin
  perform tickwork.check_platform_admin('read alerts');

  return query
  select * from public.alert_rules order by alert_rules.key;
end
$$;

create function tickwork.change_alert_rule(
  key text,
  threshold double precision,
  closes_at double precision,
  for_seconds integer,
  severity text,
  is_on boolean
)
returns public.alert_rules
language plpgsql
volatile
security definer -- nobody may write rules directly
set search_path = ''
as $$
declare
  changed public.alert_rules;
begin
  perform tickwork.check_platform_admin('change alerts');

  update public.alert_rules
  set
    threshold = coalesce(change_alert_rule.threshold, alert_rules.threshold),
    -- In step with the threshold, unless it is given.
    closes_at = coalesce(
      change_alert_rule.closes_at,
      case
        when alert_rules.threshold = 0 then least(alert_rules.closes_at, change_alert_rule.threshold)
        else alert_rules.closes_at * change_alert_rule.threshold / alert_rules.threshold
      end,
      alert_rules.closes_at
    ),
    for_seconds = coalesce(change_alert_rule.for_seconds, alert_rules.for_seconds),
    severity = coalesce(change_alert_rule.severity, alert_rules.severity),
    is_on = coalesce(change_alert_rule.is_on, alert_rules.is_on),
    turned_at = null,
    checked_at = null
  where alert_rules.key = change_alert_rule.key
  returning alert_rules.* into changed;

  if not found then
    raise exception 'key: there is no alert rule %', quote_nullable(change_alert_rule.key)
      using errcode = 'TWARG', hint = '`tickwork alerts rules` lists them.';
  end if;

  if not changed.is_on then
    perform tickwork.close_alert(changed)
    from public.alerts
    where alerts.rule = changed.key
      and alerts.closed_at is null;
  end if;

  return changed;
exception
  when check_violation then
    raise exception 'alert rule %: % does not hold', change_alert_rule.key, sqlerrm
      using errcode = 'TWARG', hint = 'closes_at must not be above threshold, for_seconds is 0 to 86400.';
end
$$;

create function tickwork.set_platform_tenant(tenant_id uuid)
returns void
language plpgsql
volatile
security definer -- nobody may write it directly
set search_path = ''
as $$
begin
  perform tickwork.check_platform_admin('change alerts');
  delete from tickwork.platform_tenant;

  if set_platform_tenant.tenant_id is not null then
    perform tickwork.check_caller(set_platform_tenant.tenant_id);

    insert into tickwork.platform_tenant (tenant_id)
    values (set_platform_tenant.tenant_id);
  end if;
end
$$;
