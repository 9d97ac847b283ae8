"""The commands on connectors and imports: add, list, check, renew, watch, remove, import."""

import re
import sys
import time
from collections.abc import Iterator, Sequence
from getpass import getpass
from typing import Any, get_args
from uuid import UUID

from rich.progress import Progress, TaskID
from rich.text import Text

from tickwork.cli import arguments
from tickwork.cli.documents import LOOK_SECONDS, check_engine, progress_bars
from tickwork.cli.output import one_line, plain_table, print_error, print_json, print_table, printable
from tickwork.client.connectors import Imports, Provider
from tickwork.database.connection import Database
from tickwork.errors import Error, InvalidRequest, NoSuchConnector
from tickwork.jobs.rows import Job
from tickwork.queue import Queue
from tickwork.tools.secrets import Safe

PROVIDERS = get_args(Provider)
COLOURS = {"active": "green", "reauthorize": "red", "disabled": "bright_black"}
ENDINGS = ("done", "failed", "dead", "cancelled")
SUMMED = ("imported_count", "imported_bytes", "known_count", "unchanged_count", "skipped_count", "failed_count")
LISTED = ("document_ids", "skipped", "failed", "renamed")


def add(
    queue: Queue, safe: Safe, tenant: str, provider: str, name: str | None, extract: str | None, consent: bool
) -> UUID:
    """Ask for the refresh token and keep it; answers the connector's id."""
    tenant_id = arguments.tenant_id(queue, tenant)
    if provider not in PROVIDERS:
        raise InvalidRequest(f"PROVIDER: there is none {provider!r}", hint=f"It is one of {', '.join(PROVIDERS)}.")
    if extract is not None:
        check_engine(queue, extract, consent)
    known = "select from public.connectors where tenant_id = %(tenant_id)s and name = %(name)s"
    if queue.database.rows(known, {"tenant_id": tenant_id, "name": name or provider}):
        hint = "Give another --name; `tickwork connectors renew` gives this one another token."
        raise InvalidRequest(f"--name: the tenant has a connector {name or provider!r} already", hint=hint)
    token = asked_token()
    connector_id = Imports(queue.database).add_connector(tenant_id, provider, name or provider, extract, consent)
    try:
        keep_token(queue.database, safe, tenant_id, connector_id, token)
    except Exception:
        # Without its token it is of no use to anybody.
        Imports(queue.database).remove_connector(connector_id)
        raise
    return connector_id


def renew(queue: Queue, safe: Safe, given: str) -> UUID:
    """Another refresh token for a connector that has to be connected again."""
    connector = find(queue, given)
    keep_token(queue.database, safe, connector["tenant_id"], connector["id"], asked_token())
    id: UUID = connector["id"]
    return id


def keep_token(database: Database, safe: Safe, tenant_id: UUID, connector_id: UUID, token: str) -> None:
    owner = f"connector:{connector_id}"
    safe.store(database, tenant_id, owner, "refresh_token", token)
    # One that was got with the old token may be somebody else's.
    database.rows(
        "select tickwork.drop_secrets(%(tenant_id)s, %(owner)s, 'access_token')",
        {"tenant_id": tenant_id, "owner": owner},
    )


def asked_token() -> str:
    """From the terminal, unseen, or from a pipe: never from the command line, which others can read."""
    prompt = "Refresh token (it is not shown): "
    token = (getpass(prompt) if sys.stdin.isatty() else sys.stdin.readline()).strip()
    if not re.fullmatch("[!-~]{8,8000}", token):
        hint = "Type it when asked, or pipe it in: tickwork connectors add … < token"
        raise InvalidRequest("refresh token: must be one word of ASCII, of 8 characters or more", hint=hint)
    return token


def find(queue: Queue, given: str) -> dict[str, Any]:
    rows = queue.database.rows(
        "select * from public.connectors where id::text = lower(%(given)s) or name = %(given)s", {"given": given}
    )
    if len(rows) != 1:
        what = f"{len(rows)} connectors are named" if rows else "there is no connector"
        raise NoSuchConnector(f"CONNECTOR: {what} {given!r}", hint="`tickwork connectors` shows them with their ids.")
    return rows[0]


def list_connectors(queue: Queue, tenant: str | None, as_json: bool) -> None:
    tenant_id = arguments.tenant_id(queue, tenant) if tenant else None
    rows = Imports(queue.database).overview(tenant_id)
    if as_json:
        print_json(rows)
        return
    table = plain_table("id", "connector", "provider", "status", "tenant", "folders", "files", "extract")
    for row in rows:
        table.add_row(
            str(row["id"]),
            one_line(row["name"]),
            row["provider"],
            Text(row["status"], COLOURS[row["status"]]),
            one_line(row["tenant"]),
            str(row["folders"]),
            str(row["files"]),
            row["extract"] or "",
        )
    print_table(table) if rows else print("No connectors. `tickwork connectors add PROVIDER --tenant NAME` adds one.")


def check(queue: Queue, connector_id: UUID, wait_seconds: float, as_json: bool) -> int:
    """Have the provider asked; the exit code says whether it takes the token."""
    job = done_for(queue, connector_id, "check_connector", wait_seconds, as_json)
    if job.status == "done" and not as_json:
        print(f"{connector_id} works: {job.result['provider']} account of {printable(job.result['account_name'])}.")
    return 0 if job.status == "done" else 1


def watch(queue: Queue, given: str, url: str, wait_seconds: float, as_json: bool) -> int:
    """Have the provider notify the import function of changes."""
    connector = find(queue, given)
    if not re.fullmatch("https://[!-~]{1,1000}", url):
        raise InvalidRequest("URL: must start with https://", hint="It is that of the import function.")
    Imports(queue.database).watch_connector(connector["id"], f"{url.rstrip('/')}/notifications/{connector['provider']}")
    job = done_for(queue, connector["id"], "watch_connector", wait_seconds, as_json)
    if job.status == "done" and not as_json:
        until = job.result["watched_until"]
        told = f"is watched until {until}, and then again" if until else "is watched once its app console has the URL"
        print(f"{connector['id']} {told}.")
    return 0 if job.status == "done" else 1


def done_for(queue: Queue, connector_id: UUID, type: str, wait_seconds: float, as_json: bool) -> Job:
    """A job of the connector, waited for, and explained if it did not end well."""
    (row,) = queue.database.rows("select tenant_id from public.connectors where id = %(id)s", {"id": connector_id})
    payload = {"connector_id": str(connector_id)}
    enqueued = queue.enqueue_job(row["tenant_id"], type, payload, lane=f"connector:{connector_id}")
    with progress_bars(as_json) as progress:
        bar = progress.add_task("asking the provider", total=None)
        job = followed(queue, enqueued.id, progress, bar, time.monotonic() + wait_seconds)
    if as_json:
        print_json({"job_id": job.id, "status": job.status, "result": job.result, "error_code": job.error_code})
    elif job.status != "done":
        explain_unfinished(queue, job)
    return job


def remove(queue: Queue, given: str) -> None:
    connector = find(queue, given)
    Imports(queue.database).remove_connector(connector["id"])
    print(f"Removed {connector['id']} with its tokens. What it has imported stays.")


def import_files(
    queue: Queue, given: str, path: str | None, files: Sequence[str], wait_seconds: float, as_json: bool
) -> int:
    """Request an import and follow it, over all jobs that it takes; the exit code says whether all files came."""
    connector = find(queue, given)
    remote_path = path if path is not None or files else ""
    requested = Imports(queue.database).request_import(connector["id"], remote_path, list(files) or None)
    with progress_bars(as_json) as progress:
        bar = progress.add_task("waiting", total=1.0)
        try:
            jobs = list(chain(queue, requested.id, progress, bar, time.monotonic() + wait_seconds))
        except (KeyboardInterrupt, Error):
            print_error("the import goes on", f"`tickwork job {requested.id}` shows how far it is.")
            raise
    job, whole = jobs[-1], summed([each.result or {} for each in jobs])
    if as_json:
        print_json({"job_id": job.id, "status": job.status, "error_code": job.error_code, **whole})
    else:
        tell(queue, job, whole)
    return 0 if job.status == "done" and not whole["failed_count"] else 1


def chain(queue: Queue, job_id: UUID, progress: Progress, bar: TaskID, give_up_at: float) -> Iterator[Job]:
    """Each job of the import as it has ended; the last one perhaps has not."""
    following: UUID | None = job_id
    while following is not None:
        job = followed(queue, following, progress, bar, give_up_at)
        yield job
        is_continued = job.status == "done" and (job.result or {}).get("is_continued")
        next_one = "select id from public.jobs where source_ref = %(id)s and type = %(type)s"
        rows = queue.database.rows(next_one, {"id": str(job.id), "type": job.type}) if is_continued else []
        following = rows[0]["id"] if rows else None


def followed(queue: Queue, job_id: UUID, progress: Progress, bar: TaskID, give_up_at: float) -> Job:
    while True:
        (row,) = queue.database.rows("select * from public.jobs where id = %(id)s", {"id": job_id})
        job = Job(**row)
        label = job.progress_message or job.status
        progress.update(bar, completed=job.progress or 0.0, description=printable(label)[:60])
        if job.status in ENDINGS or time.monotonic() > give_up_at:
            return job
        time.sleep(LOOK_SECONDS)


def summed(results: Sequence[dict[str, Any]]) -> dict[str, Any]:
    counts = {name: sum(result.get(name, 0) for result in results) for name in SUMMED}
    lists = {name: [each for result in results for each in result.get(name, [])] for name in LISTED}
    return {**counts, **lists}


def tell(queue: Queue, job: Job, whole: dict[str, Any]) -> None:
    others = {"known": "known before", "unchanged": "unchanged", "skipped": "skipped", "failed": "failed"}
    counts = [f"{whole[f'{name}_count']} {words}" for name, words in others.items() if whole[f"{name}_count"]]
    size = f"{whole['imported_bytes'] / 1e6:,.1f} MB"
    # Of one that failed for good there is nothing more to say, unless something came before.
    if job.status == "done" or whole["imported_count"] or counts:
        print(", ".join([f"{whole['imported_count']} files imported ({size})", *counts]))
    for kind in ("skipped", "failed"):
        for each in whole[kind]:
            print(
                f"  {kind} {printable(each['name'])}: {each['reason']} {printable(each.get('message') or '')}".rstrip()
            )
    if job.status != "done":
        explain_unfinished(queue, job)


def explain_unfinished(queue: Queue, job: Job) -> None:
    if job.error_code == "REAUTHORIZE":
        print_error(
            f"{job.error_code}: {job.error_message}", "`tickwork connectors renew CONNECTOR` takes a new token."
        )
    elif job.status in ENDINGS:
        print_error(f"{job.error_code}: {job.error_message}", f"`tickwork job {job.id}` shows more.")
    else:
        why = queue.explain_job(job.id)
        print_error(f"job {job.id} has not ended yet: {why}", f"`tickwork job {job.id}` shows how far it is.")
