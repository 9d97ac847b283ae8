"""Small rules for tests, with examples."""

from datetime import date
from typing import Any

from tickwork.passports.fact import Fact

DAY = date(2027, 3, 1)
MANDATORY = {"duty": "mandatory", "categories": ["ev"], "from": "2027-02-18"}
KILOGRAMS = {"unit": "KGM", "access": "public"}


def small_rules(**changes: Any) -> dict[str, Any]:
    """A battery with a mass, materials that have one too, and a status."""
    material = {"name": {"type": "string"}, "mass": {"type": "number", "minimum": 0, "maximum": 1000}}
    status = {"type": "string", "enum": ["original", "reused"]}
    return {
        "facts": {"material": {"type": "object", "properties": material, "required": ["name", "mass"]}},
        "attributes": [
            {
                "path": "general.mass",
                "schema": {"type": "number", "minimum": 1, "maximum": 5000},
                "duty": [MANDATORY],
                **KILOGRAMS,
            },
            {
                "path": "materials.mass",
                "schema": {"type": "number"},
                "value": "rounded(sum.material.mass, 3)",
                "duty": [MANDATORY, {"duty": "withheld", "categories": ["lmt"]}],
                **KILOGRAMS,
            },
            {"path": "general.status", "access": "legitimate_interest", "schema": status},
        ],
        "checks": [
            {"code": "TOO_HEAVY", "check": "materials.mass <= general.mass", "words": "The materials are too heavy"},
            {
                "code": "WEIGHTLESS",
                "check": "facts.material.all(m, m.mass > 0.0)",
                "words": "A material weighs nothing",
                "severity": "warning",
            },
        ],
        **changes,
    }


def mass(value: Any = 400, unit: str = "KGM") -> Fact:
    return Fact("attribute", "general.mass", "1", {"value": value, "unit": unit})


def material(name: str, kilograms: Any) -> Fact:
    return Fact("material", name, "1", {"name": name, "mass": kilograms})


def example(name: str, *facts: Fact, **more: Any) -> dict[str, Any]:
    given = [{"fact_type": one.fact_type, "fact_key": one.fact_key, "payload": one.payload} for one in facts]
    return {"name": name, "category": "ev", "on": "2027-03-01", "facts": given, **more}


def small_tests(**changes: Any) -> dict[str, Any]:
    failed = [{"code": "CHECK_FAILED", "subject": "TOO_HEAVY"}]
    return {
        "examples": [
            example("sound", mass(), material("steel", 1.5), attributes={"materials.mass": 1.5}),
            example("too heavy", mass(1), material("steel", 1.5), findings=failed),
        ],
        **changes,
    }
