"""What only this process and the workers' file know, put beside the history so that it can be compared."""

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from uuid import UUID

from tickwork.database.connection import Connection
from tickwork_chaos.ledger import Ledger
from tickwork_chaos.scene import Scene


def store_results(
    connection: Connection,
    scene: Scene,
    ledger: Ledger,
    requests: Iterable[tuple[UUID, str]] = (),
    outages: Iterable[tuple[datetime, datetime]] = (),
    executions: Path | None = None,
) -> None:
    rows: Iterable[tuple[object, ...]] = (
        (
            each.number,
            scene.tenants[each.tenant],
            each.type,
            each.idempotency_key,
            each.dedupe_key,
            each.order.fate,
            each.order.effect,
            each.order.follow_ups,
            each.number in ledger.acknowledged,
            ledger.acknowledged.get(each.number),
        )
        for each in ledger.sent
    )
    copy(connection, "storm.orders", rows)
    copy(connection, "storm.requests", requests)
    copy(connection, "storm.faults", (("outage", began, ended) for began, ended in outages))
    if executions and executions.exists():
        with executions.open() as lines:
            copy(connection, "storm.executions", (tuple(line.split()) for line in lines))
    # Not before: the storm is not to be slowed down by it.
    connection.execute("create index on storm.history (job_id, step)")
    connection.execute("analyze")


def copy(connection: Connection, table: str, rows: Iterable[tuple[object, ...]]) -> None:
    with connection.cursor().copy(f"copy {table} from stdin") as sink:
        for row in rows:
            sink.write_row(row)
