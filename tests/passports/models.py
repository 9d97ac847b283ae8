"""Invented documents in the shapes of public models, and what the default rules find in them.

`python -m tests.passports.models` writes the list of attributes that each model covers anew.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import date
from functools import cache
from pathlib import Path

from tickwork.passports.fact import Fact
from tickwork.passports.found import checked
from tickwork.passports.reading import read_json
from tickwork.passports.rules.default import default_rules, default_tests
from tickwork.passports.rules.evaluation import evaluate
from tickwork.passports.rules.rules import Rules, read_rules
from tickwork.passports.shapes import facts_of_json

FOLDER = Path(__file__).parent / "samples"
COVERED = FOLDER / "covered.json"
FIRST_DAY = date(2027, 2, 18)
ASPECTS = ("general", "labels", "carbon_footprint", "due_diligence", "materials", "circularity", "performance")
# The files of each.
MODELS: Mapping[str, Sequence[str]] = {
    "battery_pass_1.2.0": [f"battery_pass_1.2.0_{aspect}" for aspect in ASPECTS],
    "battery_pass_1.2.1": [
        *(f"battery_pass_1.2.0_{aspect}" for aspect in ASPECTS[:-1]),
        "battery_pass_1.2.1_performance",
    ],
    **{
        name: [name]
        for name in (
            *(f"catena_x_battery_pass_{version}" for version in ("3.0.1", "4.0.0", "5.0.0", "6.1.0")),
            *("catena_x_pcf_7.0.0", "catena_x_single_level_bom_as_built_3.0.0", "pact_2.0.0", "pact_3.0.0"),
            *("untp_dpp_0.5.0", "untp_dpp_0.6.0", "untp_dpp_0.7.0"),
        )
    },
}


@cache
def the_default_rules() -> Rules:
    return read_rules(default_rules())


def facts_of_documents(names: Sequence[str]) -> list[Fact]:
    read = (checked(facts_of_json(read_json((FOLDER / f"{name}.json").read_bytes()), "1")) for name in names)
    return [found.fact for document in read for found, _ in document]


def completed(facts: Sequence[Fact], category: str) -> list[Fact]:
    """With what a whole battery of the default tests has: attributes, and facts of types that there are none of."""
    given = set(map(what, facts))
    found = next(each for each in default_tests()["examples"] if each["category"] == category)
    more = (Fact(each["fact_type"], each["fact_key"], "1", each["payload"]) for each in found["facts"])
    return [*facts, *(each for each in more if what(each) not in given)]


def what(fact: Fact) -> str:
    return fact.fact_key if fact.fact_type == "attribute" else fact.fact_type


def covered(model: str) -> list[str]:
    """The attributes that its document gives, for one category or another, and no empty snapshot gives as well."""
    attributes = {
        (each.path, json.dumps(each.value))
        for category in ("ev", "lmt")
        for each in evaluate(the_default_rules(), facts_of_documents(MODELS[model]), category, FIRST_DAY).attributes
    }
    nothing = {
        (each.path, json.dumps(each.value)) for each in evaluate(the_default_rules(), [], "ev", FIRST_DAY).attributes
    }
    return sorted({path for path, _ in attributes - nothing})


if __name__ == "__main__":
    COVERED.write_text(json.dumps({model: covered(model) for model in MODELS}, indent=1) + "\n")
