"""A stand-in for pg_cron: its tables and functions in SQL, and a way to let the time of every schedule come once."""

import psycopg

from tests.world import World

SQL = """
    create schema cron;
    create table cron.job (
      jobid bigserial primary key, schedule text not null, command text not null, jobname text unique,
      active boolean not null default true
    );
    create table cron.job_run_details (
      jobid bigint, runid bigserial primary key, command text, status text, return_message text,
      start_time timestamptz, end_time timestamptz
    );
    create function cron.schedule(job_name text, schedule text, command text) returns bigint language plpgsql as $$
    begin
      if schedule !~ '^([1-9]|[1-5][0-9]) seconds$' and schedule !~ '^\\S+ \\S+ \\S+ \\S+ \\S+$' then
        raise exception 'invalid schedule: %', schedule;
      end if;
      insert into cron.job (jobname, schedule, command) values ($1, $2, $3)
      on conflict (jobname) do update set schedule = excluded.schedule, command = excluded.command;
      return (select jobid from cron.job where jobname = $1);
    end
    $$;
    create function cron.unschedule(job_name text) returns boolean language plpgsql as $$
    begin
      delete from cron.job where jobname = $1;
      if not found then
        raise exception 'could not find valid entry for job ''%''', $1;
      end if;
      return true;
    end
    $$;
"""


def run_all(world: World) -> dict[str, str]:
    """Run each active schedule once, as pg_cron would: in a session of its own, its fate noted in job_run_details."""
    fates = {}
    for job in world.rows("select * from cron.job where active order by jobname"):
        with psycopg.connect(world.url, autocommit=True) as connection:
            try:
                connection.execute(job["command"])
                fate, message = "succeeded", "1 row"
            except psycopg.Error as error:
                fate, message = "failed", f"ERROR:  {error}"
        fates[job["jobname"]] = fate
        world.run(
            "insert into cron.job_run_details (jobid, command, status, return_message, start_time, end_time) "
            "values (%s, %s, %s, %s, now(), now())",
            job["jobid"],
            job["command"],
            fate,
            message,
        )
    return fates
