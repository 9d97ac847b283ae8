"""The handlers that run in a storm: their effects can be counted, and their results say which attempt they were."""

import os
from functools import partial
from pathlib import Path
from typing import Literal
from uuid import UUID

from pydantic import BaseModel

from tickwork.errors import Permanent, Retryable
from tickwork.jobs.connection import Connection
from tickwork.jobs.handler import Handler, Handlers, Tools
from tickwork.jobs.outcomes import Done
from tickwork.jobs.rows import FollowUp

# Where workers note every execution: outside of the database, so that nothing that happens to it takes one back.
EXECUTIONS = "TICKWORK_CHAOS_EXECUTIONS"

Effect = Literal["done", "lease", "none"]


class Order(BaseModel):
    """What a job of a storm is to do. A follow-up has a parent instead of a number."""

    number: int | None = None
    parent: int | None = None
    seconds: float = 0
    fails: int = 0
    fate: Literal["done", "failed"] = "done"
    effect: Effect = "done"
    follow_ups: int = 0


class Ending(BaseModel):
    attempt: int


def carry_out(order: Order, tools: Tools) -> Done:
    note_execution(tools)
    if order.seconds:
        tools.wait(order.seconds)
    if tools.attempt <= order.fails:
        raise Retryable(f"attempt {tools.attempt}", delay=0.2)
    if order.fate == "failed":
        raise Permanent(f"attempt {tools.attempt}")
    if order.effect == "lease":
        tools.under_lease(partial(store, tools.tenant_id, tools.job_id, tools.attempt, "lease"))
    writes = [partial(store, tools.tenant_id, tools.job_id, tools.attempt, "done")] if order.effect == "done" else []
    return Done(Ending(attempt=tools.attempt), writes, [follow_up(order, each) for each in range(order.follow_ups)])


def note_execution(tools: Tools) -> None:
    file = os.open(os.environ[EXECUTIONS], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:
        os.write(file, f"{tools.job_id}\t{tools.attempt}\n".encode())
    finally:
        os.close(file)


def store(tenant_id: UUID, job_id: UUID, attempt: int, kind: str, connection: Connection) -> None:
    connection.execute(
        "insert into storm.effects (tenant_id, job_id, attempt, kind) values (%s, %s, %s, %s)",
        [tenant_id, job_id, attempt, kind],
    )


def follow_up(order: Order, index: int) -> FollowUp:
    child = Order(parent=order.number, effect="none")
    key = f"after {order.number}.{index}"
    return FollowUp(type="storm_plain", payload=child.model_dump(exclude_none=True), idempotency_key=key)


HANDLER = Handler(Order, carry_out)
FUNCTIONS = Path(__file__).parents[1] / "functions"
TYPES = {
    "storm": ("storm_plain", "storm_urgent", "storm_limited", "storm_laned"),
    # With one type only, claims go another way.
    "gust": ("gust_plain",),
}


def handlers_of(family: str) -> Handlers:
    return dict.fromkeys(TYPES[family], HANDLER)
