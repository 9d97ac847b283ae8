"""The strict reader: what different readers of JSON would read differently is refused by name."""

from base64 import b64decode

import pytest

from tests.passports.public_vectors import read_vectors
from tickwork.passports.reading import MAX_DEPTH, Refused, read_json

REFUSED = {
    "duplicate key": ("DUPLICATE_KEY", b'{"a": {"b": 1, "b": 1}}'),
    "escaped duplicate": ("DUPLICATE_KEY", b'{"a": 1, "\\u0061": 2}'),
    "NaN": ("NOT_JSON", b"[NaN]"),
    "Infinity": ("NOT_JSON", b"[-Infinity]"),
    "1e400": ("NUMBER_NOT_EXACT", b"1e400"),
    "1e-400": ("NUMBER_NOT_EXACT", b"1e-400"),
    "huge negative exponent": ("NUMBER_NOT_EXACT", b"1e-99999999999999999999"),
    "2^53 + 1": ("NUMBER_NOT_EXACT", b"9007199254740993"),
    "2^53": ("NUMBER_NOT_EXACT", b"9007199254740992"),
    "309 digits": ("NUMBER_NOT_EXACT", b"1" * 309),
    "a million digits": ("NUMBER_NOT_EXACT", b"1" * 1_000_000),
    "18 digits": ("NUMBER_NOT_EXACT", b"0.123456789012345678"),
    "lone surrogate": ("LONE_SURROGATE", b'"\\ud83d"'),
    "surrogates in the wrong order": ("LONE_SURROGATE", b'{"\\udd0b\\ud83d": 1}'),
    "U+0000": ("NUL_CHARACTER", b'{"a\\u0000": 1}'),
    "NFD value": ("NOT_NFC", '["e\u0301"]'.encode()),
    "NFD twin of a key": ("NOT_NFC", '{"\u00e9": 1, "e\u0301": 2}'.encode()),
    "escaped NFD": ("NOT_NFC", b'"e\\u0301"'),
    "UTF-16 without a mark": ("NOT_UTF8", "[1]".encode("utf-16-le")),
    "UTF-32": ("NOT_UTF8", "[1]".encode("utf-32")),
    "Latin-1": ("NOT_UTF8", '"é"'.encode("latin-1")),
    "surrogate in UTF-16": ("NOT_UTF8", b"\xff\xfe" + '"\ud83d"'.encode("utf-16-le", "surrogatepass")),
    "surrogate in UTF-8": ("NOT_UTF8", b'"\xed\xa0\xbd"'),
    "too deep": ("TOO_DEEP", b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1)),
    "objects too deep": ("TOO_DEEP", b'{"a":' * (MAX_DEPTH + 1) + b"1" + b"}" * (MAX_DEPTH + 1)),
    "100,000 levels": ("TOO_DEEP", b"[" * 100_000),
    "100,000 levels, closed": ("TOO_DEEP", b"[" * 100_000 + b"]" * 100_000),
    "millions of empty objects": ("FILE_TOO_LARGE", b"[" + b"{}," * 1_000_000 + b"{}]"),
    "empty": ("NOT_JSON", b""),
    "two values": ("NOT_JSON", b"1 2"),
    "a comma too many": ("NOT_JSON", b"[1,]"),
    "a control character": ("NOT_JSON", b'"\x01"'),
    "a leading zero": ("NOT_JSON", b"01"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_exact_is_refused_by_name(case: str) -> None:
    code, data = REFUSED[case]

    with pytest.raises(Refused) as refused:
        read_json(data)

    assert refused.value.code == code
    assert len(str(refused.value)) < 200


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b"-0", 0),
        (b"-0.0", 0),
        (b"1.0", 1),
        (b"1e2", 100),
        (b"0.1", 0.1),
        (b"9007199254740991", 9007199254740991),
        (b"1.7976931348623157e308", 1.7976931348623157e308),
        (b"\xef\xbb\xbf[1]", [1]),
        ('{"é": "\U0001f50b"}'.encode("utf-16"), {"é": "\U0001f50b"}),
        (b'"\\ud83d\\udd0b"', "\U0001f50b"),
        (b"[" * MAX_DEPTH + b"1" + b"]" * MAX_DEPTH, None),
    ],
)
def test_what_everybody_reads_alike_is_read(data: bytes, value: object) -> None:
    assert value is None or read_json(data) == value
    assert type(read_json(data)) is type(value) or value is None


def test_a_file_over_50_mb_is_not_even_decoded() -> None:
    with pytest.raises(Refused, match="FILE_TOO_LARGE"):
        read_json(b" " * 50_000_001)


# Of https://github.com/nst/JSONTestSuite: those that are JSON, but do not mean the same to everybody.
NOT_FOR_EVERYBODY = {
    "y_object_duplicated_key": "DUPLICATE_KEY",
    "y_object_duplicated_key_and_value": "DUPLICATE_KEY",
    "y_object_escaped_null_in_key": "NUL_CHARACTER",
    "y_string_null_escape": "NUL_CHARACTER",
}
# And those about which readers differ, but which are clear by their mark.
MARKED = {"i_string_UTF-16LE_with_BOM", "i_structure_UTF-8_BOM_empty_object"}


def test_the_json_test_suite_is_read_and_refused_as_its_names_say() -> None:
    files = {name: b64decode(content) for name, content in read_vectors("json_test_suite", "files").items()}
    # Too large to be kept.
    files["n_structure_100000_opening_arrays"] = b"[" * 100_000
    files["n_structure_open_array_object"] = b'[{"":' * 50_000 + b"\n"

    refused = {name: code for name, data in files.items() if (code := code_of(data))}

    assert len(files) == 318
    assert {name: code for name, code in refused.items() if name.startswith("y_")} == NOT_FOR_EVERYBODY
    assert {name for name in files if name not in refused and not name.startswith("y_")} == MARKED


def code_of(data: bytes) -> str | None:
    try:
        read_json(data)
    except Refused as refused:
        return refused.code
    return None
