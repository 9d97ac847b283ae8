-- What extractions have used and cost in the months of the period (UTC), whether or not the documents still exist
select month, engine, sum(extractions)::bigint as extractions, sum(pages)::bigint as pages, sum(cents)::bigint as cents
from (
  select month, engine, extractions, pages, cents from tickwork.monthly_usage
  union all
  select month, engine, 1, pages, cents from tickwork.early_usage
) as used
where month >= date_trunc('month', %(first_day)s)::date
  and month <= %(last_day)s
group by month, engine
order by month, engine
