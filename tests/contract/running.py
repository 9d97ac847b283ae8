"""Runs the cases of cases.json: fills in what they name, and compares what comes back."""

import json
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from pydantic import BaseModel

from tests.world import World
from tests.world.supabase_vault import VAULT
from tickwork.errors import QueueError

FILE = json.loads((Path(__file__).parent / "cases.json").read_text())
CASES: list[dict[str, Any]] = FILE["cases"]
# A call of the client by its name.
Call = Callable[[str, Mapping[str, Any]], Awaitable[Any]]

PLACEHOLDER = re.compile(r"(?<!\{)\{([a-z_0-9.]+)\}(?!\})")


@dataclass(frozen=True)
class Setting:
    """What there is before a case: ids of tenants, users and a job."""

    names: Mapping[str, str]
    users: Mapping[str, UUID]


def set_up(world: World) -> Setting:
    # Where secrets go that nobody seals; the API has a key to do so.
    world.run(VAULT)
    for row in FILE["setup"]["types"]:
        world.type(**row)
    tenants = {name: world.tenant(name) for name in FILE["setup"]["tenants"]}
    users = {name: uuid4() for name in FILE["setup"]["users"]}
    for name, user in FILE["setup"]["users"].items():
        if user.get("platform_admin"):
            world.run("insert into tickwork.platform_admins (user_id) values (%s)", users[name])
            continue
        row = (tenants[user["tenant"]], users[name], user["role"])
        world.run("insert into memberships (tenant_id, user_id, role) values (%s, %s, %s)", *row)
    job = world.service.enqueue("greet_person", tenant_id=tenants["tenant"])
    return Setting({**{name: str(id) for name, id in tenants.items()}, "foreign_job": str(job.id)}, users)


async def run_case(case: Mapping[str, Any], setting: Setting, call: Call) -> None:
    known: dict[str, Any] = {**setting.names, "case": f"case-{uuid4().hex}", "nobody": str(uuid4())}
    for number, step in enumerate(case["steps"], 1):
        where = f"step {number}, {step['call']}"
        arguments = filled(step["arguments"], known)
        if "error" in step:
            await refused(step["error"], call, step["call"], arguments, where)
            continue
        result = as_json(await call(step["call"], arguments))
        if "save" in step:
            known[step["save"]] = result
        if "expect" in step:
            compare(filled(step["expect"], known), result, where)


async def refused(error: Mapping[str, Any], call: Call, name: str, arguments: Mapping[str, Any], where: str) -> None:
    result, refusal = None, None
    try:
        result = await call(name, arguments)
    except QueueError as raised:
        refusal = raised
    assert refusal, f"{where}: was not refused, and returned {result!r}"
    assert type(refusal).__name__ == error["class"], f"{where}: {refusal!r}"
    assert "code" not in error or refusal.sqlstate == error["code"], f"{where}: {refusal!r} {refusal.sqlstate}"


def filled(value: Any, known: Mapping[str, Any]) -> Any:
    """With what the placeholders stand for."""
    match value:
        case str():
            return PLACEHOLDER.sub(lambda match: str(found(match[1], known)), value)
        case dict():
            return {name: filled(each, known) for name, each in value.items()}
        case list():
            return [filled(each, known) for each in value]
        case _:
            return value


def found(name: str, known: Mapping[str, Any]) -> Any:
    first, *fields = name.split(".")
    value = known[first]
    for field in fields:
        value = value[field]
    return value


def as_json(result: Any) -> Any:
    match result:
        case BaseModel():
            return result.model_dump(mode="json")
        case tuple() if hasattr(result, "_asdict"):
            return as_json(result._asdict())
        case dict():
            return {name: as_json(value) for name, value in result.items()}
        case list() | tuple():
            return [as_json(each) for each in result]
        case UUID():
            return str(result)
        case datetime():
            return result.isoformat()
        case _:
            return result


def compare(expected: Any, result: Any, where: str) -> None:
    match expected:
        case "$uuid":
            assert str(UUID(result)) == result, where
        case "$time":
            assert datetime.fromisoformat(result).tzinfo, where
        case "$text":
            assert isinstance(result, str), where
            assert result, where
        case "$list":
            assert isinstance(result, list), where
        case dict():
            for name, each in expected.items():
                assert name in result, f"{where}: {name} is missing in {result}"
                compare(each, result[name], f"{where}, {name}")
        case list():
            assert len(expected) == len(result), f"{where}: {result}"
            for place, (each, other) in enumerate(zip(expected, result, strict=True)):
                compare(each, other, f"{where}, [{place}]")
        case str() if is_time(expected):
            assert datetime.fromisoformat(result) == datetime.fromisoformat(expected), where
        case _:
            assert result == expected, f"{where}: {result!r} is not {expected!r}"


def is_time(text: str) -> bool:
    return bool(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", text))
