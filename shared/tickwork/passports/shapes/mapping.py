"""Tables from the paths of a foreign model to the attributes of the default rules, and how they are applied."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from tickwork.passports.canonical import canonical
from tickwork.passports.found import MAX_PAYLOAD, Found
from tickwork.passports.reading import Refused
from tickwork.passports.shapes.forms import Form, Payload
from tickwork.passports.shapes.parts import attributes, fact, is_measured, snake_case


class Line(NamedTuple):
    """Where the model has it, the attribute that it is, and how its value is read."""

    theirs: str
    ours: str
    form: Form


def mapped(
    document: dict[str, Any],
    table: Sequence[Line],
    schema_version: str,
    prefix: str = "",
    left_out: frozenset[str] = frozenset(),
) -> Iterator[Found]:
    """Attributes by the first lines that fit; whatever the table does not take whole keeps its own path."""
    taken, given = set(left_out), set()
    for line in table:
        value = value_at(document, line.theirs)
        if line.ours in given or value is None or (payload := read(line.form, value)) is None:
            continue
        given.add(line.ours)
        if line.form.is_whole or payload == {"value": value}:
            taken |= taken_by(value, own_path(line.theirs, prefix))
        yield fact("attribute", line.ours, schema_version, line.theirs, payload)
    yield from attributes(document, prefix, schema_version, frozenset(taken), frozenset(given))


def value_at(document: Any, path: str) -> Any:
    for key in path.split("."):
        document = document.get(key) if isinstance(document, dict) else None
    return document


def taken_by(value: Any, path: str) -> set[str]:
    """Of an object with more than a value and its unit, the other members are left."""
    return {f"{path}.value", f"{path}.unit"} if isinstance(value, dict) and not is_measured(value) else {path}


def own_path(path: str, prefix: str) -> str:
    own = ".".join(map(snake_case, path.split(".")))
    return f"{prefix}.{own}" if prefix else own


def read(form: Form, value: Any) -> Payload | None:
    """None if it does not fit, and for a list of names that is too long for a fact."""
    try:
        payload = form.read(value)
    except Refused:
        return None
    is_list = isinstance(payload["value"], list)
    return None if is_list and len(canonical(payload)) > MAX_PAYLOAD else payload
