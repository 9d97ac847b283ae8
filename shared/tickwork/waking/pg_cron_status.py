"""What cron is doing: schedules, last runs, last responses, and what is wrong."""

from typing import Any

import psycopg

from tickwork.database.connection import Connection, connect
from tickwork.waking.pg_cron import ELSEWHERE, EXTENSIONS, PREFIX, Status, exists, explained, schedules

# The latest run of each schedule.
RUNS = """
    select distinct on (job.jobname)
      job.jobname, job_run_details.status, job_run_details.return_message, job_run_details.start_time
    from cron.job
    join cron.job_run_details on job_run_details.jobid = job.jobid
    where job.jobname like %(names)s and job_run_details.status in ('succeeded', 'failed')
    order by job.jobname, job_run_details.start_time desc
"""
FAMILIES = """
    select
      functions.family, functions.url, functions.max_calls,
      last_tick.ticked_at, last_tick.due_jobs, last_tick.seconds_ago,
      tickwork.count_due(functions.family, 1000) as due_now
    from tickwork.functions
    left join lateral (
      select ticks.ticked_at, ticks.due_jobs, extract(epoch from now() - ticks.ticked_at)::float as seconds_ago
      from tickwork.ticks
      where ticks.family = functions.family
      order by ticks.ticked_at desc
      limit 1
    ) as last_tick on true
    order by functions.family
"""
# pg_net drops responses after six hours, and all of them in a crash.
ANSWERS = """
    with sent as (
      select ticks.family, request_id from tickwork.ticks cross join unnest(ticks.request_ids) as request_id
      union
      select call_tokens.family, call_tokens.request_id from tickwork.call_tokens
    )
    select
      sent.family,
      count(*) filter (where answer.status_code between 200 and 299)::integer as good,
      count(*) filter (where answer.timed_out or answer.error_msg ilike '%%timeout%%')::integer as still_working,
      count(*) filter (where answer.status_code not between 200 and 299)::integer as refused,
      count(*) filter (where answer.status_code is null and not coalesce(answer.timed_out, false)
        and answer.error_msg not ilike '%%timeout%%')::integer as unreached,
      (array_agg(coalesce(answer.status_code::text, answer.error_msg) order by answer.created desc))[1] as last_answer,
      max(answer.created) as answered_at
    from sent
    join net._http_response as answer on answer.id = sent.request_id
    where answer.created > now() - interval '15 minutes'
    group by sent.family
"""


def status(url: str) -> Status:
    """The whole status; changes nothing."""
    try:
        with connect(url, "tickwork cron") as connection:
            return read(connection)
    except psycopg.Error as error:
        raise explained(error) from error


def read(connection: Connection) -> Status:
    found = Status(schedules(connection), connection.execute(FAMILIES).fetchall())
    for name, (function, _) in EXTENSIONS.items():
        if not exists(connection, function):
            found.problems.append(f"This server has no {name}, or the extension has not been created. {ELSEWHERE}")
    if found.problems:
        return found
    if not found.schedules:
        found.problems.append("Nothing is scheduled. Run `tickwork cron install FAMILY=URL …`.")
        return found
    add_runs(connection, found)
    add_answers(connection, found)
    found.problems += [*secret_problems(connection), *scheduler_problems(connection, found)]
    for row in found.families:
        found.problems += family_problems(row, found)
    found.problems += unserved(connection, found)
    return found


def add_runs(connection: Connection, found: Status) -> None:
    runs = {row["jobname"]: row for row in connection.execute(RUNS, {"names": f"{PREFIX}%"}).fetchall()}
    for schedule in found.schedules:
        run = runs.get(schedule["jobname"], {})
        schedule["last_run"] = run.get("start_time")
        schedule["last_status"] = run.get("status")
        schedule["last_message"] = run.get("return_message")
        if run.get("status") == "failed":
            found.problems.append(
                f"The last run of '{schedule['jobname']}' failed: {first_line(run['return_message'])}"
            )
        if not schedule["active"]:
            found.problems.append(f"The schedule '{schedule['jobname']}' is switched off.")


def add_answers(connection: Connection, found: Status) -> None:
    answers = {row["family"]: row for row in connection.execute(ANSWERS).fetchall()}
    nothing = {"good": 0, "still_working": 0, "refused": 0, "unreached": 0, "last_answer": None, "answered_at": None}
    for row in found.families:
        row.update({**nothing, **answers.get(row["family"], {})})


def secret_problems(connection: Connection) -> list[str]:
    try:
        with connection.transaction():
            connection.execute("select tickwork.call_secret()")
    except psycopg.Error as error:
        return [f"{error.diag.message_primary}. {error.diag.message_hint or ''}".strip()]
    return []


def scheduler_problems(connection: Connection, found: Status) -> list[str]:
    """A dead scheduler leaves everything in place except the ticks."""
    ages = [row["seconds_ago"] for row in found.families]
    late = 3 * max((seconds_of(row["schedule"]) for row in found.schedules if is_tick(row)), default=60) + 30
    if not ages or any(age is not None and age < late for age in ages):
        return []
    seen = connection.execute(
        "select from pg_stat_activity where application_name ilike 'pg_cron scheduler%' "
        "or backend_type ilike 'pg_cron%'"
    ).rowcount
    what = "its process is running" if seen else "its process is gone: restart the database"
    if all(age is None for age in ages):
        return [f"The scheduler has not ticked yet ({what}). Check again in a minute."]
    return [f"The scheduler is dead: no tick for {min(a for a in ages if a is not None):.0f} s ({what})."]


def family_problems(row: dict[str, Any], found: Status) -> list[str]:
    name = row["family"]
    problems = []
    if f"{PREFIX}{name}" not in {schedule["jobname"] for schedule in found.schedules}:
        problems.append(f"The function of {name} has a URL but no schedule. Run `tickwork cron install` again.")
    if row["refused"] and not row["good"]:
        problems.append(f"The function of {name} responds with {row['last_answer']}. {meaning(row['last_answer'])}")
    if row["unreached"] and not row["good"]:
        problems.append(f"The function of {name} cannot be reached at {row['url']}: {first_line(row['last_answer'])}")
    return problems


def unserved(connection: Connection, found: Status) -> list[str]:
    served = [row["family"] for row in found.families]
    rows = connection.execute(
        "select family, tickwork.count_due(family, 1000) as due from (select distinct family from public.job_types "
        "where is_active and family <> all (%s)) as unserved order by family",
        [served],
    ).fetchall()
    return [f"{row['due']} jobs of {row['family']} are due, and its URL is missing." for row in rows if row["due"]]


def meaning(answer: str | None) -> str:
    match answer:
        case "401" | "403":
            return "Is its TICKWORK_HMAC_SECRET the one that cron signs with?"
        case "404":
            return "Is that the URL of the function?"
        case "503":
            return "It cannot reach the database, or needs another version of the schema: see its log."
        case _:
            return "See its log."


def seconds_of(schedule: str) -> int:
    amount, _, unit = schedule.partition(" ")
    if unit.startswith("second"):
        return int(amount)
    return 60 * int(amount.removeprefix("*/")) if amount.startswith("*/") else 60


def is_tick(row: dict[str, Any]) -> bool:
    return not str(row["jobname"]).endswith("housekeeping")


def first_line(text: str | None) -> str:
    return (text or "no reason given").strip().splitlines()[0]
