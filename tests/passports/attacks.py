"""Files that are not what was signed, each with the check that finds it. Every verifier has to refuse them all."""

import json
from base64 import b64encode
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import replace
from typing import Any

from tests.passports.sample import KEY, OTHER_KEY, PASSPORT, SECOND
from tickwork.passports.signatures import ORDER, key_id

Document = dict[str, Any]
PUBLIC = ("identity.model", "performance.rated_capacity", "performance.tiny")
BUNDLE = PASSPORT.bundle("public", *PUBLIC)
OTHER_PASSPORT = replace(PASSPORT, passport_id="9f8e7d6c-5b4a-4938-a7b6-c5d4e3f2a1b0")
OTHER_BATTERY = replace(PASSPORT, stated_battery="BAT-2")
# The identity: under it, one signature fits every message.
NO_KEY = (1).to_bytes(32, "little")


def attacks() -> Iterator[tuple[str, str, bytes]]:
    """Name, the check that fails, the file."""
    for name, check, change in PACKAGES:
        yield f"package: {name}", check, changed(PASSPORT.document, change)
    for name, check, change in BUNDLES:
        yield f"bundle: {name}", check, changed(BUNDLE, change)


def changed(document: Document, change: Callable[[Document], object]) -> bytes:
    copy = deepcopy(document)
    change(copy)
    return json.dumps(copy, ensure_ascii=False).encode()


def put(*path: str | int, value: Any) -> Callable[[Document], object]:
    def change(document: Document) -> None:
        place: Any = document
        for each in path[:-1]:
            place = place[each]
        place[path[-1]] = value

    return change


def drop(*path: str | int) -> Callable[[Document], object]:
    def change(document: Document) -> None:
        place: Any = document
        for each in path[:-1]:
            place = place[each]
        del place[path[-1]]

    return change


def signed_by(key: bytes, signature: bytes) -> Document:
    return {
        "signing_key_id": key_id(key),
        "signing_key_public": b64encode(key).decode(),
        "signature": b64encode(signature).decode(),
    }


def other_scalar() -> str:
    signature = KEY.sign(PASSPORT.receipt_hash)
    scalar = int.from_bytes(signature[32:], "little") + ORDER
    return b64encode(signature[:32] + scalar.to_bytes(32, "little")).decode()


def first_leaf(document: Document) -> Document:
    found: Document = document["leaves"][0]
    return found


PACKAGES: list[tuple[str, str, Callable[[Document], object]]] = [
    ("another value", "payload", put("payload", "attributes", "identity.model", "value", value="X")),
    ("another unit", "payload", put("payload", "attributes", "performance.rated_capacity", "unit", value="KWH")),
    ("another access", "payload", put("payload", "attributes", "performance.huge", "access", value="public")),
    ("an attribute more", "payload", put("payload", "attributes", "new", value={})),
    ("an attribute less", "payload", drop("payload", "attributes", "identity.model")),
    ("another battery", "payload", put("payload", "battery_identifier", value="BAT-2")),
    ("a receipt of another battery", "payload", lambda each: each.update(OTHER_BATTERY.document)),
    ("payload of another version", "payload", put("payload", value=SECOND.document["payload"])),
    ("payload of another passport", "payload", put("payload", value=OTHER_PASSPORT.document["payload"])),
    ("no payload", "receipt", drop("payload")),
    ("payload is null", "payload", put("payload", value=None)),
    ("leaves of another passport", "proof", put("proof", value={"type": "BPC-PROOF-1", "leaves": [{}] * 9})),
    ("a leaf less", "proof", lambda each: each["proof"]["leaves"].pop()),
    ("the last leaf twice", "proof", lambda each: each["proof"]["leaves"].append(each["proof"]["leaves"][-1])),
    ("leaves in another order", "proof", lambda each: each["proof"]["leaves"].reverse()),
    ("another salt", "proof", put("proof", "leaves", 0, "salt", value="00" * 16)),
    ("no leaves", "proof", put("proof", "leaves", value=[])),
    ("tree size lie", "signature", put("receipt", "leaf_count", value=10)),
    ("another receipt", "payload", put("receipt", value=SECOND.document["receipt"])),
    ("another issuer", "signature", put("receipt", "issuer", value="Someone else")),
    ("an earlier time", "payload", put("receipt", "issued_at", value="2027-01-01T00:00:00Z")),
    ("another algorithm", "receipt", put("receipt", "hash", value="MD5")),
    ("no canonicalization", "receipt", put("receipt", "canonicalization", value="none")),
    ("a receipt of another type", "receipt", put("receipt", "type", value="BPC-PAYLOAD-1")),
    ("a member more in the receipt", "receipt", put("receipt", "alg", value="none")),
    ("a member more in the file", "receipt", put("alg", value="none")),
    ("receipt is a list", "receipt", put("receipt", value=[])),
    ("signature of another version", "signature", put("signature", value=SECOND.document["signature"])),
    ("no signature", "signature", put("signature", value="")),
    ("signature is null", "signature", put("signature", value=None)),
    ("signature is not base64", "signature", put("signature", value="!" * 88)),
    ("a second spelling of the signature", "signature", put("signature", value=other_scalar())),
    ("all zero signature", "signature", put("signature", value=b64encode(bytes(64)).decode())),
    ("another key id", "signature", put("signing_key_id", value=OTHER_KEY.id)),
    (
        "another key that signed it too",
        "key",
        lambda each: each.update(signed_by(OTHER_KEY.public, OTHER_KEY.sign(PASSPORT.receipt_hash))),
    ),
    (
        "another key under the trusted id",
        "signature",
        lambda each: each.update(
            signed_by(OTHER_KEY.public, OTHER_KEY.sign(PASSPORT.receipt_hash)) | {"signing_key_id": KEY.id}
        ),
    ),
    ("a key of small order", "signature", lambda each: each.update(signed_by(NO_KEY, NO_KEY + bytes(32)))),
]

BUNDLES: list[tuple[str, str, Callable[[Document], object]]] = [
    ("another value", "disclosed", lambda each: first_leaf(each)["leaf"].update(value="X")),
    ("another number", "disclosed", lambda each: first_leaf(each).update(index=first_leaf(each)["index"] + 1)),
    ("a number beyond the tree", "disclosed", lambda each: first_leaf(each).update(index=9)),
    ("a negative number", "disclosed", lambda each: first_leaf(each).update(index=-1)),
    ("a number that is none", "disclosed", lambda each: first_leaf(each).update(index=True)),
    ("a path too long", "disclosed", lambda each: first_leaf(each)["path"].append("00" * 32)),
    ("a path too short", "disclosed", lambda each: first_leaf(each)["path"].pop()),
    ("no path", "disclosed", lambda each: first_leaf(each).update(path=[])),
    ("a hash of other length", "disclosed", lambda each: put("path", 0, value="00" * 31)(first_leaf(each))),
    ("a hash that is none", "disclosed", lambda each: put("path", 0, value="zz" * 32)(first_leaf(each))),
    ("a path in reverse", "disclosed", lambda each: first_leaf(each)["path"].reverse()),
    ("a node as a leaf", "disclosed", lambda each: first_leaf(each).update(leaf={"type": "BPC-LEAF-1"})),
    ("a leaf twice", "disclosed", lambda each: each["leaves"].append(first_leaf(each))),
    ("tree size lie", "disclosed", put("receipt", "leaf_count", value=5)),
    ("leaf of another audience", "disclosed", put("leaves", value=PASSPORT.bundle("", "performance.huge")["leaves"])),
    ("an unknown audience", "disclosed", put("audience", value="everybody")),
    ("an audience of packages", "disclosed", put("audience", value="owner")),
    ("a payload beside", "receipt", put("payload", value={})),
    ("another receipt", "disclosed", put("receipt", value=replace(SECOND, attributes=()).document["receipt"])),
    ("another issuer", "signature", put("receipt", "issuer", value="Someone else")),
    ("another battery", "signature", put("receipt", "battery_identifier", value="BAT-2")),
    (
        "another key that signed it too",
        "key",
        lambda each: each.update(signed_by(OTHER_KEY.public, OTHER_KEY.sign(PASSPORT.receipt_hash))),
    ),
]
PACKAGE = PASSPORT.package
# What is no package at all, or could be read in two ways.
UNREADABLE = {
    "a duplicate key": PACKAGE[:-1] + b',"signature":"AAAA"}',
    "a duplicate key inside": PACKAGE.replace(b'"model":"M1"', b'"model":"M2","model":"M1"'),
    "a duplicate key that is escaped": PACKAGE.replace(b'"model":"M1"', b'"mod\\u0065l":"M2","model":"M1"'),
    "NaN": PACKAGE.replace(b"94.5", b"NaN"),
    "a number beyond doubles": PACKAGE.replace(b"94.5", b"1e400"),
    "UTF-16": PACKAGE.decode().encode("utf-16"),
    "broken UTF-8": PACKAGE.replace("ö".encode(), b"\xf6"),
    "a byte order mark": b"\xef\xbb\xbf" + PACKAGE,
    "deep nesting": b"[" * 100_000,
    "empty": b"",
    "a list": b"[]",
    "a string": b'"BPC-PACKAGE-1"',
    "another type": PACKAGE.replace(b"BPC-PACKAGE-1", b"BPC-RECEIPT-1"),
    "half of it": PACKAGE[: len(PACKAGE) // 2],
    "something behind": PACKAGE + b"{}",
}
