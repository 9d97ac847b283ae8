"""Templates: placeholders become values, nothing else happens, and nothing hostile costs more than its size."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.world import World
from tickwork.testing.database import TEMPLATE, cloned
from tickwork_local.postgres import Server

KNOWN = {
    "event": {
        "folder": "/in",
        "amount": 3.5,
        "none": None,
        "yes": True,
        "list": [1, {"a": "b"}],
        "größe": "groß",
        "of-it": "dash",
        "odd": "{{tenant_id}} {{secret:KEY}} \\1 & \\\\",
        "deep": {"a": {"b": {"c": 1}}},
    },
    "tenant_id": "acme",
}


@pytest.fixture(scope="module")
def world(server: Server) -> Iterator[World]:
    """One for all: nothing here writes anything."""
    with cloned(server, TEMPLATE) as name, World(server.url(name), server.url(name)) as world:
        yield world


def render(world: World, template: Any, known: Any = KNOWN) -> Any:
    return world.value("select tickwork.render(%s, %s)", json.dumps(template), json.dumps(known))


def check(world: World, template: Any, *known: str) -> None:
    world.run("select tickwork.check_template(%s, %s)", json.dumps(template), [*(known or KNOWN)])


@pytest.mark.parametrize(
    ("template", "rendered"),
    [
        ({}, {}),
        ({"a": 1, "b": [None, True, []], "c": {"d": {}}}, {"a": 1, "b": [None, True, []], "c": {"d": {}}}),
        ({"a": "{{event.amount}}"}, {"a": 3.5}),
        ({"a": "{{ event.amount }}"}, {"a": 3.5}),
        ({"a": "{{event.list}}", "b": "{{event.none}}", "c": "{{event.yes}}"},
         {"a": [1, {"a": "b"}], "b": None, "c": True}),
        ({"a": "{{event.list.1.a}}{{event.list.0}}"}, {"a": "b1"}),
        ({"a": "in {{event.folder}}/{{event.amount}}!"}, {"a": "in /in/3.5!"}),
        ({"a": "<{{event.none}}|{{event.deep}}>"}, {"a": '<|{"a": {"b": {"c": 1}}}>'}),
        ({"a": "{{event.größe}} {{event.of-it}}"}, {"a": "groß dash"}),
        ({"a": ["{{event.deep.a.b.c}}", {"b": "{{tenant_id}}"}]}, {"a": [1, {"b": "acme"}]}),
        ({"a": '{{event.gone | "/"}}', "b": "{{event.gone|[1, 2]}}", "c": "x{{event.gone | null}}y"},
         {"a": "/", "b": [1, 2], "c": "xy"}),
        ({"a": '{{event.folder | "/"}}'}, {"a": "/in"}),
        # What a value contains is never read as a placeholder.
        ({"a": "{{event.odd}}", "b": "<{{event.odd}}>"},
         {"a": KNOWN["event"]["odd"], "b": f"<{KNOWN['event']['odd']}>"}),  # type: ignore[index]
        # Neither names of fields nor anything else in braces is a placeholder.
        ({"{{tenant_id}}": 1}, {"{{tenant_id}}": 1}),
        ({"a": "{{secret:KEY}} {tenant_id} {{}} {{ }} {{a b}} {{tenant_id}"},
         {"a": "{{secret:KEY}} {tenant_id} {{}} {{ }} {{a b}} {{tenant_id}"}),
        ({"a": "{{{{tenant_id}}}}"}, {"a": "{{acme}}"}),
    ],
)  # fmt: skip
def test_placeholders_become_values_and_all_else_stays(world: World, template: Any, rendered: Any) -> None:
    check(world, template)

    assert render(world, template) == rendered


def test_a_missing_value_without_a_default_is_an_error_that_says_where(world: World) -> None:
    with pytest.raises(psycopg.Error, match=r"there is no value at event\.gone") as refused:
        render(world, {"a": [{"b": "x {{event.gone}}"}]})

    assert (refused.value.sqlstate, refused.value.diag.message_hint) == (
        "TWTPL",
        "Give a default, such as {{event.gone | null}}.",
    )


@pytest.mark.parametrize(
    ("template", "complaint"),
    [
        ([], "must be an object"),
        ("{{event.a}}", "must be an object"),
        (None, "must be an object"),
        ({"a": "{{evnt.a}}"}, "there is no value named 'evnt'"),
        ({"a": [{"b": "x{{tenant}}"}]}, "there is no value named 'tenant'"),
        ({"a": "{{event.a | none}}"}, "the default of event.a is not JSON"),
        ({"a": '{{event.a | "\\u0000"}}'}, "the default of event.a is not JSON"),
        ({"a": "{{event.a | 1e999999}}"}, "the default of event.a is not JSON"),
        ({"a": "{{event.a}}" * 101}, "has more than 100 placeholders"),
        ({"a": "x" * 65_536}, "bytes is too large"),
        ({"a": [[[[[[[[[["b"]]]]]]]]]]}, "nested more than 10 levels deep"),
    ],
)
def test_what_cannot_be_rendered_is_refused_when_it_is_saved(world: World, template: Any, complaint: str) -> None:
    with pytest.raises(psycopg.Error, match=re.escape(complaint)) as refused:
        check(world, template)

    assert refused.value.sqlstate in ("TWTPL", "TWBIG")


LARGE = {"event": {"a": "ä€𝄞" * 7000}}
HOSTILE = {
    "a thousand levels": {"a": json.loads("[" * 900 + "]" * 900)},
    "nothing but braces": {"a": "{" * 65_000},
    "beginnings": {"a": "{{event.a | " * 5_000},
    "spaces": {"a": "{{" + " " * 60_000 + "event.a}}", "b": "{{event.a |" + " " * 300 + "1}}"},
    "a long path": {"a": "{{" + "event." * 10_000 + "a}}"},
    "a long default": {"a": '{{event.a | "' + "x" * 60_000 + '"}}'},
    "many fields": {f"field {number}": "{{event.a | 1}}" for number in range(3_000)},
    "a hundred large values": {"a": ["{{event.a}}"] * 100},
    "a hundred large values in a text": {"a": "{{event.a}}" * 100},
    "other scripts": {"ä€𝄞": "\u202e{{event.a}}\ufeff{{event．a}}𝄞" * 50},
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_template_is_refused_or_rendered_within_bounds(world: World, name: str) -> None:
    connection = world.connect()
    template, known = json.dumps(HOSTILE[name]), json.dumps(LARGE)
    before = peak_memory(connection)

    # As many values as there may be placeholders, each as large as an event may be.
    assert size_of(connection, template, known) <= 100 * 65_536 + 65_536
    assert peak_memory(connection) - before < 128 * 1024


def size_of(connection: Any, template: str, known: str) -> int:
    """Of what is rendered; 0 if that is refused."""
    query = "select octet_length(tickwork.render(%s, %s)::text) as size"
    try:
        connection.execute("select tickwork.check_template(%s, '{event}')", [template])
        return int(connection.execute(query, [template, known]).fetchone()["size"])
    except psycopg.Error as error:
        if error.sqlstate not in ("TWTPL", "TWBIG"):
            raise
        return 0


def peak_memory(connection: Any) -> int:
    """The most memory that the server process behind a connection has had, in kB."""
    pid = connection.execute("select pg_backend_pid() as pid").fetchone()["pid"]
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    assert found
    return int(found[1])
