"""Product carbon footprints of PACT (versions 1 to 3) and of Catena-X (2 to 9)."""

from collections.abc import Iterator
from typing import Any

from tickwork.passports.found import Found
from tickwork.passports.numbers import as_json
from tickwork.passports.reading import Refused, shown
from tickwork.passports.shapes.parts import an_object, attributes, fact, given, number, objects, text

# What the emissions are for one of.
DECLARED = {
    "kilogram": "/kg",
    "kilowatt hour": "/kWh",
    "liter": "/l",
    "piece": "/unit",
    "unit": "/unit",
    "ton kilometer": "/tkm",
    "square meter": "/m2",
    "cubic meter": "/m3",
    "megajoule": "/MJ",
    "hour": "/h",
}
# By life-cycle stage, the names that versions have given it, the newest first.
STAGES = {
    "cradle_to_gate": ("pcfExcludingBiogenicUptake", "pcfExcludingBiogenic", "pCfExcludingBiogenic"),
    "distribution": (
        "distributionStagePcfExcludingBiogenicUptake",
        "distributionStagePcfExcludingBiogenic",
    ),
}
SHARES = {"primaryDataShare": "carbon_footprint.primary_data_share"}
TEXTS = ("productName", "productNameCompany", "productDescription", "companyName")


def is_one(document: dict[str, Any]) -> bool:
    return is_footprint(document) or (
        isinstance(document.get("data"), list) and any(is_footprint(each) for each in document["data"])
    )


def is_footprint(value: Any) -> bool:
    return isinstance(value, dict) and "specVersion" in value and isinstance(value.get("pcf"), dict)


def facts_of(document: dict[str, Any], schema_version: str) -> Iterator[Found]:
    """One footprint, or several in the envelope of an API of PACT."""
    many = [document] if is_footprint(document) else objects(document["data"], "data")
    if len(many) > 1:
        raise Refused("SCHEMA_MISMATCH", "the file has several footprints; add one for each product")
    (footprint,) = many
    pcf = an_object(footprint["pcf"], "pcf")
    declared = text(pcf.get("declaredUnit") or pcf.get("declaredUnitOfMeasurement"), "pcf.declaredUnit")
    if (per := DECLARED.get(declared.removeprefix("unit:").lower())) is None:
        raise Refused("UNKNOWN_UNIT", f"{shown(declared)} is no unit that PACT declares footprints for")
    for stage, names in STAGES.items():
        name = next((each for each in names if pcf.get(each) is not None), None)
        if name:
            value = as_json(number(pcf[name], f"pcf.{name}"))
            payload = {"stage": stage, "value": value, "unit": f"kgCO2e{per}"}
            yield fact("carbon_footprint", stage, schema_version, f"pcf.{name}", payload)
        elif stage == "cradle_to_gate":
            raise Refused("SCHEMA_MISMATCH", "pcf has no emissions without biogenic uptake")
    for name, path in SHARES.items():
        if pcf.get(name) is not None:
            payload = {"value": as_json(number(pcf[name], f"pcf.{name}")), "unit": "P1"}
            yield fact("attribute", path, schema_version, f"pcf.{name}", payload)
    told = {name: footprint.get(name) for name in TEXTS}
    yield from attributes({"carbonFootprint": given(**told)}, "", schema_version)
