"""Payloads are checked against the schema of their type in SQL, on servers that have no pg_jsonschema."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, LiteralString

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.world import World
from tickwork.errors import InvalidRequest
from tickwork.testing.database import TEMPLATE, cloned
from tickwork_local.postgres import Server

Schema = dict[str, Any]

STRING: Schema = {"type": "string"}
UUID: Schema = {"type": "string", "format": "uuid"}
TIME: Schema = {"type": "string", "format": "date-time"}
CLOSED: Schema = {"properties": {"a": {}}, "additionalProperties": False}


def problem(world: World, schema: Schema, value: object) -> str | None:
    found: str | None = world.value(
        "select tickwork.payload_problem(%s::jsonb, %s::jsonb, 'payload')", json.dumps(value), json.dumps(schema)
    )
    return found


def schema_problem(world: World, schema: object) -> str | None:
    found: str | None = world.value("select tickwork.schema_problem(%s::jsonb, 'payload_schema')", json.dumps(schema))
    return found


def nested(levels: int) -> Schema:
    schema: Schema = {"type": "string"}
    for _ in range(levels - 1):
        schema = {"properties": {"a": schema}}
    return schema


ACCEPTED: list[tuple[Schema, object]] = [
    ({}, {"anything": [1, None]}),
    ({}, None),
    # Types
    ({"type": "integer"}, 1),
    ({"type": "integer"}, 1.0),
    ({"type": "integer"}, -0.0),
    ({"type": "integer"}, 10**300),
    ({"type": "number"}, 1),
    ({"type": "number"}, 1.5),
    ({"type": ["integer", "number"]}, 1.5),
    ({"type": ["string", "null"]}, None),
    ({"type": ["string", "null"]}, "x"),
    ({"type": "null"}, None),
    ({"type": "boolean"}, False),
    ({"type": "array"}, []),
    ({"type": "object"}, {}),
    # Keywords are for values of their type only.
    ({"minimum": 5}, "3"),
    ({"minLength": 5}, 3),
    ({"pattern": "^a"}, ["b"]),
    ({"format": "uuid"}, 7),
    ({"required": ["a"]}, ["b"]),
    ({"properties": {"a": STRING}}, "a"),
    ({"additionalProperties": False}, 3),
    ({"items": STRING}, {"0": 1}),
    ({"minItems": 2}, "x"),
    # Values
    ({"enum": ["a", None, 1]}, None),
    ({"enum": ["a", None, 1]}, 1.0),
    ({"enum": [{"a": [1, 2]}, [[3]]]}, {"a": [1, 2]}),
    ({"enum": [{"a": [1, 2]}, [[3]]]}, [[3]]),
    ({"const": None}, None),
    ({"const": {"a": 1, "b": 2}}, {"b": 2, "a": 1.0}),
    ({"const": [1]}, [1]),
    # Numbers
    ({"minimum": 0, "maximum": 3}, 0),
    ({"minimum": 0, "maximum": 3}, 3),
    ({"minimum": 0, "maximum": 3}, 2.999),
    ({"maximum": 1e308}, 10**300),
    ({"type": "integer", "minimum": -1.5}, -1),
    # Strings: characters and not bytes
    ({"minLength": 3, "maxLength": 3}, "äß€"),
    ({"maxLength": 1}, "😀"),
    ({"minLength": 1.0}, "x"),
    ({"maxLength": 10**30}, "x"),
    ({"pattern": "b"}, "abc"),
    ({"pattern": "^[a-z]+(?:-[a-z]+)*$"}, "plain-words"),
    ({"pattern": r"^\d+\.\d+$"}, "1.5"),
    ({"pattern": r"^\\d$"}, "\\d"),
    ({"pattern": r"^(\.?=)*$"}, "=.="),
    ({"pattern": r"^\u00e4$"}, "ä"),
    ({"pattern": r"^[.]$"}, "."),
    (UUID, "0F0e0d0c-0000-0000-0000-abcdefABCDEF"),
    (TIME, "2026-11-16T09:30:00Z"),
    (TIME, "2026-11-16t09:30:00.123456789+05:30"),
    (TIME, "2024-02-29T00:00:00z"),
    (TIME, "2000-02-29T23:59:60-00:00"),
    # Arrays
    ({"items": STRING, "minItems": 1, "maxItems": 2}, ["a", "b"]),
    ({"items": {"type": "integer", "maximum": 9}}, [1, 2.0, 9]),
    ({"items": {"items": {"items": STRING}}}, [[["a"]], []]),
    # Objects
    ({"properties": {"a": STRING}}, {"a": "x", "b": 1}),
    ({"properties": {"a": STRING}}, {}),
    ({"properties": {"a": STRING}, "additionalProperties": True}, {"b": 1}),
    ({"additionalProperties": STRING}, {"a": "x", "b": "y"}),
    ({"properties": {"a": {"type": "integer"}}, "additionalProperties": STRING}, {"a": 1, "b": "y"}),
    (CLOSED, {"a": None}),
    (CLOSED, {}),
    # Names that look like something else
    ({"properties": {"": STRING}, "required": [""]}, {"": "x"}),
    ({"properties": {"type": STRING, "required": STRING, "enum": STRING}}, {"type": "integer", "enum": "x"}),
    ({"properties": {"properties": {"properties": {"type": STRING}}}}, {"properties": {"type": "x"}}),
    ({"properties": {"__proto__": STRING, "constructor": STRING}}, {"__proto__": "x"}),
    ({"properties": {"%s": STRING, "a.b": STRING, "$.a": STRING}}, {"%s": "x", "a.b": "x", "$.a": "y"}),
    ({"properties": {"key": STRING, "value": STRING, "id": STRING}, "additionalProperties": False}, {"key": "x"}),
    ({"properties": {"ключ😀": STRING}, "required": ["ключ😀"]}, {"ключ😀": "x"}),
    ({"properties": {"a": {"properties": {"b": {"items": UUID}}}}}, {"a": {"b": []}}),
]

REFUSED: list[tuple[Schema, object, str]] = [
    ({"type": "object"}, [], "payload: must be an object, not an array"),
    ({"type": "integer"}, 1.5, "payload: must be an integer, not a fraction"),
    ({"type": "integer"}, "1", "payload: must be an integer, not a string"),
    ({"type": "integer"}, True, "payload: must be an integer, not a boolean"),
    ({"type": ["integer", "null"]}, 0.5, "payload: must be an integer or null, not a fraction"),
    ({"type": "number"}, "1e5", "payload: must be a number, not a string"),
    ({"type": "null"}, "null", "payload: must be null, not a string"),
    ({"type": ["string", "null"]}, {}, "payload: must be a string or null, not an object"),
    ({"type": "boolean"}, 0, "payload: must be a boolean, not a number"),
    ({"enum": ["a", "b"]}, "c", 'payload: must be one of ["a", "b"]'),
    ({"enum": ["a"]}, ["a"], 'payload: must be one of ["a"]'),
    ({"enum": [["a", "b"]]}, ["a"], 'payload: must be one of [["a", "b"]]'),
    ({"enum": [["a"]]}, [], 'payload: must be one of [["a"]]'),
    ({"enum": [{"a": 1}]}, {}, 'payload: must be one of [{"a": 1}]'),
    ({"enum": ["1", 0]}, 1, 'payload: must be one of ["1", 0]'),
    ({"enum": [0]}, False, "payload: must be one of [0]"),
    ({"const": "a"}, "b", 'payload: must be "a"'),
    ({"const": None}, 0, "payload: must be null"),
    ({"const": [1]}, [], "payload: must be [1]"),
    ({"minimum": 0}, -1, "payload: must be at least 0"),
    ({"minimum": 0}, -1e-300, "payload: must be at least 0"),
    ({"type": "integer", "maximum": 3}, 4, "payload: must be at most 3"),
    ({"maximum": 3}, 10**300, "payload: must be at most 3"),
    ({"minLength": 1}, "", "payload: the minimum length is 1"),
    ({"maxLength": 2}, "äöü", "payload: the maximum length is 2"),
    ({"pattern": "^[a-z]+$"}, "a1", "payload: must match the pattern ^[a-z]+$"),
    ({"pattern": "^[a-z]+$"}, "a\n", "payload: must match the pattern ^[a-z]+$"),
    ({"pattern": r"^\d$"}, "٣", r"payload: must match the pattern ^\d$"),
    ({"pattern": r"^\w$"}, "ä", r"payload: must match the pattern ^\w$"),
    (UUID, "", "payload: must be a uuid"),
    (UUID, "0f0e0d0c00000000000000000000abcd", "payload: must be a uuid"),
    (UUID, "{0f0e0d0c-0000-0000-0000-abcdefabcdef}", "payload: must be a uuid"),
    (UUID, "0f0e0d0c-0000-0000-0000-abcdefabcdef\n", "payload: must be a uuid"),
    (UUID, "0f0e0d0c-0000-0000-0000-abcdefabcdeg", "payload: must be a uuid"),
    ({"format": "uuid", "minLength": 40}, "0f0e0d0c-0000-0000-0000-abcdefabcdef", "payload: the minimum length is 40"),
    *[
        (TIME, wrong, "payload: must be a date-time, such as 2026-11-16T09:30:00Z")
        for wrong in (
            "2026-11-16",
            "2026-11-16 09:30:00Z",
            "2026-11-16T09:30Z",
            "2026-11-16T09:30:00",
            "2026-11-16T24:00:00Z",
            "2026-11-16T09:60:00Z",
            "2026-11-16T09:30:00.Z",
            "2026-11-16T09:30:00+0530",
            "2026-11-16T09:30:00+24:00",
            "2026-13-01T09:30:00Z",
            "2026-11-31T09:30:00Z",
            "2026-02-29T09:30:00Z",
            "1900-02-29T09:30:00Z",
            "٢٠٢٦-11-16T09:30:00Z",
            "2026-11-16T09:30:00Z ",
        )
    ],
    ({"items": STRING}, ["a", "b", "c", 4], "payload[3]: must be a string, not a number"),
    ({"items": {"items": {"type": "integer"}}}, [[1], [2, None]], "payload[1][1]: must be an integer, not null"),
    ({"minItems": 1}, [], "payload: the minimum number of items is 1"),
    ({"maxItems": 0}, [None], "payload: the maximum number of items is 0"),
    ({"items": CLOSED}, [{"a": 1}, {"b": 1}], "payload[1]: unknown field b"),
    ({"required": ["engine"]}, {}, "payload: engine is missing"),
    ({"required": ["a", "b"]}, {"a": None}, "payload: b is missing"),
    ({"properties": {"document_id": UUID}}, {"document_id": "secret"}, "payload.document_id: must be a uuid"),
    ({"properties": {"files": {"items": STRING}}}, {"files": [[]]}, "payload.files[0]: must be a string, not an array"),
    ({"properties": {"a": {"required": ["b"]}}}, {"a": {}}, "payload.a: b is missing"),
    (
        {"properties": {"a": {"properties": {"b": STRING}}}},
        {"a": {"b": 1}},
        "payload.a.b: must be a string, not a number",
    ),
    ({"properties": {"a b": STRING}}, {"a b": 1}, 'payload["a b"]: must be a string, not a number'),
    ({"properties": {"": STRING}}, {"": 1}, 'payload[""]: must be a string, not a number'),
    ({"properties": {"type": STRING}}, {"type": 1}, "payload.type: must be a string, not a number"),
    ({"properties": {"__proto__": STRING}}, {"__proto__": {}}, "payload.__proto__: must be a string, not an object"),
    (CLOSED, {"a": 1, "colour": 2}, "payload: unknown field colour"),
    ({"additionalProperties": False}, {"": 2}, "payload: unknown field "),
    ({"additionalProperties": {"type": "integer"}}, {"a": 1, "b": "x"}, "payload.b: must be an integer, not a string"),
    (
        {"properties": {"a": STRING}, "additionalProperties": {"required": ["c"]}},
        {"a": "x", "b": {}},
        "payload.b: c is missing",
    ),
]

UNCHECKED: list[tuple[object, str]] = [
    ([], "payload_schema: must be an object"),
    (True, "payload_schema: must be an object"),
    ({"$ref": "#/$defs/a"}, "payload_schema: the keyword $ref is not supported"),
    ({"patternProperties": {}}, "payload_schema: the keyword patternProperties is not supported"),
    ({"anyOf": []}, "payload_schema: the keyword anyOf is not supported"),
    ({"not": {}}, "payload_schema: the keyword not is not supported"),
    ({"Type": "string"}, "payload_schema: the keyword Type is not supported"),
    ({"": 1}, "payload_schema: the keyword  is not supported"),
    ({"format": "email"}, "payload_schema: the keyword format must be uuid or date-time"),
    ({"format": None}, "payload_schema: the keyword format must be uuid or date-time"),
    ({"type": "text"}, "payload_schema: the keyword type must be a JSON type, or a list of them"),
    ({"type": []}, "payload_schema: the keyword type must be a JSON type, or a list of them"),
    ({"type": [["string"]]}, "payload_schema: the keyword type must be a JSON type, or a list of them"),
    ({"type": {}}, "payload_schema: the keyword type must be a JSON type, or a list of them"),
    ({"required": "a"}, "payload_schema: the keyword required must be a list of names"),
    ({"required": [1]}, "payload_schema: the keyword required must be a list of names"),
    ({"properties": []}, "payload_schema: the keyword properties must be an object"),
    ({"properties": {"a": True}}, "payload_schema.properties.a: must be an object"),
    ({"properties": {"a b": 1}}, 'payload_schema.properties["a b"]: must be an object'),
    (
        {"additionalProperties": None},
        "payload_schema: the keyword additionalProperties must be true, false or a schema",
    ),
    ({"items": [{}]}, "payload_schema: the keyword items must be a schema"),
    ({"items": {"oneOf": []}}, "payload_schema.items: the keyword oneOf is not supported"),
    (
        {"properties": {"a": {"additionalProperties": {"if": {}}}}},
        "payload_schema.properties.a.additionalProperties: the keyword if is not supported",
    ),
    ({"enum": []}, "payload_schema: the keyword enum must be a list of values"),
    ({"minimum": "0"}, "payload_schema: the keyword minimum must be a number"),
    ({"minLength": -1}, "payload_schema: the keyword minLength must be a whole number, 0 or more"),
    ({"maxItems": 1.5}, "payload_schema: the keyword maxItems must be a whole number, 0 or more"),
    ({"pattern": 1}, "payload_schema: the keyword pattern must be a string"),
    ({"pattern": "a" * 201}, "payload_schema: the keyword pattern is longer than 200 characters"),
    ({"pattern": "("}, "payload_schema: the keyword pattern is not a regular expression that Postgres can compile"),
    *[
        ({"pattern": pattern}, "payload_schema: the keyword pattern uses a group other than (...) and (?:...)")
        for pattern in ("(?=a)", "(?!a)", "(?<=a)b", "(?<name>a)", "(?i)a", r"\\(?=a)", "(?")
    ],
    *[
        (
            {"pattern": pattern},
            r"payload_schema: the keyword pattern uses an escape other than \d \D \s \S \w \W \n \r \t \f \v, "
            r"\u with four digits, and \ before punctuation",
        )
        for pattern in (r"(a)\1", r"\bword\b", r"\p{L}", r"\Aa", r"\x41", "a\\", r"\\\m", r"\u12")
    ],
    *[
        ({"pattern": pattern}, "payload_schema: the keyword pattern uses syntax that means something else in Postgres")
        for pattern in ("***=a", "[[:alpha:]]", "[^a[:digit:]]", "[^]", "[]a]")
    ],
    (nested(33), f"payload_schema{'.properties.a' * 32}: nested deeper than 32 levels"),
    (nested(300), f"payload_schema{'.properties.a' * 32}: nested deeper than 32 levels"),
]


@pytest.fixture(scope="module")
def functions(server: Server) -> Iterator[World]:
    """For tests that only call functions: one database for all of them."""
    with cloned(server, TEMPLATE) as name, World(server.url(name), server.url(name)) as world:
        yield world


def in_field(sentence: str | None) -> str | None:
    return sentence and f"payload.a{sentence.removeprefix('payload')}"


def in_list(sentence: str | None) -> str | None:
    return sentence and f"payload[0]{sentence.removeprefix('payload')}"


@pytest.mark.parametrize(("schema", "value"), ACCEPTED)
def test_a_value_that_matches_is_accepted(functions: World, schema: Schema, value: object) -> None:
    assert schema_problem(functions, schema) is None
    assert problem(functions, schema, value) is None


@pytest.mark.parametrize(("schema", "value", "sentence"), REFUSED)
def test_a_value_that_does_not_match_is_refused(functions: World, schema: Schema, value: object, sentence: str) -> None:
    assert schema_problem(functions, schema) is None
    assert problem(functions, schema, value) == sentence


@pytest.mark.parametrize(("schema", "value"), [*ACCEPTED, *(each[:2] for each in REFUSED)])
def test_a_value_is_checked_alike_wherever_it_is(functions: World, schema: Schema, value: object) -> None:
    alone = problem(functions, schema, value)

    assert problem(functions, {"properties": {"a": schema}}, {"a": value}) == in_field(alone)
    assert problem(functions, {"additionalProperties": schema}, {"a": value}) == in_field(alone)
    assert problem(functions, {"items": schema}, [value]) == in_list(alone)


@pytest.mark.parametrize(("schema", "sentence"), UNCHECKED)
def test_a_schema_that_sql_cannot_check_is_refused_by_its_keyword(
    functions: World, schema: object, sentence: str
) -> None:
    assert schema_problem(functions, schema) == sentence


def test_a_schema_may_be_32_levels_deep_and_64_kb_long(functions: World) -> None:
    values = [f"{number:0>10}" for number in range(6000)]

    assert schema_problem(functions, nested(32)) is None
    assert schema_problem(functions, {"enum": values[:4000]}) is None
    assert schema_problem(functions, {"enum": values}) == (
        "payload_schema: 84010 bytes is too large, the maximum is 65536"
    )


def test_long_names_are_cut_in_messages(functions: World) -> None:
    name = "n" * 5000

    unknown = problem(functions, {"additionalProperties": False}, {name: 1})
    wrong = problem(functions, {"additionalProperties": STRING}, {name: 1})

    assert unknown == f"payload: unknown field {'n' * 100}"
    assert wrong == f'payload["{"n" * 100}"]: must be a string, not a number'


SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text("ab😀")
VALUES = st.recursive(
    SCALARS | st.uuids().map(str),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "type", ""]), inner),
    max_leaves=8,
)
TYPES = st.sampled_from(["string", "number", "integer", "boolean", "object", "array", "null"])
SCHEMAS = st.recursive(
    st.fixed_dictionaries(
        {},
        optional={
            "type": TYPES | st.lists(TYPES, min_size=1, max_size=3, unique=True),
            "enum": st.lists(VALUES, min_size=1, max_size=3),
            "const": VALUES,
            "minimum": st.integers() | st.floats(allow_nan=False, allow_infinity=False),
            "maximum": st.integers(),
            "minLength": st.integers(0, 3),
            "maxLength": st.integers(0, 3),
            "pattern": st.sampled_from(["^a", "b$", "^[ab]*$", "."]),
            "format": st.sampled_from(["uuid", "date-time"]),
            "minItems": st.integers(0, 2),
            "maxItems": st.integers(0, 2),
            "required": st.lists(st.sampled_from(["a", "b", "type", ""]), max_size=2),
        },
    ),
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "type": TYPES,
            "properties": st.dictionaries(st.sampled_from(["a", "b", "type", ""]), inner, max_size=3),
            "additionalProperties": st.booleans() | inner,
            "items": inner,
        },
    ),
    max_leaves=5,
)


@settings(max_examples=300, deadline=None)
@given(schema=SCHEMAS, value=VALUES)
def test_sql_comes_to_the_verdict_of_json_schema(functions: World, schema: Schema, value: object) -> None:
    value = json.loads(json.dumps(value))

    assert schema_problem(functions, schema) is None
    found = problem(functions, schema, value)
    assert (found is None) == matches(schema, value)
    assert problem(functions, {"properties": {"a": schema}}, {"a": value}) == in_field(found)


def matches(schema: Schema, value: object) -> bool:
    """What the words of JSON Schema say, one keyword at a time; formats and patterns are in the table above."""
    return all(KEYWORDS[keyword](given, value, schema) for keyword, given in schema.items())


def is_type(name: str, value: object) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    match name:
        case "number":
            return is_number
        case "integer":
            return is_number and value == int(value)  # type: ignore[call-overload]
        case _:
            classes = {"string": str, "boolean": bool, "object": dict, "array": list, "null": type(None)}
            return isinstance(value, classes[name])


def equal(one: object, other: object) -> bool:
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(equal, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(equal(one[name], other[name]) for name in one)
    return isinstance(one, bool) == isinstance(other, bool) and one == other


def unless(name: str, check: Callable[[Any, Any, Schema], bool]) -> Callable[[Any, Any, Schema], bool]:
    """A keyword that is for values of one type only."""
    return lambda given, value, schema: not is_type(name, value) or check(given, value, schema)


def additional(given: Any, value: Any, schema: Schema) -> bool:
    others = [value[name] for name in value if name not in schema.get("properties", {})]
    return given is True or not others or (given is not False and all(matches(given, each) for each in others))


A_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
KEYWORDS: dict[str, Callable[[Any, Any, Schema], bool]] = {
    "type": lambda given, value, _: any(is_type(each, value) for each in ([given] if given == str(given) else given)),
    "enum": lambda given, value, _: any(equal(each, value) for each in given),
    "const": lambda given, value, _: equal(given, value),
    "minimum": unless("number", lambda given, value, _: value >= given),
    "maximum": unless("number", lambda given, value, _: value <= given),
    "minLength": unless("string", lambda given, value, _: len(value) >= given),
    "maxLength": unless("string", lambda given, value, _: len(value) <= given),
    "pattern": unless("string", lambda given, value, _: bool(re.search(given, value))),
    "format": unless("string", lambda given, value, _: given == "uuid" and bool(A_UUID.fullmatch(value))),
    "minItems": unless("array", lambda given, value, _: len(value) >= given),
    "maxItems": unless("array", lambda given, value, _: len(value) <= given),
    "items": unless("array", lambda given, value, _: all(matches(given, each) for each in value)),
    "required": unless("object", lambda given, value, _: all(name in value for name in given)),
    "properties": unless(
        "object",
        lambda given, value, _: all(matches(each, value[name]) for name, each in given.items() if name in value),
    ),
    "additionalProperties": unless("object", additional),
}


def test_a_payload_that_does_not_match_is_not_enqueued(world: World) -> None:
    type = world.type(payload_schema={"properties": {"name": STRING}, "required": ["name"]})
    tenant = world.tenant()
    member = world.member_of(tenant)

    with pytest.raises(InvalidRequest, match=r"^payload: name is missing$") as refusal:
        world.service.jobs.enqueue_job(tenant, type, {})
    with pytest.raises(InvalidRequest, match=r"^payload\.name: must be a string, not a number$"):
        world.service.jobs.enqueue_jobs([{"tenant_id": str(tenant), "type": type, "payload": {"name": 1}}])
    with pytest.raises(psycopg.Error, match="payload: name is missing"):
        member.execute("insert into jobs (tenant_id, type) values (%s, %s)", [tenant, type])

    assert (refusal.value.sqlstate, refusal.value.hint) == ("TWPAY", "See payload_schema in job_types.")
    assert world.value("select count(*) from jobs") == 0


def test_a_payload_that_matches_is_enqueued_by_every_way(world: World) -> None:
    type = world.type(payload_schema={"properties": {"name": STRING}, "required": ["name"]})
    tenant = world.tenant()
    member = world.member_of(tenant)
    given = {"name": "Ada"}

    world.service.jobs.enqueue_job(tenant, type, given)
    world.service.jobs.enqueue_jobs([{"tenant_id": str(tenant), "type": type, "payload": given}])
    member.execute("select enqueue_job(%s, %s, %s)", [tenant, type, json.dumps(given)])
    member.execute("insert into jobs (tenant_id, type, payload) values (%s, %s, %s)", [tenant, type, json.dumps(given)])

    assert world.value('select count(*) from jobs where payload = \'{"name": "Ada"}\'') == 4


def test_a_refusal_never_tells_the_value(world: World) -> None:
    type = world.type(payload_schema={"properties": {"a": {"enum": ["x"]}, "b": UUID, "c": {"maxLength": 1}}})
    tenant = world.tenant()

    for payload in ({"a": "hunter2"}, {"b": "hunter2"}, {"c": "hunter2"}):
        with pytest.raises(InvalidRequest) as refusal:
            world.service.jobs.enqueue_job(tenant, type, payload)
        assert "hunter2" not in f"{refusal.value} {refusal.value.hint}"


@pytest.mark.parametrize("statement", ["insert", "update", "result"])
def test_a_type_refuses_a_schema_that_nobody_would_check(world: World, statement: str) -> None:
    service = world.connect("service_role")
    world.type("greet_person")
    statements: dict[str, LiteralString] = {
        "insert": "insert into job_types (key, family, payload_schema) values ('greet_all', 'test', %s)",
        "update": "update job_types set payload_schema = %s where key = 'greet_person'",
        "result": "update job_types set result_schema = %s where key = 'greet_person'",
    }

    with pytest.raises(psycopg.Error, match="_schema: the keyword anyOf is not supported") as refusal:
        service.execute(statements[statement], ['{"anyOf": []}'])
    service.execute(statements[statement], ['{"type": "object"}'])

    assert refusal.value.sqlstate == "TWSCH"
    assert "pg_jsonschema" in str(refusal.value.diag.message_hint)


def test_with_pg_jsonschema_a_type_takes_any_schema(world: World) -> None:
    world.run("create schema extensions")
    world.run("grant usage on schema extensions to tickwork_owner")
    world.run(
        "create function extensions.jsonb_matches_schema(schema json, instance jsonb) returns boolean "
        "language sql as 'select true'"
    )

    world.type("greet_person", payload_schema={"anyOf": []})

    assert world.value("select payload_schema from job_types where key = 'greet_person'") == {"anyOf": []}


@pytest.mark.parametrize("lacking", ["usage", "execute", "function", "arguments"])
def test_pg_jsonschema_that_cannot_be_called_is_not_used(world: World, lacking: str) -> None:
    world.run("create schema extensions")
    if lacking != "usage":
        world.run("grant usage on schema extensions to tickwork_owner")
    if lacking != "function":
        world.run(
            "create function extensions.jsonb_matches_schema(schema json, instance jsonb) returns boolean "
            "language sql as 'select true'"
            if lacking != "arguments"
            else "create function extensions.jsonb_matches_schema() returns boolean language sql as 'select true'"
        )
    if lacking == "execute":
        world.run("revoke execute on function extensions.jsonb_matches_schema from public")

    world.run("set role tickwork_owner")

    assert world.value("select tickwork.knows_json_schema()") is False


def test_the_verbs_of_types_keep_the_schema_of_the_result(world: World) -> None:
    schema, other = {"type": "object"}, {"type": "object", "required": ["n"]}

    made = world.service.job_types.create_job_type("greet_all", "test", result_schema=schema)
    changed = world.service.job_types.change_job_type("greet_all", {"result_schema": other})

    assert (made["result_schema"], changed["result_schema"]) == (schema, other)
