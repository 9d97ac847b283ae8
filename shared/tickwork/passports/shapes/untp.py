"""Digital product passports of UNTP: a credential, whose subject is the product. Its proof is not verified here."""

from collections.abc import Iterator
from typing import Any

from tickwork.passports.found import Found
from tickwork.passports.numbers import as_json
from tickwork.passports.shapes.parts import amount, an_object, attributes, fact, given, number, objects, text

# They are facts of their own, or say nothing about the product.
APART = frozenset(
    {"materials_provenance", "emissions_scorecard", "due_diligence_declaration", "type", "id"} | {"product.type"}
)


def is_one(document: dict[str, Any]) -> bool:
    types = document.get("type")
    return isinstance(types, list) and "DigitalProductPassport" in types and "credentialSubject" in document


def facts_of(document: dict[str, Any], schema_version: str) -> Iterator[Found]:
    subject = an_object(document["credentialSubject"], "credentialSubject")
    yield from attributes(subject, "", schema_version, APART)
    for index, each in enumerate(objects(subject.get("materialsProvenance"), "materialsProvenance")):
        yield material(each, f"materialsProvenance[{index}]", schema_version)
    if subject.get("emissionsScorecard") is not None:
        card = an_object(subject["emissionsScorecard"], "emissionsScorecard")
        stage = text(card.get("operationalScope", "CradleToGate"), "emissionsScorecard.operationalScope")
        value = as_json(number(card.get("carbonFootprint"), "emissionsScorecard.carbonFootprint"))
        per = text(card.get("declaredUnit"), "emissionsScorecard.declaredUnit")
        unit = amount(1, f"kgCO2e/{'kg' if per.upper() == 'KGM' else per}", "emissionsScorecard.declaredUnit")["unit"]
        payload = {"stage": stage, "value": value, "unit": unit}
        yield fact("carbon_footprint", stage, schema_version, "emissionsScorecard", payload)
    if subject.get("dueDiligenceDeclaration") is not None:
        link = an_object(subject["dueDiligenceDeclaration"], "dueDiligenceDeclaration")
        title = text(link.get("linkName"), "dueDiligenceDeclaration.linkName")
        payload = given(title=title, url=link.get("linkURL"))
        yield fact("due_diligence", title, schema_version, "dueDiligenceDeclaration", payload)


def material(value: dict[str, Any], path: str, schema_version: str) -> Found:
    name = text(value.get("name"), f"{path}.name")
    mass = an_object(value.get("massAmount", {}), f"{path}.massAmount")
    weighed = amount(mass.get("value"), mass.get("unit"), f"{path}.massAmount")
    payload = given(
        name=name,
        mass=weighed["value"],
        unit=weighed["unit"],
        location=value.get("originCountry"),
        recycled=value.get("recycledAmount", value.get("recycledMassFraction")),
        is_hazardous=value.get("hazardous"),
    )
    return fact("material", name, schema_version, path, payload)
