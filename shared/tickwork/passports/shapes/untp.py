"""Digital product passports of UNTP: a credential, whose subject is the product. Its proof is not verified here."""

from collections.abc import Iterator
from typing import Any

from tickwork.passports.found import Found
from tickwork.passports.numbers import as_json
from tickwork.passports.shapes.forms import (
    DAY,
    DOCUMENT,
    RATIO,
    TEXT,
    Form,
    Payload,
    first,
    measure,
    misfit,
    objects_in,
    text_of,
    uris_of,
)
from tickwork.passports.shapes.mapping import Line, mapped, value_at
from tickwork.passports.shapes.materials import material_facts
from tickwork.passports.shapes.parts import amount, an_object, entries, fact, given, number, objects, text

# They are facts of their own, or say nothing about the product.
APART = frozenset(
    {"material_provenance", "materials_provenance", "due_diligence_declaration", "type", "id", "product.type"}
)
# By version, the newest first.
MATERIALS = ("materialProvenance", "materialsProvenance")
MASSES = ("mass", "massAmount")


def read_hazardous(value: Any) -> Payload:
    if not objects_in(value):
        raise misfit("a list of materials")
    names = (each.get("name") for each in objects_in(value) if each.get("hazardous") is True)
    return {"value": [*dict.fromkeys(name for name in names if isinstance(name, str))]}


def read_safety(value: Any) -> Payload:
    """The first sheet on the safety of a material."""
    return {"value": first(uri for each in objects_in(value) for uri in uris_of(each.get("materialSafetyInformation")))}


def manufacturer(name: str) -> Form:
    """In version 0.7, one of the parties in their roles."""

    def read(value: Any) -> Payload:
        parties = (each for each in objects_in(value) if each.get("role") == "manufacturer")
        return TEXT.read(value_at(first(parties), f"party.{name}"))

    return Form(read)


PRODUCT = (
    Line("id", "general.product_identifier", TEXT),
    Line("modelNumber", "general.model_identifier", TEXT),
    Line("producedByParty.name", "general.manufacturer_name", TEXT),
    Line("producedByParty.id", "general.manufacturer_identifier", TEXT),
    Line("relatedParty", "general.manufacturer_name", manufacturer("name")),
    Line("relatedParty", "general.manufacturer_identifier", manufacturer("id")),
    Line("producedAtFacility.name", "general.manufacturing_place", TEXT),
    Line("producedAtFacility.id", "general.manufacturing_place", TEXT),
    Line("productionDate", "general.manufacturing_date", DAY),
    Line("dimensions.weight", "general.battery_mass", measure("kg")),
)
# The product is the subject itself before 0.6 and since 0.7.
TABLE = (
    *(line._replace(theirs=f"product.{line.theirs}") for line in PRODUCT),
    *PRODUCT,
    Line("dueDiligenceDeclaration", "due_diligence.report", DOCUMENT),
    *(Line(name, "materials.hazardous_substances", Form(read_hazardous)) for name in MATERIALS),
    *(Line(name, "materials.impact_of_substances", Form(read_safety)) for name in MATERIALS),
    Line("emissionsScorecard.primarySourcedRatio", "carbon_footprint.primary_data_share", RATIO),
    Line("credential.id", "general.battery_passport_identifier", TEXT),
    Line("credential.issuer.id", "general.operator_identifier", TEXT),
    Line("credential.issuer", "general.operator_identifier", TEXT),
)


def is_one(document: dict[str, Any]) -> bool:
    types = document.get("type")
    return isinstance(types, list) and "DigitalProductPassport" in types and "credentialSubject" in document


def facts_of(document: dict[str, Any], schema_version: str) -> Iterator[Found]:
    subject = an_object(document["credentialSubject"], "credentialSubject")
    credential = given(id=document.get("id"), issuer=document.get("issuer"))
    yield from mapped({**subject, "credential": credential}, TABLE, schema_version, left_out=APART)
    for name in MATERIALS:
        listed = [(f"{name}[{index}]", each) for index, each in enumerate(objects(subject.get(name), name))]
        weighed = [(path, material(each, path)) for path, each in listed if mass_of(each) is not None]
        yield from material_facts(weighed, schema_version)
        yield from entries([each for each in listed if mass_of(each[1]) is None], schema_version)
    if subject.get("emissionsScorecard") is not None:
        yield footprint(an_object(subject["emissionsScorecard"], "emissionsScorecard"), schema_version)
    if subject.get("dueDiligenceDeclaration") is not None:
        link = an_object(subject["dueDiligenceDeclaration"], "dueDiligenceDeclaration")
        title = text(link.get("linkName"), "dueDiligenceDeclaration.linkName")
        payload = given(title=title, url=link.get("linkURL"))
        yield fact("due_diligence", title, schema_version, "dueDiligenceDeclaration", payload)


def mass_of(value: dict[str, Any]) -> Any:
    return next((value[name] for name in MASSES if value.get(name) is not None), None)


def material(value: dict[str, Any], path: str) -> Payload:
    """The country is an object in version 0.7."""
    mass = an_object(mass_of(value), f"{path}.mass")
    country = value.get("originCountry")
    weighed = amount(mass.get("value"), mass.get("unit"), f"{path}.mass")
    return given(
        name=text(value.get("name"), f"{path}.name"),
        mass=weighed["value"],
        unit=weighed["unit"],
        location=text_of(country, "countryCode") if isinstance(country, dict) else country,
        recycled=value.get("recycledAmount", value.get("recycledMassFraction")),
        is_hazardous=value.get("hazardous"),
    )


def footprint(card: dict[str, Any], schema_version: str) -> Found:
    stage = text(card.get("operationalScope", "CradleToGate"), "emissionsScorecard.operationalScope")
    value = as_json(number(card.get("carbonFootprint"), "emissionsScorecard.carbonFootprint"))
    per = text(card.get("declaredUnit"), "emissionsScorecard.declaredUnit")
    unit = amount(1, f"kgCO2e/{'kg' if per.upper() == 'KGM' else per}", "emissionsScorecard.declaredUnit")["unit"]
    payload = {"stage": stage, "value": value, "unit": unit}
    return fact("carbon_footprint", stage, schema_version, "emissionsScorecard", payload)
