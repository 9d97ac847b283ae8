"""One call of a SQL function: in a transaction of its own, as the caller, just as PostgREST does it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from psycopg.rows import DictRow
from psycopg.sql import quote

from tickwork.api.connections import Connections
from tickwork.api.fields import ForTenant
from tickwork.api.reading import Arguments
from tickwork.api.route import Route
from tickwork.errors import QueueError
from tickwork.logs import log


@dataclass(frozen=True)
class Caller:
    """Who calls, as claims that SQL understands. `is_known` is false for a key, which only the database can find."""

    claims: Mapping[str, Any]
    is_known: bool = True


@dataclass(frozen=True)
class Origin:
    """What the database is told about a request, for the audit log. None of it is secret."""

    method: str
    path: str
    headers: Mapping[str, str]


def call(connections: Connections, route: Route, arguments: Arguments, caller: Caller, origin: Origin) -> str | None:
    """The response as JSON; None if the function returns nothing. Raises QueueError."""
    values = {name: value for name, value in arguments.values.items() if name not in route.own_fields}
    offset = arguments.values.get("offset")
    if offset and route.page_size:
        values[route.page_size] = page_size(route, arguments) + offset
    names = tuple(sorted(values))
    fills_tenant = lacks_tenant(route, values)
    query = statement(route, names, tuple(sorted(arguments.in_body.items())), fills_tenant, bool(offset))
    parameters = {**values, "body": arguments.body, "offset": offset}

    preamble = for_transaction(caller, origin, arguments)
    rows = connections.transaction(preamble, query, parameters, is_kept=not arguments.is_dry_run)
    return answer(route, rows[0] if rows else None, arguments)


def note_refusal(connections: Connections, action: str, caller: Caller, origin: Origin, refusal: QueueError) -> None:
    """In the audit log, in a transaction of its own: what was refused is rolled back."""
    query = "select public.note_refusal(%(action)s, %(target)s, %(code)s, %(detail)s)"
    told = {"action": action, "target": origin.path, "code": refusal.sqlstate, "detail": str(refusal)[:500]}
    try:
        connections.transaction(introduction(caller, origin), query, told, is_kept=True)
    except QueueError as error:
        log("miss_audit", "ERROR", reason=str(error), sqlstate=error.sqlstate)


def lacks_tenant(route: Route, values: Mapping[str, Any]) -> bool:
    if not issubclass(route.request, ForTenant) or values.get("tenant_id") is not None:
        return False
    return not (route.request.takes_null_tenant and "tenant_id" in values)


def for_transaction(caller: Caller, origin: Origin, arguments: Arguments) -> str:
    # What would only be checked at the end of the transaction.
    return introduction(caller, origin) + ("; set constraints all immediate" if arguments.is_dry_run else "")


def introduction(caller: Caller, origin: Origin) -> str:
    """The statements that make the transaction the caller's, and refuse a key that is unknown."""
    settings = {
        "role": "authenticated",
        "request.jwt.claims": json.dumps(caller.claims),
        "request.headers": json.dumps(origin.headers),
        "request.method": origin.method,
        "request.path": origin.path,
    }
    set_all = ", ".join(f"set_config('{name}', {quote(value)}, true)" for name, value in settings.items())
    return f"select {set_all}" + ("" if caller.is_known else "; select public.who_am_i()")


def answer(route: Route, row: DictRow | None, arguments: Arguments) -> str | None:
    """JSON is built by the database and passed on as it is: exact numbers, and no time spent on reading it."""
    match route.returns:
        case "nothing":
            return None
        case "rows":
            assert row is not None
            text = f'{{"items": {row["items"]}, "next_cursor": {json.dumps(next_cursor(route, row, arguments))}}}'
        case _:
            text = row["answer"] if row and row["answer"] else "{}"
    return with_dry_run(text, arguments)


def with_dry_run(text: str, arguments: Arguments) -> str:
    return '{"dry_run": true, ' + text[1:] if arguments.is_dry_run and len(text) > 2 else text


def next_cursor(route: Route, row: DictRow, arguments: Arguments) -> str | None:
    """There is a next page if this one is full."""
    if not route.cursor or not route.page_size:
        return None
    return str(row["last"]) if row["number"] >= page_size(route, arguments) else None


def page_size(route: Route, arguments: Arguments) -> int:
    assert route.page_size
    size = arguments.values.get(route.page_size, route.request.fields[route.page_size].default)
    return int(size)


@cache
def statement(
    route: Route,
    names: tuple[str, ...],
    in_body: tuple[tuple[str, str], ...],
    fills_tenant: bool,
    has_offset: bool,
) -> str:
    expressions = dict(in_body)
    passed = [
        f"{name} => {expressions.get(name, f'%({name})s')}"
        for name in names
        if not (fills_tenant and name == "tenant_id")
    ]
    if fills_tenant:
        passed.append("tenant_id => tickwork.only_tenant()")
    called = f"public.{route.function}({', '.join(passed)})"
    match route.returns:
        case "nothing":
            return f"select {called}"
        case "value":
            return f"select json_build_object('value', {called})::text as answer"
        case "row":
            return f"select row_to_json(found)::text as answer from (select *{route.also} from {called}) as found"
    rows = f"(select *{route.also} from {called}{' offset %(offset)s' if has_offset else ''}) as found"
    last = f"(array_agg(found.{route.cursor}))[count(*)]" if route.cursor else "null"
    return f"select coalesce(json_agg(found), '[]')::text as items, count(*) as number, {last} as last from {rows}"
