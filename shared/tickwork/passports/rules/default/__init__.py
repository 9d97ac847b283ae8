"""The rules that every tenant has, by Annex XIII of Regulation (EU) 2023/1542, and their tests."""

import json
from importlib.resources import files
from typing import Any

PACKAGE, VERSION = "battery-passport", "2027.1"


def default_rules() -> dict[str, Any]:
    return _read("rules.json")


def default_tests() -> dict[str, Any]:
    return _read("tests.json")


def _read(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(files(__package__).joinpath(name).read_text(encoding="utf-8"))
    return found
