"""The commands on documents, as people and scripts use them."""

import json
import threading
from collections.abc import Iterator
from email.message import EmailMessage
from pathlib import Path
from urllib.request import urlopen

import pytest

from tests.cli.test_main import Ask, answer, ask, refusal
from tests.families.extract.test_extract_document import HANDLERS as EXTRACT
from tests.world import World
from tickwork.jobs.handler import Handlers
from tickwork.queue import Queue
from tickwork.runtime.deadline import Deadline
from tickwork.runtime.work import work

SAMPLES = Path(__file__).parents[2] / "infra/local/samples"

__all__ = ["ask"]


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, world: World) -> str:
    url = f"file:{tmp_path / 'vault'}"
    monkeypatch.setenv("TICKWORK_DATABASE_URL", world.worker_url)
    monkeypatch.setenv("TICKWORK_VAULT_URL", url)
    return url


@pytest.fixture
def workers(world: World, vault: str) -> Iterator[None]:
    """What cron would do all the time."""
    is_over = threading.Event()

    def go_on(queue: Queue, family: str, handlers: Handlers) -> None:
        while not is_over.wait(0.05):
            work(queue, family, handlers, Deadline(60, 100))

    thread = threading.Thread(target=go_on, args=(world.queue, "extract", EXTRACT))
    thread.start()
    yield
    is_over.set()
    thread.join()


def sample(name: str) -> str:
    (found,) = SAMPLES.glob(f"{name}*")
    return str(found)


def test_files_are_uploaded_read_classified_and_found(world: World, ask: Ask, vault: str, workers: None) -> None:
    world.tenant("acme")
    files = [sample("mietvertrag"), sample("rechnung")]

    added = ask("documents", "add", *files, "--tenant", "acme", "--json", TICKWORK_VAULT_URL=vault)

    assert added.returncode == 0, added.stderr
    lines = [json.loads(line) for line in added.stdout.splitlines()]
    assert [(line["status"], line["doc_type"]) for line in lines] == [("done", "lease"), ("done", "invoice")]
    assert all(line["pages"] >= 1 and line["chunks"] > 3 and 0.5 < line["confidence"] <= 1 for line in lines)
    assert all(line["runner_up_confidence"] < line["confidence"] for line in lines)
    assert all(line["runner_up"] not in (None, line["doc_type"]) for line in lines)
    listed = ask("documents", "--tenant", "acme").stdout
    assert all(line["document_id"] in listed for line in lines)
    found = ask("search", "kaution", "--tenant", "acme").stdout
    assert "mietvertrag" in found
    assert "Kaution" in found
    grouped = ask("search", "mieter", "--tenant", "acme").stdout
    assert grouped.count("mietvertrag-hauptstrasse-17.pdf") == 1 < len(grouped.splitlines()) - 1
    hits = answer(ask("search", "kaution -eigentümerversammlung", "--tenant", "acme", "--json"))
    assert {hit["document_id"] for hit in hits} == {lines[0]["document_id"]}


def test_a_file_that_cannot_be_read_is_told_apart(
    world: World, ask: Ask, vault: str, workers: None, tmp_path: Path
) -> None:
    world.tenant("acme")
    (tmp_path / "broken.pdf").write_text("no PDF at all")

    added = ask(
        "documents", "add", str(tmp_path / "broken.pdf"), "--tenant", "acme", "--json", TICKWORK_VAULT_URL=vault
    )

    assert added.returncode == 1
    (line,) = map(json.loads, added.stdout.splitlines())
    assert (line["status"], line["error_code"]) == ("failed", "CORRUPT_FILE")
    assert "CORRUPT_FILE" in ask("documents").stdout


def test_what_was_not_read_of_a_file_is_in_the_summary(
    world: World, ask: Ask, vault: str, workers: None, tmp_path: Path
) -> None:
    world.tenant("acme")
    mail = EmailMessage()
    mail.set_content("The plan is attached.")
    mail.add_attachment(b"\0", maintype="application", subtype="octet-stream", filename="plan.dwg")
    (tmp_path / "mail.eml").write_bytes(bytes(mail))

    added = ask("documents", "add", str(tmp_path / "mail.eml"), "--tenant", "acme", "--json", TICKWORK_VAULT_URL=vault)

    assert added.returncode == 0, added.stderr
    assert json.loads(added.stdout)["not_read"]["attachments"] == ["plan.dwg"]


def test_who_does_not_want_to_wait_is_told_how_to_go_on(world: World, ask: Ask, vault: str) -> None:
    world.tenant("acme")

    added = ask("documents", "add", sample("rechnung"), "--tenant", "acme", "--wait", "0", TICKWORK_VAULT_URL=vault)

    assert added.returncode == 1
    assert "queued" in added.stdout
    assert "`tickwork documents` shows their progress" in added.stderr


def test_a_correction_is_kept(world: World, ask: Ask, vault: str, workers: None) -> None:
    world.tenant("acme")
    added = ask("documents", "add", sample("rechnung"), "--tenant", "acme", "--json", TICKWORK_VAULT_URL=vault)
    id = json.loads(added.stdout)["document_id"]

    corrected = ask("documents", "correct", id, "quotation")

    assert corrected.returncode == 0, corrected.stderr
    assert world.row("select doc_type, doc_type_source from documents") == {
        "doc_type": "quotation",
        "doc_type_source": "member",
    }
    assert "there is no document type 'poem'" in refusal(ask("documents", "correct", id, "poem"))


def test_a_signed_url_leads_to_the_file(world: World, ask: Ask, vault: str) -> None:
    world.tenant("acme")
    added = ask("documents", "add", sample("rechnung"), "--tenant", "acme", "--wait", "0", TICKWORK_VAULT_URL=vault)
    id = str(world.value("select id from documents"))

    printed = ask("documents", "url", id, "--seconds", "60", TICKWORK_VAULT_URL=vault)

    assert added.returncode == 1
    with urlopen(printed.stdout.strip()) as file:
        assert file.read() == Path(sample("rechnung")).read_bytes()
    assert "it must be 1 to 86400" in refusal(
        ask("documents", "url", id, "--seconds", "86401", TICKWORK_VAULT_URL=vault)
    )


def test_what_is_wrong_is_named(world: World, ask: Ask, vault: str) -> None:
    world.tenant("acme")
    there = sample("rechnung")

    assert "there is no file" in refusal(
        ask("documents", "add", "nowhere.pdf", "--tenant", "acme", TICKWORK_VAULT_URL=vault)
    )
    assert "is a folder" in refusal(ask("documents", "add", str(SAMPLES), "--tenant", "acme", TICKWORK_VAULT_URL=vault))
    assert "no vault is configured" in refusal(ask("documents", "add", there, "--tenant", "acme"))
    assert "sends the document to a third party" in refusal(
        ask("documents", "add", there, "--tenant", "acme", "--engine", "unstructured_fast", TICKWORK_VAULT_URL=vault)
    )
    assert "there is no tenant 'birch'" in refusal(ask("search", "x", "--tenant", "birch"))
    assert "is not a document id" in refusal(ask("documents", "correct", "7", "lease"))
    assert ask("search", "nothing", "--tenant", "acme").stdout == "Nothing found.\n"
    assert ask("documents").stdout.startswith("No documents.")
    # A refused upload leaves no document behind that nobody asked for.
    assert world.value("select count(*) from documents") == 0
