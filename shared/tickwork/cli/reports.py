"""The commands for reports: list them, request some about a tenant, and download what jobs have written."""

from pathlib import Path
from typing import Annotated

import typer

from tickwork.cli import arguments, connect
from tickwork.cli.options import AsJson, DatabaseUrl, JobId, OfTenant
from tickwork.cli.output import print_rows, say
from tickwork.errors import InvalidRequest

commands = typer.Typer()
group = typer.Typer(
    help="List the reports that there are, or request some.", invoke_without_command=True, rich_markup_mode=None
)
commands.add_typer(group, name="reports")

Month = Annotated[str, typer.Option(help="Such as 2026-10.")]
Reports = Annotated[list[str] | None, typer.Option("--report", help="Only this one; may be repeated.")]
Formats = Annotated[list[str], typer.Option("--format", help="html, csv or json; may be repeated.")]


@group.callback()
def list_reports(context: typer.Context, as_json: AsJson = False) -> None:
    if context.invoked_subcommand:
        return
    from tickwork.families.report.definitions import definitions

    rows = [{"report": each.name, "about": each.about} for each in definitions().values()]
    columns = {"report": lambda row: row["report"], "about": lambda row: row["about"]}
    print_rows(rows, as_json, columns, "There are no reports.")


@group.command("request")
def request_reports(
    tenant: OfTenant,
    month: Month,
    report: Reports = None,
    format: Formats = ["html"],  # noqa: B006
    language: Annotated[str | None, typer.Option(help="en or de; by default that of the tenant.")] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Even if there is a job for the tenant and the month already.")
    ] = False,
    wait: Annotated[float, typer.Option(min=0, help="How many seconds to wait for it.")] = 0,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Have reports about a month of a tenant written, once for each month."""
    client = connect.client(database_url)
    tenant_id = client.tenants.find(tenant)
    payload = {"month": month, "reports": report or None, "formats": format, "language": language}
    key = None if again else f"report-{tenant_id}-{month}"
    job = client.jobs.enqueue_job(tenant_id, "generate_report", payload, idempotency_key=key)
    if job.deduplicated and not as_json:
        print("It was requested before. --again writes it once more.")
    say(client.wait(job.id, wait) if wait else job, as_json)


@group.command("download")
def download_reports(
    job_id: JobId,
    to: Annotated[Path, typer.Option(help="The folder to write the files to.")] = Path(),
    database_url: DatabaseUrl = None,
) -> None:
    """Write the files of a job, such as a report, to a folder, after checking that they are whole."""
    client, vault = connect.client(database_url), connect.chosen_vault()
    id = arguments.job_id(client, job_id)
    files = [row for row in client.artifacts.list_artifacts(job_id=id, max_rows=1000) if row["sha256"]]
    if not files:
        hint = f"`tickwork job {id}` shows whether it is done."
        raise InvalidRequest(f"ID: job {id} has no files", hint=hint)
    to.mkdir(parents=True, exist_ok=True)
    # The newest first: what a later attempt wrote replaces what an earlier one did.
    for row in reversed(files):
        target = to / row["name"]
        part = target.with_name(f".{target.name}.part")
        with client.artifacts.read_artifact(vault, row["id"]) as chunks, part.open("wb") as file:
            file.writelines(chunks)
        part.replace(target)
        print(target)
