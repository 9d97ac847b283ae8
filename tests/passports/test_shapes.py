"""Shapes of JSON documents: recognised by their keys, and mapped into facts."""

from typing import Any

import pytest

from tests.world.battery_maker import own_shape
from tickwork.passports.found import checked
from tickwork.passports.reading import Refused
from tickwork.passports.shapes import facts_of_json

PACT = {
    "id": "1",
    "specVersion": "2.0.0",
    "companyName": "Cells Ltd",
    "productIds": ["urn:gtin:1"],
    "pcf": {"declaredUnit": "kilowatt hour", "pCfExcludingBiogenic": "61.5", "primaryDataShare": 56.12},
}
CATENA_X_PCF = {
    "specVersion": "urn:io.catenax.pcf:datamodel:version:7.0.0",
    "productName": "Cell",
    "pcf": {"declaredUnit": "kilogram", "pcfExcludingBiogenic": 2.0, "distributionStagePcfExcludingBiogenic": 1.5},
}
BOM = {
    "catenaXId": "urn:uuid:1",
    "childItems": [
        {"catenaXId": "urn:uuid:2", "quantity": {"value": 20.0, "unit": "unit:piece"}},
        {"catenaXId": "urn:uuid:3", "quantity": {"quantityNumber": 2500, "measurementUnit": "unit:gram"}},
    ],
}
BATTERY_PASS = {
    "identification": {"chemistry": "NMC"},
    "performance": {"rated": {"energy": {"value": 500, "unit": "unit:wattHour"}, "voltage": {"min": 2.5}}},
    "materials": {
        "composition": [
            {
                "id": [{"type": "CAS", "name": "Nickel", "id": "7440-02-0"}],
                "unit": "unit:partPerMillion",
                "concentration": 5.3,
                "critical": True,
            }
        ]
    },
    "sustainability": {"carbonFootprint": [{"lifecycle": "production", "value": 12.678, "unit": "kg CO2 / kWh"}]},
}
MATERIALS = {
    "batteryChemistry": {"shortName": "NMC"},
    "batteryMaterials": [
        {
            "batteryMaterialName": "Lithium",
            "batteryMaterialIdentifier": "7439-93-2",
            "batteryMaterialMass": 3500,
            "batteryMaterialLocation": {"componentName": "Cathode"},
            "isCriticalRawMaterial": True,
        }
    ],
}
FOOTPRINT = {
    "absoluteCarbonFootprint": 4000,
    "carbonFootprintPerLifecycleStage": [{"lifecycleStage": "RawMaterialExtraction", "carbonFootprint": 20.5}],
}
DUE_DILIGENCE = {"supplyChainDueDiligenceReport": "https://example.org/report.pdf"}
UNTP = {
    "type": ["DigitalProductPassport", "VerifiableCredential"],
    "credentialSubject": {
        "product": {"name": "EV battery 300Ah"},
        "materialsProvenance": [{"name": "Lithium", "massAmount": {"value": 250, "unit": "GRM"}, "hazardous": False}],
        "emissionsScorecard": {"carbonFootprint": 1.8, "declaredUnit": "KGM", "operationalScope": "CradleToGate"},
        "dueDiligenceDeclaration": {"linkName": "Declaration", "linkURL": "https://example.org"},
    },
}


def read(document: Any) -> dict[tuple[str, str], Any]:
    kept = checked(facts_of_json(document, "1"))
    return {(found.fact.fact_type, found.fact.fact_key): found.fact.payload for found, _ in kept}


def test_our_own_shape_is_taken_as_it_is() -> None:
    payload = {"value": [1, {"a": None}], "unit": "KGM"}

    assert read(own_shape(("attribute", "general.x", payload))) == {("attribute", "general.x"): payload}


def test_footprints_of_pact_and_catena_x() -> None:
    assert read(PACT) == read({"data": [PACT]})
    assert read(PACT) == {
        ("carbon_footprint", "cradle_to_gate"): {"stage": "cradle_to_gate", "value": 61.5, "unit": "kgCO2e/kWh"},
        ("attribute", "carbon_footprint.primary_data_share"): {"value": 56.12, "unit": "P1"},
        ("attribute", "carbon_footprint.company_name"): {"value": "Cells Ltd"},
    }
    assert read(CATENA_X_PCF)["carbon_footprint", "distribution"]["unit"] == "kgCO2e/kg"


def test_bills_of_materials_of_catena_x() -> None:
    assert read(BOM) == {
        ("component", "urn:uuid:2"): {
            "name": "urn:uuid:2",
            "part_number": "urn:uuid:2",
            "quantity": 20,
            "unit": "C62",
        },
        ("component", "urn:uuid:3"): {
            "name": "urn:uuid:3",
            "part_number": "urn:uuid:3",
            "mass": 2.5,
            "unit": "KGM",
        },
    }


def test_battery_passports_of_catena_x() -> None:
    facts = read(BATTERY_PASS)

    assert facts["attribute", "performance.certified_usable_energy"] == {"value": 0.5, "unit": "KWH"}
    assert facts["attribute", "performance.minimum_voltage"] == {"value": 2.5, "unit": "VLT"}
    assert facts["attribute", "materials.critical_raw_materials"] == {"value": ["Nickel"]}
    assert facts["attribute", "materials.composition.0"]["value"]["concentration"] == 5.3
    assert facts["carbon_footprint", "production"] == {"stage": "production", "value": 12.678, "unit": "kgCO2e/kWh"}


def test_aspects_of_battery_pass() -> None:
    assert read(MATERIALS)["material", "Lithium"] == {
        "name": "Lithium",
        "cas": "7439-93-2",
        "mass": 3.5,
        "unit": "KGM",
        "location": "Cathode",
        "is_critical": True,
    }
    assert read(MATERIALS)["attribute", "materials.chemistry"] == {"value": "NMC"}
    assert read(FOOTPRINT)["carbon_footprint", "RawMaterialExtraction"]["value"] == 20.5
    assert read(DUE_DILIGENCE) == {
        ("attribute", "due_diligence.report"): {"value": "https://example.org/report.pdf"},
        ("due_diligence", "Supply chain due diligence report"): {
            "title": "Supply chain due diligence report",
            "url": "https://example.org/report.pdf",
        },
    }


def test_product_passports_of_untp() -> None:
    facts = read(UNTP)

    assert facts["material", "Lithium"] == {"name": "Lithium", "mass": 0.25, "unit": "KGM", "is_hazardous": False}
    assert facts["carbon_footprint", "CradleToGate"]["unit"] == "kgCO2e/kg"
    assert facts["due_diligence", "Declaration"] == {"title": "Declaration", "url": "https://example.org"}
    assert facts["attribute", "product.name"] == {"value": "EV battery 300Ah"}


OWN = own_shape(("attribute", "a", {"value": 1}))
MISFITS: dict[str, tuple[str, Any]] = {
    "a list": ("SCHEMA_MISMATCH", []),
    "nothing known": ("SCHEMA_MISMATCH", {"a": 1}),
    "no facts": ("SCHEMA_MISMATCH", own_shape()),
    "another member": ("SCHEMA_MISMATCH", {**OWN, "comment": "x"}),
    "a fact without a key": ("SCHEMA_MISMATCH", {**OWN, "facts": [{"fact_type": "attribute", "payload": {}}]}),
    "an unknown type": ("SCHEMA_MISMATCH", own_shape(("secret", "a", {}))),
    "a long key": ("SCHEMA_MISMATCH", own_shape(("attribute", "x" * 501, {}))),
    "a payload that is a list": ("SCHEMA_MISMATCH", own_shape(("attribute", "a", []))),  # type: ignore[arg-type]
    "several footprints": ("SCHEMA_MISMATCH", {"data": [PACT, PACT]}),
    "no emissions": ("SCHEMA_MISMATCH", {**PACT, "pcf": {"declaredUnit": "piece"}}),
    "emissions that are text": ("SCHEMA_MISMATCH", {**PACT, "pcf": {**PACT["pcf"], "pCfExcludingBiogenic": "much"}}),  # type: ignore[dict-item]
    "an unknown declared unit": ("UNKNOWN_UNIT", {**PACT, "pcf": {**PACT["pcf"], "declaredUnit": "lb"}}),  # type: ignore[dict-item]
    "children that are no objects": ("SCHEMA_MISMATCH", {"catenaXId": "1", "childItems": [1]}),
    "a material without a mass": ("SCHEMA_MISMATCH", {"batteryMaterials": [{"batteryMaterialName": "Lithium"}]}),
}


@pytest.mark.parametrize("case", MISFITS)
def test_a_document_that_does_not_fit_is_refused_by_name(case: str) -> None:
    code, document = MISFITS[case]

    with pytest.raises(Refused) as refused:
        read(document)

    assert refused.value.code == code
