"""What `tickwork doctor` finds, and what it says to do about it."""

import json
import time
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.servers import pg_cron as cron_server
from tests.servers import pg_net
from tests.servers.unstructured import running_unstructured
from tests.world import World
from tests.world.command_line import run
from tickwork.cli.diagnosis import Finding, examine
from tickwork.waking import pg_cron

SECRET = "canary-secret-of-32-characters-or-more"
PASSWORD = "canary-7f3a"


@pytest.fixture
def good(world: World, tmp_path: Path) -> dict[str, str]:
    return {
        "TICKWORK_DATABASE_URL": world.worker_url.replace("tickwork_worker@", f"tickwork_worker:{PASSWORD}@"),
        "TICKWORK_HMAC_SECRET": SECRET,
        "TICKWORK_VAULT_URL": f"file:{tmp_path / 'vault'}",
        "TICKWORK_SECRET_KEY": b64encode(bytes(32)).decode(),
    }


def found(environment: dict[str, str], admin_url: str | None = None) -> dict[str, Finding]:
    return {finding.what: finding for finding in examine(environment, admin_url)}


def test_a_good_deployment_has_nothing_bad(world: World, good: dict[str, str]) -> None:
    findings = found(good)

    assert list(findings) == [
        *("settings", "callers", "database", "role", "schema", "rights", "clock", "pooler", "vault", "secrets"),
        *("unstructured", "cron"),
    ]
    del findings["pooler"]
    assert {name: each.verdict for name, each in findings.items() if each.verdict != "good"} == {"cron": "note"}
    assert "connected as tickwork_worker" in findings["role"].words


def test_a_missing_key_is_noted(good: dict[str, str]) -> None:
    finding = found({**good, "TICKWORK_SECRET_KEY": ""})["secrets"]

    assert (finding.verdict, "TICKWORK_SECRET_KEY" in finding.remedy) == ("note", True)


BAD: dict[str, tuple[dict[str, str], str, str, str]] = {
    "no database": (
        {"DATABASE_URL": ""},
        "settings",
        "TICKWORK_DATABASE_URL is not set",
        "Start the local stack with `tickwork up`",
    ),
    "a bad setting": ({"MAX_JOBS": "many"}, "settings", "TICKWORK_MAX_JOBS", "see docs/reference/settings.md"),
    "a database that is down": (
        {"DATABASE_URL": f"postgresql://u:{PASSWORD}@127.0.0.1:1/postgres"},
        "database",
        "refused",
        "Is TICKWORK_DATABASE_URL right?",
    ),
    "no folder": ({"VAULT_URL": f"file:{__file__}/vault"}, "vault", "not writable", "Create it"),
    "no Unstructured": (
        {"UNSTRUCTURED_URL": "http://127.0.0.1:1", "UNSTRUCTURED_API_KEY": PASSWORD},
        "unstructured",
        "",
        "Is TICKWORK_UNSTRUCTURED_URL right?",
    ),
}


@pytest.mark.parametrize("story", BAD)
def test_a_bad_setting_is_found_with_what_to_do(good: dict[str, str], story: str) -> None:
    changed, what, words, remedy = BAD[story]

    finding = found({**good, **{f"TICKWORK_{name}": value for name, value in changed.items()}})[what]

    assert finding.verdict == "bad"
    assert words in finding.words
    assert remedy in finding.remedy
    assert PASSWORD not in repr(finding)


IN_DATABASE: dict[str, tuple[str, str, str]] = {
    "insert into tickwork.schema_versions values (99)": ("schema", "has version 99", "Deploy the functions again."),
    "revoke execute on function public.claim_jobs from tickwork_worker": (
        "rights",
        "may not execute claim_jobs",
        "Connect as tickwork_worker.",
    ),
}


@pytest.mark.parametrize("change", IN_DATABASE)
def test_what_is_wrong_in_the_database_is_found(world: World, good: dict[str, str], change: str) -> None:
    what, words, remedy = IN_DATABASE[change]
    world.admin.execute(change)

    finding = found(good)[what]

    assert (finding.verdict, finding.remedy) == ("bad", remedy)
    assert words in finding.words


def test_a_clock_that_is_wrong_is_found(good: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    clock: Callable[[], float] = time.time
    monkeypatch.setattr(time, "time", lambda: clock() + 90)

    finding = found(good)["clock"]

    assert finding.verdict == "bad"
    assert "90 s apart" in finding.words


def test_an_operator_as_worker_is_noted(world: World, good: dict[str, str]) -> None:
    finding = found({**good, "TICKWORK_DATABASE_URL": world.url})["role"]

    assert finding.verdict == "note"
    assert "tickwork_worker" in finding.remedy


def test_unstructured_and_cron_are_asked(world: World, good: dict[str, str]) -> None:
    for statement in (cron_server.SQL, pg_net.SQL):
        world.admin.execute(statement)
    with running_unstructured() as server:
        before = found({**good, "TICKWORK_UNSTRUCTURED_URL": server.url}, world.url)
    pg_cron.install(world.url, pg_cron.Plan({"extract": "https://extract.example"}), SECRET)
    cron_server.run_all(world)
    after = found(good, world.url)

    assert before["unstructured"].verdict == "good"
    assert (before["cron"].verdict, after["cron"].verdict) == ("bad", "good")
    assert "tickwork cron install" in before["cron"].words


def test_the_command_prints_findings_and_ends_accordingly(world: World, good: dict[str, str], tmp_path: Path) -> None:
    told = run("doctor", home=tmp_path, **good)
    listed = run("doctor", "--json", home=tmp_path, **{**good, "TICKWORK_VAULT_URL": f"file:{__file__}/vault"})
    lost = run("doctor", home=tmp_path)

    assert (told.returncode, listed.returncode, lost.returncode) == (0, 1, 1)
    assert "✓ schema       version" in told.stdout
    assert {each["what"]: each["verdict"] for each in json.loads(listed.stdout)}["vault"] == "bad"
    assert "✗ settings" in lost.stdout
    assert "tickwork up" in lost.stdout
    assert PASSWORD not in told.stdout + listed.stdout
    assert SECRET not in told.stdout + listed.stdout


def test_a_pure_worker_needs_no_callers(world: World, good: dict[str, str], tmp_path: Path) -> None:
    told = run("doctor", home=tmp_path, **{**good, "TICKWORK_HMAC_SECRET": ""})

    assert told.returncode == 0
    assert "· callers      a worker needs none; a function would refuse every caller" in told.stdout
    assert "Set TICKWORK_HMAC_SECRET" in told.stdout


def test_a_host_that_dns_does_not_know_is_told_from_a_closed_one(good: dict[str, str]) -> None:
    finding = found({**good, "TICKWORK_UNSTRUCTURED_URL": "https://nowhere.invalid"})["unstructured"]

    assert finding.verdict == "bad"
    assert "nowhere.invalid cannot be resolved" in finding.words
    assert "not allowed" not in finding.words
