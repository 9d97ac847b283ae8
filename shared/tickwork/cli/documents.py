"""The commands on documents: add, list, correct, search."""

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text

from tickwork.cli import arguments
from tickwork.cli.output import as_json as as_text
from tickwork.cli.output import one_line, plain_table, print_error, print_json, print_table, printable
from tickwork.client.documents import Documents
from tickwork.errors import Error, InvalidRequest
from tickwork.queue import Queue
from tickwork.tools.vault import open_vault

LOOK_SECONDS = 0.3
# As the engines say.
LARGEST_FILE = 50_000_000


def add_documents(
    queue: Queue,
    vault: tuple[str, str | None],
    files: Sequence[Path],
    tenant: str,
    engine: str,
    consent: bool,
    wait_seconds: float,
    as_json: bool,
) -> int:
    """Upload, have them read, and wait; the exit code says whether all of them were."""
    documents, tenant_id = Documents(queue.database), arguments.tenant_id(queue, tenant)
    check_engine(queue, engine, consent)
    for file in files:
        check_file(file)
    ids: list[UUID] = []
    with progress_bars(as_json) as progress:
        uploads = progress.add_task("uploading", total=len(files))
        try:
            for file in files:
                document = documents.add(open_vault(vault[0], tenant_id, vault[1]), tenant_id, file)
                documents.request_extraction(document["id"], engine, consent)
                ids.append(document["id"])
                progress.advance(uploads)
            is_over = wait_for(documents, queue, ids, progress, time.monotonic() + wait_seconds)
        except (KeyboardInterrupt, Error):
            added = f"{len(ids)} of {len(files)} files were added and go on"
            print_error(added, "`tickwork documents` shows how far they are.")
            raise
    rows = {row["id"]: row for row in documents.overview(ids=ids, limit=len(ids))}
    ended = [rows[each] for each in ids]
    if as_json:
        for row in ended:
            print(json.dumps(summary(row), default=as_text, ensure_ascii=False))
    else:
        print_table(document_table(ended))
        for row in ended:
            if row["extraction_status"] == "failed":
                print_error(f"{row['name']}: {row['error_message'] or row['error_code']}")
    if not is_over:
        print_error(
            f"not all of them are done after {wait_seconds:.0f} s",
            "They go on: `tickwork documents` shows how far they are.",
        )
    return 0 if is_over and all(row["extraction_status"] == "done" for row in ended) else 1


def check_file(file: Path) -> None:
    if file.is_dir():
        raise InvalidRequest(f"FILE: {file} is a folder", hint=f"Its files are {file}/*")
    if not file.is_file():
        raise InvalidRequest(f"FILE: there is no file {file}")
    if file.stat().st_size > LARGEST_FILE:
        raise InvalidRequest(f"FILE: {file} is larger than 50 MB", hint="No engine reads such a file.")


def check_engine(queue: Queue, engine: str, consent: bool) -> None:
    """Before anything is uploaded."""
    found = queue.database.rows("select * from public.extraction_engines order by key", {})
    chosen = next((row for row in found if row["key"] == engine), None)
    if chosen is None:
        raise InvalidRequest(
            f"engine: there is no engine {engine!r}", hint=f"It is one of {', '.join(row['key'] for row in found)}."
        )
    if chosen["needs_consent"] and not consent:
        raise InvalidRequest(
            f"engine: {engine} sends the document to a third party", hint="Whoever may decide that agrees by --consent."
        )


def progress_bars(is_silent: bool) -> Progress:
    console = Console(stderr=True)
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        console=console,
        transient=True,
        disable=is_silent or not console.is_terminal,
    )


def wait_for(documents: Documents, queue: Queue, ids: list[UUID], progress: Progress, give_up_at: float) -> bool:
    """Whether all were read, and classified, in time."""
    bars = {id: progress.add_task("waiting", total=1.0) for id in ids}
    while True:
        rows = documents.overview(ids=ids, limit=len(ids))
        waiting = [row for row in rows if row["extraction_status"] in ("queued", "running")]
        for row in rows:
            share = row["progress"] or 0.0 if row in waiting else 1.0
            label = f"{printable(row['name'])[:40]} {row['progress_message'] or '' if row in waiting else ''}"
            progress.update(bars[row["id"]], completed=share, description=label)
        if not waiting and not are_being_classified(queue, ids):
            return True
        if time.monotonic() > give_up_at:
            return False
        time.sleep(LOOK_SECONDS)


def are_being_classified(queue: Queue, ids: list[UUID]) -> bool:
    return bool(
        queue.database.rows(
            """
            select
            from public.jobs
            where type = 'classify_document'
              and status in ('queued', 'running')
              and payload ->> 'document_id' = any (%(ids)s)
            limit 1
            """,
            {"ids": [str(id) for id in ids]},
        )
    )


def summary(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "document_id": row["id"],
        "name": row["name"],
        "status": row["extraction_status"],
        "doc_type": row["doc_type"],
        "confidence": row["doc_type_confidence"],
        "pages": row["page_count"],
        "chunks": row["chunk_count"],
        "error_code": row["error_code"] if row["extraction_status"] == "failed" else None,
        "error_message": row["error_message"] if row["extraction_status"] == "failed" else None,
    }


def list_documents(queue: Queue, tenant: str | None, doc_type: str | None, limit: int, as_json: bool) -> None:
    tenant_id = arguments.tenant_id(queue, tenant) if tenant else None
    rows = Documents(queue.database).overview(tenant_id, doc_type, limit=limit)
    if as_json:
        print_json(rows)
    elif rows:
        print_table(document_table(rows))
    else:
        print("No documents. `tickwork documents add FILE --tenant NAME` adds some.")


def document_table(rows: Sequence[dict[str, Any]], *, with_ids: bool = True) -> Table:
    table = plain_table(*(["id"] if with_ids else []), "document", "text", "type", "sure", "pages", "chunks", "note")
    for row in rows:
        state = row["extraction_status"] or "not asked for"
        colour = {"done": "green", "failed": "red", "running": "yellow"}.get(state, "cyan")
        sure = "" if row["doc_type_confidence"] is None else f"{row['doc_type_confidence']:.0%}"
        error = row["error_code"] or "" if state == "failed" else ""
        table.add_row(
            *([str(row["id"])] if with_ids else []),
            one_line(row["name"]),
            Text(state, colour),
            one_line(row["doc_type"] or ""),
            sure,
            shown(row["page_count"]),
            shown(row["chunk_count"]),
            one_line(error),
        )
    return table


def shown(number: int | None) -> str:
    return "" if number is None else str(number)


def correct(queue: Queue, document_id: str, doc_type: str) -> None:
    document = Documents(queue.database).correct_document_type(arguments.document_id(document_id), doc_type)
    print(f"{document['id']} is {document['doc_type']}. Later documents of the tenant like it lean towards that.")


def search(queue: Queue, query: str, tenant: str, doc_type: str | None, limit: int, skip: int, as_json: bool) -> None:
    tenant_id = arguments.tenant_id(queue, tenant)
    hits = Documents(queue.database).search_chunks(tenant_id, query, limit, skip, doc_type=doc_type)
    if as_json:
        print_json(hits)
        return
    if not hits:
        print("Nothing found." if skip == 0 else "No more hits.")
        return
    print_table(hit_table(hits))
    if len(hits) == limit:
        print(f"There may be more: --skip {skip + limit}")


def hit_table(hits: Sequence[dict[str, Any]]) -> Table:
    table = plain_table("document", "page", "type", "text")
    for hit in hits:
        page, type = str(hit["page_number"] or ""), one_line(hit["doc_type"] or "")
        table.add_row(one_line(hit["name"]), page, type, marked(hit["snippet"]))
    return table


def marked(snippet: str) -> Text:
    """The snippet with its hits in bold. Nothing in it is read as markup."""
    text = Text(no_wrap=True, overflow="ellipsis")
    for number, part in enumerate(printable(snippet).replace("\n", " ").replace("»", "«").split("«")):
        text.append(part, "bold yellow" if number % 2 else None)
    return text
