"""`tickwork types --lang`: what it writes passes the type checkers, which then refuse wrong payloads."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.js.npm import attempt, run
from tests.world import World
from tests.world.command_line import run as run_command
from tests.world.node import CACHE
from tickwork.cli.written_types.python import python
from tickwork.cli.written_types.typescript import typescript

TSC = ("tsc", "--ignoreConfig", "--noEmit", "--strict", "--exactOptionalPropertyTypes", "--module", "nodenext")

# Whatever may be in a schema, and must stay a name or a text.
HOSTILE_TEXTS = [
    'a"b',
    "a'b",
    "a\\",
    "a\nb",
    "a\r\u2028b",
    "*/ export {}; /*",
    "`${1}`",
    '"""',
    "'''\nraise SystemExit\n'''",
    "# type: ignore",
    "@ts-ignore",
    "\u202eturned",
    "ключ",
    "\U0001f600",
    "",
    *("class", "None", "new", "readonly", "constructor", "__proto__", "__x", "type", "0", "import", "Payload"),
]
HOSTILE = {
    "type": "object",
    "description": "*/ oops",
    "required": HOSTILE_TEXTS,
    "properties": {text: {"const": text, "description": text} for text in HOSTILE_TEXTS},
}
SCHEMA = {
    "type": "object",
    "required": ["id", "parts"],
    "properties": {
        "id": {"type": "string", "format": "uuid"},
        "parts": {
            "type": "array",
            "items": {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}},
        },
        "unit": {"type": ["string", "null"], "enum": ["kg", "t", None]},
        "sizes": {"type": "object", "additionalProperties": {"type": "number"}},
        "nothing": {"type": "object", "additionalProperties": False},
        "flag": {"const": True},
        "anything": {},
    },
}
RIGHT: dict[str, Any] = {
    "id": "1",
    "parts": [{"n": 1}],
    "unit": None,
    "sizes": {"a": 1.5},
    "nothing": {},
    "flag": True,
    "anything": [1, "x"],
}
WRONG: dict[str, Any] = {
    "a field is missing": {"id": "1"},
    "another type": {**RIGHT, "id": 1},
    "another type inside": {**RIGHT, "parts": [{"n": "one"}]},
    "a field is missing inside": {**RIGHT, "parts": [{}]},
    "a value that is not in the list": {**RIGHT, "unit": "lb"},
    "a value in a map": {**RIGHT, "sizes": {"a": "large"}},
    "a field where there is none": {**RIGHT, "nothing": {"x": 1}},
    "a field that nobody knows": {**RIGHT, "colour": "red"},
    "another constant": {**RIGHT, "flag": False},
}


def job_type(key: str, payload: Any = None, result: Any = None, description: str = "") -> dict[str, Any]:
    return {"key": key, "payload_schema": payload, "result_schema": result, "description": description}


TYPES = [
    job_type("weigh_parts", SCHEMA, SCHEMA, "Weighs parts."),
    job_type("weigh.parts"),
    job_type("be_hostile", HOSTILE, HOSTILE, "*/ const x = 1; /* \n# type: ignore\n@ts-nocheck"),
    *(job_type(f"be_described_{number}", description=text) for number, text in enumerate(HOSTILE_TEXTS)),
]


def test_typescript_checks_payloads_and_results(package: Path) -> None:
    calls = {"right": RIGHT, **WRONG}
    lines = [
        'import { Tickwork } from "./dist/index.js";',
        'import type { JobTypes } from "./job_types.js";',
        "declare const tickwork: Tickwork<JobTypes>;",
        *(f'await tickwork.enqueue("weigh_parts", {json.dumps(payload)});' for payload in calls.values()),
        'await tickwork.enqueue("weigh_part", {});',
        'await tickwork.enqueue("weigh_parts");',
        'const unit: "kg" | "t" | null | undefined = (await tickwork.wait(await tickwork.enqueue("weigh_parts", '
        f"{json.dumps(RIGHT)}))).result?.unit;",
        "const id: number | undefined = (await tickwork.wait(await tickwork.enqueue"
        f'("weigh_parts", {json.dumps(RIGHT)}))).result?.id;',
        'await tickwork.enqueue("weigh.parts");',
        f'await tickwork.enqueue("be_hostile", {json.dumps({text: text for text in HOSTILE_TEXTS})});',
        "export { unit, id };",
    ]
    (package / "job_types.ts").write_text(typescript(TYPES))
    (package / "calls.ts").write_text("\n".join(lines))

    checked = attempt(package, *TSC, "calls.ts")

    refused = {int(line) for line in re.findall(r"^calls\.ts\((\d+)", checked.stdout, re.MULTILINE)}
    first = 4
    wrong = {first + number for number in range(1, len(calls))}
    others = {first + len(calls), first + len(calls) + 1, first + len(calls) + 3}
    assert refused == wrong | others, checked.stdout
    assert not re.search(r"^job_types\.ts", checked.stdout, re.MULTILINE), checked.stdout


PYTHON_CALLS = """\
from job_types import BeHostilePayload, TypedAsyncTickwork, TypedTickwork, WeighPartsResult

def calls(tickwork: TypedTickwork, later: TypedAsyncTickwork, hostile: BeHostilePayload) -> None:
"""


def test_python_checks_payloads_and_results(tmp_path: Path) -> None:
    calls = {"right": RIGHT, **WRONG}
    lines = [
        *PYTHON_CALLS.splitlines(),
        *(f"    tickwork.enqueue('weigh_parts', {payload!r})" for payload in calls.values()),
        "    tickwork.enqueue('weigh_part', {})",
        "    tickwork.enqueue('weigh_parts')",
        f"    later.enqueue('weigh_parts', {WRONG['another type']!r})",
        f"    tickwork.enqueue('weigh_parts', {RIGHT!r}, priority='high')",
        f"    tickwork.enqueue('weigh_parts', {RIGHT!r}, priority=1, tenant_id='t')",
        "    tickwork.enqueue('weigh.parts')",
        f"    tickwork.enqueue('be_hostile', { ({text: text for text in HOSTILE_TEXTS})!r})",
        f"    result: WeighPartsResult = tickwork.wait(tickwork.enqueue('weigh_parts', {RIGHT!r})).result",
        "    unit: str | None = result.get('unit')",
        "    id: int = result['id']",
    ]
    (tmp_path / "job_types.py").write_text(python(TYPES))
    (tmp_path / "calls.py").write_text("\n".join(lines))

    checked, refused = mypy(tmp_path, "calls.py", "job_types.py")

    first = len(PYTHON_CALLS.splitlines()) + 1
    wrong = {first + number for number in range(1, len(calls))}
    others = {first + len(calls) + number for number in (0, 1, 2, 3)} | {len(lines)}
    assert refused == wrong | others, checked
    assert not re.search(r"^job_types\.py", checked, re.MULTILINE), checked


@pytest.mark.parametrize("types", [[], TYPES[:1]], ids=["none", "one"])
def test_python_takes_any_number_of_types(tmp_path: Path, types: list[dict[str, Any]]) -> None:
    (tmp_path / "job_types.py").write_text(python(types))

    checked, _ = mypy(tmp_path, "job_types.py")

    assert checked.startswith("Success"), checked


def test_what_is_written_for_python_can_be_imported(tmp_path: Path) -> None:
    (tmp_path / "job_types.py").write_text(python(TYPES))
    code = "import json; from job_types import *; print(json.dumps(list(BeHostilePayload.__required_keys__)))"

    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)

    assert set(json.loads(done.stdout)) == set(HOSTILE_TEXTS)


def mypy(folder: Path, *files: str) -> tuple[str, set[int]]:
    """What it says, and the lines of calls.py that it refuses."""
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--config-file",
        "",
        "--cache-dir",
        str(CACHE / "mypy"),
        *files,
    ]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    lines = re.findall(r"^calls\.py:(\d+): error", done.stdout, re.MULTILINE)
    return done.stdout + done.stderr, set(map(int, lines))


def test_the_command_writes_the_types_that_are_active(world: World, package: Path, tmp_path: Path) -> None:
    world.type("greet_person", payload_schema=SCHEMA, description="Greets */ people")
    world.type("no_longer", is_active=False)

    written = run_command("types", "--lang", "ts", "--database-url", world.url, home=tmp_path).stdout

    assert "  /** Greets * / people */\n  greet_person: {\n    payload: {\n      id: string;\n" in written
    assert "no_longer" not in written
    assert "  extract_document: {\n    payload: {\n      document_id: string;\n" in written
    (package / "own.ts").write_text(written)
    run(package, *TSC, "own.ts")


def test_the_command_writes_python_too(world: World, tmp_path: Path) -> None:
    written = run_command("types", "--lang", "python", "--database-url", world.url, home=tmp_path).stdout

    assert (
        "ExtractDocumentPayload = TypedDict(\"ExtractDocumentPayload\", {\n    'document_id': Required[str],\n"
        in written
    )


@pytest.mark.parametrize(
    ("schema", "type"),
    [
        (None, "unknown"),
        ({"$ref": "#/x"}, "unknown"),
        ({"type": "thing"}, "unknown"),
        ({"enum": [{"a": 1}]}, "unknown"),
        ({"enum": [2**60, "x"]}, 'number | "x"'),
        ({"type": ["number", "integer"]}, "number"),
        ({"items": {"type": "string"}}, "Array<string>"),
        ({"type": "object", "properties": [1]}, "Record<string, unknown>"),
    ],
)
def test_what_cannot_be_said_is_anything(schema: Any, type: str) -> None:
    assert f"    result: {type};\n" in typescript([job_type("x", result=schema)])
