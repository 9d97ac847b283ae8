"""Templates and conditions: refused when they are saved, or harmless whatever the event is."""

import json
import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.database.test_trigger_conditions import MET
from tests.fuzz import quick
from tests.fuzz.json_texts import TEXTS, as_object, json_texts
from tests.fuzz.refusals import refusable
from tests.world import World

KNOWN = {
    "event": {"a": "x", "b": [1, {"c": None}], "0": {"d": True}, "odd": "{{tenant_id}} \\1", "ü": "groß"},
    "tenant_id": "acme",
}
PIECES = ["{{", "}}", "{", "}", " ", "|", ".", "event", "tenant_id", "a", "b", "0", "-1", "odd", "ü", '"', "1", "null"]
WHOLE = ["{{event.a}}", "{{ event.b.0 }}", "{{event.b.1.c|2}}", "{{event.gone | [1]}}", "{{event.0}}", "{{tenant_id}}"]
STRINGS = st.lists(st.sampled_from([*PIECES, *WHOLE, "\n", "\\", "&"]), max_size=10).map("".join) | TEXTS
TEMPLATES = st.recursive(
    STRINGS | st.none() | st.integers(),
    lambda each: st.lists(each, max_size=3) | st.dictionaries(STRINGS, each, max_size=3),
    max_leaves=6,
)


@quick
@given(st.dictionaries(STRINGS, TEMPLATES, max_size=3))
def test_a_template_is_refused_or_rendered_by_the_rules(world: World, template: Any) -> None:
    text = json.dumps(template)
    with refusable("TWTPL", "TWBIG"):
        world.run("select tickwork.check_template(%s, %s)", text, [*KNOWN])
        assert world.value("select tickwork.render(%s, %s)", text, json.dumps(KNOWN)) == rendered(template)


PLACEHOLDER = re.compile(r"\{\{\s*([\w-]+(?:\.[\w-]+){0,9})\s*(?:\|\s*([^{}]{1,200}?)\s*)?\}\}")


def rendered(template: Any) -> Any:
    match template:
        case dict():
            return {name: rendered(value) for name, value in template.items()}
        case list():
            return [rendered(each) for each in template]
        case str():
            whole = PLACEHOLDER.fullmatch(template)
            return value_of(whole) if whole else PLACEHOLDER.sub(lambda found: as_text(value_of(found)), template)
        case _:
            return template


def value_of(found: re.Match[str]) -> Any:
    value: Any = KNOWN
    try:
        for name in found[1].split("."):
            value = value[int(name)] if isinstance(value, list) else value[name]
    except (KeyError, IndexError, TypeError, ValueError):
        return json.loads(found[2])
    return value


def as_text(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


TOKENS = ["$", "$.event", ".a", '."b"', "[*]", "[0]", "[last]", "[0 to 2]", ".*", ".**", ".size()", ".type()", ".abs()"]
OPERATORS = ["==", ">", "!=", "&&", "||", "!", "(", ")", "+", "-", "*", "/", "%", "?", "@", "exists(", "is unknown"]
CONSTANTS = ["1", "0", "-1", "1e400", '"x"', "null", "true", "like_regex", '"(a|b)*"', '"\\\\d"', 'flag "i"', "strict"]
WORDS = st.lists(st.sampled_from([*TOKENS, *OPERATORS, *CONSTANTS, ", ", "$x", "{2}", "\\"]), max_size=12).map(" ".join)
PATHS = st.lists(st.sampled_from(TOKENS[2:]), max_size=4).map(lambda parts: "$.event" + "".join(parts))
COMPARISONS = st.tuples(PATHS, st.sampled_from(OPERATORS), st.sampled_from(CONSTANTS)).map(" ".join)
PATTERNS = st.text(st.sampled_from("ab()*+?|[]^$.-:"), max_size=30).map(lambda text: f'$.event.a like_regex "{text}"')
CONDITIONS = (
    st.lists(COMPARISONS | PATTERNS, min_size=1, max_size=4).map(" && ".join) | COMPARISONS | PATTERNS | WORDS | TEXTS
)
EVENTS = st.dictionaries(st.sampled_from("abc"), json_texts(["a", "b"]), max_size=3).map(as_object)


@quick
@given(CONDITIONS, EVENTS | st.just(json.dumps({"a": "ab" * 5000, "b": [["a"] * 50] * 50})))
def test_a_condition_is_refused_or_is_true_or_false_of_any_event(world: World, condition: str, event: str) -> None:
    with refusable("TWARG", "TWBIG"):
        world.run("select tickwork.check_condition(%s)", condition)
        assert world.value(MET, condition, event) in (True, False)
