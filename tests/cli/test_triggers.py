"""The commands on triggers, as people and scripts use them."""

from pathlib import Path

from tests.cli.test_main import UNKNOWN, Ask, answer, ask, refusal
from tests.world import World
from tests.world.command_line import run_all
from tests.world.receivers import emit

__all__ = ["ask"]

ADD = ["triggers", "add", "Greet payers", "invoice.*", "greet_person", "--tenant", "acme"]


def test_a_trigger_is_added_tried_shown_paused_resumed_and_removed(world: World, ask: Ask) -> None:
    tenant = world.tenant()
    world.type()
    assert "No triggers." in ask("triggers").stdout

    options = ["--condition", "$.event.amount > 1", "--payload", '{"name": "{{event.name}}"}', "--max-per-minute", "9"]
    added = answer(ask(*ADD, *options, "--sample", '{"name": "Ann"}', "--json"))
    assert (added["label"], added["condition"], added["max_per_minute"]) == ("Greet payers", "$.event.amount > 1", 9)
    assert (
        "Greet all starts greet_person on *."
        in ask(*["triggers", "add", "Greet all", "*", "greet_person", "--tenant", "acme"]).stdout
    )

    event = ["triggers", "test", "invoice.paid", "--tenant", "acme", "--payload", '{"name": "Ann", "amount": 2}']
    tried = {row["label"]: row for row in answer(ask(*event, "--json"))}
    assert (tried["Greet payers"]["outcome"], tried["Greet payers"]["job_payload"]) == ("fired", {"name": "Ann"})
    shown = ask(*event).stdout
    assert "fired" in shown
    assert '{"name": "Ann"}' in shown
    assert world.rows("select from jobs") == []

    for amount in (2, 0):
        emit(world, tenant, name="Ann", amount=amount)
    shown = ask("triggers", "show", "Greet payers").stdout
    assert "last decisions" in shown
    assert [line.split()[-1] for line in shown.splitlines() if "condition_false" in line] == ["condition_false"]
    assert [fire["outcome"] for fire in answer(ask("triggers", "show", added["id"], "--json"))["fires"]] == [
        *("condition_false", "fired"),
    ]
    assert "condition_false" in ask("triggers", "list", "--tenant", "acme").stdout

    paused = ask("triggers", "pause", "Greet payers", "Greet all", "--note", "Too\x1b[31m much")
    assert paused.stdout == "Greet all is paused.\nGreet payers is paused.\n"
    assert "paused Too\\u001b[31m much" in ask("triggers").stdout
    assert ask("triggers", "resume", "Greet payers").stdout == "Greet payers is active.\n"
    assert {row["label"]: row["is_enabled"] for row in answer(ask("triggers", "--json"))} == {
        **{"Greet all": False, "Greet payers": True},
    }
    assert ask("triggers", "remove", "Greet payers", "--tenant", "acme").stdout == "Greet payers is removed.\n"
    assert [row["label"] for row in answer(ask("triggers", "--json"))] == ["Greet all"]


def test_what_does_not_work_is_refused_with_a_reason(world: World, tmp_path: Path) -> None:
    for name in ("acme", "birch"):
        template = {"url": "https://api.example.com"}
        world.service.triggers.create_event_trigger(
            world.tenant(name), "twice", "a", "http_request", payload_template=template
        )
    complaints = {
        ("show", UNKNOWN): f"there is no trigger '{UNKNOWN}'",
        ("remove", "nothing"): "there is no trigger 'nothing'",
        ("show", "twice"): "2 triggers are named 'twice'",
        ("pause", "twice", "--tenant", "birch", "nothing"): "there is no trigger 'nothing'",
        ("add", "x", "a b", "http_request", "--tenant", "acme"): "event_name: must be a type",
        ("add", "x", "a", "nothing", "--tenant", "acme"): "there is no job type 'nothing'",
        ("add", "x", "a", "http_request", "--tenant", "acme"): "payload",
        ("add", "x", "a", "http_request", "--tenant", "acme", "--payload", "{"): "payload: is not JSON",
        ("add", "x", "a", "http_request", "--tenant", "acme", "--condition", "$"): "condition: is a path",
        ("test", "no type!", "--tenant", "acme"): "type: must be words separated by dots",
        ("test", "a", "--tenant", "nobody"): "there is no tenant 'nobody'",
    }
    commands = [["triggers", *arguments, "--database-url", world.url] for arguments in complaints]

    for asked, complaint in zip(run_all(commands, home=tmp_path), complaints.values(), strict=True):
        assert complaint in refusal(asked)
    assert world.value("select count(*) from event_triggers") == 2
