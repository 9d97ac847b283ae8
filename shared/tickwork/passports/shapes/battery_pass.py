"""The aspects of the Battery Pass data model 1.2: each is a document of its own."""

from collections.abc import Iterator, Mapping
from typing import Any

from tickwork.passports.found import Found
from tickwork.passports.numbers import as_json
from tickwork.passports.rules.schema import is_uri
from tickwork.passports.shapes.battery_pass_table import SPELLINGS, TABLE
from tickwork.passports.shapes.mapping import mapped
from tickwork.passports.shapes.materials import material_facts
from tickwork.passports.shapes.parts import amount, an_object, fact, given, number, objects, text

# By a key that only this aspect has: the beginning of its attributes' paths.
ASPECTS = {
    "batteryMaterials": "materials",
    "carbonFootprintPerLifecycleStage": "carbon_footprint",
    "supplyChainDueDiligenceReport": "due_diligence",
    "recycledContent": "circularity",
    "batteryTechnicalProperties": "performance",
    "batteryTechicalProperties": "performance",
    "productIdentifier": "general",
    "labels": "labels",
}
# They are facts of their own.
APART = frozenset({"materials.battery_materials", "carbon_footprint.carbon_footprint_per_lifecycle_stage"})


def is_one(document: dict[str, Any]) -> bool:
    return aspect_of(document) is not None


def aspect_of(document: dict[str, Any]) -> str | None:
    return next((aspect for key, aspect in ASPECTS.items() if key in document), None)


def facts_of(document: dict[str, Any], schema_version: str) -> Iterator[Found]:
    aspect = aspect_of(document)
    assert aspect is not None
    document = respelt(document, SPELLINGS)
    yield from mapped(document, TABLE, schema_version, aspect, APART)
    materials = enumerate(objects(document.get("batteryMaterials"), "batteryMaterials"))
    weighed = [(path := f"batteryMaterials[{index}]", material(each, path)) for index, each in materials]
    yield from material_facts(weighed, schema_version)
    stages = objects(document.get("carbonFootprintPerLifecycleStage"), "carbonFootprintPerLifecycleStage")
    for index, each in enumerate(stages):
        path = f"carbonFootprintPerLifecycleStage[{index}]"
        stage = text(each.get("lifecycleStage"), f"{path}.lifecycleStage")
        value = as_json(number(each.get("carbonFootprint"), f"{path}.carbonFootprint"))
        payload = {"stage": stage, "value": value, "unit": "kgCO2e/kWh"}
        yield fact("carbon_footprint", stage, schema_version, path, payload)
    if report := document.get("supplyChainDueDiligenceReport"):
        title = "Supply chain due diligence report"
        url = text(report, "supplyChainDueDiligenceReport")
        payload = given(title=title, url=url if is_uri(url) else None)
        yield fact("due_diligence", title, schema_version, "supplyChainDueDiligenceReport", payload)


def respelt(value: Any, names: Mapping[str, str]) -> Any:
    """With other names for some members, wherever they are."""
    if isinstance(value, list):
        return [respelt(each, names) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        names[key] if key in names and names[key] not in value else key: respelt(each, names)
        for key, each in value.items()
    }


def material(value: dict[str, Any], path: str) -> dict[str, Any]:
    """The model has masses in grams."""
    location = an_object(value.get("batteryMaterialLocation") or {}, f"{path}.batteryMaterialLocation")
    weighed = amount(value.get("batteryMaterialMass"), "g", f"{path}.batteryMaterialMass")
    return given(
        name=text(value.get("batteryMaterialName"), f"{path}.batteryMaterialName"),
        cas=value.get("batteryMaterialIdentifier"),
        mass=weighed["value"],
        unit=weighed["unit"],
        location=location.get("componentName"),
        is_critical=value.get("isCriticalRawMaterial"),
    )
