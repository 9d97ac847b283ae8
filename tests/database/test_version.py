"""Code and schema of different versions: said so, and no job taken."""

from pathlib import Path
from subprocess import PIPE, Popen
from uuid import uuid4

import pytest

from tests.serve.test_wake_up import SOURCE, running_function, settings
from tests.world import World
from tests.world.command_line import COMMAND, environment_for
from tests.world.waiting import until
from tickwork.database import version
from tickwork.database.version import SERVED, SchemaCheck, check_schema
from tickwork.errors import WrongSchema

CURRENT = SERVED[-1]
# Code of the next release, which serves the schema of today as well.
SERVES_BOTH = f"import tickwork.database.version\ntickwork.database.version.SERVED = range({CURRENT}, {CURRENT + 2})\n"
NEXT = SERVES_BOTH + SOURCE


def move(world: World, version: int) -> None:
    world.run("delete from tickwork.schema_versions where number > %s", version)
    world.run("insert into tickwork.schema_versions (number) values (%s) on conflict do nothing", version)


def test_this_code_serves_the_schema_of_the_migrations(world: World) -> None:
    assert check_schema(world.queue.database) == CURRENT


@pytest.mark.parametrize(
    ("version", "words", "hint"),
    [(CURRENT + 1, f"has version {CURRENT + 1}", "Deploy"), (0, "has version 0", "tickwork migrate")],
)
def test_an_older_and_a_newer_schema_are_refused(world: World, version: int, words: str, hint: str) -> None:
    world.run("delete from tickwork.schema_versions")
    move(world, version)

    with pytest.raises(WrongSchema, match=words) as refused:
        check_schema(world.queue.database)

    assert hint in str(refused.value.hint)


def test_a_database_without_any_schema_is_an_old_one(world: World) -> None:
    world.run("drop table tickwork.schema_versions")

    with pytest.raises(WrongSchema, match="has version 0"):
        check_schema(world.queue.database)


def test_it_is_asked_for_once_in_a_while_and_not_with_every_wake_up(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = SchemaCheck(world.queue.database)
    check.check()
    move(world, CURRENT + 1)

    check.check()
    monkeypatch.setattr(version, "LOOK_SECONDS", -1.0)
    with pytest.raises(WrongSchema):
        SchemaCheck(world.queue.database).check()

    check = SchemaCheck(world.other_queue.database)
    move(world, CURRENT)
    check.check()
    move(world, CURRENT + 1)
    with pytest.raises(WrongSchema):
        check.check()


def test_old_and_new_functions_run_side_by_side_while_the_schema_moves(world: World, tmp_path: Path) -> None:
    for name, text in {"old": SOURCE, "new": NEXT}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "main.py").write_text(text)
    world.type()

    with running_function(tmp_path / "new" / "main.py", tmp_path / "run new", **settings(world)) as new:
        with running_function(tmp_path / "old" / "main.py", tmp_path / "run old", **settings(world)) as old:
            world.job()
            assert old.wake().body["done"] == 1
            world.job()
            assert new.wake().body["done"] == 1
        move(world, CURRENT + 1)
        with running_function(tmp_path / "old" / "main.py", tmp_path / "run older", **settings(world)) as old:
            job = world.job()
            refused = old.wake()
            assert world.reload(job).status == "queued"
            assert new.wake().body["done"] == 1
            move(world, CURRENT)
            world.job()
            assert old.wake().body["done"] == 1

    assert (refused.status, refused.body) == (
        503,
        {"error": "The versions of the function and the schema do not match; see its log."},
    )
    (line,) = [line for line in old.lines() if line["message"] == "refuse_schema"]
    assert line["reason"] == f"the schema has version {CURRENT + 1}, and this code needs version {CURRENT}"
    assert line["hint"] == "Deploy the functions again."


def test_a_worker_takes_no_job_either_and_goes_on_when_it_can(world: World, tmp_path: Path) -> None:
    move(world, CURRENT + 1)
    job = world.job("classify_document", payload={"document_id": str(uuid4())})
    command = [*COMMAND, "worker", "classify", "--database-url", world.worker_url]
    with Popen(command, env=environment_for(tmp_path, {}), stdout=PIPE, text=True) as worker:
        assert worker.stdout is not None
        try:
            until(lambda: "and this code needs version" in str(worker.stdout and worker.stdout.readline()))
            assert world.reload(job).status == "queued"
            move(world, CURRENT)
            until(lambda: world.reload(job).status == "failed")
        finally:
            worker.kill()
