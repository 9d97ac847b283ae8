"""Catena-X: bills of materials (SingleLevelBom 2 to 4) and battery passports (battery_pass 3 to 6)."""

from collections.abc import Iterator
from typing import Any

from tickwork.passports.found import Found
from tickwork.passports.shapes import catena_x_3
from tickwork.passports.shapes.catena_x_table import TABLE
from tickwork.passports.shapes.mapping import mapped, value_at
from tickwork.passports.shapes.parts import amount, an_object, due_diligence, entries, fact, objects, text

CHILDREN = ("childItems", "childParts")
COMPOSITION = "materials.composition"
APART = frozenset({COMPOSITION})
FOOTPRINTS = ("sustainability.carbonFootprint", "circularity.carbonFootprint")
# Other types of footprints are parts of it, or of something else than carbon.
TOTAL = "Climate Change Total"


def is_one(document: dict[str, Any]) -> bool:
    return is_bom(document) or {"identification", "performance"} <= document.keys() or catena_x_3.is_one(document)


def is_bom(document: dict[str, Any]) -> bool:
    return "catenaXId" in document and any(isinstance(document.get(each), list) for each in CHILDREN)


def facts_of(document: dict[str, Any], schema_version: str) -> Iterator[Found]:
    if is_bom(document):
        return components(document, schema_version)
    if catena_x_3.is_one(document):
        return catena_x_3.facts_of(document, schema_version)
    return passport(without_choices(document), schema_version)


def without_choices(value: Any) -> Any:
    """Version 4 writes what may be one of two things as `left` or `right`."""
    if isinstance(value, list):
        return [without_choices(each) for each in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1 and (side := next(iter(value))) in ("left", "right"):
        return without_choices(value[side])
    return {key: without_choices(each) for key, each in value.items()}


def passport(document: dict[str, Any], schema_version: str) -> Iterator[Found]:
    yield from mapped(document, TABLE, schema_version, left_out=APART)
    composition = objects(value_at(document, COMPOSITION), COMPOSITION)
    yield from entries(((f"{COMPOSITION}[{index}]", each) for index, each in enumerate(composition)), schema_version)
    for name in FOOTPRINTS:
        found = value_at(document, name)
        for index, each in enumerate(objects(found, name) if isinstance(found, list) else []):
            if each.get("type", TOTAL) == TOTAL:
                yield footprint(each, f"{name}[{index}]", schema_version)
    policies = value_at(document, "conformity.dueDiligencePolicy")
    yield from due_diligence(policies, "conformity.dueDiligencePolicy", "header", "content", schema_version)


def footprint(value: dict[str, Any], path: str, schema_version: str) -> Found:
    stage = text(value.get("lifecycle"), f"{path}.lifecycle")
    measured = amount(value.get("value"), value.get("unit"), f"{path}.value")
    return fact("carbon_footprint", stage, schema_version, path, {"stage": stage, **measured})


def components(document: dict[str, Any], schema_version: str) -> Iterator[Found]:
    name = next(each for each in CHILDREN if isinstance(document.get(each), list))
    for index, each in enumerate(objects(document[name], name)):
        path = f"{name}[{index}]"
        part = text(each.get("catenaXId") or each.get("childCatenaXId"), f"{path}.catenaXId")
        counted = quantity(each.get("quantity"), f"{path}.quantity")
        yield fact("component", part, schema_version, path, {"name": part, "part_number": part, **counted})


def quantity(value: Any, path: str) -> dict[str, Any]:
    """Of version 2 and of later ones."""
    if value is None:
        return {}
    found = an_object(value, path)
    unit = found.get("unit") or found.get("measurementUnit")
    if isinstance(unit, dict):
        unit = unit.get("lexicalValue")
    counted = amount(found.get("value", found.get("quantityNumber")), unit, path)
    is_mass = counted["unit"] == "KGM"
    return {"mass" if is_mass else "quantity": counted["value"], "unit": counted["unit"]}
