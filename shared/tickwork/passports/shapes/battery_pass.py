"""The aspects of the Battery Pass data model 1.2: each is a document of its own."""

from collections.abc import Iterator
from typing import Any

from tickwork.passports.found import Found
from tickwork.passports.numbers import as_json
from tickwork.passports.shapes.parts import an_object, attributes, fact, given, number, objects, text

# By a key that only this aspect has: the beginning of its attributes' paths.
ASPECTS = {
    "batteryMaterials": "materials",
    "carbonFootprintPerLifecycleStage": "carbon_footprint",
    "supplyChainDueDiligenceReport": "due_diligence",
    "recycledContent": "circularity",
    "batteryTechnicalProperties": "performance",
    "productIdentifier": "general",
    "labels": "labels",
}
# They are facts of their own.
APART = frozenset(
    {"materials.battery_materials", "carbon_footprint.carbon_footprint_per_lifecycle_stage"}
    | {"due_diligence.supply_chain_due_diligence_report"}
)


def is_one(document: dict[str, Any]) -> bool:
    return aspect_of(document) is not None


def aspect_of(document: dict[str, Any]) -> str | None:
    return next((aspect for key, aspect in ASPECTS.items() if key in document), None)


def facts_of(document: dict[str, Any], schema_version: str) -> Iterator[Found]:
    aspect = aspect_of(document)
    assert aspect is not None
    yield from attributes(document, aspect, schema_version, APART)
    for index, each in enumerate(objects(document.get("batteryMaterials"), "batteryMaterials")):
        yield material(each, f"batteryMaterials[{index}]", schema_version)
    stages = objects(document.get("carbonFootprintPerLifecycleStage"), "carbonFootprintPerLifecycleStage")
    for index, each in enumerate(stages):
        path = f"carbonFootprintPerLifecycleStage[{index}]"
        stage = text(each.get("lifecycleStage"), f"{path}.lifecycleStage")
        value = as_json(number(each.get("carbonFootprint"), f"{path}.carbonFootprint"))
        payload = {"stage": stage, "value": value, "unit": "kgCO2e/kWh"}
        yield fact("carbon_footprint", stage, schema_version, path, payload)
    if report := document.get("supplyChainDueDiligenceReport"):
        title = "Supply chain due diligence report"
        payload = {"title": title, "url": text(report, "supplyChainDueDiligenceReport")}
        yield fact("due_diligence", title, schema_version, "supplyChainDueDiligenceReport", payload)


def material(value: dict[str, Any], path: str, schema_version: str) -> Found:
    """The model has masses in kilograms."""
    name = text(value.get("batteryMaterialName"), f"{path}.batteryMaterialName")
    location = an_object(value.get("batteryMaterialLocation") or {}, f"{path}.batteryMaterialLocation")
    payload = given(
        name=name,
        cas=value.get("batteryMaterialIdentifier"),
        mass=as_json(number(value.get("batteryMaterialMass"), f"{path}.batteryMaterialMass")),
        unit="KGM",
        location=location.get("componentName"),
        is_critical=value.get("isCriticalRawMaterial"),
    )
    return fact("material", name, schema_version, path, payload)
