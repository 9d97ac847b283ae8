"""The commands on connectors and imports, as people and scripts use them."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import CompletedProcess
from uuid import UUID

import pytest

from tests.cli.test_main import answer, refusal
from tests.servers.cloud import Bytes
from tests.servers.dropbox import Dropbox
from tests.world import World
from tests.world.command_line import run
from tests.world.office import HANDLERS, SECRET_KEY, Office
from tickwork.families.imports import import_drive
from tickwork.runtime.deadline import Deadline
from tickwork.runtime.work import work

Ask = Callable[..., "CompletedProcess[str]"]


@pytest.fixture
def workers(world: World, office: Office) -> Iterator[None]:
    """What cron would do all the time."""
    is_over = threading.Event()

    def go_on() -> None:
        while not is_over.wait(0.05):
            work(world.queue, "import", HANDLERS, Deadline(60, 100))

    thread = threading.Thread(target=go_on)
    thread.start()
    yield
    is_over.set()
    thread.join()


@pytest.fixture
def ask(world: World, tmp_path: Path) -> Ask:
    def ask(*arguments: str, stdin: str = "") -> "CompletedProcess[str]":
        where = ("--database-url", world.url)
        return run(*arguments, *where, home=tmp_path / "home", stdin=stdin, TICKWORK_SECRET_KEY=SECRET_KEY)

    return ask


def test_a_drive_is_connected_checked_imported_and_removed(
    office: Office, dropbox: Dropbox, ask: Ask, workers: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_drive, "FILES_PER_JOB", 2)
    monkeypatch.setenv("TICKWORK_NOTIFICATION_SECRET", "x" * 32)
    for number in range(5):
        dropbox.put(f"/papers/{number}.txt", f"paper {number}".encode())
    dropbox.put("/papers/link.txt", b"x", symlink_info={"target": "/x"})
    token = dropbox.refresh_tokens[-1]

    added = ask("connectors", "add", "dropbox", "--tenant", "acme", "--name", "ours", "--json", stdin=f"{token}\n")
    checked = ask("connectors", "check", "ours")
    watched = ask("connectors", "watch", "ours", "https://import.example.com/")
    imported = ask("import", "ours", "/papers", "--json")
    again = ask("import", "ours", "/papers")
    listed = answer(ask("connectors", "--json"))
    shown = ask("connectors", "list", "--tenant", "acme")
    removed = ask("connectors", "remove", "ours")

    id = UUID(answer(added)["id"])
    assert checked.stdout == f"{id} works: dropbox account of Erika.\n", checked.stderr
    assert watched.stdout == f"{id} is watched once the URL is entered in its app console.\n", watched.stderr
    whole = answer(imported)
    assert (whole["status"], whole["imported_count"], len(whole["document_ids"])) == ("done", 5, 5)
    assert [each["reason"] for each in whole["skipped"]] == ["SHORTCUT"]
    assert again.stdout == "0 files imported (0.0 MB)\n"
    assert [(each["id"], each["account_id"], each["files"]) for each in listed] == [(str(id), "dbid:account", 6)]
    assert "active" in shown.stdout
    assert removed.returncode == 0
    assert office.world.value("select count(*) from connectors") == 0
    assert office.world.value("select count(*) from tickwork.secrets") == 0
    assert len(office.documents()) == 5
    everything = "".join(
        each.stdout + each.stderr for each in (added, checked, watched, imported, again, shown, removed)
    )
    assert "canary" not in everything


def test_a_connector_that_was_revoked_is_renewed(office: Office, dropbox: Dropbox, ask: Ask, workers: None) -> None:
    dropbox.put("/papers/one.txt", b"one")
    id = office.connect("dropbox")
    dropbox.refresh_tokens.append("canary-refresh-token-of-later")

    failed = ask("import", str(id), "/papers")
    refused = ask("import", str(id), "/papers")
    renewed = ask("connectors", "renew", str(id), stdin=dropbox.refresh_tokens[-1])
    imported = ask("import", str(id), "/papers")

    assert failed.returncode == 1
    assert "REAUTHORIZE" in failed.stderr
    assert "connectors renew" in failed.stderr
    assert "reauthorize" in refusal(refused)
    assert renewed.returncode == 0, renewed.stderr
    assert imported.stdout.startswith("1 files imported")


def test_files_that_fail_are_named_and_counted_in_the_exit_code(
    office: Office, dropbox: Dropbox, ask: Ask, workers: None
) -> None:
    dropbox.put("/papers/bad\x1b[31m.txt", b"listed").served = Bytes(b"servad")
    dropbox.put("/papers/good.txt", b"good")

    asked = ask("import", str(office.connect("dropbox")), "--file", "/papers/good.txt", "--file", "/papers/none.txt")
    folder = ask("import", str(office.connect("dropbox", name="second")), "/papers")

    assert asked.returncode == folder.returncode == 1
    assert asked.stdout == (
        "1 files imported (0.0 MB), 1 failed\n"
        "  failed /papers/none.txt: NOT_THERE The file or folder no longer exists\n"
    )
    assert "FILE_CHANGED" in folder.stdout
    assert "\x1b" not in folder.stdout


def test_without_a_worker_it_says_what_it_waits_for(office: Office, ask: Ask) -> None:
    id = office.connect("dropbox")

    asked = ask("import", str(id), "--wait", "0")

    assert asked.returncode == 1
    assert "has not ended yet" in asked.stderr


@pytest.mark.parametrize(
    ("arguments", "stdin", "complaint"),
    [
        (["add", "icloud", "--tenant", "acme"], "token-of-some-length", "there is no provider 'icloud'"),
        (["add", "dropbox", "--tenant", "nobody"], "token-of-some-length", "there is no tenant 'nobody'"),
        (["add", "dropbox", "--tenant", "acme"], "", "refresh token: must be a single word"),
        (["add", "dropbox", "--tenant", "acme"], "two words", "refresh token: must be a single word"),
        (["add", "dropbox", "--tenant", "acme", "--extract", "unstructured_fast"], "x" * 20, "third party"),
        (["check", "nothing"], "", "there is no connector 'nothing'"),
        (["watch", "nothing", "https://x.example"], "", "there is no connector 'nothing'"),
    ],
)
def test_each_refusal_says_what_is_wrong(
    office: Office, ask: Ask, arguments: list[str], stdin: str, complaint: str
) -> None:
    assert complaint in refusal(ask("connectors", *arguments, stdin=stdin))
    assert office.world.value("select count(*) from connectors") == 0
