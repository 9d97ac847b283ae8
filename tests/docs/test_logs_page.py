"""The page on logs names every line that is written, with its fields, and nothing else."""

import ast
import json
import re
from collections import defaultdict
from uuid import uuid4

import pytest
from pydantic import BaseModel

from tests.docs.pages import ROOT
from tests.world import World
from tickwork.jobs.handler import Handler, Handlers, Tools
from tickwork.logs import LABELS, OURS
from tickwork.runtime.deadline import Deadline
from tickwork.runtime.work import work

PAGE = (ROOT / "docs/reference/logs.md").read_text()
EVERY_LINE, LABELS_OF_A_JOB, LINES_OF_JOBS, OTHER_LINES = PAGE.split("\n## ")[1:]
ROW = re.compile(r"^\| `([^|]+)` \|(?: (.*?) \|)?", re.MULTILINE)


class Nobody(BaseModel):
    pass


def test_every_line_is_on_the_page_with_its_fields() -> None:
    rows = ROW.findall(LINES_OF_JOBS + OTHER_LINES)
    listed = {verb: names_in(fields) for verbs, fields in rows for verb in verbs.split("`, `")}

    assert listed == written()


def names_in(fields: str) -> set[str]:
    # In brackets stands what a source document calls it.
    return set(re.findall("`([a-z_]+)`", re.sub(r"\(.*?\)", "", fields)))


def written() -> dict[str, set[str]]:
    """The lines that the code writes, and the fields of each."""
    found: dict[str, set[str]] = defaultdict(set)
    for file in (ROOT / "shared/tickwork").rglob("*.py"):
        for call in ast.walk(ast.parse(file.read_text())):
            match call:
                case ast.Call(ast.Name("log" | "log_exception" as name), [ast.Constant(str(verb)), *_], fields):
                    pass
                case ast.Call(ast.Attribute(_, "log" as name), [ast.Constant(str(verb)), *_], fields):
                    pass
                case _:
                    continue
            found[verb] |= {field.arg for field in fields if field.arg}
            found[verb] |= {"exception"} if name == "log_exception" else set()
    return found


@pytest.mark.parametrize(("concurrency", "log_each_job"), [(1, False), (10, False), (100, True)])
def test_the_lines_of_a_job_have_the_labels_and_fields_of_the_page(
    world: World, capsys: pytest.CaptureFixture[str], concurrency: int, log_each_job: bool
) -> None:
    world.job(correlation_id="order-1", run_at="2020-01-01")

    def handle(payload: Nobody, tools: Tools) -> None:
        tools.log("greet")

    handlers: Handlers = {"greet_person": Handler(Nobody, handle)}
    work(world.queue, "test", handlers, Deadline(60, 10), None, concurrency, log_each_job)

    lines = {line["message"]: line for line in map(json.loads, capsys.readouterr().out.splitlines())}
    settle = lines["settle"]
    assert {name for name, _ in ROW.findall(EVERY_LINE)} == OURS
    assert set(settle) == OURS | names_in(dict(ROW.findall(LINES_OF_JOBS))["settle"])
    assert set(settle[LABELS]) == {name for name, _ in ROW.findall(LABELS_OF_A_JOB)}
    assert settle[LABELS] == lines["greet"][LABELS]
    assert (settle["ending"], settle["error_code"], settle[LABELS]["correlation_id"]) == ("done", None, "order-1")
    assert settle["duration_ms"] >= 0
    assert settle["wait_ms"] > 10**11


def test_small_jobs_that_are_done_have_no_line_of_their_own_unless_somebody_wants_it(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    world.job(correlation_id=str(uuid4()))

    handlers: Handlers = {"greet_person": Handler(Nobody, lambda *_: None)}
    work(world.queue, "test", handlers, Deadline(60, 10), concurrency=100)

    verbs = [json.loads(line)["message"] for line in capsys.readouterr().out.splitlines()]
    assert verbs == ["claim_jobs", "settle_jobs"]
