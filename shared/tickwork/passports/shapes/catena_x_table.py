"""Catena-X battery_pass 4 to 6 (eclipse-tractusx/sldt-semantic-models): where the attributes of the default rules are.

Units are those of the model. Its shares of recycled material do not say whether the waste was pre-consumer or
post-consumer, and it has concentrations of materials, but no masses: they keep their own paths.
"""

from collections.abc import Iterator
from typing import Any

from tickwork.passports.shapes.forms import (
    DAY,
    DOCUMENT,
    MONTHS_OF_WARRANTY,
    TEXT,
    Form,
    different,
    first,
    joined,
    measure,
    member,
    members,
    misfit,
    objects_in,
    one_of,
    plain,
    read_months,
    text_of,
    uris_of,
)
from tickwork.passports.shapes.mapping import Line, value_at
from tickwork.passports.shapes.materials import Material, above, critical, inside
from tickwork.passports.shapes.words import CATEGORIES, CLASSES, STATUSES

# Where a material has its name: in version 6, in 5 and in 4.
NAMED_BY = ("materialIdentification", "id", "materialName", "name", "substanceName")


def address(value: Any) -> str | None:
    """Of BPDM: street, town and country."""
    street = " ".join(different([text_of(value_at(value, "thoroughfare"), name) for name in ("value", "number")]))
    town = " ".join(different([text_of(value_at(value, name), "value") for name in ("postCode", "locality")]))
    return ", ".join(different([street, town, text_of(value_at(value, "country"), "shortName")]))


def company(value: Any) -> str | None:
    """Its number, or in version 4 its name and address."""
    if isinstance(value, str):
        return value
    names = value.get("companyName") if isinstance(value, dict) else None
    name = next((each for each in names if isinstance(each, str)), None) if isinstance(names, list) else None
    return ", ".join(different([name, address(value_at(value, "address"))]))


def place(value: Any) -> str | None:
    """The number of a facility, or in version 4 its address."""
    return value if isinstance(value, str) else text_of(value, "facility") or address(value)


def name_of(value: dict[str, Any]) -> str | None:
    """Critical materials of version 4 have a name of their own."""
    lists = (value.get(key) for key in NAMED_BY)
    named = (
        text_of(one, "name", "chemicalName") for each in lists for one in (each if isinstance(each, list) else [each])
    )
    return text_of(value, "criticalName") or next((name for name in named if name), None)


def materials(value: Any) -> Iterator[Material]:
    """Those of lists have a name, the others are named by their keys."""
    for group in ("active", "hazardous", "activeMaterials", "hazardousSubstance"):
        found = value_at(value, group)
        for key, each in found.items() if isinstance(found, dict) else ():
            if isinstance(each, dict):
                yield as_material(key.capitalize(), each)
            yield from (as_material(name_of(one), one) for one in objects_in(each))
    for group in ("composition", "otherMaterials"):
        yield from (as_material(name_of(one), one) for one in objects_in(value_at(value, group)))
    yield from (Material(name_of(one), is_critical=True) for one in objects_in(value_at(value, "criticalMaterial")))


def as_material(name: str | None, value: dict[str, Any]) -> Material:
    return Material(name, text_of(value, "location") or "", value.get("critical") is True)


def read_names(value: Any) -> dict[str, Any]:
    if not isinstance(value, list):
        raise misfit("a list of substances")
    return {"value": different(map(name_of, objects_in(value)))}


def read_impact(value: Any) -> dict[str, Any]:
    """The first document on the impact of a hazardous substance."""
    groups = value.values() if isinstance(value, dict) else ()
    substances = [one for each in groups for one in (objects_in(each) if isinstance(each, list) else [each])]
    return {"value": first(uri for one in substances for uri in uris_of(value_at(one, "impactOfSubstances")))}


def read_guarantee(value: Any) -> dict[str, Any]:
    """In version 4, one of several life spans."""
    return read_months(first(each for each in objects_in(value) if each.get("key") == "guaranteed lifetime"))


RATED, DYNAMIC = "performance.rated", "performance.dynamic"
GENERAL = (
    Line("identification.idDmc", "general.product_identifier", TEXT),
    Line("identification.identification.type.manufacturerPartId", "general.model_identifier", TEXT),
    Line("identification.typeId", "general.model_identifier", TEXT),
    Line("identification.category", "general.battery_category", one_of(CATEGORIES)),
    Line("identification.chemistry", "materials.chemistry", TEXT),
    Line("metadata.passportIdentifier", "general.battery_passport_identifier", TEXT),
    Line("metadata.economicOperatorId", "general.operator_identifier", TEXT),
    Line("metadata.economicOperator.economicOperatorId", "general.operator_identifier", TEXT),
    Line("operation.manufacturer.manufacturer", "general.manufacturer_identifier", TEXT),
    Line("operation.manufacturer.facility", "general.manufacturing_place", joined(place)),
    Line("operation.manufacturer.manufacturingDate", "general.manufacturing_date", DAY),
    Line("operation.intoServiceDate", "general.putting_into_service", DAY),
    Line("characteristics.physicalDimension.weight", "general.battery_mass", measure("kg")),
    Line("characteristics.warranty", "general.warranty_period", MONTHS_OF_WARRANTY),
    Line("sustainability.status", "general.battery_status", one_of(STATUSES)),
)
# What version 4 has elsewhere.
GENERAL_OF_4 = (
    Line("generalInformation.manufacturer.manufacturer", "general.manufacturer_identifier", TEXT),
    Line("generalInformation.manufacturer.manufacturer.companyName", "general.manufacturer_name", joined(company)),
    Line("generalInformation.manufacturer.manufacturer.address", "general.manufacturer_address", joined(address)),
    Line("generalInformation.manufacturer.facility", "general.manufacturing_place", joined(place)),
    Line("generalInformation.manufacturer.manufacturingDate", "general.manufacturing_date", DAY),
    Line("generalInformation.intoServiceDate", "general.putting_into_service", DAY),
    Line("generalInformation.lifespan", "general.warranty_period", Form(read_guarantee)),
    Line("physicalDimension.weight", "general.battery_mass", measure("kg")),
    Line("circularity.status", "general.battery_status", one_of(STATUSES)),
)
DOCUMENTS = (
    Line("conformity.declarationOfConformity", "labels.declaration_of_conformity", DOCUMENT),
    Line("conformity.declarationOfConformityId", "labels.declaration_identifier", TEXT),
    Line("conformity.resultOfTestReport", "labels.test_reports", DOCUMENT),
    Line("conformity.thirdPartyAssurance", "due_diligence.third_party_assurances", DOCUMENT),
    Line("conformity.dueDiligencePolicy", "due_diligence.report", DOCUMENT),
    Line("safety.meaningOfLabels", "labels.meaning", DOCUMENT),
    Line("safety.dismantling", "circularity.dismantling_manual", DOCUMENT),
    Line("safety.removalFromAppliance", "circularity.dismantling_manual", DOCUMENT),
    Line("safety.safetyMeasures", "circularity.safety_measures", DOCUMENT),
    Line("safety.usableExtinguishAgent", "circularity.extinguishing_agents", members("media")),
    Line("sustainability.documents.wastePrevention", "circularity.waste_prevention", DOCUMENT),
    Line("sustainability.documents.separateCollection", "circularity.separate_collection", DOCUMENT),
    Line("circularity.documents.wastePrevention", "circularity.waste_prevention", DOCUMENT),
    Line("circularity.documents.separateCollection", "circularity.separate_collection", DOCUMENT),
    Line("circularity.documents.separateCollectionSymbol", "labels.separate_collection", DOCUMENT),
    Line("circularity.documents.impactOfSubstances", "materials.impact_of_substances", DOCUMENT),
)
# Spare parts are in another place in each of versions 4, 5 and 6.
SPARE_PARTS = tuple(
    line
    for where in ("handling.content", "handling.spareParts", "circularity.spareParts")
    for line in (
        Line(f"{where}.sparePart", "circularity.part_numbers", members("manufacturerPartId", "partNumber")),
        Line(
            f"{where}.producer", "circularity.spare_part_suppliers", joined(lambda each: company(value_at(each, "id")))
        ),
    )
)
CARBON_FOOTPRINT = tuple(
    Line(f"{where}.carbonFootprint", "carbon_footprint.performance_class", member("performanceClass", one_of(CLASSES)))
    for where in ("sustainability", "circularity")
)
# By Article 13(5), batteries have the symbols with more than 0.002 % of cadmium and 0.004 % of lead.
MATERIALS = tuple(
    line
    for where, hazardous in (("materials", "hazardous"), ("chemicalMaterial", "hazardousSubstance"))
    for line in (
        Line(where, "materials.critical_raw_materials", critical(materials)),
        Line(where, "materials.cathode", inside(materials, "cathode")),
        Line(where, "materials.anode", inside(materials, "anode")),
        Line(where, "materials.electrolyte", inside(materials, "electrolyte")),
        Line(f"{where}.{hazardous}.other", "materials.hazardous_substances", Form(read_names)),
        Line(f"{where}.{hazardous}", "materials.impact_of_substances", Form(read_impact)),
        Line(f"{where}.{hazardous}.cadmium", "labels.contains_cadmium", above("20")),
        Line(f"{where}.{hazardous}.lead", "labels.contains_lead", above("40")),
    )
)
PERFORMANCE = (
    Line(f"{RATED}.capacity", "performance.rated_capacity", measure("Ah")),
    Line(f"{RATED}.capacity.thresholdExhaustion", "performance.exhaustion_threshold", measure("%")),
    Line(f"{RATED}.energy", "performance.certified_usable_energy", measure("kWh")),
    Line(f"{RATED}.voltage.min", "performance.minimum_voltage", measure("V")),
    Line(f"{RATED}.voltage.nominal", "performance.nominal_voltage", measure("V")),
    Line(f"{RATED}.voltage.max", "performance.maximum_voltage", measure("V")),
    Line(f"{RATED}.power", "performance.original_power_capability", measure("W")),
    Line(f"{RATED}.roundTripEfficiency.initial", "performance.initial_round_trip_efficiency", measure("%")),
    Line(f"{RATED}.roundTripEfficiency.50PercentLife", "performance.round_trip_efficiency_at_half_life", measure("%")),
    Line(f"{RATED}.selfDischargingRate", "performance.initial_self_discharge", measure("%")),
    Line(f"{RATED}.resistance.cell", "performance.initial_cell_resistance", measure("Ohm")),
    Line(f"{RATED}.resistance.pack", "performance.initial_pack_resistance", measure("Ohm")),
    Line(f"{RATED}.temperature.lower", "performance.lower_temperature", measure("°C")),
    Line(f"{RATED}.temperature.upper", "performance.upper_temperature", measure("°C")),
    Line(f"{RATED}.lifetime.expectedYears", "performance.expected_lifetime", measure("year")),
    Line(f"{RATED}.lifetime.report", "performance.cycle_life_reference_test", DOCUMENT),
    Line(f"{RATED}.lifetime.cycleLifeTesting.cycles", "performance.expected_cycles", plain()),
    # The rules have one rate: that of discharging.
    Line(f"{RATED}.lifetime.cycleLifeTesting.appliedDischargeRate", "performance.cycle_life_c_rate", plain()),
    Line(f"{DYNAMIC}.stateOfCharge", "performance.state_of_charge", measure("%")),
    Line(f"{DYNAMIC}.fullCycles", "performance.full_cycles", plain()),
    Line(f"{DYNAMIC}.selfDischargingRate", "performance.current_self_discharge", measure("%")),
    Line(f"{DYNAMIC}.capacity.capacity", "performance.remaining_capacity", measure("Ah")),
    Line(f"{DYNAMIC}.capacity.fade", "performance.capacity_fade", measure("%")),
    Line(f"{DYNAMIC}.capacity.throughput", "performance.capacity_throughput", measure("Ah")),
    Line(f"{DYNAMIC}.energy.remaining", "performance.remaining_usable_energy", measure("kWh")),
    Line(f"{DYNAMIC}.energy.soce", "performance.state_of_certified_energy", measure("%")),
    Line(f"{DYNAMIC}.energy.throughput", "performance.energy_throughput", measure("kWh")),
    Line(f"{DYNAMIC}.power.remaining", "performance.remaining_power_capability", measure("W")),
    Line(f"{DYNAMIC}.power.fade", "performance.power_fade", measure("%")),
    Line(f"{DYNAMIC}.roundTripEfficiency.remaining", "performance.remaining_round_trip_efficiency", measure("%")),
    Line(f"{DYNAMIC}.resistance.remaining.pack", "performance.current_pack_resistance", measure("Ohm")),
    Line(f"{DYNAMIC}.resistance.increase.pack", "performance.resistance_increase", measure("%")),
    Line(f"{DYNAMIC}.negativeEvents", "performance.accidents", DOCUMENT),
)
TABLE = (*GENERAL, *GENERAL_OF_4, *DOCUMENTS, *SPARE_PARTS, *CARBON_FOOTPRINT, *MATERIALS, *PERFORMANCE)
