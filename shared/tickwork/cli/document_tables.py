"""Documents, and what was found in them, as tables."""

from collections.abc import Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from tickwork.cli.output import one_line, plain_table, printable


def document_table(rows: Sequence[dict[str, Any]], *, with_ids: bool = True) -> Table:
    columns = ("document", "text", "type", "confidence", "pages", "chunks", "note")
    table = plain_table(*(["id"] if with_ids else []), *columns)
    for row in rows:
        state = row["extraction_status"] or "not requested"
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
