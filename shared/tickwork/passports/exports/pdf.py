"""What an audience sees of a passport version as PDF/A-3, with what verifies it attached.

The template gets all texts as data. Characters that its fonts do not have are printed as [U+4E2D]; the attached files
have them as they are.
"""

import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal

import segno

from tickwork.passports.canonical import Json, canonical
from tickwork.passports.exports.typesetting import typeset
from tickwork.passports.exports.view import Shown, View

# What the fonts of typst can print, without marks that join with the letter before them.
NOT_PRINTABLE = re.compile(
    "[^\n\x20-\x7e\xa0-\xac\xae-\u02af\u0391-\u03a1\u03a3-\u03ce\u0400-\u045f\u1e00-\u1eff"
    "\u2010-\u2014\u2018-\u201e\u2020-\u2022\u2026\u2030\u2032\u2033\u2070\u2074-\u208e\u20ac\u2122\u2126"
    "\u2190-\u2193\u2200-\u220f\u2211\u2212\u221a\u221e\u2248\u2260\u2264\u2265]"
)
# Typst breaks lines between words only.
LONG_WORD = re.compile(r"(\S{20})(?=\S)")
BREAK = "\u200b"
# By the codes of UN/ECE Recommendation 20.
UNITS = {
    **{"KGM": "kg", "GRM": "g", "TNE": "t", "MGM": "mg", "MTR": "m", "MMT": "mm", "CEL": "°C", "P1": "%"},
    **{"AMH": "Ah", "VLT": "V", "OHM": "Ω", "E45": "mΩ", "WHR": "Wh", "KWH": "kWh", "WTT": "W", "KWT": "kW"},
    **{"ANN": "years", "MON": "months", "DAY": "days", "HUR": "h", "MIN": "min", "SEC": "s"},
}
AUDIENCES = {
    "public": "everybody",
    "legitimate_interest": "persons with a legitimate interest",
    "authorities": "authorities and the Commission",
    "owner": "the owner of the passport only",
}


@dataclass(frozen=True)
class File:
    """An attachment. Its content is text, or bytes if it is none."""

    name: str
    content: str | bytes
    mime_type: str
    description: str
    relationship: Literal["data", "source", "alternative", "supplement"] = "data"


@dataclass(frozen=True)
class Codes:
    """The texts of the QR codes: the proof, and the link of the battery if it has one."""

    proof: str
    link: str | None = None


def pdf(view: View, codes: Codes, files: Sequence[File], template: str = "standard") -> bytes:
    """The same bytes for the same input. Raises TemplateMissing, or TooDemanding."""
    return typeset(template, canonical(content(view, codes, files)), view.issued_at)


def content(view: View, codes: Codes, files: Sequence[File]) -> dict[str, Json]:
    """What the template prints."""
    return {
        "title": printable(f"Battery passport {view.battery_identifier}"),
        "issuer": printable(view.issuer),
        "footer": f"Version {view.passport_version_id}",
        "heading": [[label, printable(text)] for label, text in heading(view)],
        "note": note(view, files),
        "codes": [code(*each) for each in captioned(codes)],
        "groups": groups(view.attributes),
        "files": [attached(each) for each in files],
    }


def heading(view: View) -> list[tuple[str, str]]:
    return [
        ("Battery", view.battery_identifier),
        ("Model", view.model),
        ("Category", view.category),
        ("Issuer", view.issuer),
        ("Issued at", view.issued_at),
        ("Passport", view.passport_id),
        ("Version", view.passport_version_id),
        ("Receipt hash", view.receipt_hash),
    ]


def note(view: View, files: Sequence[File]) -> str:
    names = ", ".join(each.name for each in files)
    return (
        f"Shows what is meant for {AUDIENCES[view.audience]}: {len(view.attributes)} attributes. "
        f"Compare the identifier above with the one on the battery. Attached to this file: {names}. "
        "They verify it: tickwork passport verify FILE. Where a character cannot be printed, its number is."
    )


def groups(attributes: Sequence[Shown]) -> list[Json]:
    """By the first part of their paths, which they are sorted by."""
    found = groupby(attributes, key=lambda each: each.path.partition(".")[0])
    return [{"name": in_words(name), "rows": [row(each) for each in group]} for name, group in found]


def row(shown: Shown) -> list[Json]:
    label = shown.path.partition(".")[2] or shown.path
    unit = UNITS.get(shown.unit, shown.unit) if shown.unit else ""
    return [in_words(label), printable(words_of(shown.value)), printable(unit), in_words(shown.access)]


def in_words(name: str) -> str:
    words = name.replace("_", " ")
    return printable(words[:1].upper() + words[1:])


def words_of(value: Json, inside: bool = False) -> str:
    match value:
        case None:
            return "–"
        case bool():
            return "yes" if value else "no"
        case str():
            return value
        case int() | float():
            return canonical(value).decode()
        case Mapping():
            parts = [f"{name.replace('_', ' ')}: {words_of(each, True)}" for name, each in sorted(value.items())]
        case Sequence():
            parts = [words_of(each, True) for each in value]
    return f"({', '.join(parts)})" if inside else "\n".join(parts)


def printable(text: str) -> str:
    shown = NOT_PRINTABLE.sub(lambda found: f"[U+{ord(found[0]):04X}]", text)
    return LONG_WORD.sub(rf"\1{BREAK}", shown)


def captioned(codes: Codes) -> list[tuple[str, str]]:
    """A proof alone needs no caption."""
    if codes.link is None:
        return [(codes.proof, "")]
    return [(codes.proof, "Proof: verifies this passport"), (codes.link, "Link: opens its web page")]


def code(text: str, caption: str) -> dict[str, Json]:
    return {"picture": svg(text), "text": text, "caption": caption}


def svg(qr_text: str) -> str:
    """With the quiet zone that readers need."""
    picture = io.BytesIO()
    code = segno.make(qr_text, error="m", micro=False, boost_error=False)
    code.save(picture, kind="svg", border=4, light="white", svgns=True, xmldecl=False)
    return picture.getvalue().decode()


def attached(file: File) -> dict[str, Any]:
    return {
        "name": file.name,
        "content": file.content if isinstance(file.content, str) else list(file.content),
        "mime_type": file.mime_type,
        "description": file.description,
        "relationship": file.relationship,
    }
