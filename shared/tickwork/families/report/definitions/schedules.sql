-- The times of schedules in the period, and what became of them
select
  schedules.label, schedules.type, schedule_fires.nominal_at, schedule_fires.outcome, schedule_fires.job_id,
  schedule_fires.error
from public.schedule_fires
join public.schedules on schedules.id = schedule_fires.schedule_id
where schedule_fires.nominal_at >= %(begins_at)s
  and schedule_fires.nominal_at < %(ends_at)s
order by schedule_fires.nominal_at, schedules.label
