"""Battery Pass data model 1.2 (batterypass/BatteryPassDataModel): where the attributes of the default rules are.

Units are those of the model. It gives a remaining capacity in kWh and power capabilities in percent, which the rules
have in Ah and in W: they, and the range of temperatures of 1.2.0, which is a single number, keep their own paths.
"""

from collections.abc import Iterator
from typing import Any

from tickwork.passports.shapes.forms import (
    DAY,
    MINUTES,
    MONTHS_OF_WARRANTY,
    TEXT,
    URI,
    Form,
    different,
    joined,
    measure,
    member,
    members,
    misfit,
    objects_in,
    one_of,
    plain,
    text_of,
)
from tickwork.passports.shapes.mapping import Line
from tickwork.passports.shapes.materials import Material, critical, inside
from tickwork.passports.shapes.words import CATEGORIES, CLASSES, STATUSES

# Spelt so in 1.2.0, and otherwise later.
SPELLINGS = {
    "batteryTechicalProperties": "batteryTechnicalProperties",
    "warrentyPeriod": "warrantyPeriod",
    "thirdPartyAussurances": "thirdPartyAssurances",
    "supplyChainIndicies": "supplyChainIndices",
    "remainingEnergyalue": "remainingEnergyValue",
    "currentSelfDischargingRateEntity": "currentSelfDischargingRateValue",
}


def address(value: Any) -> str | None:
    parts = (text_of(value, name) for name in ("streetAddress", "postalCode", "addressCountry"))
    return ", ".join(different(parts))


def supplier(value: Any) -> str | None:
    names = ("nameOfSupplier", "emailAddressOfSupplier", "supplierWebAddress")
    where = address(value.get("addressOfSupplier")) if isinstance(value, dict) else None
    return ", ".join(different([text_of(value, names[0]), where, text_of(value, names[1]), text_of(value, names[2])]))


def materials(value: Any) -> Iterator[Material]:
    for each in objects_in(value):
        location = text_of(each.get("batteryMaterialLocation"), "componentName") or ""
        yield Material(text_of(each, "batteryMaterialName"), location, each.get("isCriticalRawMaterial") is True)


def read_part_numbers(value: Any) -> dict[str, Any]:
    parts = (part for each in objects_in(value) for part in objects_in(each.get("components")))
    if not (found := different(text_of(part, "partNumber") for part in parts)):
        raise misfit("a list of suppliers with their components")
    return {"value": found}


def symbol(subject: str) -> Form:
    return member("labelingSymbol", URI, labelingSubject=subject)


def manual(kind: str) -> Form:
    return member("documentURL", URI, documentType=kind)


def recycled(material: str, share: str) -> Form:
    return member(share, measure("%"), recycledMaterial=material)


GENERAL = (
    Line("productIdentifier", "general.product_identifier", TEXT),
    Line("batteryPassportIdentifier", "general.battery_passport_identifier", TEXT),
    Line("batteryCategory", "general.battery_category", one_of(CATEGORIES)),
    Line("manufacturerInformation.contactName", "general.manufacturer_name", TEXT),
    Line("manufacturerInformation.identifier", "general.manufacturer_identifier", TEXT),
    Line("manufacturerInformation.postalAddress", "general.manufacturer_address", joined(address)),
    Line("operatorInformation.identifier", "general.operator_identifier", TEXT),
    Line("manufacturingPlace", "general.manufacturing_place", joined(address)),
    Line("manufacturingDate", "general.manufacturing_date", DAY),
    Line("puttingIntoService", "general.putting_into_service", DAY),
    Line("batteryMass", "general.battery_mass", measure("kg")),
    Line("batteryStatus", "general.battery_status", one_of(STATUSES)),
    Line("warrantyPeriod", "general.warranty_period", MONTHS_OF_WARRANTY),
)
LABELS = (
    Line("labels", "labels.separate_collection", symbol("SeparateCollection")),
    Line("labels", "labels.carbon_footprint_label", symbol("CarbonFootPrint")),
    Line("declarationOfConformity", "labels.declaration_of_conformity", URI),
    Line("resultOfTestReport", "labels.test_reports", URI),
)
CARBON_FOOTPRINT = (
    Line("carbonFootprintPerformanceClass", "carbon_footprint.performance_class", one_of(CLASSES)),
    Line("carbonFootprintStudy", "carbon_footprint.study", URI),
    Line("absoluteCarbonFootprint", "carbon_footprint.absolute", measure("kgCO2e")),
)
DUE_DILIGENCE = (
    Line("supplyChainDueDiligenceReport", "due_diligence.report", URI),
    Line("thirdPartyAssurances", "due_diligence.third_party_assurances", URI),
)
MATERIALS = (
    Line("batteryChemistry.shortName", "materials.chemistry", TEXT),
    Line("batteryChemistry.clearName", "materials.chemistry", TEXT),
    Line("batteryMaterials", "materials.critical_raw_materials", critical(materials)),
    Line("batteryMaterials", "materials.cathode", inside(materials, "cathode")),
    Line("batteryMaterials", "materials.anode", inside(materials, "anode")),
    Line("batteryMaterials", "materials.electrolyte", inside(materials, "electrolyte")),
    Line("hazardousSubstances", "materials.hazardous_substances", members("hazardousSubstanceName")),
)
CIRCULARITY = (
    Line("recycledContent", "circularity.pre_consumer_nickel", recycled("Nickel", "preConsumerShare")),
    Line("recycledContent", "circularity.post_consumer_nickel", recycled("Nickel", "postConsumerShare")),
    Line("recycledContent", "circularity.pre_consumer_cobalt", recycled("Cobalt", "preConsumerShare")),
    Line("recycledContent", "circularity.post_consumer_cobalt", recycled("Cobalt", "postConsumerShare")),
    Line("recycledContent", "circularity.pre_consumer_lithium", recycled("Lithium", "preConsumerShare")),
    Line("recycledContent", "circularity.post_consumer_lithium", recycled("Lithium", "postConsumerShare")),
    Line("recycledContent", "circularity.pre_consumer_lead", recycled("Lead", "preConsumerShare")),
    Line("recycledContent", "circularity.post_consumer_lead", recycled("Lead", "postConsumerShare")),
    Line("renewableContent", "circularity.renewable_content", measure("%")),
    Line("dismantlingAndRemovalInformation", "circularity.dismantling_manual", manual("DismantlingManual")),
    Line("dismantlingAndRemovalInformation", "circularity.dismantling_manual", manual("RemovalManual")),
    Line("sparePartSources", "circularity.part_numbers", Form(read_part_numbers)),
    Line("sparePartSources", "circularity.spare_part_suppliers", joined(supplier)),
    Line("safetyMeasures.safetyInstructions", "circularity.safety_measures", URI),
    Line("safetyMeasures.extinguishingAgent", "circularity.extinguishing_agents", members()),
    Line("endOfLifeInformation.wastePrevention", "circularity.waste_prevention", URI),
    Line("endOfLifeInformation.separateCollection", "circularity.separate_collection", URI),
    Line("endOfLifeInformation.informationOnCollection", "circularity.collection_points", URI),
)
RATED = "batteryTechnicalProperties"
PERFORMANCE_RATED = (
    Line(f"{RATED}.ratedCapacity", "performance.rated_capacity", measure("Ah")),
    Line(f"{RATED}.ratedEnergy", "performance.certified_usable_energy", measure("kWh")),
    Line(f"{RATED}.minimumVoltage", "performance.minimum_voltage", measure("V")),
    Line(f"{RATED}.nominalVoltage", "performance.nominal_voltage", measure("V")),
    Line(f"{RATED}.maximumVoltage", "performance.maximum_voltage", measure("V")),
    Line(f"{RATED}.ratedMaximumPower", "performance.maximum_permitted_power", measure("kW")),
    # In percent, the rules have a ratio.
    Line(f"{RATED}.powerCapabilityRatio", "performance.power_to_energy_ratio", plain("0.01")),
    Line(f"{RATED}.roundtripEfficiency", "performance.initial_round_trip_efficiency", measure("%")),
    Line(f"{RATED}.initialSelfDischarge", "performance.initial_self_discharge", measure("%")),
    Line(
        f"{RATED}.initialInternalResistance",
        "performance.initial_cell_resistance",
        member("ohmicResistance", measure("Ohm"), batteryComponent="cell"),
    ),
    Line(
        f"{RATED}.initialInternalResistance",
        "performance.initial_pack_resistance",
        member("ohmicResistance", measure("Ohm"), batteryComponent="pack"),
    ),
    Line(f"{RATED}.expectedNumberOfCycles", "performance.expected_cycles", plain()),
    Line(f"{RATED}.expectedLifetime", "performance.expected_lifetime", measure("year")),
    Line(f"{RATED}.capacityThresholdForExhaustion", "performance.exhaustion_threshold", measure("%")),
    Line(f"{RATED}.lifetimeReferenceTest", "performance.cycle_life_reference_test", TEXT),
    Line(f"{RATED}.cRateLifeCycleTest", "performance.cycle_life_c_rate", plain()),
    Line(f"{RATED}.temperatureRangeIdleState.minimum", "performance.lower_temperature", measure("°C")),
    Line(f"{RATED}.temperatureRangeIdleState.maximum", "performance.upper_temperature", measure("°C")),
)
# In the condition in 1.2.0, with the rated values in 1.2.1.
PERFORMANCE_MOVED = tuple(
    Line(f"{place}.{name}", f"performance.{ours}", measure("%"))
    for place in (RATED, "batteryCondition")
    for name, ours in (
        ("roundTripEfficiencyat50PerCentCycleLife", "round_trip_efficiency_at_half_life"),
        ("powerFade", "power_fade"),
    )
)
CONDITION = "batteryCondition"
HEAT = f"{CONDITION}.temperatureInformation"
PERFORMANCE_IN_USE = (
    Line(f"{CONDITION}.stateOfCharge.stateOfChargeValue", "performance.state_of_charge", measure("%")),
    Line(
        f"{CONDITION}.stateOfCertifiedEnergy.stateOfCertifiedEnergyValue",
        "performance.state_of_certified_energy",
        measure("%"),
    ),
    Line(f"{CONDITION}.remainingEnergy.remainingEnergyValue", "performance.remaining_usable_energy", measure("kWh")),
    Line(f"{CONDITION}.capacityFade.capacityFadeValue", "performance.capacity_fade", measure("%")),
    Line(f"{CONDITION}.energyThroughput", "performance.energy_throughput", measure("kWh")),
    Line(f"{CONDITION}.energyThroughput.energyThroughputValue", "performance.energy_throughput", measure("kWh")),
    Line(f"{CONDITION}.capacityThroughput.capacityThroughputValue", "performance.capacity_throughput", measure("Ah")),
    Line(f"{CONDITION}.numberOfFullCycles.numberOfFullCyclesValue", "performance.full_cycles", plain()),
    Line(
        f"{CONDITION}.currentSelfDischargingRate.currentSelfDischargingRateValue",
        "performance.current_self_discharge",
        measure("%"),
    ),
    Line(
        f"{CONDITION}.internalResistanceIncrease",
        "performance.resistance_increase",
        member("internalResistanceIncreaseValue", measure("%"), batteryComponent="pack"),
    ),
    Line(
        f"{CONDITION}.remainingRoundTripEnergyEfficiency.remainingRoundTripEnergyEfficiencyValue",
        "performance.remaining_round_trip_efficiency",
        measure("%"),
    ),
    Line(f"{HEAT}.timeExtremeHighTemp", "performance.time_above_range", MINUTES),
    Line(f"{HEAT}.timeExtremeLowTemp", "performance.time_below_range", MINUTES),
    Line(f"{HEAT}.timeExtremeHighTempCharging", "performance.time_charging_above_range", MINUTES),
    Line(f"{HEAT}.timeExtremeLowTempCharging", "performance.time_charging_below_range", MINUTES),
    Line(f"{CONDITION}.negativeEvents", "performance.accidents", joined(lambda each: text_of(each, "negativeEvent"))),
)
TABLE = (
    *(*GENERAL, *LABELS, *CARBON_FOOTPRINT, *DUE_DILIGENCE, *MATERIALS, *CIRCULARITY),
    *(*PERFORMANCE_RATED, *PERFORMANCE_MOVED, *PERFORMANCE_IN_USE),
)
