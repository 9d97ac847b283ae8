-- What ticks of cron, functions and workers do for figures and alerts.

create function tickwork.keep_figures()
returns integer
language plpgsql
volatile
security definer -- nobody may write these tables
set search_path = ''
as $$
declare
  counted constant integer := tickwork.roll_up(20000);
begin
  perform tickwork.check_alerts();
  return counted;
end
$$;

create function public.keep_figures()
returns integer
language sql
volatile
return tickwork.keep_figures();

comment on function public.keep_figures is
  'Reads what has happened to jobs since the last time and adds it to the figures, up to 20,000 jobs of each type, '
  'then opens and closes alerts. Returns how much was counted: 0 if there is nothing, or if somebody did it within the '
  'last second. Called by ticks, functions and workers.';

select tickwork.open_verbs('tickwork_worker, service_role', array['keep_figures']);
