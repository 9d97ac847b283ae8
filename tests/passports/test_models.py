"""Documents that follow public models, as far as the default rules find their attributes in them."""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.passports.models import (
    COVERED,
    FIRST_DAY,
    FOLDER,
    MODELS,
    completed,
    covered,
    facts_of_documents,
    the_default_rules,
)
from tickwork.passports.fact import Fact
from tickwork.passports.found import checked
from tickwork.passports.reading import Refused, read_json
from tickwork.passports.rules.evaluation import evaluate
from tickwork.passports.shapes import battery_pass_table, catena_x_3, catena_x_table, facts_of_json, untp
from tickwork.passports.shapes.mapping import own_path

GUIDE = Path(__file__).parents[2] / "docs/guide/passports.md"
TABLES = (battery_pass_table.TABLE, catena_x_table.TABLE, catena_x_3.TABLE, untp.TABLE)
CATENA_X = "catena_x_battery_pass_6.1.0"


def sample(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text())
    return found


def attributes_of(document: Any) -> dict[str, Any]:
    kept = checked(facts_of_json(document, "1"))
    return {found.fact.fact_key: found.fact.payload for found, _ in kept if found.fact.fact_type == "attribute"}


@pytest.mark.parametrize("model", MODELS)
def test_a_model_covers_exactly_these_attributes(model: str) -> None:
    assert covered(model) == json.loads(COVERED.read_text())[model], "if that is meant, write the list anew"


@pytest.mark.parametrize("model", MODELS)
def test_a_document_with_what_its_model_lacks_gives_a_passport(model: str) -> None:
    facts = completed(facts_of_documents(MODELS[model]), "ev")

    found = evaluate(the_default_rules(), facts, "ev", FIRST_DAY)

    assert [each for each in found.findings if each.severity == "error"] == []
    # All but what is withheld from electric vehicles.
    assert len(found.attributes) == len(the_default_rules().attributes) - 2


def test_the_guide_says_how_much_each_model_covers() -> None:
    rows = re.findall(r"^\| ([A-Z][^|]+ [0-9.]+) \| ([0-9]+) \|", GUIDE.read_text(), re.MULTILINE)
    said = {re.sub("[ -]", "_", title.lower()): int(count) for title, count in rows}

    assert said == {model: len(covered(model)) for model in MODELS}


TIME = "2027-02-01T08:00:00.000+01:00"
# By document, some of its attributes; None for what it does not give.
VALUES: dict[str, dict[str, Any]] = {
    CATENA_X: {
        "general.battery_category": {"value": "ev"},
        "general.battery_mass": {"value": 450.5, "unit": "KGM"},
        "general.warranty_period": {"value": 96, "unit": "MON"},
        "performance.minimum_voltage": {"value": 290.5, "unit": "VLT"},
        "performance.state_of_charge": {"value": 87.5, "unit": "P1", "time": TIME},
        "performance.full_cycles": {"value": 42, "time": TIME},
        # What is taken whole has its own path no more, what is beside it has.
        "performance.rated.voltage.min": None,
        "performance.rated.energy.value": None,
        "performance.rated.energy.temperature": {"value": 21.5},
        "labels.test_reports": {"value": "https://batteries.example/results.pdf"},
        "labels.contains_cadmium": {"value": False},
        "labels.contains_lead": {"value": True},
        "materials.critical_raw_materials": {"value": ["Nickel", "Lithium", "Cobalt", "Graphite"]},
        "materials.hazardous_substances": {"value": ["Lithium hexafluorophosphate"]},
        "materials.anode": {"value": ["Graphite"]},
        "circularity.part_numbers": {"value": ["ZS-MOD-7", "ZS-BMS-2"]},
        "circularity.spare_part_suppliers": {"value": "BPNL00000000SP01; BPNL00000000SP02"},
    },
    "catena_x_battery_pass_4.0.0": {
        "general.battery_status": {"value": "reused"},
        "general.manufacturer_name": {"value": "Zellwerk Süd GmbH"},
        "general.manufacturer_address": {"value": "Zellenstraße 4, 70000 Teststadt, DE-BW"},
        "general.operator_identifier": {"value": "BPNL00000000ZS01"},
        "general.warranty_period": {"value": 96, "unit": "MON"},
        "labels.contains_cadmium": {"value": False},
        "labels.contains_lead": {"value": True},
        "materials.critical_raw_materials": {"value": ["Cobalt", "Lithium"]},
    },
    "catena_x_battery_pass_3.0.1": {
        "general.battery_status": {"value": "original"},
        "materials.cathode": {"value": ["Nickel", "Cobalt", "Lithium", "Binder"]},
        "materials.critical_raw_materials": {"value": ["Cobalt", "Lithium", "Natural graphite"]},
        "performance.initial_cell_resistance": {"value": 0.0015, "unit": "OHM"},
        # The model has powers in kW, but says of the permitted one that it is in W.
        "performance.original_power_capability": {"value": 150000, "unit": "WTT"},
        "performance.maximum_permitted_power": None,
    },
    "battery_pass_1.2.0_general": {
        "general.warranty_period": {"value": 12, "unit": "MON"},
        "general.manufacturing_date": {"value": "2027-01-15"},
        "general.manufacturing_date.details": {"value": "2027-01-15T16:30:00.000+01:00"},
        "general.manufacturer_address": {"value": "Zellenstraße 4, 70000, Germany"},
    },
    "battery_pass_1.2.1_performance": {
        "performance.maximum_permitted_power": {"value": 160500, "unit": "WTT"},
        "performance.power_to_energy_ratio": {"value": 2.25},
        "performance.initial_pack_resistance": {"value": 0.045, "unit": "OHM"},
        "performance.time_above_range": {"value": 1.5, "unit": "HUR"},
        # 100 minutes are no exact number of hours, and the model has a remaining capacity in kWh.
        "performance.time_charging_above_range": None,
        "performance.remaining_capacity": None,
        "performance.accidents": {"value": "Deep discharge on 12 January 2027; Parking bump, no damage"},
    },
    "untp_dpp_0.7.0": {
        "general.model_identifier": {"value": "ZS-120"},
        "general.manufacturer_name": {"value": "Zellwerk Süd GmbH"},
        "materials.hazardous_substances": {"value": ["Lithium hexafluorophosphate"]},
    },
    "untp_dpp_0.6.0": {
        "carbon_footprint.primary_data_share": {"value": 35, "unit": "P1"},
        # The number in a register may be that of the model, of the batch or of the battery.
        "general.model_identifier": None,
        "product.registered_id": {"value": "04012345000009"},
    },
}


@pytest.mark.parametrize("name", VALUES)
def test_values_are_written_as_the_rules_want_them(name: str) -> None:
    found = attributes_of(sample(name))

    assert {path: found.get(path) for path in VALUES[name]} == VALUES[name]


def test_materials_of_battery_pass_are_in_grams() -> None:
    facts = facts_of_documents(["battery_pass_1.2.0_materials"])

    assert {fact.fact_key: fact.payload["mass"] for fact in facts if fact.fact_type == "material"} == {
        **{"Lithium, Cathode": 8.25, "Lithium, Electrolyte": 0.6405, "Cobalt": 12.4},
        **{"Graphite": 60.1, "Aluminium": 80.2},
    }


def texts_in(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict() | list():
            for each in value.values() if isinstance(value, dict) else value:
                yield from texts_in(each)


@pytest.mark.parametrize("model", [model for model in MODELS if "battery_pass" in model])
def test_no_text_of_a_battery_passport_is_lost(model: str) -> None:
    kept = json.dumps([dict(fact.payload) for fact in facts_of_documents(MODELS[model])], ensure_ascii=False)
    # They are other words or numbers now.
    translated = {"EV", "re-used", "first life", "Original", "--12", "kg CO2 / kWh", "kg CO2 eq / kWh"}

    lost = {
        text
        for name in MODELS[model]
        for text in texts_in(sample(name))
        if text not in kept and text not in translated and not text.startswith("unit:")
    }

    assert lost == set()


def changed(document: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    key, _, rest = path.partition(".")
    return {**document, key: changed(document[key], rest, value) if rest else value}


# The path of a value that does not fit, the value, and the attribute that is then missing.
MISFITS: dict[str, tuple[str, Any, str]] = {
    "another category": ("identification.category", "SLI", "general.battery_category"),
    "no day": ("operation.intoServiceDate", "7345-31-31", "general.putting_into_service"),
    "a month": ("operation.manufacturer.manufacturingDate", "2027-01", "general.manufacturing_date"),
    "a text for a number": ("performance.rated.voltage.min", "low", "performance.minimum_voltage"),
    "yes for a number": ("performance.rated.voltage.min", True, "performance.minimum_voltage"),
    "a unit of another kind": (*("performance.rated.energy.unit", "unit:volt", "performance.certified_usable_energy"),),
    "days of warranty": (
        *("characteristics.warranty", {"lifeValue": 36, "lifeUnit": "unit:day"}, "general.warranty_period"),
    ),
    "no link": ("safety.safetyMeasures", [{"content": "www.alink.pdf"}], "circularity.safety_measures"),
    "a link to a file": ("safety.safetyMeasures", [{"content": "file:///etc/passwd"}], "circularity.safety_measures"),
    "a text for a list": ("safety.usableExtinguishAgent", "water", "circularity.extinguishing_agents"),
    "a long text": ("identification.idDmc", "x" * 501, "general.product_identifier"),
    "a list for a text": ("identification.idDmc", [1], "general.product_identifier"),
    "an unknown status": ("sustainability.status", "recycled", "general.battery_status"),
    "a range around the limit": (
        *("materials.hazardous.lead.concentration", [{"min": 30, "max": 50}], "labels.contains_lead"),
    ),
    "a share of the volume": (
        *("materials.hazardous.cadmium.materialUnit", "unit:percentVolume", "labels.contains_cadmium"),
    ),
}


@pytest.mark.parametrize("case", MISFITS)
def test_a_value_that_does_not_fit_keeps_its_own_path(case: str) -> None:
    path, value, missing = MISFITS[case]
    before, after = (attributes_of(each) for each in (sample(CATENA_X), changed(sample(CATENA_X), path, value)))

    assert before.keys() - after.keys() == {missing}
    assert any(key.startswith(own_path(path, "")) for key in after)


def test_numbers_that_no_battery_has_are_kept_and_named_by_the_rules() -> None:
    document = sample("battery_pass_1.2.1_performance")
    rated = dict.fromkeys(document["batteryTechicalProperties"], -1.7976931348623157e308)

    found = attributes_of({"batteryTechicalProperties": rated})
    facts = [Fact("attribute", key, "1", payload) for key, payload in found.items()]
    findings = evaluate(the_default_rules(), facts, "ev", FIRST_DAY).findings

    # Watts would be more than a double holds.
    assert "performance.battery_technical_properties.rated_maximum_power" in found
    assert ("VALUE_MISMATCH", "performance.rated_capacity") in {(each.code, each.subject) for each in findings}


def test_a_long_list_of_materials_is_read() -> None:
    (one, *_) = sample("battery_pass_1.2.0_materials")["batteryMaterials"]
    many = [{**one, "batteryMaterialName": f"A material with the number {number}"} for number in range(3000)]

    facts = [found.fact for found, _ in checked(facts_of_json({"batteryMaterials": many}, "1"))]

    assert {fact.fact_type for fact in facts} == {"material"}
    assert len(facts) == 3000


ODD: list[Any] = [
    *(
        None,
        True,
        1,
        -1e308,
        "",
        "x",
        "--99",
        "T",
        [],
        [None, 1, "x", [], {}],
        {},
        {"value": []},
        {"value": None, "unit": 1},
    ),
    *({key: 1 for line in table for key in line.theirs.split(".")} for table in TABLES),
    *([{key: [1, {}]} for key in ("id", "name", "components", "impactOfSubstances", "party")],),
    *({"active": {"nickel": 1, "other": [1, {"materialIdentification": [1]}]}, "composition": [{"id": 1}]},),
    *([{"id": {"companyName": [1], "address": []}, "addressOfSupplier": 1, "batteryMaterialLocation": "x"}],),
    *({"concentration": [{"max": "x"}], "materialUnit": "unit:percent"}, {"lifeValue": "x", "lifeUnit": []}),
]


def test_every_form_reads_an_odd_value_or_refuses_it() -> None:
    for line in (line for table in TABLES for line in table):
        for value in ODD:
            with suppress(Refused):
                assert "value" in line.form.read(value)


def test_a_document_in_utf_16_gives_the_same_facts() -> None:
    content = json.dumps(sample(CATENA_X), ensure_ascii=False)

    assert attributes_of(read_json(content.encode("utf-16"))) == attributes_of(read_json(content.encode()))
