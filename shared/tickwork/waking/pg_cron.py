"""Lets pg_cron wake the functions through pg_net, and checks that it does."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import psycopg

from tickwork.database.connection import Connection, connect, translated
from tickwork.errors import InvalidRequest, NotAllowed
from tickwork.shipped import ROOT

# The names of our schedules start with it; all others are left alone.
PREFIX = "tickwork "
HOUSEKEEPING = f"{PREFIX}housekeeping"
SECRET = "tickwork_hmac_secret"  # noqa: S105  the name of one
# How many calls inserts may make within five seconds.
TOKENS = 5
JITTER_SECONDS = 3

EXTENSIONS = {
    "pg_cron": ("cron.schedule(text,text,text)", "create extension if not exists pg_cron"),
    "pg_net": (
        "net.http_post(text,jsonb,jsonb,jsonb,integer)",
        "create extension if not exists pg_net with schema extensions",
    ),
}
ELSEWHERE = "Without it, let Cloud Scheduler or the cron of a machine call the functions, or run `tickwork worker`."

# Runs are kept for a week; otherwise a row per tick and family would stay forever.
KEEP_HOUSE = f"""
    select public.maintain(), tickwork.forget_ticks(), public.purge_audit();
    delete from cron.job_run_details
    using cron.job
    where job.jobid = job_run_details.jobid
      and job.jobname like '{PREFIX}%'
      and job_run_details.end_time < now() - interval '7 days'
"""


@dataclass(frozen=True)
class Plan:
    """What is to be scheduled."""

    urls: Mapping[str, str]
    every: int = 30
    max_calls: int = 4
    timeout_seconds: int = 5


@dataclass
class Status:
    """What is scheduled, how it went, and what is wrong."""

    schedules: list[dict[str, Any]] = field(default_factory=list)
    families: list[dict[str, Any]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def schedule_of(seconds: int) -> str:
    """How pg_cron writes an interval; it would misread a cron expression with six fields."""
    if 1 <= seconds <= 59:
        return f"{seconds} seconds"
    # Every hour starts over: minutes that do not divide it would tick too early once.
    if seconds % 60 == 0 and 60 <= seconds <= 1800 and 3600 % seconds == 0:
        return f"*/{seconds // 60} * * * *" if seconds > 60 else "* * * * *"
    hint = "1 to 59 seconds, or minutes that divide an hour: 60, 120, 180, 240, 300, 360, 600, 720, 900, 1200 or 1800."
    raise InvalidRequest(f"every: {seconds} s is not a valid interval", hint=hint)


def install(url: str, plan: Plan, secret: str | None) -> list[str]:
    """Schedule a tick for each family, all or none. Returns the names of the schedules."""
    schedule = schedule_of(plan.every)
    try:
        with connect(url, "tickwork cron") as connection, connection.transaction():
            check_families(connection, plan)
            for extension in EXTENSIONS:
                provide(connection, extension)
            connection.execute((ROOT / "supabase/cron.sql").read_bytes())
            keep_secret(connection, secret)
            for family, address in sorted(plan.urls.items()):
                keep_function(connection, family, address, plan)
                command = f"select tickwork.tick('{family}', {min(JITTER_SECONDS, plan.every / 4)})"
                connection.execute("select cron.schedule(%s, %s, %s)", [f"{PREFIX}{family}", schedule, command])
            connection.execute("select cron.schedule(%s, %s, %s)", [HOUSEKEEPING, "*/5 * * * *", KEEP_HOUSE])
            return [f"{PREFIX}{family}" for family in sorted(plan.urls)] + [HOUSEKEEPING]
    except psycopg.Error as error:
        raise explained(error) from error


def explained(error: psycopg.Error) -> Exception:
    if isinstance(error, psycopg.errors.InsufficientPrivilege):
        hint = "Connect as the role that ran the migrations: on Supabase that is postgres."
        return NotAllowed(str(error.diag.message_primary), hint=hint)
    return translated(error)


def check_families(connection: Connection, plan: Plan) -> None:
    known = {row["family"] for row in connection.execute("select distinct family from public.job_types").fetchall()}
    for family in plan.urls:
        if family not in known:
            raise InvalidRequest(f"there is no family {family!r}", hint=f"Use one of {', '.join(sorted(known))}.")


def provide(connection: Connection, name: str) -> None:
    """Create an extension unless it exists; if that is not possible, the error names the alternatives."""
    function, create = EXTENSIONS[name]
    if exists(connection, function):
        return
    available = connection.execute("select from pg_available_extensions where name = %s", [name]).rowcount
    if not available:
        raise InvalidRequest(f"this server has no {name}", hint=ELSEWHERE)
    connection.execute("create schema if not exists extensions")
    connection.execute(create)


def exists(connection: Connection, function: str) -> bool:
    row = connection.execute("select to_regprocedure(%s) is not null as is_here", [function]).fetchone()
    return bool(row and row["is_here"])


def keep_secret(connection: Connection, secret: str | None) -> None:
    """Store the secret in Vault or in the private table; without one, make sure that one is already stored."""
    if secret is None:
        # Raises an error if it is missing.
        connection.execute("select tickwork.call_secret()")
    elif has_vault(connection):
        row = connection.execute("select id from vault.decrypted_secrets where name = %s", [SECRET]).fetchone()
        if row:
            connection.execute("select vault.update_secret(%s, %s)", [row["id"], secret])
        else:
            connection.execute("select vault.create_secret(%s, %s, 'signs the calls of functions')", [secret, SECRET])
    else:
        connection.execute(
            "insert into tickwork.call_secrets (key, secret) values (%s, %s) "
            "on conflict (key) do update set secret = excluded.secret",
            [SECRET, secret],
        )


def has_vault(connection: Connection) -> bool:
    row = connection.execute("select to_regclass('vault.decrypted_secrets') is not null as is_here").fetchone()
    return bool(row and row["is_here"])


def keep_function(connection: Connection, family: str, url: str, plan: Plan) -> None:
    connection.execute(
        "insert into tickwork.functions (family, url, max_calls, timeout_milliseconds) values (%s, %s, %s, %s) "
        "on conflict (family) do update set url = excluded.url, max_calls = excluded.max_calls, "
        "timeout_milliseconds = excluded.timeout_milliseconds",
        [family, url, plan.max_calls, plan.timeout_seconds * 1000],
    )
    connection.execute(
        "insert into tickwork.call_tokens (family, number) select %s, number from generate_series(1, %s) as number "
        "on conflict do nothing",
        [family, TOKENS],
    )


def uninstall(url: str) -> list[str]:
    """Remove everything that `install` added; returns the names of the removed schedules."""
    try:
        with connect(url, "tickwork cron") as connection, connection.transaction():
            names = [row["jobname"] for row in schedules(connection)]
            for name in names:
                connection.execute("select cron.unschedule(%s)", [name])
            connection.execute("drop trigger if exists wake_functions on public.jobs")
            connection.execute("drop function if exists tickwork.send_call")
            for table in ("functions", "call_tokens", "ticks", "call_secrets"):
                connection.execute(f"delete from tickwork.{table}")
            if has_vault(connection):
                connection.execute("delete from vault.secrets where name = %s", [SECRET])
            return names
    except psycopg.Error as error:
        raise explained(error) from error


def schedules(connection: Connection) -> list[dict[str, Any]]:
    if not exists(connection, EXTENSIONS["pg_cron"][0]):
        return []
    return connection.execute(
        "select jobid, jobname, schedule, active from cron.job where jobname like %s order by jobname", [f"{PREFIX}%"]
    ).fetchall()
