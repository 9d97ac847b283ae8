"""Battery passports of Catena-X, battery_pass 3, which follows the proposal for the regulation.

Units are those of the model. Its maximum energy is not the certified one, its shares of recycled material do not say of
which waste they are, and its maximum power is in kW by its unit and in W by its description: they keep their own paths.
"""

import re
from collections.abc import Iterator
from typing import Any

from tickwork.passports.found import Found
from tickwork.passports.shapes.catena_x_table import address
from tickwork.passports.shapes.forms import (
    DAY,
    DOCUMENT,
    MONTHS_OF_WARRANTY,
    TEXT,
    Form,
    Payload,
    different,
    joined,
    measure,
    members,
    misfit,
    objects_in,
    one_of,
    plain,
    read_text,
    text_of,
)
from tickwork.passports.shapes.mapping import Line, mapped, value_at
from tickwork.passports.shapes.materials import Material, inside, material_facts
from tickwork.passports.shapes.parts import amount, due_diligence, entries, given, objects, text
from tickwork.passports.shapes.words import STATUSES

KEYS = {"batteryIdentification", "electrochemicalProperties"}
COMPOSITION = "composition.compositionOfBattery"
APART = frozenset({"composition.composition_of_battery"})
CELLS = {
    "cathodeActiveMaterials": "cathode",
    "cathodeCompositionOther": "cathode",
    "anodeActiveMaterials": "anode",
    "anodeCompositionOther": "anode",
    "electrolyteComposition": "electrolyte",
}


def is_one(document: dict[str, Any]) -> bool:
    return document.keys() >= KEYS


def facts_of(document: dict[str, Any], schema_version: str) -> Iterator[Found]:
    yield from mapped(document, TABLE, schema_version, left_out=APART)
    listed = [
        (f"{COMPOSITION}[{index}]", each)
        for index, each in enumerate(objects(value_at(document, COMPOSITION), COMPOSITION))
    ]
    weighed = [(path, material(each, path)) for path, each in listed if each.get("materialWeight") is not None]
    yield from material_facts(weighed, schema_version)
    yield from entries(
        [each for each in listed if each[1].keys() != {"materialName", "materialWeight"}], schema_version
    )
    sourcing = value_at(document, "document.responsibleSourcing")
    yield from due_diligence(sourcing, "document.responsibleSourcing", "title", "fileLocation", schema_version)


def material(value: dict[str, Any], path: str) -> Payload:
    """In grams."""
    weighed = amount(value["materialWeight"], "g", f"{path}.materialWeight")
    name = text(value.get("materialName"), f"{path}.materialName")
    return given(name=name, mass=weighed["value"], unit=weighed["unit"])


def in_cells(value: Any) -> Iterator[Material]:
    for key, location in CELLS.items():
        yield from (Material(text_of(each, "materialName"), location) for each in objects_in(value_at(value, key)))


def supplier(value: Any) -> str | None:
    contact = (text_of(value_at(value, "contact"), name) for name in ("email", "phoneNumber", "website"))
    name = text_of(value, "componentsSupplierName")
    return ", ".join(different([name, address(value_at(value, "address")), *contact]))


def read_list(value: Any) -> Payload:
    """One text with commas or semicolons."""
    found = different(part.strip() for part in re.split("[,;]", read_text(value)["value"]))
    if not found:
        raise misfit("a list")
    return {"value": found}


CHEMISTRY, STATE = "electrochemicalProperties", "stateOfBattery"
TABLE = (
    Line("batteryIdentification.batteryIDDMCCode", "general.product_identifier", TEXT),
    Line("batteryIdentification.batteryModel", "general.model_identifier", TEXT),
    Line("batteryIdentification.batteryType", "materials.chemistry", TEXT),
    Line("manufacturer.name", "general.manufacturer_name", TEXT),
    Line("manufacturer.address", "general.manufacturer_address", joined(address)),
    Line("manufacturing.address", "general.manufacturing_place", joined(address)),
    Line("manufacturing.dateOfManufacturing", "general.manufacturing_date", DAY),
    Line("physicalDimensions.weight", "general.battery_mass", measure("kg")),
    Line("warrantyPeriod", "general.warranty_period", MONTHS_OF_WARRANTY),
    Line(f"{STATE}.statusBattery", "general.battery_status", one_of(STATUSES)),
    Line(f"{STATE}.stateOfCharge", "performance.state_of_charge", measure("%")),
    Line("cO2FootprintTotal", "carbon_footprint.absolute", measure("kgCO2e")),
    Line("document.declarationOfConformity", "labels.declaration_of_conformity", DOCUMENT),
    Line("document.testReportsResults", "labels.test_reports", DOCUMENT),
    Line("document.responsibleSourcing", "due_diligence.report", DOCUMENT),
    Line("document.batteryDismantlingProcedure", "circularity.dismantling_manual", DOCUMENT),
    Line("document.vehicleDismantlingProcedure", "circularity.dismantling_manual", DOCUMENT),
    Line("document.safetyMeasures", "circularity.safety_measures", DOCUMENT),
    Line("composition.components.componentsPartNumber", "circularity.part_numbers", members()),
    Line("composition.components.componentsSupplier", "circularity.spare_part_suppliers", joined(supplier)),
    Line("composition.criticalRawMaterials", "materials.critical_raw_materials", Form(read_list)),
    Line("cellChemistry", "materials.cathode", inside(in_cells, "cathode")),
    Line("cellChemistry", "materials.anode", inside(in_cells, "anode")),
    Line("cellChemistry", "materials.electrolyte", inside(in_cells, "electrolyte")),
    Line(f"{CHEMISTRY}.ratedCapacity", "performance.rated_capacity", measure("Ah")),
    Line(f"{CHEMISTRY}.capacityFade", "performance.capacity_fade", measure("%")),
    Line(f"{CHEMISTRY}.capacityThresholdExhaustion", "performance.exhaustion_threshold", measure("%")),
    Line(f"{CHEMISTRY}.batteryVoltage.minVoltage", "performance.minimum_voltage", measure("V")),
    Line(f"{CHEMISTRY}.batteryVoltage.nominalVoltage", "performance.nominal_voltage", measure("V")),
    Line(f"{CHEMISTRY}.batteryVoltage.maxVoltage", "performance.maximum_voltage", measure("V")),
    Line(f"{CHEMISTRY}.batteryPower.originalPowerCapability", "performance.original_power_capability", measure("kW")),
    Line(f"{CHEMISTRY}.batteryPower.powerFade", "performance.power_fade", measure("%")),
    Line(
        f"{CHEMISTRY}.ratioMaximumAllowedBatteryPowerAndMaximumAllowedBatteryEnergy",
        "performance.power_to_energy_ratio",
        plain(),
    ),
    Line(
        f"{CHEMISTRY}.batteryEnergy.energyRoundtripEfficiency",
        "performance.initial_round_trip_efficiency",
        measure("%"),
    ),
    Line(
        f"{CHEMISTRY}.internalResistance.cellInternalResistance", "performance.initial_cell_resistance", measure("mΩ")
    ),
    Line(f"{CHEMISTRY}.internalResistance.packInternalResistance", "performance.initial_pack_resistance", measure("Ω")),
    Line(
        f"{CHEMISTRY}.internalResistance.packInternalResistanceIncrease",
        "performance.resistance_increase",
        measure("%"),
    ),
    Line(
        "temperatureRangeIdleState.temperatureRangeIdleStateLowerLimit",
        "performance.lower_temperature",
        measure("°C"),
    ),
    Line(
        "temperatureRangeIdleState.temperatureRangeIdleStateUpperLimit",
        "performance.upper_temperature",
        measure("°C"),
    ),
    Line("batteryCycleLife.expectedLifetime", "performance.expected_cycles", plain()),
    Line("batteryCycleLife.cycleLifeTestCRate", "performance.cycle_life_c_rate", plain()),
)
