"""`tickwork documents add`: puts files into the vault, has them extracted, and waits for the result."""

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

from rich.progress import Progress

from tickwork.cli.document_tables import document_table
from tickwork.cli.output import as_json as as_text
from tickwork.cli.output import print_error, print_table, printable
from tickwork.cli.progress import LOOK_SECONDS, Reason, progress_bars
from tickwork.client import Tickwork
from tickwork.errors import Error, InvalidRequest
from tickwork.tools.vault import open_vault

# The limit of the engines.
MAX_FILE_BYTES = 50_000_000
# The limit of the API.
MAX_BYTES_OVER_HTTP = 32_000_000


def upload(
    client: Tickwork,
    vault: tuple[str, str | None] | None,
    files: Sequence[Path],
    tenant: str,
    engine: str,
    consent: bool,
    wait_seconds: float,
    as_json: bool,
) -> int:
    """Upload, have them extracted, and wait; the exit code says whether all of them succeeded."""
    documents, tenant_id = client.documents, client.tenants.find(tenant)
    check_engine(client, engine, consent)
    for file in files:
        check_file(file, MAX_FILE_BYTES if vault else MAX_BYTES_OVER_HTTP)
    jobs: dict[UUID, UUID] = {}
    with progress_bars(as_json) as progress:
        uploads = progress.add_task("uploading", total=len(files))
        try:
            for file in files:
                if vault:
                    document = documents.add(open_vault(vault[0], tenant_id, vault[1]), tenant_id, file)
                else:
                    document = documents.upload_document(tenant_id, file.name, file.read_bytes())
                jobs[document["id"]] = documents.request_extraction(document["id"], engine, consent)["job_id"]
                progress.advance(uploads)
            is_over = wait_for(client, jobs, progress, time.monotonic() + wait_seconds)
        except (KeyboardInterrupt, Error):
            added = f"{len(jobs)} of {len(files)} files were added and are still being processed"
            print_error(added, "`tickwork documents` shows their progress.")
            raise
    rows = {row["id"]: row for row in client.documents.overview(ids=list(jobs), limit=len(jobs))}
    ended = [rows[each] for each in jobs]
    if as_json:
        for row in ended:
            print(json.dumps(summary(row), default=as_text))
    else:
        print_table(document_table(ended))
        for row in ended:
            if row["extraction_status"] == "failed":
                print_error(f"{row['name']}: {row['error_message'] or row['error_code']}")
    if not is_over:
        print_error(
            f"not all of them are done after {wait_seconds:.0f} s",
            "They are still being processed: `tickwork documents` shows their progress.",
        )
    return 0 if is_over and all(row["extraction_status"] == "done" for row in ended) else 1


def check_file(file: Path, max_bytes: int) -> None:
    if file.is_dir():
        raise InvalidRequest(f"FILE: {file} is a folder", hint=f"Pass its files: {file}/*")
    if not file.is_file():
        raise InvalidRequest(f"FILE: there is no file {file}")
    if file.stat().st_size > max_bytes:
        hint = "No engine, or over HTTP no API, accepts files this large."
        raise InvalidRequest(f"FILE: {file} is larger than {max_bytes // 1_000_000} MB", hint=hint)


def check_engine(client: Tickwork, engine: str, consent: bool) -> None:
    """Before anything is uploaded. Over HTTP nobody has the list: what is enqueued is checked anyway."""
    if not client.has_database:
        return
    found = client.documents.engines()
    chosen = next((row for row in found if row["key"] == engine), None)
    if chosen is None:
        raise InvalidRequest(
            f"engine: there is no engine {engine!r}", hint=f"Use one of {', '.join(row['key'] for row in found)}."
        )
    if chosen["needs_consent"] and not consent:
        raise InvalidRequest(
            f"engine: {engine} sends the document to a third party", hint="Pass --consent if this has been agreed to."
        )


def wait_for(client: Tickwork, jobs: Mapping[UUID, UUID], progress: Progress, give_up_at: float) -> bool:
    """Whether all documents were extracted in time, each by its job; says why, if none of them is."""
    ids, reason = list(jobs), Reason(client, progress)
    bars = {id: progress.add_task("waiting", total=1.0) for id in ids}
    while True:
        rows = client.documents.overview(ids=ids, limit=len(ids))
        waiting = [row for row in rows if row["extraction_status"] in ("queued", "running")]
        for row in rows:
            share = row["progress"] or 0.0 if row in waiting else 1.0
            told = row["progress_message"] or "" if row in waiting else ""
            label = f"{printable(row['name'])[:40]} {printable(told)}"
            progress.update(bars[row["id"]], completed=share, description=label)
        if waiting and all(row["extraction_status"] == "queued" for row in waiting):
            reason.tell(jobs[waiting[0]["id"]])
        if not waiting:
            return True
        if time.monotonic() > give_up_at:
            return False
        time.sleep(LOOK_SECONDS)


def summary(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "document_id": row["id"],
        "name": row["name"],
        "status": row["extraction_status"],
        "doc_type": row["doc_type"],
        "confidence": row["doc_type_confidence"],
        "runner_up": row["doc_type_runner_up"],
        "runner_up_confidence": row["doc_type_runner_up_confidence"],
        "pages": row["page_count"],
        "chunks": row["chunk_count"],
        "not_read": row["not_read"],
        "error_code": row["error_code"] if row["extraction_status"] == "failed" else None,
        "error_message": row["error_message"] if row["extraction_status"] == "failed" else None,
    }
