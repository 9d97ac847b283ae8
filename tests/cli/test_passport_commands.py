"""The commands for passports, as people and scripts use them. The guide runs them from a file to a signed passport."""

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.cli.test_main import answer, refusal
from tests.families.passport.test_export_passport import Maker, maker
from tests.passports.exports.sample import SECRET
from tests.world import World
from tests.world.command_line import run_all
from tests.world.passports import Maker as BatteryMaker
from tests.world.passports import attribute
from tickwork.cli.passport_rules import say_run
from tickwork.passports.qr import PassportQr

__all__ = ["maker"]

AskAll = Callable[..., "list[CompletedProcess[str]]"]


@pytest.fixture
def ask_all(world: World, tmp_path: Path) -> AskAll:
    """Run commands of `tickwork passport` on the database of this test."""

    def ask_all(*commands: list[str]) -> "list[CompletedProcess[str]]":
        given = [["passport", *each, "--database-url", world.url] for each in commands]
        return run_all(given, home=tmp_path / "home")

    return ask_all


def test_a_passport_is_found_by_its_battery_and_by_its_id(maker: Maker, ask_all: AskAll) -> None:
    listed, by_battery, by_id = map(
        answer,
        ask_all(
            ["list", "--tenant", "acme", "--json"],
            ["show", "B-1", "--json"],
            ["show", str(maker.version)[:8], "--json"],
        ),
    )

    assert [(row["battery_identifier"], row["latest_status"]) for row in listed] == [("B-1", "signed")]
    assert by_battery == by_id
    assert by_battery["id"] == str(maker.version)


def test_show_prints_what_is_public_and_the_qr_code(maker: Maker, ask_all: AskAll) -> None:
    text = PassportQr(maker.version, bytes(32), bytes(32), bytes(32)).text
    maker.world.run("update passport_versions set qr_payload = %s, qr_png = 'x'", text)

    shown, without = ask_all(["show", "B-1"], ["show", "B-1", "--no-qr"])

    assert "performance.rated_capacity               120 AMH" in shown.stdout
    assert SECRET not in shown.stdout
    # As verify takes it.
    assert f"qr_payload           {text}\n" in without.stdout
    # 57 modules and a quiet zone of 4 on each side.
    assert "█" * 65 in shown.stdout
    assert "█" not in without.stdout


def test_a_resolver_and_a_gtin_give_a_passport_a_link(maker: Maker, ask_all: AskAll) -> None:
    link = "https://id.example.com/01/09506000134352/21/1"
    set_up, wrong, read, created, waiting = ask_all(
        ["resolver", "id.example.com", "--tenant", "acme"],
        ["resolver", "https://id.example.com", "--tenant", "acme"],
        ["resolver", "--tenant", "acme", "--json"],
        [
            "create",
            "B-2",
            "--tenant",
            "acme",
            "--category",
            "ev",
            "--gtin",
            "09506000134352",
            "--serial",
            "2",
            "--json",
        ],
        ["link", "B-1", "--gtin", "09506000134352", "--serial", "1", "--wait", "0"],
    )
    maker.world.run(
        "update passports set link_qr_payload = %s, link_qr_png = 'x' where battery_identifier = 'B-1'", link
    )
    shown, removed, without = ask_all(
        ["show", "B-1"], ["resolver", "--remove", "--tenant", "acme"], ["show", "B-1", "--json"]
    )

    assert set_up.stdout == "Links lead to https://id.example.com.\n"
    assert "resolver: 'https://id.example.com' is not the name of a host" in refusal(wrong)
    assert answer(read) == {"resolver": "id.example.com"}
    assert (answer(created)["gtin"], answer(created)["serial"]) == ("09506000134352", "2")
    assert "has not ended after 0 s" in refusal(waiting)
    assert f"link_qr_payload      {link}" in shown.stdout
    assert "Link:\n█" in shown.stdout
    assert removed.stdout == "There is no resolver: passports have no links.\n"
    assert answer(without)["link_qr_payload"] is None


def test_disclose_writes_a_bundle_for_the_audience(maker: Maker, ask_all: AskAll, tmp_path: Path) -> None:
    file, path = tmp_path / "bundle.json", "performance.state_of_health"

    printed, refused, unwritable = ask_all(
        ["disclose", "B-1", "--audience", "legitimate_interest", "--path", path, "--to", str(file)],
        ["disclose", "B-1", "--path", path],
        ["disclose", "B-1", "--to", str(tmp_path)],
    )

    assert printed.stdout.strip() == str(file)
    assert [each["leaf"]["value"] for each in json.loads(file.read_text())["leaves"]] == [SECRET]
    assert f"there is no attribute '{path}' that the audience public may see" in refusal(refused)
    assert "cannot be written" in refusal(unwritable)


def test_what_a_passport_waits_for_is_said(maker: Maker, ask_all: AskAll) -> None:
    unwritten, wrong, explained, refused = ask_all(
        ["export", "B-1", "--format", "xml", "--wait", "0"],
        ["export", "B-1", "--format", "docx"],
        ["explain", "B-1"],
        ["activate", "B-1"],
    )

    assert "has not ended after 0 s: It has been due since" in refusal(unwritten)
    assert "format: must be pdf, json_ld or xml, not 'docx'" in refusal(wrong)
    assert "Version 1 is signed, but has no QR code." in explained.stdout
    assert "the version has no QR code yet" in refusal(refused)


def test_what_is_not_there_is_said(maker: Maker, ask_all: AskAll) -> None:
    expected = {
        "show nothing": "VERSION: there is no passport of battery 'nothing'",
        "explain 0000": "PASSPORT: no id of passports begins with '0000'",
        "compile B-1 --snapshot nothing": "--snapshot: there is no snapshot 'nothing'",
        "compile B-1 --snapshot S --rules R --issued-at yesterday": "--issued-at: must be a time such as 2027",
        "facts --document nothing": "--document: there is no document 'nothing'",
        "check S --category ev": "SNAPSHOT: it has no facts",
        "create B-9 --tenant acme --category car": "--category: must be ev, lmt, industrial or stationary, not 'car'",
        "documents add x.csv --tenant acme --kind x": "--kind: must be bom, pcf or dd, not 'x'",
        "check S --category car": "--category: must be ev, lmt, industrial or stationary, not 'car'",
        "attributes --category ev --on soon": "--on: must be a day such as 2027-02-18, not 'soon'",
        "status-list --tenant acme": "there is no status list yet",
        "compile B-1 --snapshot S --rules nothing": "rules: there is no package of rules 'nothing'",
        "snapshot add S": "nothing to add",
        "rules save nothing.json --tenant acme --package P --version 1": "nothing.json cannot be read",
        "documents add nothing.csv --tenant acme --kind bom": "there is no file nothing.csv",
    }

    asked = ask_all(*(each.split() for each in expected))

    assert [words for each, words in zip(asked, expected.values(), strict=True) if words not in refusal(each)] == []


def test_rules_with_a_type_error_are_not_sent(world: World, ask_all: AskAll, tmp_path: Path) -> None:
    world.tenant()
    file = tmp_path / "rules.json"
    check = {"code": "LIGHT", "check": "general.mass > 1", "words": "It is too light", "severity": "error"}
    mass = {"path": "general.mass", "words": "Mass", "access": "public", "schema": {"type": "number"}}
    file.write_text(json.dumps({"title": "Own", "facts": {}, "attributes": [mass], "checks": [check]}))

    (refused,) = ask_all(["rules", "save", str(file), "--tenant", "acme", "--package", "own", "--version", "1"])

    assert "the rules cannot be read: LIGHT" in refusal(refused)
    assert world.value("select count(*) from rule_package_versions where tenant_id is not null") == 0


def test_snapshots_have_names_and_rules_files(world: World, ask_all: AskAll, tmp_path: Path) -> None:
    world.tenant()
    file = tmp_path / "rules.json"
    file.write_text('{"facts": {}, "attributes": [], "checks": []}')

    _, refused, _, ambiguous, saved, listed, unpublished = ask_all(
        ["snapshot", "create", "spring", "--tenant", "acme"],
        ["snapshot", "seal", "spring"],
        ["snapshot", "create", "spring", "--tenant", "acme"],
        ["snapshot", "seal", "spring"],
        ["rules", "save", str(file), "--tests", str(file), "--tenant", "acme", "--package", "own", "--version", "1"],
        ["rules", "list", "--package", "own", "--json"],
        ["rules", "publish", "own", "--wait", "0"],
    )

    assert "the snapshot" in refusal(refused)
    assert "several are called 'spring'" in refusal(ambiguous)
    assert saved.stdout.strip().endswith("is version 1, draft.")
    assert [row["status"] for row in answer(listed)] == ["draft"]
    assert "has not ended after 0 s" in refusal(unpublished)


def test_a_snapshot_is_checked_before_it_is_sealed(
    world: World, monkeypatch: pytest.MonkeyPatch, ask_all: AskAll
) -> None:
    facts = [attribute("general.battery_mass", 450.5, "KGM"), attribute("general.batery_status", "original")]
    BatteryMaker(world, monkeypatch).snapshot(facts, is_sealed=False)

    early, late, listed = ask_all(
        ["check", "spring", "--category", "ev", "--on", "2027-02-17"],
        ["check", "spring", "--category", "ev", "--on", "2027-02-18", "--json"],
        ["attributes", "--category", "ev", "--on", "2027-02-18", "--mandatory", "--json"],
    )

    assert early.stdout == (
        "The rules have no attribute general.batery_status: it is left out of passports.\n"
        "It can be compiled for ev on 2027-02-17.\n"
    )
    assert (early.returncode, late.returncode) == (0, 1)
    missing = {each["subject"] for each in json.loads(late.stdout)["findings"]}
    mandatory = {row["path"] for row in answer(listed) if row["value"] is None}
    assert mandatory - missing == {"general.battery_mass"}


def test_the_status_list_is_printed_once_it_is_signed(maker: Maker, ask_all: AskAll) -> None:
    command = ["status-list", "--tenant", "acme", "--wait", "0"]
    maker.world.run(
        "insert into passport_status_lists (tenant_id, document, as_of, signing_key_id) "
        """values (%s, '{"id": "urn:x"}', now(), 'k')""",
        maker.tenant,
    )
    (printed,) = ask_all(command)
    maker.world.run("select enqueue_job(%s, 'sign_status_list', '{}')", maker.tenant)
    (waiting,) = ask_all(command)

    assert answer(printed) == {"id": "urn:x"}
    assert "has not ended after 0 s" in refusal(waiting)


def test_a_failed_run_of_tests_says_which_facts_are_enough(capsys: pytest.CaptureFixture[str]) -> None:
    case = {"kind": "crossed", "subject": "ev", "category": "lmt", "on": "2027-02-18", "shrunk": [{"fact_key": "x"}]}
    run = {
        **{"status": "failed", "passed_count": 1, "total_cases": 2, "seed": 7, "mutants": 0, "mutants_caught": 0},
        "first_failure": {**case, "problems": ["there is VALUE_MISMATCH of a.b"]},
    }

    say_run(run, as_json=False)

    assert capsys.readouterr().out.splitlines() == [
        "failed: 1 of 2 cases, seed 7.",
        "The first failure is a case of the kind 'crossed' (ev), for lmt on 2027-02-18: there is VALUE_MISMATCH of "
        'a.b. These facts are enough: [{"fact_key": "x"}]',
    ]
