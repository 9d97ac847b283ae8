"""A worker that is killed anywhere in a compilation: one version, of the same bytes as if nothing had happened."""

import subprocess
import sys

import pytest
from psycopg.rows import DictRow

from tests.families.passport.killed_compiles import KILLS
from tests.world import World
from tests.world.passports import HANDLERS, Maker
from tests.world.waiting import PATIENCE, until
from tickwork.runtime.deadline import Deadline
from tickwork.runtime.work import work

# Of a request: its job, versions, jobs that sign them, and events.
Made = tuple[str, int, int, str | None]
NOTHING: Made = ("running", 0, 0, None)
ALL: Made = ("done", 1, 1, "passport.compiled")


def test_a_compile_that_is_killed_anywhere_and_repeated_gives_one_version(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    maker = Maker(world, monkeypatch)
    snapshot, rules = maker.snapshot(), maker.rules()
    passports = [maker.passport(f"ZW-{number:04}") for number in range(sum(KILLS) + 1)]
    for passport in passports:
        maker.request(passport, snapshot, rules)

    kill_workers(world)
    after_the_kills = made(world)
    until(lambda: repeat(world) <= {"done", "failed"})
    after_the_repetition, repeated = made(world), stored_versions(world)
    forget_versions(world)
    for passport in passports:
        maker.request(passport, snapshot, rules)
    repeat(world)

    # Everything at once or nothing. Two workers have committed: the one that was not killed, and one just before that.
    assert set(after_the_kills) == {NOTHING, ALL}
    assert after_the_kills.count(ALL) == 2
    assert set(after_the_repetition) == set(made(world)) == {ALL}
    assert repeated == stored_versions(world)


def kill_workers(world: World) -> None:
    command = [sys.executable, "-m", "tests.families.passport.killed_compiles", world.worker_url]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert ended.stdout.splitlines()[-1:] == [str(sum(KILLS))], ended.stderr


def repeat(world: World) -> set[str]:
    """Let the leases expire, reap them as cron does, and run what is queued then; the statuses of the jobs."""
    world.run("update jobs set lease_expires_at = clock_timestamp() where status = 'running'")
    world.service.maintenance.maintain()
    world.run("update jobs set run_at = clock_timestamp() where status = 'queued'")
    work(world.queue, "passport", HANDLERS, Deadline(float("inf"), sum(KILLS) + 1))
    return {status for status, *_ in made(world)}


def made(world: World) -> list[Made]:
    return [(row["status"], row["versions"], row["signed_by"], row["events"]) for row in world.rows(MADE)]


MADE = """
    select
      jobs.status,
      count(distinct versions.id) as versions,
      count(distinct signing.id) as signed_by,
      (
        select string_agg(events.type, ' ')
        from events
        where events.aggregate = 'passport:' || (jobs.payload ->> 'passport_id')
      ) as events
    from jobs
    left join passport_versions as versions on versions.passport_id::text = jobs.payload ->> 'passport_id'
    left join jobs as signing on signing.payload ->> 'passport_version_id' = versions.id::text
    where jobs.type = 'compile_passport'
    group by jobs.id
"""


def stored_versions(world: World) -> list[DictRow]:
    return world.rows(
        "select to_jsonb(passport_versions) - '{created_at,updated_at}'::text[] as version "
        "from passport_versions order by id"
    )


def forget_versions(world: World) -> None:
    """As if nobody had requested them. The salt keys stay: they are inputs."""
    world.run("delete from jobs")
    world.run("delete from events")
    with world.admin.transaction():
        world.run("set local session_replication_role = 'replica'")
        world.run("delete from passport_versions")
