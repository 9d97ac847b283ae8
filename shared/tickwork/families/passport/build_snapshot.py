"""build_snapshot: checks the facts of a snapshot; building -> ready."""

from functools import partial
from uuid import UUID

from pydantic import BaseModel

from tickwork.errors import Permanent
from tickwork.jobs.connection import Connection
from tickwork.jobs.handler import Handler, Tools
from tickwork.jobs.outcomes import Done
from tickwork.tools.events import emit_held_event


class Payload(BaseModel):
    snapshot_id: UUID


class Result(BaseModel):
    item_count: int


def build_snapshot(payload: Payload, tools: Tools) -> Done:
    item_count = tools.under_lease(partial(check, payload.snapshot_id))
    # Once more with the completion: meanwhile somebody may have changed it.
    return Done(Result(item_count=item_count), writes=[partial(make_ready, payload.snapshot_id)])


def check(snapshot_id: UUID, connection: Connection) -> int:
    """How many facts it has; raises if it cannot become ready."""
    snapshot = connection.execute(LOCK, [snapshot_id]).fetchone()
    if snapshot is None:
        raise Permanent("There is no such snapshot", code="SNAPSHOT_NOT_FOUND")
    if snapshot["status"] == "sealed":
        raise Permanent("The snapshot is sealed already", code="INVALID_SNAPSHOT_STATE")
    problem = connection.execute("select * from tickwork.snapshot_problem(%s)", [snapshot_id]).fetchone()
    if problem:
        raise Permanent(problem["message"], code=problem["code"])
    item_count: int = snapshot["item_count"]
    return item_count


# Whoever adds facts or seals it waits until the job is settled.
LOCK = "select status, item_count from public.snapshots where id = %s for no key update"


def make_ready(snapshot_id: UUID, connection: Connection) -> None:
    item_count = check(snapshot_id, connection)
    made = "update public.snapshots set status = 'ready' where id = %s and status = 'building' returning name"
    if snapshot := connection.execute(made, [snapshot_id]).fetchone():
        told = {"snapshot_id": str(snapshot_id), "name": snapshot["name"], "item_count": item_count}
        emit_held_event(connection, "snapshot.ready", f"snapshot:{snapshot_id}", told)


BUILD_SNAPSHOT: Handler[Payload] = Handler(Payload, build_snapshot, Result)
