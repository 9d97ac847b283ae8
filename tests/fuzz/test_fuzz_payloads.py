"""Payloads and their schemas: refused with a reason or checked, and kept as they were given."""

import json
import re
from calendar import monthrange
from contextlib import suppress
from decimal import Decimal
from typing import Any
from uuid import UUID

import psycopg
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.fuzz import quick
from tests.fuzz.json_texts import NUMBERS, as_object, json_texts
from tests.fuzz.refusals import translating
from tests.world import World
from tickwork.database.json_text import as_given
from tickwork.errors import InvalidRequest

KEYWORDS = [
    *("type", "format", "enum", "const", "minimum", "maximum", "minLength", "maxLength", "pattern", "minItems"),
    *("maxItems", "items", "required", "properties", "additionalProperties", "title", "$schema", "anyOf", "$ref"),
]
WORTHY = ['"string"', '"integer"', '"uuid"', '"date-time"', "true", "{}", '["a"]', "[]", '"^[a-z]+$"', '"(a|b)*\\\\d"']
SCHEMAS = json_texts(["a", *KEYWORDS], WORTHY)
VALUES = json_texts(["a", "b"])


@quick
@given(st.dictionaries(st.sampled_from(KEYWORDS), SCHEMAS, min_size=1, max_size=4).map(as_object) | SCHEMAS, VALUES)
def test_a_schema_is_refused_or_every_value_can_be_checked(world: World, schema: str, value: str) -> None:
    wrong = world.value("select tickwork.schema_problem(%s::jsonb, 'payload_schema')", schema)

    if wrong is not None:
        assert wrong.startswith("payload_schema")
        return
    for payload in (value, f'{{"a":{value},"b":[{value}]}}', '"a"', "[]", "1e400"):
        problem = world.value("select tickwork.payload_problem(%s::jsonb, %s::jsonb, 'payload')", payload, schema)
        assert problem is None or problem.startswith("payload")


PIECES = ["a", "b", "(", ")", "[", "]", "^", "$", "*", "+", "?", "|", "{2}", "{1,9}", "{,", "\\", "\\d", "\\w", "\\1"]
PATTERNS = st.lists(st.sampled_from([*PIECES, ".", "-", ":", "(?:", "(?=", "[^", "\\u00e4", "ä", "***"]), max_size=15)


@quick
@given(PATTERNS.map("".join) | st.text(max_size=30), st.sampled_from(["a" * 5000, "ab" * 2500 + "!", "", "ä", "\n"]))
@example("(a|b)*a" + "(a|b)" * 30, "ab" * 2500)
def test_a_pattern_is_refused_or_matches_without_an_error(world: World, pattern: str, value: str) -> None:
    if "\0" in pattern or any(0xD800 <= ord(each) < 0xE000 for each in pattern):
        return
    wrong = world.value("select tickwork.pattern_problem(%s)", pattern)

    if wrong is None:
        schema = json.dumps({"pattern": pattern})
        problem = world.value("select tickwork.payload_problem(%s, %s, 'payload')", json.dumps(value), schema)
        assert problem in (None, f"payload: must match the pattern {pattern}")


YEARS = ["0000", "0004", "1900", "2000", "2023", "2024", "2100", "9999", "24", "02024"]
DAYS = ["01-31", "02-28", "02-29", "02-30", "04-30", "04-31", "12-31", "12-32", "13-01", "00-10", "10-00", "1-1"]
CLOCKS = ["00:00:00", "23:59:59", "23:59:60", "24:00:00", "12:60:00", "12:00:61", "12:00", "12:00:00.5", "12:00:00."]
ZONES = ["Z", "z", "+00:00", "-23:59", "+24:00", "-00:60", "", "+0100", "UTC", "Z\n"]
PARTS = (["-"], DAYS, ["T", "T", "t", " "], [*CLOCKS, "12:00:00.٣", "12:00:00,5"], ZONES)
TIMES = st.tuples(*(st.sampled_from(part) for part in (YEARS, *PARTS))).map("".join)


@quick
@given(TIMES)
def test_a_time_is_one_of_the_calendar(world: World, text: str) -> None:
    assert world.value("select tickwork.is_date_time(%s)", text) is is_time(text)


def is_time(text: str) -> bool:
    shape = r"(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:[Zz]|[+-](\d\d):(\d\d))"
    found = re.fullmatch(shape, text, re.ASCII)
    if not found:
        return False
    year, month, day, hour, minute, second, zone_hour, zone_minute = (int(part or 0) for part in found.groups())
    # Python knows no year 0.
    is_day = 1 <= month <= 12 and 1 <= day <= monthrange(year + 400, month)[1]
    return is_day and hour < 24 and minute < 60 and second <= 60 and zone_hour < 24 and zone_minute < 60


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text() | st.sampled_from(["\ud800", "\0"]),
    lambda each: st.lists(each, max_size=3) | st.dictionaries(st.text(), each, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(st.text(), ANYTHING, max_size=3)


@pytest.fixture(scope="module")
def request_of(world: World) -> tuple[UUID, str]:
    return world.tenant(), world.type()


@quick
@example({"signingKey": []})
@given(OBJECTS | st.integers(1, 1500).map(lambda levels: {"a": nested(levels)}) | ANYTHING)
def test_a_payload_is_kept_as_it_is_or_refused(world: World, request_of: tuple[UUID, str], payload: Any) -> None:
    with suppress(InvalidRequest), translating(), world.admin.transaction(force_rollback=True):
        text = as_given(payload)
        stored = world.value("select payload::text from enqueue_job(%s, %s, %s)", *request_of, text)
        # Whoever did not write it sees a secret redacted, which has tests of its own.
        if not world.value("select tickwork.may_hold_secrets(%s::jsonb::text)", text):
            assert exact(stored) == exact(text)


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


def exact(text: str) -> Any:
    return json.loads(text, parse_int=Decimal, parse_float=Decimal)


SECONDS = st.sampled_from([*NUMBERS, "1", "100", "2592000", "1.5", '"1"', "[1]"])
BACKOFFS = st.lists(SECONDS, max_size=30).map(lambda each: f"[{','.join(each)}]") | st.fixed_dictionaries(
    {"base": SECONDS, "factor": SECONDS, "cap": SECONDS}
).map(as_object)


@quick
@given(json_texts(["base", "factor", "cap"]) | BACKOFFS, st.integers(1, 25))
def test_a_backoff_is_refused_or_gives_a_delay(world: World, backoff: str, attempt: int) -> None:
    with suppress(psycopg.errors.CheckViolation), world.admin.transaction(force_rollback=True):
        world.run("insert into job_types (key, family, backoff) values ('wait_long', 'test', %s)", backoff)
        seconds = world.value("select tickwork.backoff_seconds('wait_long', %s)", attempt)
        assert 0 <= seconds <= 1.2 * 30 * 86_400
