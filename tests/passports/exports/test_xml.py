"""Exports as XML: nothing is lost on the way, whatever the texts are, and what is written follows the schema."""

import json
from base64 import b64decode
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.passports.exports.sample import SECRET, evidence_of, sample
from tickwork.passports.canonical import Json, canonical, read_canonical
from tickwork.passports.exports import xml as module
from tickwork.passports.exports.view import view_of
from tickwork.passports.exports.xml import NAMESPACE, xml

PREFIX = f"{{{NAMESPACE}}}"
HOSTILE = [
    "]]><script>alert(1)</script>",
    "<!DOCTYPE x [<!ENTITY e SYSTEM 'file:///etc/passwd'>]>&e;",
    "\x00\x01\x1f\x7f\x85",
    "a\rb\r\nc\td",
    " \n ",
    "",
    '"quoted" \\u0041',
    "\ufffe\uffff\U0001f50b",
    "=cmd|'/c calc'!A1",
]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda each: st.lists(each, max_size=3) | st.dictionaries(st.text(max_size=4), each, max_size=3),
    max_leaves=8,
)  # fmt: skip


def exported(audience: Any = "public", **changes: Any) -> bytes:
    version = sample(**changes)
    return xml(view_of(version.payload, version.receipt, audience), evidence_of(version))


def text_of(element: Element | None) -> str:
    assert element is not None
    text = element.text or ""
    return str(json.loads(text)) if element.get("encoding") == "json" else text


def value_of(element: Element) -> Json:
    """The JSON value again, read by the schema's words alone."""
    match element.tag.removeprefix(PREFIX):
        case "null":
            return None
        case "boolean":
            return element.text == "true"
        case "number":
            return read_canonical((element.text or "").encode())
        case "text":
            return text_of(element)
        case "list":
            return [value_of(each) for each in element]
        case "object":
            return {text_of(member[0]): value_of(member[1]) for member in element}
        case other:
            raise AssertionError(other)


def attributes_in(content: bytes) -> dict[str, Any]:
    root = ElementTree.fromstring(content)
    found = {}
    for each in root.iter(f"{PREFIX}attribute"):
        unit = each.find(f"{PREFIX}unit")
        found[text_of(each[0])] = {
            "value": value_of(each[-1]),
            "unit": None if unit is None else text_of(unit),
            "access": each.get("access"),
        }
    return found


def test_all_that_the_payload_says_is_in_the_xml() -> None:
    version = sample()
    payload = json.loads(version.payload)

    root = ElementTree.fromstring(exported("owner"))

    assert canonical(attributes_in(exported("owner"))) == canonical(payload["attributes"])
    assert root.findtext(f"{PREFIX}batteryIdentifier") == payload["battery_identifier"]
    assert b64decode(root.findtext(f"{PREFIX}evidence") or "") == evidence_of(version)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(value=VALUES)
def test_every_json_value_comes_back(value: Json) -> None:
    version = sample([("a.b", value, None, "public")])

    content = xml(view_of(version.payload, version.receipt, "public"), b"")

    assert canonical(attributes_in(content)["a.b"]["value"]) == canonical(value)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_stay_texts(text: str) -> None:
    content = exported(attributes=[(f"a.{text}", text, text or None, "public")], model=text, battery_identifier=text)

    root = ElementTree.fromstring(content)
    assert text_of(root.find(f"{PREFIX}model")) == text
    assert attributes_in(content) == {f"a.{text}": {"value": text, "unit": text or None, "access": "public"}}


def test_restricted_values_are_left_out() -> None:
    assert SECRET.encode() in exported("authorities")
    assert SECRET.encode() not in exported("public")


def test_the_same_version_gives_the_same_bytes() -> None:
    assert exported() == exported()


def test_elements_are_those_of_the_schema_in_its_order() -> None:
    schema = ElementTree.parse(Path(module.__file__).with_name("passport.xsd")).getroot()
    xs = "{http://www.w3.org/2001/XMLSchema}"
    declared = {each.get("name") for each in schema.iter(f"{xs}element")}
    top = [each.get("name") for each in schema.findall(f"{xs}element/{xs}complexType/{xs}sequence/{xs}element")]

    root = ElementTree.fromstring(exported("owner"))

    assert {each.tag.removeprefix(PREFIX) for each in root.iter()} <= declared
    assert [each.tag.removeprefix(PREFIX) for each in root] == top
