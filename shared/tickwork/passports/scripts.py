"""Keys that mix letters of several scripts: one that looks like another may be a forgery."""

import unicodedata
from collections.abc import Iterable

# Whose letters look like each other. Others are easily told apart, and Ω or µ beside Latin letters are units.
ALIKE = {"LATIN", "CYRILLIC", "GREEK", "CHEROKEE", "ARMENIAN", "FULLWIDTH"}
UNITS = {"Ω", "µ", "μ", "Δ", "α", "β", "γ"}


def mixed_scripts(keys: Iterable[str]) -> list[str]:
    """Those with letters of more than one of these scripts, each once."""
    return list(dict.fromkeys(key for key in keys if not key.isascii() and len(scripts_of(key)) > 1))


def scripts_of(text: str) -> set[str]:
    letters = (sign for sign in text if sign.isalpha() and sign not in UNITS)
    return {unicodedata.name(sign, "").partition(" ")[0] for sign in letters} & ALIKE
