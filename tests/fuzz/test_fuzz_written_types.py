"""Types that are written from schemas: whatever is in a schema stays a name or a text in the code."""

import ast
import json
import re

from hypothesis import example, given
from hypothesis import strategies as st

from tests.fuzz import bounded
from tests.fuzz.json_texts import NUMBERS, TEXTS, as_object, json_texts
from tests.fuzz.test_fuzz_payloads import KEYWORDS
from tickwork.cli.written_types.python import python
from tickwork.cli.written_types.typescript import typescript

NASTY = ['"', "'", "\\", "\n", "*/", "/*", "//", "`", "${", '"""', "'''", "#", "# type: ignore", "@ts-ignore", "\u2028"]
TEXT = st.lists(st.sampled_from(NASTY) | TEXTS, max_size=4).map("".join)
WORTHY = ['"string"', '"object"', '["object","null"]', '"array"', '["a"]', "{}", *map(json.dumps, NASTY)]
INNER = json_texts([*KEYWORDS, "description", *NASTY], WORTHY)
SCHEMAS = st.dictionaries(st.sampled_from([*KEYWORDS, "description"]), INNER, max_size=5).map(as_object)
PROPERTIES = st.dictionaries(TEXT, SCHEMAS, min_size=1, max_size=4).map(
    lambda found: as_object({"type": '"object"', "properties": as_object(found), "required": json.dumps(list(found))})
)
# Strings and comments; what is left is ours.
FOREIGN = re.compile(
    r'"(?:[^"\\\n\r\u2028\u2029]|\\["\\/bfnrt]|\\u[0-9a-f]{4})*"|/\*\*(?:(?!\*/)[^\n])*\*/|^//[^\n]*', re.M
)
OURS = re.compile(r"[A-Za-z0-9_\s{}<>\[\]:;?|,.+-]*")


@bounded
@given(SCHEMAS | PROPERTIES, TEXT)
@example(f'{{"enum": [{", ".join(NUMBERS)}]}}', "*/")
def test_no_schema_becomes_code(schema: str, description: str) -> None:
    found = json.loads(schema)
    rows = [
        {"key": key, "description": description, "payload_schema": found, "result_schema": found}
        for key in ("one_type", "one.type")
    ]

    assert OURS.fullmatch(FOREIGN.sub("", typescript(rows)))
    for statement in ast.parse(python(rows)).body:
        assert not isinstance(statement, ast.Assign) or is_a_type(statement.value), ast.unparse(statement)
        assert isinstance(statement, ast.Assign | ast.ImportFrom | ast.If | ast.ClassDef) or is_text(statement)


def is_a_type(value: ast.expr) -> bool:
    """Names, subscripts and constants, and the only function that is called is TypedDict."""
    calls = [each for each in ast.walk(value) if isinstance(each, ast.Call)]
    known = (ast.Name, ast.Subscript, ast.Constant, ast.BinOp, ast.BitOr, ast.Dict, ast.Call, ast.Tuple, ast.UnaryOp)
    nodes = [each for each in ast.walk(value) if not isinstance(each, ast.expr_context | ast.USub)]
    return all(ast.unparse(call.func) == "TypedDict" for call in calls) and all(
        isinstance(each, known) for each in nodes
    )


def is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
