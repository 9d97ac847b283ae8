"""The files that carry a passport to strangers: packages with everything, bundles with a part, and PDF files."""

import io
import json
import math
from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Any

from tickwork.passports.canonical import Json
from tickwork.passports.signatures import key_id

PACKAGE, BUNDLE, CREDENTIAL = "BPC-PACKAGE-1", "BPC-BUNDLE-1", "VerifiableCredential"
MAX_BYTES = 50_000_000
MAX_DEPTH = 64
MAX_INTEGER = 2**53 - 1


class FileRefused(ValueError):
    """The file cannot be read as a passport."""


def package(payload: bytes, proof: bytes, receipt: bytes, signature: bytes, public_key: bytes) -> bytes:
    """Canonical as it stands, since its parts are."""
    words = {
        "signature": b64encode(signature).decode(),
        "signing_key_id": key_id(public_key),
        "signing_key_public": b64encode(public_key).decode(),
        "type": PACKAGE,
    }
    rest = json.dumps(words, separators=(",", ":")).encode()
    return b'{"payload":' + payload + b',"proof":' + proof + b',"receipt":' + receipt + b"," + rest[1:]


def read_passport(data: bytes) -> Mapping[str, Json]:
    """The package or bundle in a file, which may be a PDF with it attached."""
    if len(data) > MAX_BYTES:
        raise FileRefused(f"it is larger than {MAX_BYTES:,} bytes")
    if is_pdf(data):
        return _attached(data)
    document = read_json(data)
    if not isinstance(document, Mapping) or document.get("type") not in (PACKAGE, BUNDLE):
        raise FileRefused(f"it is no {PACKAGE} and no {BUNDLE}")
    return document


def is_pdf(data: bytes) -> bool:
    return data.startswith(b"%PDF-")


def read_json(data: bytes) -> Json:
    """As strict as what was signed: UTF-8, no duplicate keys, no NaN, no endless nesting."""
    try:
        return checked_depth(DECODER.decode(data.decode()))
    except FileRefused:
        raise
    except (ValueError, RecursionError) as error:
        raise FileRefused(f"it is not strict JSON: {str(error)[:200] or 'too deeply nested'}") from None


def checked_depth(value: Json, depth: int = 0) -> Json:
    if depth > MAX_DEPTH:
        raise FileRefused(f"it is nested more than {MAX_DEPTH} deep")
    if isinstance(value, Mapping):
        for each in value.values():
            checked_depth(each, depth + 1)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for each in value:
            checked_depth(each, depth + 1)
    return value


def _integer(text: str) -> int | float:
    """1e20 is written as 100000000000000000000, which as an integer has no canonical bytes."""
    found = _float(text)
    return int(text) if abs(found) <= MAX_INTEGER else found


def _float(text: str) -> float:
    found = float(text)
    if math.isinf(found):
        raise FileRefused(f"the number {text[:20]} is too large")
    return found


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise FileRefused("a key occurs twice in an object")
    return found


def _refuse(word: str) -> None:
    raise FileRefused(f"{word} is not a number in JSON")


DECODER = json.JSONDecoder(
    object_pairs_hook=_without_duplicates, parse_constant=_refuse, parse_int=_integer, parse_float=_float
)


def _attached(data: bytes) -> Mapping[str, Json]:
    """The one attachment of a PDF that is a package or bundle."""
    # Loaded late: it takes as long as all other checks together.
    from pypdf import PdfReader
    from pypdf.errors import PyPdfError

    try:
        attachments = PdfReader(io.BytesIO(data)).attachments
        files = [content for contents in attachments.values() for content in contents]
    except (PyPdfError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise FileRefused(f"the PDF cannot be read: {str(error)[:200]}") from None
    found = []
    for content in files:
        try:
            found.append(read_passport(content) if not is_pdf(content) else None)
        except FileRefused:
            continue
    passports = [each for each in found if each]
    if len(passports) != 1:
        raise FileRefused(f"the PDF has {len(passports) or 'no'} passports attached instead of one")
    return passports[0]
