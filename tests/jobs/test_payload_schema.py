"""The schemas of our own types are what their payload models say, and models become schemas or are refused."""

import json
import subprocess
import sys
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from pkgutil import iter_modules
from typing import Annotated, Any, Literal
from uuid import UUID, uuid4

import pytest
from pydantic import BaseModel, ConfigDict, Field

from make_schemas import FILES, FOLDER, shipped_handlers
from tests.world import World
from tickwork import families
from tickwork.jobs.payload_schema import payload_schema_of, result_schema_of

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "infra" / "local" / "make_schemas.py"
FAMILIES = [module.name for module in iter_modules(families.__path__)]
HANDLERS = {type: handler for family in FAMILIES for type, handler in shipped_handlers(family)}
MODELS: dict[str, Any] = {type: handler.payload for type, handler in HANDLERS.items()}
SHIPPED = sorted(MODELS)
AN_ID = str(uuid4())
IDS_OF_A_PASSPORT = dict.fromkeys(("passport_id", "snapshot_id", "rule_package_version_id"), AN_ID)
# Where an id in every field is no payload.
SAMPLES: dict[str, dict[str, Any]] = {
    "change_jobs": {"action": "retry", "filter": {"status": "dead"}, "reason": "It is up again", "matching": 3},
    "compile_passport": {**IDS_OF_A_PASSPORT, "issued_at": "2027-02-18T00:00:00Z"},
    "export_passport": {"passport_version_id": AN_ID, "format": "pdf"},
    "ingest_document": {"document_id": AN_ID, "options": {"passport_document_id": AN_ID}},
    "run_rule_tests": {"rule_package_version_id": AN_ID, "seed": 1},
}


def test_the_migrations_are_what_the_models_give_today(tmp_path: Path) -> None:
    subprocess.run([sys.executable, SCRIPT, tmp_path], check=True)

    for name in FILES:
        assert (tmp_path / name).read_text() == (FOLDER / name).read_text(), "run `make schemas`"


def test_every_type_that_is_shipped_has_the_schemas_of_its_models(world: World) -> None:
    found = world.rows("select key, payload_schema, result_schema from job_types order by key")

    assert [row["key"] for row in found] == SHIPPED
    for row in found:
        result = HANDLERS[row["key"]].result
        assert result
        assert row["payload_schema"] == payload_schema_of(MODELS[row["key"]])
        assert row["result_schema"] == result_schema_of(result)


@pytest.mark.parametrize("type", SHIPPED)
def test_what_a_model_writes_is_accepted_by_its_schema(world: World, type: str) -> None:
    model = MODELS[type]
    ids = {name: uuid4() for name, field in model.model_fields.items() if field.is_required() and name != "url"}
    others = {"url": "https://example.com"} if "url" in model.model_fields else {}
    payload = model(**SAMPLES.get(type, {**ids, **others}))

    for written in (payload.model_dump(mode="json"), payload.model_dump(mode="json", exclude_none=True)):
        assert world.job(type, payload=written).payload == written


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid")

    colour: Colour
    parts: list[int] | None = None


class Whole(BaseModel):
    """Described here, which has no effect."""

    id: UUID
    at: datetime | None = None
    name: Annotated[str, Field(min_length=1, max_length=9, pattern="^[a-z]+$")] = "x"
    part: Part
    other_part: Part | None = None
    parts: dict[str, Part] = {}
    unit: Literal["kg"] | None = None
    anything: Any = None
    anything_or_nothing: Any | None = None


def test_a_model_becomes_a_schema_of_keywords_that_every_server_checks(world: World) -> None:
    part = {
        "type": "object",
        "required": ["colour"],
        "properties": {
            "colour": {"type": "string", "enum": ["red", "blue"]},
            "parts": {"type": ["array", "null"], "items": {"type": "integer"}},
        },
        "additionalProperties": False,
    }

    schema = payload_schema_of(Whole)

    assert schema == {
        "type": "object",
        "required": ["id", "part"],
        "properties": {
            "id": {"type": "string", "format": "uuid"},
            "at": {"type": ["string", "null"], "format": "date-time"},
            "name": {"type": "string", "minLength": 1, "maxLength": 9, "pattern": "^[a-z]+$"},
            "part": part,
            "other_part": {**part, "type": ["object", "null"]},
            "parts": {"type": "object", "additionalProperties": part},
            "unit": {"type": ["string", "null"], "enum": ["kg", None]},
            "anything": {},
            "anything_or_nothing": {},
        },
    }
    assert world.value("select tickwork.schema_problem(%s, '')", json.dumps(schema)) is None


class Union(BaseModel):
    value: int | str


class Tree(BaseModel):
    branches: list["Tree"] = []


class Positive(BaseModel):
    value: Annotated[int, Field(gt=0)]


class Folder(BaseModel):
    path: Path


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (Union, "payload.value: the schema cannot express a union other than with None"),
        (Tree, "payload.branches[]: the schema cannot express a model that contains itself"),
        (Positive, "payload.value: the schema cannot express exclusiveMinimum 0"),
        (Folder, "payload.path: the schema cannot express format 'path'"),
    ],
)
def test_a_model_that_these_keywords_cannot_express_is_refused(model: type[BaseModel], sentence: str) -> None:
    with pytest.raises(ValueError) as refusal:
        payload_schema_of(model)

    assert str(refusal.value) == sentence
