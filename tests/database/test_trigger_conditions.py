"""Conditions of triggers: what is accepted, and that nothing accepted can take long, however hostile."""

import json
from collections.abc import Iterator
from typing import LiteralString

import psycopg
import pytest

from tests.database.test_templates import peak_memory
from tests.world import World
from tickwork.testing.database import TEMPLATE, cloned
from tickwork_local.postgres import Server

ACCEPTED = {
    "$.event.amount > 100": {"amount": 101},
    "$.event.amount >= 100 && $.event.amount <= 200 || $.event.urgent == true": {"urgent": True},
    '!($.event.kind == "invoice")': {"kind": "letter"},
    'exists($.event."odd name")': {"odd name": 1},
    '$.event.tags[*] == "new"': {"tags": ["old", "new"]},
    '$.event.tags == "new"': {"tags": ["new"]},
    "$.event.tags.size() > 1": {"tags": [1, 2]},
    "$.event.items[0 to last].price > 10": {"items": [{"price": 1}, {"price": 11}]},
    "$.event.items[last].price > 10": {"items": [{"price": 11}]},
    "$.event.* == 3": {"anything": 3},
    '$.event.name like_regex "\\\\.pdf$" flag "i"': {"name": "A.PDF"},
    '$.event.name like_regex "^[[:alpha:]]+\\\\s\\\\d*$"': {"name": "abc 12"},
    '$.event.path starts with "/in/"': {"path": "/in/a"},
    "($.event.amount > 100) is unknown": {"amount": "many"},
    "-$.event.amount + 1 < 0": {"amount": 5},
    'strict $.event.amount.type() == "number"': {"amount": 5},
    '$.event."größe, {}" == "ü$?@**"'.replace("{}", "()"): {"größe, ()": "ü$?@**"},
    "null == $.event.gone": {"gone": None},
}
REFUSED = {
    "": "condition: invalid input syntax|condition: syntax error",
    "$.event.": "condition: syntax error",
    "drop table jobs": "condition: syntax error",
    "$.event.amount": "is a path and no comparison",
    "$.event.flag ": "is a path and no comparison",
    "$": "is a path and no comparison",
    "1": "is a path and no comparison",
    "$.event.items[*] ? (@.price > 10)": "contains a filter",
    "exists($.event.items[*] ? (@.price > 10))": "contains a filter",
    "$.** == 1": r"contains \.\*\*",
    "$.event.**{2 to 5} == 1": "contains a brace",
    "$.event.a == $.event.b": "compares two paths",
    "$.event.a[*] > $.event.a[*] && $.event.c == 1": "compares two paths",
    "$.event.a[$.event.b] == 1": "compares two paths",
    "$.event.a[0, 0] == 1": "contains a list of subscripts",
    "$.event.keyvalue().key == 1": "keyvalue is not allowed",
    "$.event.at.datetime() < 1": "datetime is not allowed",
    " || ".join(["$.a > 1e131000"] * 27): "contains a number that is too large",
    "$amount > 1": "contains a variable",
    f"$.event.a{'[*]' * 11} == 1": "has more than 10 subscripts",
    f'$.event.a == "{"x" * 500}"': "condition: 515 bytes is too large",
    '$.a like_regex "(a*)\\\\1"': "backslash before a letter or digit",
    '$.a like_regex "\\\\mword"': "backslash before a letter or digit",
    '$.a like_regex "a{1,255}"': "contains a brace",
    '$.a like_regex "a\\u007b1,255}"': "backslash before something else",
    '$.a like_regex "(?=a)b"': r"with \(\?",
    '$.a like_regex "(a"': "invalid regular expression|parentheses",
    '$.a like_regex "a" flag "x"': 'condition: XQuery "x" flag',
    f'$.a like_regex "{"x" * 101}"': "more than 100 characters",
    " || ".join(['$.a like_regex "a"'] * 3): "more than 2 regular expressions",
}
MET: LiteralString = """
    select tickwork.is_met(%s, jsonb_populate_record(null::events, jsonb_build_object('payload', %s::jsonb))) as is_met
"""


def check(world: World, condition: str) -> None:
    world.run("select tickwork.check_condition(%s)", condition)


@pytest.fixture(scope="module")
def one_world(server: Server) -> Iterator[World]:
    with cloned(server, TEMPLATE) as name, World(server.url(name), server.url(name)) as world:
        yield world


@pytest.mark.parametrize("condition", ACCEPTED)
def test_a_comparison_is_accepted_and_true_of_what_it_says(one_world: World, condition: str) -> None:
    check(one_world, condition)

    met = [one_world.value(MET, condition, json.dumps(payload)) for payload in (ACCEPTED[condition], {})]

    assert met == [True, condition.startswith("!")]


@pytest.mark.parametrize("condition", REFUSED)
def test_what_might_take_long_or_is_no_condition_is_refused(one_world: World, condition: str) -> None:
    with pytest.raises(psycopg.Error, match=REFUSED[condition]) as refused:
        check(one_world, condition)

    assert refused.value.sqlstate in ("TWARG", "TWBIG")
    assert refused.value.diag.message_hint


LETTERS = "".join("ab"[number * number % 7 % 2] for number in range(60_000))
HOSTILE = {
    "many states": ('$.event.a like_regex "(a|b)*a' + "(a|b)" * 17 + 'c$"', {"a": LETTERS}),
    "many states of classes": ('$.event.a like_regex "[ab]*a' + "[ab]" * 20 + 'c"', {"a": LETTERS}),
    "many repetitions": ('$.event.a like_regex "' + ".*a" * 30 + 'c"', {"a": LETTERS}),
    "nested repetitions": ('$.event.a like_regex "^((((a+)+)+)+)+$"', {"a": "a" * 60_000 + "!"}),
    "optional letters": ('$.event.a like_regex "' + "a?" * 33 + "a" * 33 + '$"', {"a": "a" * 60_000}),
    "many strings": ('$.event.a[*] like_regex "(a|b)*a(a|b)(a|b)(a|b)c$"', {"a": ["ababab"] * 6_000}),
    "other scripts": ('$.event.a like_regex "([[:alpha:]]|[^a])*([[:alnum:]]|.)*!$"', {"a": "ä€𝄞" * 7_000}),
    "many values": (" || ".join(["$.*.*.* == 2"] * 30), {"a": [1] * 30_000}),
    "the same values again and again": ("$.event.a" + "[*]" * 10 + " == 2", {"a": [1] * 30_000}),
    "deep": ("$.event" + "[*]" * 10 + " == 2", json.loads('{"a": ' + "[" * 31 + "]" * 31 + "}")),
    "a number with many digits": ("$.event.a * 999999999999 / 7 % 3 == 2", {"a": 0.5}),
    "nested brackets": ("!(" * 100 + "$.a == 1" + ")" * 100, {}),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_condition_ends_and_takes_little_memory(one_world: World, name: str) -> None:
    condition, payload = HOSTILE[name]
    connection = one_world.connect()
    before = peak_memory(connection)
    # Only a test that fails waits so long.
    connection.execute("set statement_timeout = '120s'")

    connection.execute("select tickwork.check_condition(%s)", [condition])
    (row,) = connection.execute(MET, [condition, json.dumps(payload)]).fetchall()

    assert row["is_met"] is (name == "optional letters")
    assert peak_memory(connection) - before < 128 * 1024
