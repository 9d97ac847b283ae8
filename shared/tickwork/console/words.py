"""The words of the console: English in the code, German from a file."""

import json
from functools import cache
from importlib import resources

LANGUAGES = {"en": "English", "de": "Deutsch"}
# Values of columns that pages show, and that no page names itself: what became of a time of a schedule, how an
# endpoint or a connector is, and who did something.
VALUES = (
    "late",
    "backfilled",
    "skipped_overlap",
    "skipped_missed",
    "active",
    "disabled",
    "closed",
    "account",
    "nobody",
)


class Words:
    def __init__(self, language: str) -> None:
        self.language = language

    def __call__(self, text: str, *values: object) -> str:
        """The text in the viewer's language, with the values in place of {}."""
        found = german().get(text, text) if self.language == "de" else text
        return found.format(*values) if values else found


@cache
def german() -> dict[str, str]:
    text = resources.files("tickwork.console").joinpath("german.json").read_text(encoding="utf-8")
    found: dict[str, str] = json.loads(text)
    return found
