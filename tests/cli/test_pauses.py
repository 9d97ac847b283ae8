"""The commands that stop jobs from starting, as people and scripts use them."""

from pathlib import Path

import pytest

from tests.cli.test_main import UNKNOWN, Ask, answer, ask, refusal
from tests.world import World
from tests.world.command_line import run_all
from tests.world.crowd import claim_all, enqueue

__all__ = ["ask"]

OPTIONS = pytest.mark.parametrize("option", ["family", "type", "tenant"])


@OPTIONS
def test_what_is_paused_waits_until_it_is_resumed(world: World, ask: Ask, option: str) -> None:
    tenant, type = world.tenant("Acme & Co"), world.type()
    enqueue(world, tenant, 2)
    name = {"family": "test", "type": type, "tenant": "Acme & Co"}[option]

    paused = ask("pause", f"--{option}", name, "--reason", "repairs")
    while_paused = claim_all(world)
    resumed, again = (ask("resume", f"--{option}", name) for _ in range(2))

    assert paused.stdout.startswith(f"No job of {option} {name} starts any more; running jobs continue.\n")
    quoted = "'Acme & Co'" if option == "tenant" else name
    assert paused.stdout.endswith(f"`tickwork resume --{option} {quoted}` ends the pause.\n")
    assert while_paused == []
    assert resumed.stdout == f"Jobs of {option} {name} start again.\n"
    assert again.stdout == f"{option.capitalize()} {name} was not paused. `tickwork holds` lists what is.\n"
    assert len(claim_all(world)) == 2


BAD_PAUSES = [
    ([], "give one of --family, --type and --tenant", "for two of them run it twice"),
    (["--family", "test", "--tenant", "acme"], "give only one of --family, --type and --tenant", "run it twice"),
    (["--family", "tset"], "family: there is no family 'tset'", "test"),
    (["--family", ""], "family: there is no family ''", "test"),
    (["--type", "greet_persons"], "type: there is no job type 'greet_persons'", "greet_person"),
    (["--tenant", "nobody"], "tenant: there is no tenant 'nobody'", "`tickwork tenants`"),
    (["--tenant", ""], "tenant: there is no tenant ''", "`tickwork tenants`"),
    (["--tenant", UNKNOWN], f"tenant: there is no tenant '{UNKNOWN}'", "`tickwork tenants`"),
]


@pytest.mark.parametrize("command", ["pause", "resume"])
def test_a_slip_is_named_with_what_there_is(world: World, tmp_path: Path, command: str) -> None:
    world.tenant()
    world.type()
    asked = run_all([[command, *given, "--database-url", world.url] for given, _, _ in BAD_PAUSES], home=tmp_path)

    for each, (_, complaint, hint) in zip(asked, BAD_PAUSES, strict=True):
        assert refusal(each) == f"tickwork: {complaint}"
        assert hint in each.stderr.splitlines()[1]
        assert "job_types" not in each.stderr
    assert world.service.pauses.list_holds() == []


def test_a_deleted_type_can_be_resumed(world: World, ask: Ask) -> None:
    type = world.type()
    world.service.pauses.pause_jobs(type=type)
    world.run("delete from job_types where key = %s", type)

    assert ask("resume", "--type", type).stdout == f"Jobs of type {type} start again.\n"
    assert ask("holds").stdout == "Nothing is held.\n"


def test_holds_are_listed_in_words(world: World, ask: Ask) -> None:
    tenant, type = world.tenant("acme [red] corp"), world.type()
    enqueue(world, tenant, 3)
    enqueue(world, tenant, 100, lane="endpoint:7")
    world.service.pauses.pause_jobs(tenant_id=tenant, reason="unpaid\nbill")
    world.service.pauses.pause_jobs(type=type)
    world.service.pauses.pause_jobs(family="test")
    world.service.pauses.hold_lane("test", tenant, "endpoint:7", "2999-01-01 00:00Z", "answered 429")
    world.service.pauses.hold_lane("test", tenant, "endpoint:8", "infinity")

    lines = ask("holds").stdout.splitlines()
    data = answer(ask("holds", "--json"))

    parts = [line.partition(" 20") for line in lines[1:]]
    assert lines[0].split() == ["held", "since", "until", "jobs", "waiting", "why"]
    assert [what.strip() for what, _, _ in parts] == [
        "family test",
        "tenant acme [red] corp",
        "lane endpoint:7 of tenant acme [red] corp in test",
        "lane endpoint:8 of tenant acme [red] corp in test",
        f"type {type}",
    ]
    assert [" ".join(rest.split()[2:]) for _, _, rest in parts] == [
        "it is resumed 100 or more",
        "it is resumed 100 or more unpaid\\nbill",
        "2999-01-01 00:00:00+0000 100 or more answered 429",
        "it is released 0",
        "it is resumed 100 or more",
    ]
    assert [each["scope"] for each in data][:2] == ["family test", f"tenant {tenant}"]
    assert [each["waiting"] for each in data] == [100, 100, 100, 0, 100]


def test_the_page_of_a_job_says_that_it_is_paused(world: World, ask: Ask) -> None:
    job = world.job()
    ask("pause", "--tenant", "acme", "--reason", "unpaid bill")

    assert ask("job", str(job.id)).stdout.endswith(". Its tenant is paused: unpaid bill.\n")


def test_a_lane_is_held_limited_and_released(world: World, tmp_path: Path) -> None:
    tenant, _ = world.tenant(), world.type()
    enqueue(world, tenant, 2, lane="drive:1")
    of_lane = ["drive:1", "--family", "test", "--tenant", "acme"]
    commands = [
        ["lanes"],
        ["lanes", "hold", *of_lane, "--until", "2999-01-01T00:00Z", "--reason", "it asked to wait"],
        ["lanes", "limit", *of_lane, "--max-running", "1"],
        ["lanes"],
    ]
    after = [
        ["lanes", "release", *of_lane],
        ["lanes", "--json"],
        ["lanes", "limit", *of_lane],
        ["lanes", "--tenant", "acme"],
        ["lanes", "hold", "drive:1", "--family", "nope", "--tenant", "acme"],
        ["lanes", "hold", *of_lane, "--until", "soon"],
    ]

    none, held, limited, listed = run_all([[*each, "--database-url", world.url] for each in commands], home=tmp_path)
    while_held = claim_all(world)
    asked = run_all([[*each, "--database-url", world.url] for each in after], home=tmp_path)

    assert none.stdout == "No lane is held or limited.\n"
    assert held.stdout == "No job of lane drive:1 starts any more; running jobs continue.\n"
    assert limited.stdout == "Lane drive:1 has a limit of 1 at once.\n"
    assert listed.stdout.splitlines()[1].split() == [
        *("acme", "test", "drive:1", "until", "2999-01-01", "00:00:00+0000:", "it", "asked", "to", "wait", "1"),
    ]
    assert while_held == []
    assert asked[0].stdout == "Lane drive:1 is not held.\n"
    assert [(each["is_held"], each["max_running"]) for each in answer(asked[1])] == [(False, 1)]
    assert asked[2].stdout == "Lane drive:1 has no limit.\n"
    assert asked[3].stdout == "No lane is held or limited.\n"
    assert refusal(asked[4]) == "tickwork: family: there is no family 'nope'"
    assert refusal(asked[5]) == "tickwork: until: 'soon' is not a point in time"
    assert len(claim_all(world)) == 2
