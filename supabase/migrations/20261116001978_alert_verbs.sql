-- What platform admins do about alerts.

create function public.list_alerts(
  only_open boolean default false,
  max_alerts integer default 100,
  after_id uuid default null
)
returns setof public.alerts
language sql
stable
begin atomic
  select *
  from tickwork.list_alerts(only_open, max_alerts, after_id);
end;

create function public.list_alert_rules()
returns setof public.alert_rules
language sql
stable
begin atomic
  select *
  from tickwork.list_alert_rules();
end;

create function public.change_alert_rule(
  key text,
  threshold double precision default null,
  closes_at double precision default null,
  for_seconds integer default null,
  severity text default null,
  is_on boolean default null
)
returns public.alert_rules
language sql
volatile
return tickwork.change_alert_rule(key, threshold, closes_at, for_seconds, severity, is_on);

create function public.set_platform_tenant(tenant_id uuid)
returns void
language sql
volatile
return tickwork.set_platform_tenant(tenant_id);

comment on function public.list_alerts is
  'Reads alerts, the newest first, or only the open ones. Pass the id of the last one as after_id to go on. At most '
  '1000 at a time. For platform admins and the service. Raises TWADM.';
comment on function public.list_alert_rules is
  'Reads the rules of alerts, with what was measured last. For platform admins and the service. Raises TWADM.';
comment on function public.change_alert_rule is
  'Sets when a rule alerts; what is null stays. A new threshold without closes_at moves that in proportion. Closes the '
  'open alert of a rule that is switched off. For platform admins and the service. Raises TWADM, TWARG.';
comment on function public.set_platform_tenant is
  'Sets the tenant whose events, and so whose webhooks and triggers, tell of alerts; null for none. For platform '
  'admins and the service. Raises TWADM, TWTNT.';

select tickwork.open_verbs('authenticated, service_role', array[
  'list_alerts', 'list_alert_rules', 'change_alert_rule', 'set_platform_tenant'
]);
