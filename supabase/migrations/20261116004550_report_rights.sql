-- What a worker may read to report about the tenant whose job it holds: no payloads, results or secrets.

alter table public.tenant_settings add column language text not null default 'en';
alter table public.tenant_settings add constraint language_is_known check (language in ('en', 'de'));

comment on column public.tenant_settings.language is 'Of its reports: en or de.';

insert into public.job_types (key, family, description, timeout_seconds, enqueued_by, max_running_per_tenant)
values ('generate_report', 'report', 'Report about jobs, errors, usage and more of a tenant', 3600, 'member', 1);

create function tickwork.reported_tenant()
returns table (name text, timezone text, language text)
language sql
stable
security definer -- the table of tenants may be the application's own
set search_path = ''
as $$
  select
    coalesce(organizations.name, tenant_settings.tenant_id::text), tenant_settings.timezone, tenant_settings.language
  from public.tenant_settings
  left join tickwork.organizations on organizations.id = tenant_settings.tenant_id
  where tenant_settings.tenant_id = tickwork.held_tenant();
$$;

comment on function tickwork.reported_tenant is 'The tenant of the held job, with its time zone and language.';

select tickwork.open_verbs('tickwork_worker', array['reported_tenant']);

do $$
declare
  reported record;
begin
  for reported in
    select *
    from (
      values
        (
          'public.jobs',
          'id, tenant_id, type, family, status, source, attempts, error_code, created_at, started_at, finished_at'
        ),
        ('tickwork.attempts', 'job_id, number, tenant_id, status, error_code, error_message, finished_at'),
        ('tickwork.monthly_usage', 'tenant_id, month, engine, extractions, pages, cents'),
        ('tickwork.early_usage', 'tenant_id, month, engine, pages, cents'),
        ('public.schedules', 'id, tenant_id, label, type'),
        ('public.schedule_fires', 'schedule_id, tenant_id, nominal_at, outcome, job_id, error')
    ) as readable(name, columns)
  loop
    execute format('grant select (%s) on %s to tickwork_worker', reported.columns, reported.name);
    execute format(
      'create policy the_worker_reports_the_held_tenant on %s for select to tickwork_worker using (%s)',
      reported.name, 'tenant_id = (select tickwork.held_tenant())'
    );
  end loop;
end
$$;
