"""What the models say about materials: names for lists of the rules, and facts where a mass is given."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from typing import Any, NamedTuple

from tickwork.passports.found import Found
from tickwork.passports.shapes.forms import Form, Payload, different, misfit, objects_in, text_of
from tickwork.passports.shapes.parts import fact, number

# By SAMM's unit, in parts per million; volumes are left out.
CONCENTRATIONS = {
    "unit:percent": Decimal(10_000),
    "unit:partPerThousand": Decimal(1_000),
    "unit:partPerMillion": Decimal(1),
    "unit:partPerBillionUs": Decimal("0.001"),
    "unit:partPerTrillionUs": Decimal("0.000001"),
}


class Material(NamedTuple):
    name: str | None
    location: str = ""
    is_critical: bool = False


Reader = Callable[[Any], Iterable[Material]]


def critical(read: Reader) -> Form:
    """Those that are marked so: none, if materials are listed and none of them is."""

    def names(value: Any) -> Payload:
        if not (found := [*read(value)]):
            raise misfit("a list of materials")
        return {"value": different(each.name for each in found if each.is_critical)}

    return Form(names)


def inside(read: Reader, component: str) -> Form:
    """The materials of the component, such as the cathode."""

    def names(value: Any) -> Payload:
        found = different(each.name for each in read(value) if component in each.location.lower())
        if not found:
            raise misfit("a list of materials with their locations")
        return {"value": found}

    return Form(names)


def above(limit: str) -> Form:
    """Whether the concentration of a metal is above so many parts per million; of a range, both ends must agree."""

    def read(value: Any) -> Payload:
        unit = text_of(value, "materialUnit", "substanceUnit", "unit")
        if unit not in CONCENTRATIONS:
            raise misfit("a concentration by mass")
        ends = {end * CONCENTRATIONS[unit] > Decimal(limit) for end in ends_of(value.get("concentration"))}
        if len(ends) != 1:
            raise misfit("a concentration")
        return {"value": ends.pop()}

    return Form(read)


def ends_of(concentration: Any) -> Iterator[Decimal]:
    if not isinstance(concentration, list):
        yield number(concentration, "concentration")
    for each in objects_in(concentration):
        yield number(each.get("min", 0), "min")
        yield number(each.get("max"), "max")


def material_facts(weighed: Iterable[tuple[str, Payload]], schema_version: str) -> Iterator[Found]:
    """Of paths and payloads. A name that comes twice has its location behind it, as long as that differs."""
    found = [*weighed]
    names = Counter(payload["name"] for _, payload in found)
    for path, payload in found:
        name = payload["name"]
        is_unique = names[name] == 1 or "location" not in payload
        key = name if is_unique else f"{name}, {payload['location']}"
        yield fact("material", key, schema_version, path, payload)
