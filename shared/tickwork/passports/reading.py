"""JSON that means the same to everybody (I-JSON, RFC 7493): whatever is not exactly that is refused by name."""

import codecs
import json
import math
import re
import unicodedata
from collections import Counter
from decimal import Decimal
from typing import Any, NoReturn

from tickwork.passports.canonical import Json

MAX_BYTES = 50_000_000
MAX_DEPTH = 32
# Each takes memory, however short it is in the file.
MAX_VALUES = 2_000_000
MAX_INTEGER = 2**53 - 1
# A double has 17 significant digits and an exponent of 3; zeros around them are harmless.
MAX_NUMBER_LENGTH = 100
SHOWN = 60
UTF_32 = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)
UTF_16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
SURROGATE = re.compile("[\ud800-\udfff]")


class Refused(Exception):
    """The document is not taken; the code says why to programs, the message to people."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message


def read_json(data: bytes) -> Json:
    """The value that the bytes stand for, if every reader of JSON finds the same one in them."""
    text = decoded(data)
    if sum(map(text.count, ",[{")) > MAX_VALUES:
        raise Refused("FILE_TOO_LARGE", "the file has more than two million values; split it")
    try:
        value: Json = DECODER.decode(text)
    except RecursionError:
        raise too_deep() from None
    except json.JSONDecodeError as error:
        raise Refused("NOT_JSON", f"line {error.lineno}, column {error.colno}: {error.msg}") from None
    check(value)
    return value


def decoded(data: bytes) -> str:
    """UTF-8, or UTF-16 if its mark says so."""
    if len(data) > MAX_BYTES:
        raise Refused("FILE_TOO_LARGE", "the file is larger than 50 MB")
    if data.startswith(UTF_32):
        raise Refused("NOT_UTF8", "the file is UTF-32; save it as UTF-8")
    try:
        for mark, encoding in UTF_16.items():
            if data.startswith(mark):
                return data[len(mark) :].decode(encoding)
        text = data.removeprefix(codecs.BOM_UTF8).decode()
    except UnicodeDecodeError as error:
        raise Refused("NOT_UTF8", f"byte {error.start} is not UTF-8; save the file as UTF-8") from None
    # UTF-16 without a mark has them at every other place.
    if "\0" in text[:4]:
        raise Refused("NOT_UTF8", "the file is UTF-16 without a mark; save it as UTF-8")
    return text


def check(value: Json) -> None:
    """Every string and every key can be stored and is written in one way only, and nothing is nested too deep."""
    level: list[Any] = [value]
    depth = 1
    while level:
        below: list[Any] = []
        for each in level:
            if isinstance(each, str):
                check_text(each)
            elif isinstance(each, dict | list):
                if depth > MAX_DEPTH:
                    raise too_deep()
                for key in each if isinstance(each, dict) else ():
                    check_text(key)
                below.extend(each.values() if isinstance(each, dict) else each)
        level = below
        depth += 1


def check_text(text: str) -> None:
    if "\0" in text:
        raise Refused("NUL_CHARACTER", f"{shown(text)} contains U+0000")
    if text.isascii():
        return
    if SURROGATE.search(text):
        raise Refused("LONE_SURROGATE", f"{shown(text)} contains half of a character")
    if not unicodedata.is_normalized("NFC", text):
        raise Refused("NOT_NFC", f"{shown(text)} is not in normal form C; normalise the file")


def shown(text: str) -> str:
    """A part of a foreign text that is safe to read."""
    return ascii(text[:SHOWN])


def too_deep() -> Refused:
    return Refused("TOO_DEEP", f"objects and lists are nested more than {MAX_DEPTH} deep")


def exact_number(token: str) -> int | float:
    """The number, if a double gives back the same one; 1.0 is 1."""
    if len(token) > MAX_NUMBER_LENGTH:
        raise not_exact(token)
    value = float(token)
    is_lost = value == 0 and any(digit in "123456789" for digit in re.split("[eE]", token)[0])
    if not math.isfinite(value) or is_lost or Decimal(repr(value)) != Decimal(token):
        raise not_exact(token)
    return int(value) if value.is_integer() and abs(value) <= MAX_INTEGER else value


def exact_integer(token: str) -> int:
    if len(token) > MAX_NUMBER_LENGTH or abs(value := int(token)) > MAX_INTEGER:
        raise not_exact(token)
    return value


def not_exact(token: str) -> Refused:
    return Refused("NUMBER_NOT_EXACT", f"{token[:SHOWN]} has more digits than a double keeps; round it")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(key for key, many in Counter(key for key, _ in pairs).items() if many > 1)
        raise Refused("DUPLICATE_KEY", f"the key {shown(twice)} comes twice in one object")
    return found


def _constant(name: str) -> NoReturn:
    raise Refused("NOT_JSON", f"{name} is not JSON")


DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_float=exact_number, parse_int=exact_integer, parse_constant=_constant
)
