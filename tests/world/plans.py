"""The plans that the server really executed, with what each node did."""

import json
from collections.abc import Iterator
from typing import Any

from tests.world import World

Node = dict[str, Any]

SETTINGS = (
    "load 'auto_explain'",
    "set auto_explain.log_min_duration = 0",
    "set auto_explain.log_analyze = on",
    "set auto_explain.log_buffers = on",
    "set auto_explain.log_nested_statements = on",
    "set auto_explain.log_format = json",
    "set client_min_messages = log",
)


def nodes_of(world: World, statement: str, arguments: dict[str, Any]) -> list[Node]:
    """Every node of every plan: of the statement, and of those inside the functions that it calls."""
    connection = world.connect()
    plans: list[Node] = []
    connection.add_notice_handler(lambda notice: plans.append(parsed(str(notice.message_primary))))
    for setting in SETTINGS:
        connection.execute(setting)
    plans.clear()
    assert connection.execute(statement, arguments).fetchall() != []
    return [node for plan in plans if plan for node in below(plan["Plan"])]


def parsed(message: str) -> Node:
    _, is_plan, text = message.partition("plan:\n")
    return dict(json.loads(text)) if is_plan else {}


def below(plan: Node) -> Iterator[Node]:
    yield plan
    for child in plan.get("Plans", []):
        yield from below(child)
