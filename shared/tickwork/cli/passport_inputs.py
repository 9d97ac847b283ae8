"""The commands for what passports are compiled from: documents, their facts, and snapshots of facts."""

import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer

from tickwork.cli import connect
from tickwork.cli.options import AsJson, DatabaseUrl, OfTenant, Tenant
from tickwork.cli.output import print_json, print_rows, printable
from tickwork.cli.passport_arguments import document_version_of, one_of, snapshot_of
from tickwork.cli.passport_waiting import finished_job, read_version
from tickwork.cli.passports import group
from tickwork.cli.upload import MAX_BYTES_OVER_HTTP, MAX_FILE_BYTES, check_file
from tickwork.client import Tickwork
from tickwork.client.way import Row
from tickwork.errors import InvalidRequest
from tickwork.passports.file_types import reading_of
from tickwork.tools.vault import open_vault

documents = typer.Typer(help="Add documents that facts come from.", rich_markup_mode=None)
snapshots = typer.Typer(help="Gather the facts that a passport is compiled from.", rich_markup_mode=None)
group.add_typer(documents, name="documents")
group.add_typer(snapshots, name="snapshot")

Limit = Annotated[int, typer.Option(min=1, max=1000)]
Wait = Annotated[float, typer.Option(min=0, help="How many seconds to wait for it.")]
Snapshot = Annotated[str, typer.Argument(help="Name or id of a snapshot.", metavar="SNAPSHOT")]
Document = Annotated[
    str | None,
    typer.Option(help="All facts of the latest version of this document, by its name; or the id of a version."),
]
FactIds = Annotated[list[str] | None, typer.Option("--fact", help="Only this fact; may be repeated.")]


@documents.command("list")
def list_documents(
    tenant: Tenant = None, limit: Limit = 20, database_url: DatabaseUrl = None, as_json: AsJson = False
) -> None:
    """List the versions of documents, the newest first."""
    client = connect.client(database_url)
    tenant_id = client.tenants.find(tenant) if tenant else None
    rows = client.passport_documents.list_document_versions(tenant_id, max_rows=limit)
    named = client.passport_documents.list_passport_documents(tenant_id, max_rows=1000)
    names = {each["id"]: each["name"] for each in named}
    columns = {
        "id": lambda row: str(row["id"]),
        "document": lambda row: names.get(row["passport_document_id"], str(row["passport_document_id"])),
        "version": lambda row: str(row["version"]),
        "status": lambda row: row["status"],
        "facts": lambda row: str(row["fact_count"] if row["fact_count"] is not None else ""),
        "note": lambda row: f"{row['error_code']}: {row['error_message']}" if row["error_code"] else "",
    }
    print_rows(rows, as_json, columns, "No documents. `tickwork passport documents add FILE` adds one.")


@documents.command("add")
def add_document(
    file: Annotated[Path, typer.Argument(help="JSON, CSV, XLSX, PDF, DOCX or HTML.", metavar="FILE")],
    tenant: OfTenant,
    kind: Annotated[str, typer.Option(help="bom, pcf or dd.")],
    name: Annotated[str | None, typer.Option(help="Adds a version to the document of this name.")] = None,
    wait: Wait = 60,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Put a bill of materials, a carbon footprint or a due diligence report into the vault, and take its facts."""
    client = connect.client(database_url)
    tenant_id, kind = client.tenants.find(tenant), one_of(kind, ("bom", "pcf", "dd"), "--kind")
    stored = uploaded(client, tenant, file)
    name = name or file.name
    known = client.passport_documents.list_passport_documents(tenant_id, kind, name, max_rows=1)
    document = known[0] if known else client.passport_documents.create_passport_document(tenant_id, name, kind)
    version = read_version(client, document["id"], added_version(client, document, stored, wait), wait)
    if as_json:
        print_json(version)
        return
    print(f"{version['id']} is version {version['version']}, {version['status']}, {counted(version['fact_count'])}.")
    if is_extracted(stored):
        of_it = f"--document {shlex.quote(printable(name))}"
        print(f"An extraction has read them. Compare `tickwork passport facts {of_it}` with the file, then")
        print(f"`tickwork passport confirm {of_it}`: no snapshot can be sealed with them before.")


def added_version(client: Tickwork, document: Row, stored: Row, wait: float) -> str:
    """The id of a version; the text of a PDF, DOCX or HTML file is extracted first."""
    if not is_extracted(stored):
        version = client.passport_documents.add_document_version(document["id"], stored["id"])
        finished_job(client, version["job_id"], wait)
        return str(version["id"])
    payload = {"document_id": str(stored["id"]), "options": {"passport_document_id": str(document["id"])}}
    job = client.jobs.enqueue_job(document["tenant_id"], "ingest_document", payload)
    return str(finished_job(client, job.id, wait).result["document_version_id"])


def is_extracted(stored: Row) -> bool:
    return reading_of(stored["mime_type"]) == "extracted"


def uploaded(client: Tickwork, tenant: str, file: Path) -> Row:
    tenant_id = client.tenants.find(tenant)
    check_file(file, MAX_FILE_BYTES if client.has_database else MAX_BYTES_OVER_HTTP)
    if not client.has_database:
        return client.documents.upload_document(tenant_id, file.name, file.read_bytes())
    url, key = connect.chosen_vault()
    return client.documents.add(open_vault(url, tenant_id, key), tenant_id, file)


@group.command("facts")
def list_facts(
    tenant: Tenant = None,
    document: Document = None,
    snapshot: Annotated[str | None, typer.Option(help="Only those of this snapshot.")] = None,
    type: Annotated[str | None, typer.Option(help="Such as material.")] = None,
    limit: Limit = 50,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """List what documents say about batteries."""
    client = connect.client(database_url)
    rows = client.facts.list_facts(
        client.tenants.find(tenant) if tenant else None,
        document_version_of(client, document) if document else None,
        snapshot_of(client, snapshot) if snapshot else None,
        type,
        max_rows=limit,
    )
    columns = {
        "id": lambda row: str(row["id"]),
        "type": lambda row: row["fact_type"],
        "key": lambda row: row["fact_key"],
        "sure": lambda row: "yes" if row["confidence"] is None or row["confirmed_at"] else f"{row['confidence']:.0%}",
        "says": lambda row: json.dumps(row["payload"], ensure_ascii=False),
    }
    print_rows(rows, as_json, columns, "No facts. `tickwork passport documents add FILE` takes some from a file.")


@group.command("confirm")
def confirm_facts(
    facts: Annotated[
        list[str] | None, typer.Argument(help="As `tickwork passport facts` shows them.", metavar="FACT…")
    ] = None,
    document: Document = None,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Confirm facts that an extraction was not sure of, after comparing them with the document."""
    if not facts and not document:
        raise InvalidRequest("nothing to confirm", hint="Name facts, or all of a document with --document.")
    client = connect.client(database_url)
    ids = [*(facts or ()), *(unconfirmed(client, document_version_of(client, document)) if document else ())]
    rows = client.facts.confirm_facts(ids)
    print_json(rows) if as_json else print(f"Confirmed {counted(len(rows))}.")


def unconfirmed(client: Tickwork, document_version_id: UUID) -> Iterator[str]:
    last = None
    while page := client.facts.list_facts(None, document_version_id, after_fact_id=last, max_rows=1000):
        yield from (str(row["id"]) for row in page if row["confidence"] is not None and not row["confirmed_at"])
        last = page[-1]["id"]


@snapshots.command("list")
def list_snapshots(
    tenant: Tenant = None, limit: Limit = 20, database_url: DatabaseUrl = None, as_json: AsJson = False
) -> None:
    """List snapshots, the newest first."""
    client = connect.client(database_url)
    rows = client.snapshots.list_snapshots(client.tenants.find(tenant) if tenant else None, max_rows=limit)
    columns = {
        "id": lambda row: str(row["id"]),
        "name": lambda row: row["name"],
        "status": lambda row: row["status"],
        "facts": lambda row: str(row["item_count"]),
    }
    print_rows(rows, as_json, columns, "No snapshots. `tickwork passport snapshot create` creates one.")


@snapshots.command("create")
def create_snapshot(
    name: Annotated[str, typer.Argument(metavar="NAME")],
    tenant: OfTenant,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Create an empty snapshot."""
    client = connect.client(database_url)
    say_snapshot(client.snapshots.create_snapshot(client.tenants.find(tenant), name), as_json)


@snapshots.command("add")
def add_to_snapshot(
    snapshot: Snapshot,
    document: Document = None,
    fact: FactIds = None,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Add facts to a snapshot: those of a version of a document, or single ones."""
    if not document and not fact:
        raise InvalidRequest("nothing to add", hint="Pass --document or --fact: `tickwork passport facts` lists facts.")
    client = connect.client(database_url)
    id = snapshot_of(client, snapshot, "SNAPSHOT")
    of_version = document_version_of(client, document) if document else None
    say_snapshot(client.snapshots.add_snapshot_items(id, fact or [], of_version), as_json)


@snapshots.command("remove")
def remove_from_snapshot(
    snapshot: Snapshot, fact: FactIds = None, database_url: DatabaseUrl = None, as_json: AsJson = False
) -> None:
    """Take facts out of a snapshot."""
    if not fact:
        raise InvalidRequest(
            "nothing to remove", hint="Pass --fact: `tickwork passport facts --snapshot` lists those that are in it."
        )
    client = connect.client(database_url)
    id = snapshot_of(client, snapshot, "SNAPSHOT")
    say_snapshot(client.snapshots.remove_snapshot_items(id, fact), as_json)


@snapshots.command("seal")
def seal_snapshot(snapshot: Snapshot, database_url: DatabaseUrl = None, as_json: AsJson = False) -> None:
    """Fix the facts of a snapshot for good, so that passports can be compiled from it."""
    client = connect.client(database_url)
    say_snapshot(client.snapshots.seal_snapshot(snapshot_of(client, snapshot, "SNAPSHOT")), as_json)


def say_snapshot(row: Row, as_json: bool) -> None:
    if as_json:
        print_json({name: value for name, value in row.items() if name != "snapshot_canonical"})
    else:
        print(f"{row['id']} is {row['status']}, {counted(row['item_count'])}.")


def counted(facts: int) -> str:
    return "1 fact" if facts == 1 else f"{facts} facts"
