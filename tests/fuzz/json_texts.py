"""JSON as others may send it: any values, numbers that no float holds, and nesting."""

import json
from collections.abc import Sequence

from hypothesis import strategies as st

# What Postgres can store: no NUL, no half of a character.
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
NUMBERS = ["0", "-0", "-0.0", "1e400", "1e-400", "-1e400", "1E131071", "1e-16383", "0.1e1", "9" * 400, "1e3000"]


def json_texts(names: Sequence[str] = (), values: Sequence[str] = ()) -> st.SearchStrategy[str]:
    """The texts of values, in which these names of fields, and these values in JSON, are frequent."""
    name = st.sampled_from(names) | TEXTS if names else TEXTS
    value = st.sampled_from([*NUMBERS, *values]) | scalars()
    return st.recursive(
        value,
        lambda each: (
            st.lists(each, max_size=4).map(lambda items: f"[{','.join(items)}]")
            | st.dictionaries(name, each, max_size=4).map(as_object)
        ),
        max_leaves=12,
    )


def scalars() -> st.SearchStrategy[str]:
    numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    return (st.none() | st.booleans() | numbers | TEXTS).map(json.dumps)


def as_object(fields: dict[str, str]) -> str:
    return "{" + ",".join(f"{json.dumps(name)}:{text}" for name, text in fields.items()) + "}"
