"""Checks everything that a deployment needs, and says how to fix what is wrong."""

import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from ipaddress import ip_network
from pathlib import Path
from typing import Literal
from uuid import UUID

import psycopg

from tickwork.database.connection import Connection, Database, connect, is_direct, translated
from tickwork.database.version import check_schema
from tickwork.errors import BadSetting, Error, JobError
from tickwork.settings import Settings, load_settings
from tickwork.waking.rabbitmq import broker_of, text_of

Verdict = Literal["good", "note", "bad"]

# Belongs to nobody: a file below it is asked for, and none ever exists.
NO_TENANT = UUID(int=0)
WORKER_VERBS = ("claim_next_job", "claim_jobs", "heartbeat_jobs", "complete_job", "fail_job", "settle_and_claim")
# Signatures are valid for five minutes; a clock that is off by much less than that is already wrong.
CLOCK_SECONDS = 5.0


@dataclass(frozen=True)
class Finding:
    """What was checked, how it is, and what to do if it is not good."""

    what: str
    verdict: Verdict
    words: str
    remedy: str = ""


def examine(environment: Mapping[str, str] = os.environ, admin_url: str | None = None) -> Iterator[Finding]:
    """One finding after the other; what cannot be checked because of an earlier one is left out."""
    try:
        settings = load_settings(environment)
    except BadSetting as error:
        remedy = "Set it where the function or the worker runs; see docs/reference/settings.md."
        if not environment.get("TICKWORK_DATABASE_URL"):
            remedy = f"Start the local stack with `tickwork up`, which needs no settings. {remedy}"
        yield Finding("settings", "bad", str(error), remedy)
        return
    yield Finding("settings", "good", "can be read")
    yield callers(settings)
    yield from database(settings)
    yield vault(settings)
    yield secrets(settings)
    yield unstructured(settings)
    yield from broker(settings)
    yield cron(admin_url)


def callers(settings: Settings) -> Finding:
    checks = {
        "a signature": settings.hmac_secret,
        "a Google token": settings.oidc_audience,
        "a bearer secret": settings.bearer_secret,
    }
    accepted = [name for name, setting in checks.items() if setting]
    if settings.open_on_loopback:
        remedy = "Unset TICKWORK_OPEN_ON_LOOPBACK if others can reach the machine, especially behind a proxy."
        return Finding("callers", "note", "any process on this machine may call", remedy)
    if not accepted:
        remedy = (
            "Set TICKWORK_HMAC_SECRET for pg_net, TICKWORK_OIDC_AUDIENCE and _EMAIL for Cloud Scheduler, "
            "or TICKWORK_BEARER_SECRET for your own cron."
        )
        return Finding("callers", "note", "a worker needs none; a function would refuse every caller", remedy)
    return Finding("callers", "good", f"a function accepts {' or '.join(accepted)}")


def database(settings: Settings) -> Iterator[Finding]:
    try:
        connection = connect(settings.database_url, "tickwork doctor")
    except psycopg.Error as error:
        words = str(translated(error)).strip().splitlines()[0]
        remedy = "Is TICKWORK_DATABASE_URL right? Most clouds can reach Supabase only through its pooler, port 6543."
        yield Finding("database", "bad", words, remedy)
        return
    with connection:
        version = connection.info.server_version // 10_000
        is_new = version >= 15
        words = f"Postgres {version} answers" if is_new else f"Postgres {version} is too old"
        yield Finding("database", "good" if is_new else "bad", words, "Use 15 or later.")
        yield role(connection)
        yield from sure(schema(settings), rights, connection)
        yield clock(connection)
        yield pooler(connection)


def role(connection: Connection) -> Finding:
    (row,) = connection.execute(
        "select current_user as name, rolsuper or rolbypassrls as is_mighty from pg_roles where rolname = current_user"
    ).fetchall()
    if row["is_mighty"]:
        remedy = "Give tickwork_worker a password and connect as that: alter role tickwork_worker password '…'"
        return Finding("role", "note", f"{row['name']} bypasses row-level security", remedy)
    return Finding("role", "good", f"connected as {row['name']}, which is subject to row-level security")


def schema(settings: Settings) -> Finding:
    own = Database(settings.database_url, "tickwork doctor")
    try:
        return Finding("schema", "good", f"version {check_schema(own)}")
    except Error as error:
        return Finding("schema", "bad", str(error), str(getattr(error, "hint", "") or "Run `tickwork migrate`."))
    finally:
        own.close()


def sure(finding: Finding, then: Callable[[Connection], Finding], connection: Connection) -> Iterator[Finding]:
    """The finding, and the checks that are only possible if it is good."""
    yield finding
    if finding.verdict == "good":
        yield then(connection)


def rights(connection: Connection) -> Finding:
    rows = connection.execute(
        "select proname from pg_proc where pronamespace = 'public'::regnamespace and proname = any (%s) "
        "and not has_function_privilege(oid, 'execute')",
        [list(WORKER_VERBS)],
    ).fetchall()
    if rows:
        missing = ", ".join(row["proname"] for row in rows)
        return Finding("rights", "bad", f"may not execute {missing}", "Connect as tickwork_worker.")
    return Finding("rights", "good", "may claim, heartbeat and settle")


def clock(connection: Connection) -> Finding:
    before = time.time()
    (row,) = connection.execute("select extract(epoch from clock_timestamp())::float as now").fetchall()
    apart = abs(row["now"] - (before + time.time()) / 2)
    if apart > CLOCK_SECONDS:
        remedy = "Synchronize both clocks. Signatures are refused if they differ by five minutes."
        return Finding("clock", "bad", f"this machine and the database are {apart:.0f} s apart", remedy)
    return Finding("clock", "good", f"within {max(apart, 0.1):.1f} s of the database's")


def pooler(connection: Connection) -> Finding:
    if is_direct(connection):
        words = "a direct connection: fine for workers"
        remedy = "For functions, which come and go, use a pooler in transaction mode: on Supabase, port 6543."
        return Finding("pooler", "note", words, remedy)
    return Finding("pooler", "good", "through a pooler, and nothing relies on its sessions")


def vault(settings: Settings) -> Finding:
    """Asks for a file that does not exist: a vault that says so can be reached and accepts our key."""
    from tickwork.tools.vault import open_vault

    if settings.vault_url is None:
        return Finding("vault", "note", "not set; documents need one", "Set TICKWORK_VAULT_URL.")
    try:
        if settings.vault_url.startswith("file:") and not can_be_written(
            Path(settings.vault_url.removeprefix("file:"))
        ):
            return Finding(
                "vault", "bad", "the folder is not writable", "Create it, writable for the user that runs this."
            )
        with open_vault(settings.vault_url, NO_TENANT, settings.vault_key).read(f"tenant/{NO_TENANT}/doctor") as pieces:
            next(pieces, None)
    except JobError as error:
        if error.code != "FILE_MISSING":
            return Finding("vault", "bad", str(error), "Are TICKWORK_VAULT_URL and its key right?")
    except (Error, ImportError) as error:
        return Finding("vault", "bad", str(error), "For s3 and supabase install tickwork[s3] or tickwork[supabase].")
    return Finding("vault", "good", f"{settings.vault_url.partition(':')[0]}: answers")


def secrets(settings: Settings) -> Finding:
    if settings.secret_key is None:
        words = "without a key: imports, webhooks and http_request then need Supabase Vault"
        return Finding("secrets", "note", words, "Set TICKWORK_SECRET_KEY: openssl rand -base64 32")
    return Finding("secrets", "good", "sealed with a key")


def can_be_written(folder: Path) -> bool:
    """Whether files can be stored there; a missing folder is created with the first one."""
    while not folder.exists():
        folder = folder.parent
    return folder.is_dir() and os.access(folder, os.W_OK)


def unstructured(settings: Settings) -> Finding:
    from tickwork.tools.outbound import http

    if not settings.unstructured_url and not settings.unstructured_api_key:
        return Finding("unstructured", "good", "not set up: the local engine extracts all documents")
    url = (settings.unstructured_url or "https://api.unstructuredapp.io").rstrip("/")
    # The operator who set the URL has chosen its network.
    policy = http.Policy(allow_http=True, private=(ip_network("0.0.0.0/0"), ip_network("::/0")))
    try:
        answer = http.request("GET", f"{url}/general/docs", policy=policy)
    except JobError as error:
        return Finding("unstructured", "bad", error.for_operator or str(error), "Is TICKWORK_UNSTRUCTURED_URL right?")
    if answer.status >= 500:
        return Finding("unstructured", "bad", f"answers {answer.status}", "Try again later, or ask its operator.")
    return Finding("unstructured", "good", "answers")


def broker(settings: Settings) -> Iterator[Finding]:
    """Only if there is one to use."""
    if found := broker_of(settings):
        try:
            found.connect().close()
        except Exception as error:
            remedy = "Is TICKWORK_AMQP_URL right? Workers poll without it."
            yield Finding("broker", "bad", text_of(error), remedy)
        else:
            yield Finding("broker", "good", "lets us in")


def cron(admin_url: str | None) -> Finding:
    from tickwork.waking import pg_cron_status

    if admin_url is None:
        words = "not checked: this needs the role that ran the migrations"
        return Finding("cron", "note", words, "Pass its URL with --admin-url, or run `tickwork cron status`.")
    try:
        problems = pg_cron_status.status(admin_url).problems
    except Error as error:
        return Finding("cron", "bad", str(error), "Is --admin-url right?")
    if problems:
        return Finding("cron", "bad", problems[0], "`tickwork cron status` shows the rest." if problems[1:] else "")
    return Finding("cron", "good", "ticks, and the functions respond")
