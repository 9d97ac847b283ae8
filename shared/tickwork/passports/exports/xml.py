"""What an audience sees of a passport version as XML, by the schema in passport.xsd.

A text with characters that XML cannot hold, or would change, is written as JSON writes it and marked encoding="json".
"""

import json
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from tickwork.passports.canonical import Json, canonical
from tickwork.passports.exports.view import Shown, View

NAMESPACE = "urn:bpc:passport:1"
# XML 1.0 knows no other control characters, and readers turn carriage returns into line feeds.
NOT_PLAIN = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def xml(view: View, evidence: bytes) -> bytes:
    """`evidence` is the bundle or package with which the receipt, the signature and every value can be verified."""
    root = Element("batteryPassport", xmlns=NAMESPACE, audience=view.audience)
    for name, text in heading(view):
        add_text(root, name, text)
    attributes = SubElement(root, "attributes")
    for each in view.attributes:
        add_attribute(attributes, each)
    SubElement(root, "evidence").text = b64encode(evidence).decode()
    indent(root)
    content: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return content + b"\n"


def heading(view: View) -> list[tuple[str, str]]:
    return [
        ("passportId", view.passport_id),
        ("passportVersionId", view.passport_version_id),
        ("batteryIdentifier", view.battery_identifier),
        ("model", view.model),
        ("category", view.category),
        ("issuer", view.issuer),
        ("issuedAt", view.issued_at),
        ("receiptHash", view.receipt_hash),
        ("proofRootHash", view.proof_root_hash),
        ("leafCount", str(view.leaf_count)),
    ]


def add_attribute(parent: Element, shown: Shown) -> None:
    attribute = SubElement(parent, "attribute", access=shown.access)
    add_text(attribute, "path", shown.path)
    if shown.unit:
        add_text(attribute, "unit", shown.unit)
    add_value(attribute, shown.value)


def add_value(parent: Element, value: Json) -> None:
    match value:
        case None:
            SubElement(parent, "null")
        case bool():
            SubElement(parent, "boolean").text = "true" if value else "false"
        case int() | float():
            SubElement(parent, "number").text = canonical(value).decode()
        case str():
            add_text(parent, "text", value)
        case Mapping():
            add_members(SubElement(parent, "object"), value)
        case Sequence():
            items = SubElement(parent, "list")
            for each in value:
                add_value(items, each)


def add_members(parent: Element, members: Mapping[str, Json]) -> None:
    for name in sorted(members):
        member = SubElement(parent, "member")
        add_text(member, "name", name)
        add_value(member, members[name])


def add_text(parent: Element, name: str, text: str) -> None:
    element = SubElement(parent, name)
    if NOT_PLAIN.search(text):
        element.set("encoding", "json")
        text = json.dumps(text)
    element.text = text
