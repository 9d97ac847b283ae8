"""`tickwork purge`, `tickwork types` and `tickwork summary`, as people use them."""

from pathlib import Path

from tests.cli.test_main import Ask, answer, ask
from tests.world import World
from tests.world.command_line import run, run_all

__all__ = ["ask"]


def test_what_ended_long_ago_is_deleted_after_a_question(world: World, tmp_path: Path) -> None:
    world.queue.complete_job(world.running_job())
    world.run("update jobs set created_at = now() - interval '9 days', finished_at = now() - interval '8 days'")
    new = world.job()
    command = ["purge", "--older-than", "7", "--database-url", world.url]

    refused = run(*command, home=tmp_path, stdin="n\n")
    kept = world.value("select count(*) from jobs")
    purged = run(*command, home=tmp_path, stdin="y\n")

    assert (refused.returncode, kept) == (1, 2)
    assert refused.stderr.startswith("Delete all jobs that ended more than 7 days ago? [y/N] tickwork: nothing was")
    assert purged.stdout == "1 job is gone.\n"
    assert [row["id"] for row in world.rows("select id from jobs")] == [new.id]
    assert answer(run(*command, "--yes", "--json", home=tmp_path)) == {"purged": 0}


def test_types_are_listed_with_their_families(world: World, ask: Ask) -> None:
    world.type("greet_person", description="Say hello", timeout_seconds=7)

    line = next(line for line in ask("types").stdout.splitlines() if line.startswith("greet_person "))

    assert line.split() == ["greet_person", "test", "member", "4", "7", "s", "Say", "hello"]


def test_the_jobs_of_each_type_are_counted(world: World, tmp_path: Path) -> None:
    world.job()
    world.job(run_at="2999-01-01T00:00Z")
    world.queue.complete_job(world.claim())
    world.job(tenant=world.tenant("birch"))
    commands = [["summary"], ["summary", "--tenant", "birch", "--json"]]

    table, of_birch = run_all([[*each, "--database-url", world.url] for each in commands], home=tmp_path)

    lines = table.stdout.splitlines()
    assert lines[0].split()[:9] == ["family", "type", "queued", "due", "running", "done", "failed", "dead", "cancelled"]
    assert lines[1].split()[:9] == ["test", "greet_person", "2", "1", "0", "1", "0", "0", "0"]
    assert [row["queued"] for row in answer(of_birch)] == [1]
