"""The commands for schedules, as people and scripts use them."""

from pathlib import Path

from tests.cli.test_main import Ask, answer, ask, refusal
from tests.world import World
from tests.world.command_line import run_all

__all__ = ["ask"]


def test_a_schedule_is_added_shown_run_paused_and_removed(world: World, ask: Ask) -> None:
    world.tenant()
    type = world.type()

    none = ask("schedules")
    added = ask("schedules", "add", "nightly", type, "30 2 * * *", "--tenant", "acme", "--timezone", "Asia/Tokyo")
    listed = ask("schedules")
    ran = ask("schedules", "run", "nightly")
    paused = ask("schedules", "pause", "nightly", "--note", "on holiday")
    while_paused = ask("schedules", "list", "--tenant", "acme")
    resumed = ask("schedules", "resume", "nightly")
    shown = ask("schedules", "show", "nightly")
    removed = ask("schedules", "remove", "nightly")

    assert none.stdout.startswith("No schedules.")
    assert added.stdout.startswith(f"nightly starts {type} at:\n")
    assert added.stdout.count("02:30 Asia/Tokyo\n") == 3
    assert "30 2 * * * Asia/Tokyo" in listed.stdout
    assert ran.stdout == f"{world.value('select id from jobs')} is queued.\n"
    assert paused.stdout == "nightly is paused.\n"
    assert "paused: on holiday" in while_paused.stdout
    assert resumed.stdout.startswith("nightly is back; next time: ")
    assert "last times" in shown.stdout
    assert "manual" in shown.stdout
    assert removed.stdout == "nightly is removed.\n"
    assert world.rows("select * from schedules") == []


def test_a_preview_needs_no_schedule(world: World, ask: Ask) -> None:
    shown = ask("schedules", "preview", "30 2 * * *", "--timezone", "Europe/Berlin", "--after", "2027-03-27T12:00Z")

    assert shown.stdout.splitlines()[0] == (
        "Sun 28 Mar 2027 03:00 Europe/Berlin, because 02:30 does not exist on this day"
    )


def test_a_backfill_only_shows_until_it_is_confirmed(world: World, ask: Ask) -> None:
    world.tenant()
    ask("schedules", "add", "hourly", world.type(), "@hourly", "--tenant", "acme")
    days = ["--since", "2026-01-01T00:00Z", "--until", "2026-01-01T02:00Z"]

    shown = ask("schedules", "backfill", "hourly", *days)
    jobs_before = world.value("select count(*) from jobs")
    done = answer(ask("schedules", "backfill", "hourly", *days, "--yes", "--json"))

    assert "Nothing has been started. Add --yes to start these jobs." in shown.stdout
    assert jobs_before == 0
    assert len(done) == 3
    assert world.value("select count(*) from jobs where source = 'schedule'") == 3


SLIPS = [
    (["add", "x", "greet_person", "* * * *", "--tenant", "acme"], "cron_expr: '* * * *' has 4 fields, not 5"),
    (["add", "x", "greet_persons", "@daily", "--tenant", "acme"], "type: there is no job type 'greet_persons'"),
    (["add", "x", "greet_person", "@daily", "--tenant", "nobody"], "tenant: there is no tenant 'nobody'"),
    (["add", "x", "greet_person", "@daily", "--tenant", "acme", "--payload", "{"], "payload: is not JSON"),
    (["show", "nightly"], "there is no schedule 'nightly'"),
    (["pause", "nightly"], "there is no schedule 'nightly'"),
    (["run", "nightly"], "there is no schedule 'nightly'"),
    (["preview", "@daily", "--times", "1000"], "times: must be 1 to 100"),
]


def test_a_slip_is_one_line_and_a_hint(world: World, tmp_path: Path) -> None:
    world.tenant()
    world.type()

    asked = run_all([["schedules", *given, "--database-url", world.url] for given, _ in SLIPS], home=tmp_path)

    for each, (_, complaint) in zip(asked, SLIPS, strict=True):
        assert refusal(each).startswith(f"tickwork: {complaint}")
    assert world.rows("select * from schedules") == []
