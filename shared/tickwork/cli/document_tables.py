"""Documents, and what was found in them, as tables."""

from collections.abc import Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from tickwork.cli.output import one_line, plain_table, printable

MAX_LISTED = 5


def document_table(rows: Sequence[dict[str, Any]], *, with_ids: bool = True) -> Table:
    columns = ("document", "text", "type", "confidence", "pages", "chunks", "note")
    table = plain_table(*(["id"] if with_ids else []), *columns)
    for row in rows:
        state = row["extraction_status"] or "not requested"
        colour = {"done": "green", "failed": "red", "running": "yellow"}.get(state, "cyan")
        table.add_row(
            *([str(row["id"])] if with_ids else []),
            one_line(row["name"]),
            Text(state, colour),
            one_line(row["doc_type"] or ""),
            one_line(confidence_of(row)),
            shown(row["page_count"]),
            shown(row["chunk_count"]),
            one_line(note_of(row)),
        )
    return table


def confidence_of(row: dict[str, Any]) -> str:
    """How sure the classifier is, and of which type it would be otherwise."""
    if row["doc_type_confidence"] is None:
        return ""
    runner_up = row["doc_type_runner_up"]
    return f"{row['doc_type_confidence']:.0%}" + (
        f" ({runner_up} {row['doc_type_runner_up_confidence']:.0%})" if runner_up else ""
    )


def note_of(row: dict[str, Any]) -> str:
    """Why there is no text, or what of the document is missing in it."""
    if row["extraction_status"] == "failed":
        return row["error_code"] or ""
    missing = row["not_read"] or {}
    notes = []
    if pages := missing.get("pages"):
        notes.append(f"no text on page {few(pages)}")
    if names := missing.get("attachments"):
        notes.append(f"not read: {few(names)}")
    if count := missing.get("characters"):
        notes.append(f"{count} characters cut")
    return "; ".join(notes)


def few(values: Sequence[object]) -> str:
    more = f" and {len(values) - MAX_LISTED} more" if len(values) > MAX_LISTED else ""
    return ", ".join(map(str, values[:MAX_LISTED])) + more


def shown(number: int | None) -> str:
    return "" if number is None else str(number)


def hit_table(hits: Sequence[dict[str, Any]]) -> Table:
    """The hits of a document stand together, under its name and type."""
    table = plain_table("document", "type", "page", "text")
    last = None
    for hit in hits:
        shown = ("", "") if hit["document_id"] == last else (hit["name"], hit["doc_type"] or "")
        table.add_row(*map(one_line, shown), str(hit["page_number"] or ""), marked(hit["snippet"]))
        last = hit["document_id"]
    return table


def marked(snippet: str) -> Text:
    """The snippet with its hits in bold. None of it is interpreted as markup."""
    text = Text(no_wrap=True, overflow="ellipsis")
    for number, part in enumerate(printable(" ".join(snippet.split())).replace("»", "«").split("«")):
        text.append(part, "bold yellow" if number % 2 else None)
    return text
