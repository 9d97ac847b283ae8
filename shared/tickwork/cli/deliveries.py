"""Deliveries of webhooks, for `tickwork webhooks test` and `tickwork webhooks deliveries`."""

import time
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from rich.text import Text

from tickwork.cli.output import moment, print_error, print_json, print_rows, printable
from tickwork.cli.progress import LOOK_SECONDS, Reason, progress_bars
from tickwork.client import Tickwork

COLOURS = {"delivered": "green", "failed": "red", "pending": "cyan"}


def print_deliveries(rows: Sequence[Mapping[str, Any]], as_json: bool) -> None:
    columns = {
        "id": lambda row: str(row["id"]),
        "time": lambda row: moment(row["attempted_at"] or row["created_at"]),
        "endpoint": lambda row: row["url"],
        "event": lambda row: row["event_type"],
        "status": lambda row: Text(row["status"], COLOURS[row["status"]]),
        "attempts": lambda row: str(row["attempts"]),
        "response": lambda row: str(row["http_status"] or ""),
        "ms": lambda row: str(row["latency_ms"] or ""),
        "note": trouble_of,
    }
    print_rows(rows, as_json, columns, "No deliveries.")


def trouble_of(row: Mapping[str, Any]) -> str:
    """For the operator, who may know why an address is not allowed."""
    return str(row["exception"] or row["error_message"] or "")


def wait_for_answer(client: Tickwork, delivery_id: UUID, seconds: float, as_json: bool) -> int:
    """Wait for the first attempt and show its end; the exit code says whether the event was delivered."""
    give_up_at = time.monotonic() + seconds
    with progress_bars(as_json) as progress:
        reason = Reason(client, progress)
        while True:
            (row,) = client.webhooks.deliveries(delivery_id=delivery_id)
            if row["has_been_tried"] or row["status"] != "pending" or time.monotonic() >= give_up_at:
                break
            if row["job_id"] is not None:
                reason.tell(row["job_id"])
            time.sleep(LOOK_SECONDS)
    if as_json:
        print_json(row)
    else:
        print_answer(row)
    return 0 if row["status"] == "delivered" else 1


def print_answer(row: Mapping[str, Any]) -> None:
    url, more = row["url"], f"`tickwork job {row['job_id']} --operator` shows more."
    if row["status"] == "delivered":
        print(f"{printable(url)} responded with {row['http_status']} after {row['latency_ms']} ms.")
    elif row["has_been_tried"] or row["status"] == "failed":
        again = " It will be tried again." if row["status"] == "pending" else ""
        print_error(f"{url}: {trouble_of(row).rstrip('.')}.{again}", more)
    else:
        print_error(f"the event for {url} has not been sent yet", more)
