"""Catena-X: bills of materials (SingleLevelBom 2 to 4) and battery passports (battery_pass 3 to 6)."""

from collections.abc import Iterator
from typing import Any

from tickwork.passports.found import Found
from tickwork.passports.shapes.parts import amount, an_object, attributes, fact, given, number, objects, text
from tickwork.passports.units import unit_of

CHILDREN = ("childItems", "childParts")
# They are facts of their own.
APART = frozenset({"materials.composition", "sustainability.carbon_footprint"})


def is_one(document: dict[str, Any]) -> bool:
    return is_bom(document) or {"identification", "performance"} <= document.keys()


def is_bom(document: dict[str, Any]) -> bool:
    return "catenaXId" in document and any(isinstance(document.get(each), list) for each in CHILDREN)


def facts_of(document: dict[str, Any], schema_version: str) -> Iterator[Found]:
    if is_bom(document):
        yield from components(document, schema_version)
        return
    yield from attributes(document, "", schema_version, APART)
    materials = an_object(document.get("materials", {}), "materials")
    for index, each in enumerate(objects(materials.get("composition"), "materials.composition")):
        yield material(each, f"materials.composition[{index}]", schema_version)
    sustainability = an_object(document.get("sustainability", {}), "sustainability")
    footprints = sustainability.get("carbonFootprint")
    for index, each in enumerate(objects(footprints, "carbonFootprint") if isinstance(footprints, list) else []):
        path = f"sustainability.carbonFootprint[{index}]"
        stage = text(each.get("lifecycle"), f"{path}.lifecycle")
        measured = amount(each.get("value"), each.get("unit"), f"{path}.value")
        yield fact("carbon_footprint", stage, schema_version, path, {"stage": stage, **measured})


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


def material(value: dict[str, Any], path: str, schema_version: str) -> Found:
    """battery_pass gives concentrations; a mass is in bills of materials."""
    (named, *_) = objects(value.get("id"), f"{path}.id") or [{}]
    name = text(named.get("name"), f"{path}.id[0].name")
    known = unit_of(text(value.get("unit"), f"{path}.unit"))
    payload = given(
        name=name,
        cas=named.get("id") if named.get("type") == "CAS" else None,
        concentration=amount(value.get("concentration"), value["unit"], f"{path}.concentration")["value"],
        unit=known.code,
        location=value.get("location"),
        is_critical=value.get("critical"),
        recycled=None if value.get("recycled") is None else float(number(value["recycled"], f"{path}.recycled")),
    )
    return fact("material", name, schema_version, path, payload)
