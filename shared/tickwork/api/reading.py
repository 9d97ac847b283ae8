"""From a request to the arguments of its function. Whatever somebody sends, the worst that comes of it is a 4xx."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tickwork.api.fields import Request
from tickwork.api.problems import Problem
from tickwork.api.route import Route

if TYPE_CHECKING:
    from werkzeug.datastructures import Headers, MultiDict

# A payload may be 32 levels deep, and may be in an array of an object.
MAX_DEPTH = 40
MAX_QUERY_LENGTH = 8000

TEXTS = re.compile(r'"(?:[^"\\]|\\.)*"')
BRACKETS = re.compile(r"[\[\]{}]")
# Postgres can store neither NUL nor half a surrogate pair.
SUSPICIOUS = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")


WITH_TENANT = (
    "(select jsonb_agg(jsonb_build_object('tenant_id', tickwork.only_tenant()) || job order by place) "
    "from jsonb_array_elements({}) with ordinality as given(job, place))"
)


@dataclass(frozen=True)
class Arguments:
    """The values by parameter; those in `in_body` are read from `body` by the database, with these expressions."""

    values: Mapping[str, Any]
    in_body: Mapping[str, str]
    body: str | None
    is_dry_run: bool


def arguments_of(
    route: Route, in_path: Mapping[str, str], query: "MultiDict[str, str]", headers: "Headers", body: bytes
) -> Arguments:
    """Raises Problem (400)."""
    asked = single(query)
    dry_run = asked.pop("dry_run", None) if route.method != "GET" else None
    if dry_run not in (None, "true", "false"):
        raise Problem(400, "dry_run: must be true or false")
    text = body.decode() if route.has_body and body and is_unicode(body) else None
    given: dict[str, Any] = {}
    if route.has_body:
        if asked:
            raise Problem(400, f"{min(asked)}: goes into the body; the query takes only dry_run")
        given = json_object(text) if text is not None else {}
        if "changes" in route.request.fields and text is not None and not is_wrapped(route, given):
            given, text = {"changes": given}, f'{{"changes": {text}}}'
    check_storable([*in_path.values(), *asked.values()])
    keys = renamed(route.request, {**given, **asked})
    values = {name: {**given, **asked}[key] for name, key in keys.items()}
    if key := headers.get("Idempotency-Key"):
        take_idempotency_key(route, values, key)
    if twice := values.keys() & in_path.keys():
        raise Problem(400, f"{min(twice)}: is in the path already")
    chosen = validated(route, {**values, **in_path})
    in_body = {
        name: expression(route.request, name, keys[name], chosen[name])
        for name in json_fields(route.request)
        if name in keys and chosen.get(name) is not None
    }
    return Arguments(chosen, in_body, text, dry_run == "true")


def expression(model: type[Request], name: str, key: str, value: Any) -> str:
    """SQL for a value in the body, made of nothing but names of our own."""
    found = f"%(body)s::jsonb -> '{key}'"
    if name == model.of_tenants and not all("tenant_id" in each for each in value):
        return WITH_TENANT.format(found)
    changed = found
    for alias, target in model.change_aliases.items() if name == "changes" else ():
        if alias in value:
            changed = f"(({changed}) - '{alias}' || jsonb_build_object('{target}', {found} -> '{alias}'))"
    return changed


def is_wrapped(route: Route, given: Mapping[str, Any]) -> bool:
    """Whether the body is {"changes": {…}}; else it is the changes themselves."""
    return "changes" in given and all(name in route.request.fields for name in given)


def single(query: "MultiDict[str, str]") -> dict[str, str]:
    if twice := [name for name, values in query.lists() if len(values) > 1]:
        raise Problem(400, f"{printable(twice[0])}: is in the query twice")
    found = query.to_dict()
    if sum(len(name) + len(value) for name, value in found.items()) > MAX_QUERY_LENGTH:
        raise Problem(400, f"the query is longer than {MAX_QUERY_LENGTH} characters")
    return found


def is_unicode(body: bytes) -> bool:
    try:
        body.decode()
    except UnicodeDecodeError:
        raise Problem(400, "the body is not valid UTF-8") from None
    return True


def json_object(text: str) -> dict[str, Any]:
    """Strictly: no key twice, no NaN, not too deep, and only what Postgres can store."""
    check_depth(text)
    try:
        found = json.loads(text, object_pairs_hook=without_repetition, parse_constant=refuse_constant)
    except (ValueError, RecursionError) as error:
        # The message of an own error says which key; that of json where.
        raise Problem(400, f"the body is not JSON: {printable(str(error))}") from None
    if not isinstance(found, dict):
        raise Problem(400, "the body must be a JSON object")
    if SUSPICIOUS.search(text):
        check_storable(texts_in(found))
    return found


def check_depth(text: str) -> None:
    depth = 0
    for bracket in BRACKETS.findall(TEXTS.sub("", text)):
        depth += 1 if bracket in "[{" else -1
        if depth > MAX_DEPTH:
            raise Problem(400, f"the body is more than {MAX_DEPTH} levels deep")


def without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{twice!r} is there twice")
    return found


def refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number of JSON")


def texts_in(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for name, each in value.items():
                yield name
                yield from texts_in(each)
        case list():
            for each in value:
                yield from texts_in(each)


def check_storable(texts: Any) -> None:
    for text in texts:
        if "\x00" in text or any("\ud800" <= each <= "\udfff" for each in text):
            raise Problem(400, "a text contains \\u0000 or half a surrogate pair, which cannot be stored")


def renamed(model: type[Request], given: Mapping[str, Any]) -> dict[str, str]:
    """The field of each key, which may be one of its other names."""
    keys: dict[str, str] = {}
    for key in given:
        targets = () if key in model.fields else model.aliases.get(key, ())
        name = next((each for each in targets if each in model.fields), key)
        if name in keys:
            raise Problem(400, f"{printable(key)}: means the same as {printable(keys[name])}; leave one out")
        keys[name] = key
    return keys


def take_idempotency_key(route: Route, values: dict[str, Any], key: str) -> None:
    if "idempotency_key" not in route.request.fields:
        return
    # Werkzeug reads headers as Latin-1.
    key = key.encode("latin-1", "replace").decode("utf-8", "replace")
    if values.setdefault("idempotency_key", key) != key:
        raise Problem(400, "idempotency_key: the body and the header Idempotency-Key have different values")


def validated(route: Route, values: Mapping[str, Any]) -> dict[str, Any]:
    """The values that are given, as the function takes them. Raises Problem (400)."""
    fields, chosen, wrong = route.request.fields, dict[str, Any](), dict[str, str]()
    for name, value in values.items():
        try:
            # What is in the path is text, too.
            is_text = not route.has_body or name in route.in_path
            chosen[name] = fields[name].value_of(value, is_text)
        except KeyError:
            wrong[name] = "there is no such field"
        except ValueError as error:
            wrong[name] = str(error)
    wrong |= {name: "is missing" for name, field in fields.items() if field.is_required and name not in values}
    if wrong:
        details = [{"field": printable(name), "message": message} for name, message in list(wrong.items())[:20]]
        told = f"{details[0]['field']}: {details[0]['message']}"
        raise Problem(400, told, code="TWARG", errors=details)
    return chosen


def json_fields(model: type[Request]) -> list[str]:
    return [name for name, field in model.fields.items() if field.is_json]


def printable(text: str) -> str:
    return "".join(each if each.isprintable() else "?" for each in text[:200])
